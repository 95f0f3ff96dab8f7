"""A worker killed at any call of the store: the next one ends with what an undisturbed one would have written."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from graph.model.edges import EdgeType
from graph.model.nodes.learning import ModelCall
from graph.services.deps import Deps
from graph.store.memory import MemoryStore
from tests.support.channel_room import PURPOSE, Room, answer, episode
from tests.support.faults import FaultyStore, PlannedFault, cut_at, fail_at
from tests.support.held_clock import HeldClock
from tests.support.world import TeamWorld

AGAIN = timedelta(seconds=601)


class Killed(BaseException):
    """The process ended."""


def killed(fault: PlannedFault) -> PlannedFault:
    return replace(fault, error=Killed)


async def talked(deps: Deps, clock: HeldClock) -> Room:
    """Return a room in which two batches are due, with something open between them."""
    room = await Room(await TeamWorld(deps=deps).make(), clock).make()
    await room.talk(5)
    await room.set_to(stage_a__max_messages=4)
    first = answer(episode(["m1", "m3"]), skipped=["m2"], open=["m4"])
    second = answer(episode(["m1", "m2"], "Rest"))
    room.model.on(PURPOSE, lambda request: first if len(request.source_ids) == 4 else second)
    clock.advance(timedelta(hours=1))
    return room


async def disturbed(room: Room, deps: Deps, fault: PlannedFault | None) -> FaultyStore:
    """Let one worker work on a store with a fault, and another one after it on a sound store."""
    store = FaultyStore(deps.store, [killed(fault)] if fault else [])
    room.world.deps = replace(deps, store=store)
    with suppress(Killed):
        await room.dream()
    room.world.deps = deps
    room.clock.advance(AGAIN)
    await room.dream()
    return store


async def check(room: Room) -> None:
    """Everything is there once."""
    made = await room.episodes()
    sources = [await room.targets(e.id, EdgeType.SUMMARIZES) for e in made]
    assert sorted((e.topic, len(ids)) for e, ids in zip(made, sources, strict=True)) == [("Release", 2), ("Rest", 2)]
    assert len({id_ for ids in sources for id_ in ids}) == 4
    row = await room.progress()
    assert row is not None
    assert (row.cursor, row.carried, row.returned, row.failures, row.version) == (5, (), (), 0, 3)
    assert [(run.state, run.materials_processed) for run in await room.runs()] == [("succeeded", 4), ("succeeded", 2)]
    assert [batch.state for batch in await room.batches()] == ["succeeded", "succeeded"]
    assert {item.item_id for item in await room.pending()} == {e.id for e in made}
    assert (await room.job()).state == "succeeded"


async def sound_after(deps: Deps, clock: HeldClock, fault: PlannedFault) -> None:
    """Kill a worker at the fault and check what the next one makes of it."""
    room = await talked(deps, clock)
    await disturbed(room, deps, fault)
    assert fault.reached.is_set()
    await check(room)
    calls = await room.all(ModelCall)
    assert len(calls) == 2
    assert len(room.model.asked) <= sum(len(call.attempts) for call in calls) <= 3, "no answer that was saved is lost"


@pytest.mark.req("DR-25", "DR-26", "AD-33")
async def test_kill_after_any_commit_loses_nothing_and_repeats_nothing(deps: Deps, clock: HeldClock) -> None:
    room = await talked(deps, clock)
    store = await disturbed(room, deps, None)
    await check(room)
    commits = store.calls.count("transact")
    assert commits > 8
    for at in range(1, commits + 1):
        await sound_after(deps, clock, cut_at(at, "transact"))


@pytest.mark.req("DR-25", "DR-26", "AD-33")
async def test_kill_before_a_call_loses_nothing_and_repeats_nothing(deps: Deps, clock: HeldClock) -> None:
    memory = deps.store.engine == "memory"
    deps = replace(deps, store=await fresh(clock)) if memory else deps
    room = await talked(deps, clock)
    calls = len((await disturbed(room, deps, None)).calls)
    await check(room)
    assert calls > 100
    for at in range(1, calls + 1, 3 if memory else calls // 10):
        await sound_after(replace(deps, store=await fresh(clock)) if memory else deps, clock, fail_at(at))


async def fresh(clock: HeldClock) -> MemoryStore:
    """Return an empty store, for what earlier rounds left behind makes later ones slow."""
    store = MemoryStore(clock=clock)
    await store.open()
    return store
