"""Closing while runs are under way, closing that is cut off, and processes that are killed."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from rootward import ConversationRef, ModelRequest, Segment, TerminalMetadata, TerminalState, memory
from rootward.models import Answer, message
from rootward.sandbox.local.files import LocalFiles
from rootward.sandbox.local.workspace import LocalWorkspace
from rootward.testing import ScriptedModel
from sandbox_world import SilentModel, World, files_of, lines_of, notes, text_in

_MEMORY_FILES = ("MEMORY.md", "memory_summary.md", "phase_two_selection.json")


async def test_closing_waits_for_runs_and_records_them(world: World) -> None:
    released = asyncio.Event()

    class Held(SilentModel):
        async def generate(self, request: object) -> str:
            self.asked.set()
            await released.wait()
            return "Done."

    world.speaker = held = Held()
    sandbox = await world.client.create()
    running = asyncio.create_task(world.say_in(sandbox, "c1"))
    await held.asked.wait()
    closing = asyncio.create_task(sandbox.close())
    await asyncio.sleep(0)
    assert sandbox.status == "closing"
    released.set()
    assert (await closing).layouts[0].phase_two.selected == ["c1"]
    assert (await running) is not None


async def test_closing_inside_a_run_is_refused(world: World) -> None:
    sandbox = await world.client.create()
    async with sandbox.running():
        with pytest.raises(RuntimeError, match="not inside it"):
            await sandbox.close()


async def test_two_closes_at_once_are_one(world: World) -> None:
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    first, second = await asyncio.gather(sandbox.close(), sandbox.close())
    assert first == second
    assert len(world.one.requests) == 1


async def test_a_close_that_was_cancelled_goes_on_with_the_next(world: World) -> None:
    silent = SilentModel()

    class Hesitant:
        async def generate(self, request: ModelRequest) -> Answer:
            return await (world.two if silent.asked.is_set() else silent).generate(request)

    agent = world.agent(memory(read=None, generate={"phase_two_model": Hesitant()}))
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1", agent=agent)
    closing = asyncio.create_task(sandbox.close())
    await silent.asked.wait()
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    report = await sandbox.close()
    assert report.layouts[0].phase_two.status == "completed"
    assert len(world.one.requests) == 1


_CHILD = """
import asyncio, os, signal, sys
from pathlib import Path
from rootward import *
from rootward.testing import ScriptedModel
from sandbox_world import merges, notes

def die(_):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    base, where = sys.argv[1:]
    one = ScriptedModel(*{"first": [die], "second": [notes(), die], "two": [notes()]}[where])
    two = ScriptedModel(die)
    client = UnixLocalSandboxClient(base, models={"gpt-5.4-mini": one, "gpt-5.4": two})
    sandbox = await client.create()
    print(sandbox.id, flush=True)
    agent = SandboxAgent(name="a", model=ScriptedModel("Done."), capabilities=[memory(read=None)])
    for conversation in ("c1", "c2"):
        await run(agent, "said in " + conversation, sandbox=sandbox, conversation_id=conversation)
    await sandbox.close()

asyncio.run(main())
"""


def killed_in(world: World, where: str) -> str:
    """The id of a session whose process was killed while a model was asked."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, str(world.base), where],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(("where", "left"), [("first", ["c1", "c2"]), ("second", ["c2"]), ("two", [])])
async def test_a_killed_close_goes_on_where_it_was(world: World, where: str, left: Sequence[str]) -> None:
    sandbox = await world.client.resume(killed_in(world, where))
    assert all(text_in(sandbox, f"memories/{name}") == "" for name in _MEMORY_FILES[:2])
    report = await sandbox.close()
    asked = [str(request.input) for request in world.one.requests]
    assert [name for name in ("c1", "c2") for text in asked if f"said in {name}" in text] == list(left)
    assert [one.rollout_id for one in report.layouts[0].phase_one] == ["c1", "c2"]
    assert report.layouts[0].phase_two.selected == ["c2", "c1"]
    assert text_in(sandbox, "memories/MEMORY.md") == "# Index\n"


