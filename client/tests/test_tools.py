"""What an agent may do in a local workspace: commands and files."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

from rootward import LocalSandboxSession, ModelResponse, filesystem, run, shell
from rootward.models import call
from rootward.testing import ScriptedModel
from sandbox_world import World, files_of, outputs_of, text_in

Call: TypeAlias = tuple[str, Mapping[str, object]]


async def told(
    world: World, *calls: tuple[str, Mapping[str, object]], files: Mapping[str, str] | None = None
) -> list[str]:
    """What the tools of an agent answer, one after another."""
    sandbox = await world.client.create()
    for path, text in (files or {}).items():
        await sandbox.files.write_text(path, text)
    return await told_in(world, sandbox, *calls)


async def told_in(world: World, sandbox: LocalSandboxSession, *calls: Call) -> list[str]:
    answers = [ModelResponse(output=[call(name, **arguments)]) for name, arguments in calls]
    world.speaker = ScriptedModel(*answers, "Done.")
    await run(world.agent(shell(timeout_s=20), filesystem()), "Work", sandbox=sandbox)
    return outputs_of(world.speaker.requests[-1])


async def test_an_agent_is_offered_what_its_capabilities_allow(world: World) -> None:
    sandbox = await world.client.create()
    for capability, names in (
        (shell(), ["shell"]),
        (filesystem(), ["list_files", "read_file", "write_file", "edit_file", "delete_file"]),
    ):
        world.speaker = ScriptedModel("Done.")
        await run(world.agent(capability), "Work", sandbox=sandbox)
        assert [tool.name for tool in world.speaker.requests[0].tools] == names


async def test_files_are_listed_read_written_edited_and_deleted(world: World) -> None:
    answers = await told(
        world,
        ("write_file", {"path": "b/two.txt", "content": "two"}),
        ("edit_file", {"path": "one.txt", "old": "one", "new": "1"}),
        ("read_file", {"path": "./one.txt"}),
        ("list_files", {}),
        ("list_files", {"directory": "b"}),
        ("delete_file", {"path": "one.txt"}),
        ("list_files", {"directory": "."}),
        files={"one.txt": "one"},
    )
    assert answers == ["written", "changed", "1", "b/two.txt\none.txt", "b/two.txt", "deleted", "b/two.txt"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read_file", {"path": "none.txt"}),
        ("read_file", {"path": "../x"}),
        ("read_file", {"path": "folder"}),
        ("write_file", {"path": "folder", "content": "x"}),
        ("write_file", {"path": "folder/one.txt/x", "content": "x"}),
        ("write_file", {"path": "x" * 300, "content": "x"}),
        ("edit_file", {"path": "folder/one.txt", "old": "a", "new": "b"}),
        ("edit_file", {"path": "folder/one.txt", "old": "none", "new": "b"}),
        ("delete_file", {"path": "folder"}),
        ("list_files", {"directory": "../"}),
        ("unheard_of", {}),
    ],
)
async def test_what_cannot_be_done_is_told(world: World, name: str, arguments: Mapping[str, object]) -> None:
    answers = await told(world, (name, arguments), files={"folder/one.txt": "aa"})
    assert answers[0].startswith("error: ")


async def test_a_written_file_keeps_its_mode(world: World) -> None:
    sandbox = await world.client.create()
    script = sandbox.root / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    await sandbox.files.write_text("run.sh", "#!/bin/sh\necho tea\n")
    assert script.stat().st_mode & 0o777 == 0o750


async def test_names_that_are_no_text_are_not_listed(world: World) -> None:
    sandbox = await world.client.create()
    for name in (b"bad\xff", b"new\nline", "good é\u3000.txt".encode()):
        (sandbox.root / os.fsdecode(name)).write_text("")
    assert await sandbox.files.paths() == ["good é\u3000.txt"]


async def test_a_command_runs_in_the_workspace_and_tells_output_and_code(world: World) -> None:
    command = "cat one.txt; echo oops >&2; exit 3"
    answers = await told(world, ("shell", {"command": command}), files={"one.txt": "one\n"})
    assert answers == ["one\noops\n\n[exit code 3]"]


async def test_a_command_finds_no_secrets_of_the_program(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a secret")
    sandbox = await world.client.create()
    done = await sandbox.execute("env; echo $HOME")
    assert "a secret" not in done.output
    assert done.output.endswith(f"{sandbox.root}\n")


async def test_a_command_that_does_not_end_is_stopped_with_all_it_started(world: World) -> None:
    sandbox = await world.client.create()
    done = await sandbox.execute("sleep 1000 & echo $!; wait", timeout_s=0.5)
    assert done.timed_out
    assert await ends(int(done.output))


async def test_what_a_command_leaves_running_is_stopped(world: World) -> None:
    sandbox = await world.client.create()
    done = await sandbox.execute("sleep 1000 & echo $!")
    assert (done.exit_code, done.timed_out) == (0, False)
    assert await ends(int(done.output))


async def ends(process: int) -> bool:
    """Whether a process that was stopped is gone, a few looks later at the most: the system takes its time."""
    for _ in range(10_000):
        if not _is_running(process):
            return True
        await asyncio.sleep(0)
    return False


def _is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().split()[2]
    except FileNotFoundError:
        return False
    return state != "Z"


async def test_long_output_keeps_its_ends(world: World) -> None:
    sandbox = await world.client.create()
    done = await sandbox.execute("echo HEAD; yes | head -c 5000000; echo TAIL")
    assert len(done.output.encode()) <= 32_000
    assert done.output.startswith("HEAD\n")
    assert done.output.endswith("TAIL\n")
    assert "left out" in done.output


async def test_a_long_file_is_shown_with_its_ends(world: World) -> None:
    answers = await told(world, ("read_file", {"path": "long"}), files={"long": "HEAD" + "x" * 200_000 + "TAIL"})
    assert len(answers[0].encode()) <= 100_000
    assert answers[0].startswith("HEAD")
    assert answers[0].endswith("TAIL")


async def test_a_write_that_is_refused_leaves_no_unfinished_file(world: World) -> None:
    sandbox = await world.client.create()
    (sandbox.root / "folder").mkdir()
    await told_in(world, sandbox, ("write_file", {"path": "folder", "content": "x"}))
    assert files_of(sandbox) == []


async def test_invalid_text_is_written_as_utf8(world: World) -> None:
    sandbox = await world.client.create()
    await sandbox.files.write_text("x", "a\ud800b")
    assert text_in(sandbox, "x") == "a?b"
