"""Which agents are due, and runs that people ask for."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.errors import NotFound
from graph.model.nodes.learning import DreamRun, RunState
from graph.rules.stage_b import StageBKey
from graph.services.access.commands import command
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.services.learning.jobs import find_job
from graph.services.learning.progress import find_progress, hold_progress
from graph.services.learning.stage_b import arrange_stage_b, due_stage_b, move_progress, request_run
from graph.store.port import Writer
from tests.support.clock import FakeClock
from tests.support.learning import episode
from tests.support.world import TeamWorld

LONG = timedelta(hours=6)


async def due(world: TeamWorld) -> list[StageBKey]:
    async with world.deps.store.reading() as reader:
        return [key for key in await due_stage_b(reader, world.deps.now()) if key.agent == world.atlas]


async def asked(world: TeamWorld) -> DreamRun:
    return await command(world.deps, world.caller(world.ana), lambda cmd: request_run(cmd, world.atlas))


async def change_job(world: TeamWorld, **fields: object) -> None:
    async with world.deps.store.reading() as reader:
        job = await find_job(reader, StageBKey(agent=world.atlas).unique_key)
    assert job is not None
    await world.deps.store.transact(lambda writer: writer.patch(job.id, fields))


@pytest.mark.req("DR-31", "DR-32", "DR-4")
async def test_what_nobody_sees_makes_nothing_due_and_waits_on(world: TeamWorld, clock: FakeClock) -> None:
    said = await world.say(world.ops, "Orion ships on Friday")
    await episode(world, "Release", said)
    clock.advance(LONG)
    assert await due(world) == [StageBKey(agent=world.atlas)]
    admin = world.caller(world.dan)
    await command(world.deps, admin, lambda cmd: withdraw_source(cmd, said, "a test"))
    assert await due(world) == []
    await command(world.deps, admin, lambda cmd: return_source(cmd, said, "a test"))
    assert await due(world) == [StageBKey(agent=world.atlas)]


@pytest.mark.req("DR-7", "DR-8")
async def test_a_job_is_asked_for_once_and_never_for_a_disabled_agent(world: TeamWorld, clock: FakeClock) -> None:
    await episode(world, "Release", await world.say(world.ops, "Orion ships on Friday"))
    clock.advance(LONG)
    disable = {"disabled_at": clock.now()}
    await world.deps.store.transact(lambda writer: writer.patch(world.atlas, disable))
    assert await due(world) == []
    await world.deps.store.transact(lambda writer: writer.patch(world.atlas, {"disabled_at": None}))
    assert StageBKey(agent=world.atlas) in await arrange_stage_b(world.deps)
    assert StageBKey(agent=world.atlas) not in await arrange_stage_b(world.deps)


async def test_cancelled_job_is_asked_for_again_when_something_new_waits(world: TeamWorld, clock: FakeClock) -> None:
    await episode(world, "Release", await world.say(world.ops, "Orion ships on Friday"))
    clock.advance(LONG)
    await arrange_stage_b(world.deps)
    await change_job(world, state="cancelled")
    clock.advance(LONG)
    assert StageBKey(agent=world.atlas) not in await arrange_stage_b(world.deps)
    await episode(world, "Delay", await world.say(world.ops, "Orion ships on Monday"))
    assert StageBKey(agent=world.atlas) in await arrange_stage_b(world.deps)


@pytest.mark.req("DR-8", "DR-82")
async def test_run_that_is_asked_for_during_another_follows_it(world: TeamWorld) -> None:
    first = await asked(world)
    running = {"state": str(RunState.RUNNING)}
    await world.deps.store.transact(lambda writer: writer.patch(first.id, running))
    await change_job(world, state="running")
    second = await asked(world)
    assert second.id != first.id
    assert (await asked(world)).id == second.id
    async with world.deps.store.reading() as reader:
        job = await find_job(reader, StageBKey(agent=world.atlas).unique_key)
    assert job is not None
    assert job.again_at == world.deps.now()


@pytest.mark.req("DR-32")
async def test_run_by_hand_does_not_wait_for_the_back_off(world: TeamWorld, clock: FakeClock) -> None:
    await asked(world)
    await change_job(world, attempts=2, last_error="MODEL_TIMEOUT", due_at=clock.now() + 1_800_000)
    await asked(world)
    async with world.deps.store.reading() as reader:
        job = await find_job(reader, StageBKey(agent=world.atlas).unique_key)
    assert job is not None
    assert job.due_at == clock.now()


async def test_only_an_agent_dreams(world: TeamWorld) -> None:
    for who in (world.ben, world.host):
        with pytest.raises(NotFound):
            await command(world.deps, world.caller(world.dan), lambda cmd, who=who: request_run(cmd, who))  # type: ignore[misc]


async def test_progress_is_made_on_first_use_and_moves_on(world: TeamWorld) -> None:
    key = StageBKey(agent=world.atlas)

    async def move(writer: Writer) -> None:
        row = await hold_progress(writer, key, world.workspace, world.deps.now())
        await move_progress(writer, row, failures=1)

    async with world.deps.store.reading() as reader:
        assert await find_progress(reader, key) is None
    await world.deps.store.transact(move)
    await world.deps.store.transact(move)
    async with world.deps.store.reading() as reader:
        row = await find_progress(reader, key)
    assert row is not None
    assert (row.version, row.failures) == (3, 1)