async def test_a_resumed_session_goes_on_recording(world: World) -> None:
    sandbox = await world.client.resume(killed_in(world, "two"))
    await world.say_in(sandbox, "c1", agent=world.agent(memory(read=None)))
    await sandbox.close()
    assert len(lines_of(sandbox, "sessions/c1.jsonl")) == 2
    assert len(world.one.requests) == 1  # c2 was extracted before, c1 grew


_APPENDER = """
import sys
from pathlib import Path
from rootward.sandbox.local.files import LocalFiles

files = LocalFiles(Path(sys.argv[1]), "child")
line = (sys.argv[2] * 100_000 + "\\n").encode()
for _ in range(int(sys.argv[3])):
    files.append_line("c1.jsonl", line)
"""


def appending(folder: Path, letter: str, times: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", _APPENDER, str(folder), letter, str(times)])


@pytest.mark.req("SB-50")
def test_processes_append_whole_lines(tmp_path: Path) -> None:
    children = [appending(tmp_path, letter, 20) for letter in "abc"]
    assert [child.wait() for child in children] == [0, 0, 0]
    lines = (tmp_path / "c1.jsonl").read_text().splitlines()
    assert sorted(line[0] for line in lines) == sorted("abc" * 20)
    assert all(line == line[0] * 100_000 for line in lines)


@pytest.mark.req("SB-49", "SB-50")
def test_appending_waits_for_another_process_that_is_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, asks = LocalFiles(tmp_path, "me"), threading.Event()
    real = fcntl.flock

    def flock(file: int, operation: int) -> None:
        asks.set()
        real(file, operation)

    with (tmp_path / "c1.jsonl").open("wb", buffering=0) as other:
        real(other, fcntl.LOCK_EX)
        monkeypatch.setattr(fcntl, "flock", flock)
        appending = threading.Thread(target=files.append_line, args=("c1.jsonl", b"mine\n"))
        appending.start()
        assert asks.wait(60)
        other.write(b"cut off")
        real(other, fcntl.LOCK_UN)
    appending.join()
    assert (tmp_path / "c1.jsonl").read_bytes() == b"cut off\nmine\n"


def test_what_a_killed_process_cut_off_costs_no_other_line(tmp_path: Path) -> None:
    files, file = LocalFiles(tmp_path, "parent"), tmp_path / "c1.jsonl"
    for _ in range(3):
        child = appending(tmp_path, "x", 1_000_000)
        before = file.stat().st_size if file.exists() else 0
        while not file.exists() or file.stat().st_size == before:
            assert child.poll() is None
        child.kill()
        child.wait()
        files.append_line("c1.jsonl", b"mine\n")
    lines = file.read_text().split("\n")
    assert lines[-1] == ""
    assert lines.count("mine") == 3
    assert set("".join(lines).replace("mine", "")) == {"x"}


class Crash(BaseException):
    """The process ends here."""


def crashing_files(root: Path, steps: int, how: type[BaseException] = Crash) -> LocalFiles:
    """Files that end the process, or fail once, at the n-th change."""
    left = iter([*[False] * steps, True])

    class Crashing(LocalFiles):
        def replace(self, path: str, data: bytes) -> None:
            self._step()
            super().replace(path, data)

        def delete(self, path: str) -> None:
            self._step()
            super().delete(path)

        def _step(self) -> None:
            if next(left, False):
                raise how("at this step")

    return Crashing(root, "crashing")


@pytest.mark.parametrize("steps", range(4))
async def test_changes_of_several_files_are_made_whole_after_a_crash(tmp_path: Path, steps: int) -> None:
    root, journal = tmp_path / "workspace", tmp_path / "journal.json"
    root.mkdir()
    for name in ("a", "b"):
        (root / name).write_text("old")
    crashing = LocalWorkspace(crashing_files(root, steps), journal)
    try:
        await crashing.apply({"a": b"new", "b": None, "c/d": b"\xff"})
    except Crash:
        assert steps < 3
    after = LocalWorkspace(LocalFiles(root, "later"), journal)
    after.recover()
    assert await after.paths() == ["a", "c/d"]
    assert [await after.read(name) for name in ("a", "b", "c/d")] == [b"new", None, b"\xff"]
    assert not journal.exists()


@pytest.mark.parametrize("steps", range(3))
async def test_changes_of_several_files_are_taken_back_if_one_fails(tmp_path: Path, steps: int) -> None:
    root, journal = tmp_path / "workspace", tmp_path / "journal.json"
    root.mkdir()
    for name in ("a", "b"):
        (root / name).write_text("old")
    failing = LocalWorkspace(crashing_files(root, steps, OSError), journal)
    with pytest.raises(OSError, match="at this step"):
        await failing.apply({"a": b"new", "b": None, "c/d": b"\xff"})
    assert [await failing.read(name) for name in ("a", "b", "c/d")] == [b"old", b"old", None]
    assert not journal.exists()


async def test_changes_that_are_refused_change_nothing(world: World, tmp_path: Path) -> None:
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "out").symlink_to(tmp_path)
    workspace = LocalWorkspace(LocalFiles(root, "me"), tmp_path / "journal.json")
    with pytest.raises(ValueError, match="leaves"):
        await workspace.apply({"a": b"new", "out/b": b"new"})
    assert await workspace.paths() == []
    assert not (tmp_path / "journal.json").exists()


