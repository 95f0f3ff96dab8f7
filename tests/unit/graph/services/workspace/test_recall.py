"""Recall at the start of runs (RM-53 to RM-60): all memories at once, within the clock's two seconds."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from graph.model.errors import WorkspaceRefused
from graph.services.workspace.attempts import Attempt
from graph.services.workspace.records_port import Record
from tests.support.held_clock import HeldClock
from tests.support.run_room import RunRoom
from tests.support.scripted_records import is_backend
from tests.support.world import TeamWorld


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def room(world: TeamWorld) -> RunRoom:
    return await RunRoom(world).make()


def states(given: Attempt) -> dict[str, str]:
    return {report.memory: report.status for report in given.reports}


@pytest.mark.req("RM-53", "RM-54", "RM-58", "MT-30", "MT-47")
async def test_the_first_attempt_of_a_run_recalls_and_no_other(room: RunRoom) -> None:
    assert is_backend(room.records) is room.records
    facts, files = await room.facts(), await room.files()
    room.records.held[facts.id] = [Record(id=f"r{place}", text=f"Fact {place}.") for place in range(9)]
    thread = await room.thread(a=facts, b=files)
    run = await room.accept(thread)
    given = await room.attempt(run)
    assert room.records.searched == [(facts.id, "Where do I live?", 5)]
    assert states(given) == {"a": "recalled", "b": "full"}
    context, recalled = given.preamble
    assert context.startswith('<memory-context memory="b"')
    assert recalled.startswith('<memory-recall memory="a" trust="untrusted">')
    assert '{"id":"r0","text":"Fact 0.","score":0.5}' in recalled
    assert len((await room.attempt(run)).preamble) == 1
    assert len(room.records.searched) == 1
    await room.complete(run)
    later = await room.attempt(await room.accept(thread))
    assert [block.partition(" ")[0] for block in later.preamble] == ["<memory-recall"]


@pytest.mark.req("RM-56", "RM-57", "RM-60")
async def test_slow_and_failing_memories_are_skipped(room: RunRoom, clock: HeldClock) -> None:
    slow, failing, known = [await room.facts() for _ in range(3)]
    room.records.held[known.id] = [Record(id="r", text="Known.")]
    room.records.hanging.add(slow.id)
    room.records.failing[failing.id] = WorkspaceRefused("disabled", "switched off", kind="memory_provider", id="x")
    run = await room.accept(await room.thread(c=known, b=failing, a=slow))
    attempt = asyncio.create_task(room.attempt(run))
    await clock.somebody_sleeps()
    clock.advance(timedelta(seconds=1.9))
    assert not attempt.done()
    clock.advance(timedelta(seconds=0.2))
    given = await attempt
    assert states(given) == {"a": "timeout", "b": "failed", "c": "recalled"}
    assert len(given.preamble) == 1
    assert {memory for memory, _, _ in room.records.searched} == {slow.id, failing.id, known.id}


@pytest.mark.req("MT-4", "RM-53", "RM-59")
async def test_nothing_is_recalled_without_text_or_where_it_is_off(room: RunRoom) -> None:
    facts = await room.facts()
    room.records.held[facts.id] = [Record(id="r", text="Known.")]
    given = await room.attempt(await room.accept(await room.thread(a=(facts, {"recall": False}))))
    assert (given.preamble, given.reports) == ([], [])
    given = await room.attempt(await room.accept(await room.thread(a=facts), " \n"))
    assert (given.preamble, given.reports) == ([], [])
    assert room.records.searched == []


@pytest.mark.req("RM-55")
async def test_a_memory_without_results_adds_no_block(room: RunRoom) -> None:
    given = await room.attempt(await room.accept(await room.thread(a=await room.facts())))
    assert (list(given.preamble), states(given)) == ([], {"a": "recalled"})
