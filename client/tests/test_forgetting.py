"""Which conversations are kept, and what becomes of the others."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from rootward import LocalSandboxSession, MemoryReport, SandboxAgent, memory
from rootward.sandbox.selection import Kept, choose, read_selection, write_selection
from rootward.testing import ScriptedModel
from sandbox_world import World, files_of, merges, notes, text_in


def keeping(world: World, most: int) -> SandboxAgent:
    return world.agent(memory(read=None, generate={"max_raw_memories_for_consolidation": most}))


def kept(rollout_id: str, updated_at: str) -> Kept:
    return Kept(
        rollout_id=rollout_id,
        updated_at=updated_at,
        rollout_path="p",
        rollout_summary_file="f",
        terminal_state="completed",
    )


async def session(world: World, before: LocalSandboxSession | None, most: int, *names: str) -> LocalSandboxSession:
    """One more session over the workspace in which these conversations get a run each."""
    world.two = ScriptedModel(*merges())
    sandbox = await (world.client.resume(before.id) if before else world.client.create())
    await world.say_in(sandbox, *names, agent=keeping(world, most))
    await sandbox.close()
    return sandbox


def raw_in(sandbox: LocalSandboxSession) -> list[str]:
    return files_of(sandbox, "memories/raw_memories/")


def ids_in(text: str) -> list[str]:
    return [line.removeprefix("rollout_id: ") for line in text.splitlines() if line.startswith("rollout_id: ")]


async def second_of(report: MemoryReport) -> tuple[Sequence[str], Sequence[str]]:
    second = report.layouts[0].phase_two
    return second.selected, second.removed


@pytest.mark.req("SB-86")
async def test_only_the_newest_conversations_are_kept(world: World) -> None:
    sandbox = await session(world, None, 2, "a", "b", "c", "d")
    assert await second_of(await sandbox.close()) == (["d", "c"], ["b", "a"])
    assert raw_in(sandbox) == ["memories/raw_memories/c.md", "memories/raw_memories/d.md"]


@pytest.mark.req("SB-86")
async def test_as_many_as_are_allowed_all_stay(world: World) -> None:
    sandbox = await session(world, None, 3, "a", "b", "c")
    assert await second_of(await sandbox.close()) == (["c", "b", "a"], [])


@pytest.mark.req("SB-87")
async def test_the_last_update_counts_and_not_the_start(world: World) -> None:
    sandbox = await session(world, None, 2, "a", "b", "c", "a")
    assert await second_of(await sandbox.close()) == (["a", "c"], ["b"])


@pytest.mark.req("SB-88")
def test_ties_go_by_id_descending_and_unknown_is_oldest() -> None:
    found = [
        kept("x", "unknown"),
        kept("a", "2026-05-01T12:00:00.000000+00:00"),
        kept("z", "unknown"),
        kept("b", "2026-05-01T12:00:00+00:00"),
        kept("c", "2026-05-01T14:00:00+02:00"),
        kept("old", "2020-01-01T00:00:00+00:00"),
        kept("new", "2026-05-01T12:00:00.5+00:00"),
    ]
    choice = choose(found, [], most=100)
    assert [one.rollout_id for one in choice.selected] == ["new", "c", "b", "a", "old", "z", "x"]


@pytest.mark.req("SB-89")
async def test_what_is_removed_is_told_and_gone_from_notes_and_selection(world: World) -> None:
    first = await session(world, None, 2, "a", "b")
    second = await session(world, first, 2, "c")
    told = world.two.requests[0].instructions
    assert "- [removed] rollout_id=a rollout_summary_file=rollout_summaries/a_notes.md updated_at=2026-" in told
    assert "drop from MEMORY.md and memory_summary.md what only they supported" in told
    assert ids_in(text_in(second, "memories/raw_memories.md")) == ["c", "b"]
    selection = json.loads(text_in(second, "memories/phase_two_selection.json"))
    assert [one["rollout_id"] for one in selection["selected"]] == ["c", "b"]


@pytest.mark.req("SB-89")
async def test_notes_that_somebody_deleted_count_as_removed(world: World) -> None:
    first = await session(world, None, 9, "a", "b")
    (first.root / "memories/raw_memories/a.md").unlink()
    second = await session(world, first, 9, "c")
    assert await second_of(await second.close()) == (["c", "b"], ["a"])


@pytest.mark.req("SB-90")
async def test_notes_go_after_success_and_summary_and_conversation_stay(world: World) -> None:
    first = await session(world, None, 1, "a")
    second = await session(world, first, 1, "b")
    assert raw_in(second) == ["memories/raw_memories/b.md"]
    assert {"memories/rollout_summaries/a_notes.md", "sessions/a.jsonl"} <= set(files_of(second))


@pytest.mark.req("SB-90")
async def test_notes_stay_where_phase_2_fails(world: World) -> None:
    first = await session(world, None, 1, "a")
    world.two = ScriptedModel(RuntimeError())
    await world.again(first, "b", agent=keeping(world, 1))
    assert raw_in(first) == ["memories/raw_memories/a.md", "memories/raw_memories/b.md"]


@pytest.mark.req("SB-91")
async def test_a_removed_conversation_comes_back_as_the_newest(world: World) -> None:
    sandbox = await session(world, None, 1, "a")
    sandbox = await session(world, sandbox, 1, "b")
    world.one = ScriptedModel(notes("back again"))
    sandbox = await session(world, sandbox, 1, "a")
    assert await second_of(await sandbox.close()) == (["a"], ["b"])
    assert "back again" in text_in(sandbox, "memories/raw_memories.md")


async def test_a_file_that_is_no_note_is_left_alone(world: World) -> None:
    first = await session(world, None, 1, "a")
    strays = ["memories/raw_memories/read me.md", "memories/raw_memories/x.txt", "memories/raw_memories/d/e.md"]
    for stray in strays:
        await first.files.write_text(stray, "mine")
    second = await session(world, first, 1, "b")
    assert await second_of(await second.close()) == (["b"], ["a"])
    assert set(strays) <= set(files_of(second))
    assert "mine" not in text_in(second, "memories/raw_memories.md")


def test_a_selection_is_read_as_it_was_written() -> None:
    selected = [kept("b", "2026-05-01T12:00:00.000000+00:00"), kept("a", "unknown")]
    assert read_selection(write_selection(selected, updated_at="now").decode()) == selected
