"""Refresh: consolidating at once, alone, and after whoever is at it already."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from dreaming.models.making import OneModel
from dreaming.models.port import ModelUnavailable
from dreaming.sessions.refresh import refresh_session
from graph.model.errors import Forbidden, MissingObject, ModelFailed, SurfaceConflict
from graph.model.nodes.people import Right
from graph.rules.jobs import JobState
from tests.support.held_clock import HeldClock
from tests.support.learning_room import AGENT, SESSION, LearningRoom, change, names, says
from tests.support.two_services import HeldModel, two_services
from tests.unit.dreaming.conftest import ENGINES


@pytest.fixture
def uri(engine: str, request: pytest.FixtureRequest) -> str | None:
    return str(request.getfixturevalue("neo4j_uri")) if engine == "neo4j" else None


async def woken(clock: HeldClock, task: asyncio.Future[Any]) -> None:
    """Let time pass until a task that looks again and again has ended."""
    while not task.done():
        await asyncio.wait({task, asyncio.ensure_future(clock.somebody_sleeps())}, return_when=asyncio.FIRST_COMPLETED)
        clock.advance(timedelta(milliseconds=250))
    await task


@pytest.mark.req("SM-46", "SM-50", "AM-21")
async def test_refresh_reads_what_is_unread_and_teaches_no_agent(room: LearningRoom) -> None:
    heron = await room.teaching()
    await room.make("ses_42", organization_id=heron.id, model="m-1")
    await room.say("i-20", local="ses_42")
    room.model.on(SESSION, says(change("venue", sources=["i-20"])))
    await room.refresh(local="ses_42")
    assert await room.facts("ses_42") == {"venue": "Porto."}
    assert await room.work() == []
    assert room.model.asked_for(AGENT) == []
    [record] = await room.records()
    assert (record.turn_id, record.outcome) == (None, "applied")


@pytest.mark.req("SM-52")
async def test_failure_of_the_model_changes_nothing_and_is_recorded(room: LearningRoom) -> None:
    await room.say("i-20")
    before = await room.memory()
    room.model.on(SESSION, ModelUnavailable("network"), says())
    with pytest.raises(ModelFailed):
        await room.refresh()
    assert await room.memory() == before
    assert await room.endings() == [("failed", "MODEL_NETWORK")]
    await room.refresh()
    assert await room.processed() == ["i-20"]


@pytest.mark.req("SM-48", "SM-49", "SM-51")
async def test_nobody_is_asked_without_generate_without_a_model_or_without_unread_items(room: LearningRoom) -> None:
    await room.refresh()
    await room.configure(generate=False)
    await room.say("i-20")
    await room.refresh()
    await room.make("ses_42")
    with pytest.raises(SurfaceConflict) as refused:
        await room.refresh(local="ses_42")
    assert refused.value.details["reason"] == "no_model"
    await room.configure(generate=False, local="ses_42")
    await room.refresh(local="ses_42")
    assert (room.model.asked, await room.records()) == ([], [])


@pytest.mark.req("SM-61", "SM-60")
async def test_refresh_needs_write(room: LearningRoom) -> None:
    world = room.world
    with pytest.raises(MissingObject):
        await room.refresh(who=world.eve)
    await world.grant(world.eve, Right.READ, room.id("ses_41"))
    with pytest.raises(Forbidden):
        await room.refresh(who=world.eve)


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("SM-114", "SM-116")
async def test_refresh_waits_for_a_consolidation_of_another_process(
    room: LearningRoom, clock: HeldClock, uri: str | None
) -> None:
    room.model.on(SESSION, says(change("a", sources=["i-20"])), says(change("b", sources=["i-21"])))
    await room.turn("t-1", "i-20")
    model = HeldModel(room.model)
    async with two_services(room.world.deps, uri=uri) as (one, other):
        first = asyncio.ensure_future(room.worker(deps=one, model=model).step())
        await model.asked.wait()
        await room.say("i-21")
        ana = room.world.caller(room.world.ana)
        second = asyncio.ensure_future(refresh_session(other, OneModel(model=room.model), ana, room.id("ses_41")))
        await clock.somebody_sleeps()
        assert room.model.asked == [], "nobody else asks while one is at it"
        model.go.set()
        await first
        await woken(clock, second)
    assert [names(request) for request in room.model.asked] == [["i-20"], ["i-21"]]
    assert await room.facts() == {"a": "Porto.", "b": "Porto."}
    assert await room.processed() == ["i-20", "i-21"]


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("SM-114", "SM-116")
async def test_of_many_refreshes_at_once_each_item_is_read_once(
    room: LearningRoom, clock: HeldClock, uri: str | None
) -> None:
    await room.say("i-20")
    room.model.on(SESSION, says(change("a", sources=["i-20"])))
    async with two_services(room.world.deps, uri=uri) as both:
        ana = room.world.caller(room.world.ana)
        work = [
            asyncio.ensure_future(refresh_session(deps, OneModel(model=room.model), ana, room.id("ses_41")))
            for deps in (*both, *both)
        ]
        await woken(clock, asyncio.ensure_future(_all(work)))
    assert len(room.model.asked) == 1
    assert [outcome for outcome, _ in await room.endings()] == ["applied"]
    assert len((await room.memory()).entries) == 1


async def _all(work: Sequence[asyncio.Future[Any]]) -> None:
    await asyncio.gather(*work)


@pytest.mark.req("SM-114")
async def test_worker_does_not_take_what_a_refresh_has(room: LearningRoom) -> None:
    await room.turn("t-1", "i-20")
    room.model.on(SESSION, says())
    model = HeldModel(room.model)
    room.stand.inner = model
    refresh = asyncio.ensure_future(room.refresh())
    await model.asked.wait()
    assert await room.worker().step() is False
    model.go.set()
    await refresh
    assert await room.work() == [], "the refresh did what the turn asked for"
    assert await room.processed() == ["i-20"]


@pytest.mark.req("SM-115", "SM-116")
async def test_refresh_takes_over_from_a_worker_that_died_when_its_lease_is_over(
    room: LearningRoom, clock: HeldClock
) -> None:
    room.model.on(SESSION, says())
    await room.turn("t-1", "i-20")
    await room.die()
    clock.advance(timedelta(minutes=10))
    await room.refresh()
    assert names(room.model.asked[0]) == ["i-20"]
    assert [outcome for outcome, _ in await room.endings()] == ["failed", "nothing"]


async def test_refresh_that_is_cancelled_lets_go_of_the_session(room: LearningRoom) -> None:
    await room.say("i-20")
    model = HeldModel(room.model)
    room.stand.inner = model
    refresh = asyncio.ensure_future(room.refresh())
    await model.asked.wait()
    refresh.cancel()
    with pytest.raises(asyncio.CancelledError):
        await refresh
    [job] = await room.jobs()
    assert (job.state, job.owner) == (JobState.FAILED, None)
    assert [outcome for outcome, _ in await room.endings()] == ["failed"]
    room.stand.inner = room.model.on(SESSION, says())
    await room.refresh()
    assert await room.processed() == ["i-20"]
