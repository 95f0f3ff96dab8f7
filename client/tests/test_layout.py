"""Where memory lies, and that nothing leads out of the workspace."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rootward import MemoryLayoutConfig, MemoryReadConfig, PathRefused, memory, run, shell
from rootward.sandbox.layout import clean_path
from rootward.sandbox.local.files import LocalFiles
from rootward.testing import ScriptedModel
from sandbox_world import World, files_of, lines_of, notes, text_in, writes


@pytest.mark.req("SB-18")
def test_the_default_directories() -> None:
    assert memory().layout == MemoryLayoutConfig(memories_dir="memories", sessions_dir="sessions")


@pytest.mark.req("SB-19", "SB-20", "SB-21")
async def test_the_layout_is_exactly_this(world: World) -> None:
    world.two = ScriptedModel(writes(("skills/deploy.md", "Ship it."), ("MEMORY.md", "x")), "Done.")
    sandbox = await world.close_after("lead-desk")
    assert files_of(sandbox) == [
        "memories/MEMORY.md",
        "memories/memory_summary.md",
        "memories/phase_two_selection.json",
        "memories/raw_memories.md",
        "memories/raw_memories/lead-desk.md",
        "memories/rollout_summaries/lead-desk_notes.md",
        "memories/skills/deploy.md",
        "sessions/lead-desk.jsonl",
    ]


@pytest.mark.req("SB-21")
async def test_skills_may_stay_empty(world: World) -> None:
    sandbox = await world.close_after("c1")
    assert list((sandbox.root / "memories/skills").iterdir()) == []


@pytest.mark.req("SB-22")
async def test_the_first_recorded_run_makes_the_layout_and_empties_nothing(world: World) -> None:
    sandbox = await world.client.create()
    await sandbox.files.write_text("memories/MEMORY.md", "kept")
    await world.say_in(sandbox, "c1")
    assert text_in(sandbox, "memories/MEMORY.md") == "kept"
    assert text_in(sandbox, "memories/memory_summary.md") == ""
    made = sorted(path.relative_to(sandbox.root).as_posix() for path in sandbox.root.rglob("*") if path.is_dir())
    assert made == ["memories", "memories/raw_memories", "memories/rollout_summaries", "memories/skills", "sessions"]


@pytest.mark.req("SB-23")
@pytest.mark.parametrize("field", ["memories_dir", "sessions_dir"])
@pytest.mark.parametrize(
    "directory",
    ["", "  ", "/memories", ".", "./", "..", "a/../b", "../a", "a\\b", "a\nb", "a\0b", "a\x85b", "a\ud800b"],
)
def test_a_directory_outside_or_without_a_name_is_refused(field: str, directory: str) -> None:
    with pytest.raises(ValueError, match=field):
        MemoryLayoutConfig(**{field: directory})


@pytest.mark.req("SB-24")
@pytest.mark.parametrize("spelled", ["./memories/", "memories//", "././memories", "memories/."])
def test_directories_are_one_however_they_are_spelled(spelled: str) -> None:
    assert MemoryLayoutConfig(memories_dir=spelled) == MemoryLayoutConfig()


@pytest.mark.req("SB-24")
async def test_two_spellings_share_one_memory(world: World) -> None:
    sandbox = await world.client.create()
    spelled = memory(layout=MemoryLayoutConfig(memories_dir="./memories/", sessions_dir="sessions//"), read=None)
    await world.say_in(sandbox, "c1", agent=world.agent(memory(read=None)))
    await world.say_in(sandbox, "c1", agent=world.agent(spelled))
    assert len(lines_of(sandbox, "sessions/c1.jsonl")) == 2


@pytest.mark.req("SB-25")
@pytest.mark.parametrize("link", ["memories", "memories/memory_summary.md"])
async def test_a_link_out_of_the_workspace_is_not_read(world: World, tmp_path: Path, link: str) -> None:
    (tmp_path / "memory_summary.md").write_text("a secret")
    sandbox = await world.client.create()
    (sandbox.root / link).parent.mkdir(exist_ok=True)
    (sandbox.root / link).symlink_to(tmp_path / ("" if link == "memories" else "memory_summary.md"))
    await world.say_in(sandbox, "c1")
    assert "a secret" not in world.speaker.requests[0].instructions
    with pytest.raises(PathRefused):
        await sandbox.files.read_text("memories/memory_summary.md")


@pytest.mark.req("SB-25")
@pytest.mark.parametrize("link", ["sessions", "sessions/c1.jsonl", "memories"])
async def test_a_link_out_of_the_workspace_is_not_written(world: World, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    sandbox = await world.client.create()
    (sandbox.root / link).parent.mkdir(exist_ok=True)
    (sandbox.root / link).symlink_to(outside / "c1.jsonl" if link.endswith("jsonl") else outside)
    result = await world.say_in(sandbox, "c1")
    report = await sandbox.close()
    assert result is not None
    assert result.recorded is None
    assert list(outside.iterdir()) == []
    assert report.layouts == []
    with pytest.raises(PathRefused):
        await sandbox.files.write_text("sessions/c1.jsonl" if "sessions" in link else "memories/x.md", "x")


@pytest.mark.req("SB-25")
async def test_a_link_that_comes_after_the_run_is_refused_at_closing(world: World, tmp_path: Path) -> None:
    secret = tmp_path / "secret.jsonl"
    secret.write_text(json.dumps({"input": [{"role": "user", "content": "a secret"}]}) + "\n")
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    (sandbox.root / "sessions/c1.jsonl").unlink()
    (sandbox.root / "sessions/c1.jsonl").symlink_to(secret)
    report = await sandbox.close()
    assert [(one.status, one.error) for one in report.layouts[0].phase_one] == [("failed", "path_refused")]
    assert world.one.requests == []


class Swapped(LocalFiles):
    """As if a link were put in place between looking at a path and opening it."""

    def canonical(self, path: str) -> str:
        return path


@pytest.mark.req("SB-25")
@pytest.mark.parametrize("path", ["link/secret", "secret"])
def test_a_link_that_is_swapped_in_after_the_look_is_refused(tmp_path: Path, path: str) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("a secret")
    (root / "link").symlink_to(outside)
    (root / "secret").symlink_to(outside / "secret")
    files = Swapped(root, "me")
    with pytest.raises(PathRefused):
        files.read(path)
    with pytest.raises(PathRefused):
        files.append_line(path, b"x\n")
    with pytest.raises(PathRefused):
        files.replace(path, b"x")
    assert (outside / "secret").read_text() == "a secret"
    assert len(list(outside.iterdir())) == 1


async def test_a_link_inside_the_workspace_may_be_followed(world: World) -> None:
    sandbox = await world.client.create()
    (sandbox.root / "docs").mkdir()
    (sandbox.root / "docs/memory_summary.md").write_text("prefers tabs")
    (sandbox.root / "memories").symlink_to("docs")
    await world.say_in(sandbox, "c1")
    assert "prefers tabs" in world.speaker.requests[0].instructions


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "a/../../x", "", ".", "a\0"])
async def test_paths_out_of_the_workspace_are_refused(world: World, path: str) -> None:
    sandbox = await world.client.create()
    for use in (sandbox.files.read_text(path), sandbox.files.write_text(path, "x"), sandbox.files.delete(path)):
        with pytest.raises(PathRefused):
            await use


async def test_what_is_no_plain_file_is_refused_without_waiting(world: World) -> None:
    sandbox = await world.client.create()
    os.mkfifo(sandbox.root / "pipe")
    (sandbox.root / "loop").symlink_to("loop")
    (sandbox.root / "folder").mkdir()
    for path in ("pipe", "loop", "folder", "pipe/x"):
        with pytest.raises(PathRefused):
            await sandbox.files.read_text(path)
        with pytest.raises(PathRefused):
            await sandbox.files.write_text(path, "x")
    assert await sandbox.files.paths() == []


@pytest.mark.req("SB-26")
async def test_invalid_bytes_are_replaced(world: World) -> None:
    world.one = ScriptedModel(notes("caf\N{LATIN SMALL LETTER E WITH ACUTE}"))
    sandbox = await world.client.create()
    await world.say_in(sandbox, "c1")
    (sandbox.root / "memories/memory_summary.md").write_bytes(b"tabs \xff\xfe")
    with (sandbox.root / "sessions/c1.jsonl").open("ab") as file:
        file.write(b'{"input":[{"role":"user","content":"bad \xff"}]}\n')
    await world.say_in(sandbox, "c1")
    await sandbox.close()
    assert "tabs \ufffd\ufffd" in world.speaker.requests[1].instructions
    assert "bad \ufffd" in str(world.one.requests[0].input)
    assert (sandbox.root / "memories/raw_memories/c1.md").read_bytes().endswith("café\n".encode())


@pytest.mark.req("SB-27")
def test_both_directories_in_one_are_refused() -> None:
    with pytest.raises(ValueError, match="another directory"):
        MemoryLayoutConfig(memories_dir="memory", sessions_dir="./memory/")


@pytest.mark.parametrize("sessions", ["memories/raw_memories", "memories/rollout_summaries/a", "memories/MEMORY.md"])
def test_conversations_among_the_files_of_memory_are_refused(sessions: str) -> None:
    with pytest.raises(ValueError, match="its own files"):
        MemoryLayoutConfig(sessions_dir=sessions)


async def test_a_layout_below_the_workspace_is_used_by_a_run(world: World) -> None:
    agent = world.agent(
        shell(),
        memory(read=MemoryReadConfig(live_update=False), layout={"memories_dir": "a/b/m", "sessions_dir": "c/s"}),
    )
    sandbox = await world.client.create()
    await run(agent, "Hello", sandbox=sandbox, conversation_id="c1")
    assert files_of(sandbox) == ["a/b/m/MEMORY.md", "a/b/m/memory_summary.md", "c/s/c1.jsonl"]


def test_a_clean_path_stays_as_it_is() -> None:
    assert clean_path(clean_path("a//b/./c")) == "a/b/c"
