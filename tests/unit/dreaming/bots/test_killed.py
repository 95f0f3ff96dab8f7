"""A worker killed between any two calls of the store while it learns for a bot: nothing is lost or done twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dreaming.worker import Worker
from graph.store.memory import MemoryStore
from tests.fault.driver import world_on
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import LEARN, BotTalk, costing, fact
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.held_clock import HeldClock
from tests.support.ids import SequentialIds
from tests.unit.dreaming.test_killed import Killed

pytestmark = pytest.mark.parametrize("engine", ["memory"], indirect=True)

ANSWER = {"changes": [fact("Releases are on Fridays.", "t1-1")]}


async def _talk() -> tuple[BotTalk, HeldClock]:
    clock = HeldClock()
    store = MemoryStore(clock=clock)
    await store.open()
    world = await world_on(store, clock, SequentialIds(), 1).make()
    talk = await BotTalk(room=await BotRoom(world=world).make()).make()
    talk.model.on(LEARN, costing(ANSWER, 5))
    await talk.turn("t1", "We release on Fridays.")
    return talk, clock


async def _killed_at(fault: Fault, at: int) -> tuple[bool, int]:
    """Kill a worker at the n-th call of its store, let another go on, and check all that must hold.

    Returns whether the call was reached, and how often the model was asked.
    """
    talk, clock = await _talk()
    dead = [PlannedFault(fault=Fault.FAIL, at=later, error=Killed) for later in range(at + 1, at + 30)]
    faulty = FaultyStore(talk.deps.store, [PlannedFault(fault=fault, at=at, error=Killed), *dead])
    doomed: Worker = talk.worker("doomed")
    doomed.deps = replace(talk.deps, store=faulty, ids=SequentialIds(5_000))
    killed = False
    try:
        await doomed.step()
    except Killed:
        killed = True
    answered = any(call.state == "answered" for call in await talk.calls(LEARN))
    asked = len(talk.model.asked_for(LEARN))
    clock.advance(timedelta(seconds=601))
    await talk.learn()
    assert await talk.states() == [("done", None)]
    assert list(await talk.contents()) == ["Releases are on Fridays."]
    assert (await talk.version(), await talk.read_seq()) == (1, 2)
    if answered:
        assert len(talk.model.asked_for(LEARN)) == asked, "a saved answer is used"
    (call,) = await talk.calls(LEARN)
    assert len(call.attempts) >= len(talk.model.asked_for(LEARN)), "what was asked was saved before"
    return killed, len(talk.model.asked_for(LEARN))


@pytest.mark.req("BM-84", "BM-85", "BM-86", "BM-87")
@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.CUT])
async def test_killed_learner_loses_nothing_and_repeats_nothing(fault: Fault) -> None:
    at, killed, asked = 1, True, []
    while killed:
        killed, calls = await _killed_at(fault, at)
        asked.append(calls)
        at += 1
    assert at > 40, "it was killed at every call"
    assert asked[-1] == 1
    assert set(asked) <= {1, 2}, "at most the call that was under way is made again"
