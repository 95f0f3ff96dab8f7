"""A worker killed at any call of the store: the next one ends with the graph that a quiet night leaves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from graph.model.nodes.learning import ModelCall
from graph.services.deps import Deps
from graph.store.memory import MemoryStore
from tests.support.dream_story import Json, model_of, told, wait_for
from tests.support.faults import FaultyStore, PlannedFault, cut_at, fail_at
from tests.support.held_clock import HeldClock
from tests.support.night import LONG, Night
from tests.support.world import TeamWorld

AGAIN = timedelta(seconds=601)


class Killed(BaseException):
    """The process ended."""


async def waiting(deps: Deps, clock: HeldClock) -> Night:
    night = await Night(await TeamWorld(deps=deps).make(), clock, model=model_of()).make()
    await wait_for(night)
    clock.advance(LONG)
    return night


async def disturbed(night: Night, deps: Deps, fault: PlannedFault | None) -> FaultyStore:
    """Let one worker work on a store with a fault, and another one after it on a sound store."""
    store = FaultyStore(deps.store, [replace(fault, error=Killed)] if fault else [])
    night.world.deps = replace(deps, store=store)
    with suppress(Killed):
        await night.dream()
    night.world.deps = deps
    night.clock.advance(AGAIN)
    await night.dream()
    return store


async def left(night: Night) -> Json:
    return await told(night.world.deps.store, night.world.name)


async def sound_after(deps: Deps, clock: HeldClock, fault: PlannedFault, expected: Json) -> None:
    night = await waiting(deps, clock)
    await disturbed(night, deps, fault)
    assert fault.reached.is_set()
    assert await left(night) == expected
    calls = await night.all(ModelCall)
    assert len(night.model.asked) <= sum(len(call.attempts) for call in calls) <= len(calls) + 1, "an answer was lost"


@pytest.mark.req("DR-76", "DR-77", "AD-33")
async def test_kill_after_any_commit_loses_nothing_and_repeats_nothing(deps: Deps, clock: HeldClock) -> None:
    night = await waiting(deps, clock)
    store = await disturbed(night, deps, None)
    expected = await left(night)
    assert [run[:6] for run in expected["runs"]] == [("succeeded", "scheduled", 5, 6, 1, 2)]
    assert expected["waits"] == []
    commits = store.calls.count("transact")
    assert commits > 20
    for at in range(1, commits + 1, 1 if deps.store.engine == "memory" else 7):
        fresh_deps = replace(deps, store=await fresh(clock)) if deps.store.engine == "memory" else deps
        await sound_after(fresh_deps, clock, cut_at(at, "transact"), expected)


@pytest.mark.req("DR-76", "DR-77", "AD-33")
async def test_kill_before_a_call_loses_nothing_and_repeats_nothing(deps: Deps, clock: HeldClock) -> None:
    memory = deps.store.engine == "memory"
    deps = replace(deps, store=await fresh(clock)) if memory else deps
    night = await waiting(deps, clock)
    calls = len((await disturbed(night, deps, None)).calls)
    expected = await left(night)
    assert calls > 400
    for at in range(1, calls + 1, calls // 40 if memory else calls // 4):
        await sound_after(replace(deps, store=await fresh(clock)) if memory else deps, clock, fail_at(at), expected)


async def fresh(clock: HeldClock) -> MemoryStore:
    """Return an empty store, for what earlier rounds left behind makes later ones slow."""
    store = MemoryStore(clock=clock)
    await store.open()
    return store