async def test_unfinished_files_are_swept_when_a_session_is_opened(world: World) -> None:
    sandbox = await world.close_after("c1")
    before = files_of(sandbox)
    left = sandbox.root / f"memories/.rootward-{sandbox.id}-0123"
    left.write_text("half")
    assert "memories/.rootward" not in "".join(await sandbox.files.paths())
    await (await world.client.resume(sandbox.id)).close()
    assert files_of(sandbox) == before


async def test_a_failing_append_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, real = LocalFiles(tmp_path, "me"), os.write
    files.append_line("c1.jsonl", b"one\n")

    def full(file: int, data: bytes) -> int:
        if len(data) > 3:
            return real(file, bytes(data[:3]))
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        files.append_line("c1.jsonl", b"two\n")
    assert (tmp_path / "c1.jsonl").read_bytes() == b"one\n"


async def test_a_session_that_was_never_closed_is_closed_later(world: World) -> None:
    """As when a program forgets to close: what it recorded is still to do."""
    sandbox = await world.client.create()
    given = Segment(
        input=[message("user", "Hello")], terminal_metadata=TerminalMetadata(terminal_state=TerminalState.COMPLETED)
    )
    await sandbox.record(memory(read=None), ConversationRef(conversation_id="c1"), given)
    state = json.loads((world.base / sandbox.id / "state.json").read_text())
    assert state["works"][0]["recorded"] == ["c1"]
    sandbox._lock.release()  # what the end of the process does
    world.one = ScriptedModel(notes())
    report = await (await world.client.resume(sandbox.id)).close()
    assert report.layouts[0].phase_two.selected == ["c1"]


async def test_models_that_cannot_be_kept_are_given_again_by_a_run(world: World) -> None:
    own = world.agent(memory(read=None, generate={"phase_one_model": ScriptedModel(notes("of its own"))}))
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1", agent=own)
    sandbox._lock.release()  # what the end of the process does
    later = await world.client.resume(sandbox.id)
    await world.say_in(later, "c2", agent=own)
    report = await later.close()
    assert [one.status for one in report.layouts[0].phase_one] == ["extracted", "extracted"]


async def test_without_such_a_run_the_report_says_so(world: World) -> None:
    own = world.agent(memory(read=None, generate={"phase_one_model": ScriptedModel(notes())}))
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1", agent=own)
    sandbox._lock.release()  # what the end of the process does
    report = await (await world.client.resume(sandbox.id)).close()
    assert [one.error for one in report.layouts[0].phase_one] == ["model_unavailable"]
