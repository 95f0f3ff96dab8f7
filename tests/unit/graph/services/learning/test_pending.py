"""What waits for Stage B, from the transaction that made it to the batch that used it."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

import pytest

from graph.model.errors import Forbidden, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.learning import PendingItem
from graph.rules.pending import pending_id
from graph.rules.stage_a import StageAKey
from graph.services.access.commands import Command, command
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.services.learning.pending import consume, note_failure, parked_items, pending_items, release_parked
from graph.services.learning.progress import find_progress, hold_progress
from graph.services.learning.stage_a import park_message
from graph.services.ledger import COMMIT_GUARD
from graph.store.port import Writer
from tests.support.clock import FakeClock
from tests.support.learning import episode, task, waiting
from tests.support.operations import apply, block, create
from tests.support.world import TeamWorld


async def rows(world: TeamWorld) -> list[PendingItem]:
    async with world.deps.store.reading() as reader:
        return await pending_items(reader, world.atlas)


async def fail(world: TeamWorld, times: int) -> bool:
    """Let the first waiting item fail; true if that parked it."""
    parked = False
    for _ in range(times):
        (row, *_) = await rows(world)
        parked = await world.deps.store.transact(partial(note_failure, item=row))
    return parked


async def release(world: TeamWorld, item: NodeId, by: NodeId) -> bool:
    return await command(world.deps, world.caller(by), lambda cmd: release_parked(cmd, item))


@pytest.mark.req("DR-31", "DR-4")
async def test_task_results_and_episodes_wait_and_nothing_else_does(world: TeamWorld, clock: FakeClock) -> None:
    said = await world.say(world.ops, "we deploy on monday")
    await apply(world, create("Deploys", block("On monday")), by=world.ana, kb=(await world.open(world.ops)).pool)
    assert await waiting(world) == []  # neither messages nor notes of people
    done = await task(world, ("ok", "it ran"))
    clock.advance(timedelta(minutes=1))
    told = await episode(world, "deploys", said)
    assert await waiting(world) == [done, told]


@pytest.mark.req("DR-31")
async def test_a_changed_result_waits_in_the_place_of_the_old_one(world: TeamWorld) -> None:
    await task(world, ("ok", "it ran"))
    again = await task(world, ("error", "it broke"))
    assert await task(world, ("error", "it broke")) == again
    assert await waiting(world) == [again]


@pytest.mark.req("KN-67")
async def test_what_was_withdrawn_waits_on_when_it_returns(world: TeamWorld) -> None:
    first, second = await world.say(world.ops, "we deploy"), await world.say(world.ops, "on monday")
    told = await episode(world, "deploys", first, second)
    host = world.caller(world.host)
    await command(world.deps, host, lambda cmd: withdraw_source(cmd, second, None))
    assert await waiting(world) == []
    await command(world.deps, host, lambda cmd: return_source(cmd, second, None))
    assert await waiting(world) == [told]


@pytest.mark.req("DR-76")
async def test_a_batch_takes_its_items_away_or_not_at_all(world: TeamWorld) -> None:
    done = await task(world, ("ok", "it ran"))
    found = await rows(world)

    async def work(writer: Writer, *, fails: bool) -> None:
        await consume(writer, found)
        if fails:
            raise OperationRejected("SCHEMA_INVALID", "the batch fails")

    with pytest.raises(OperationRejected):
        await world.deps.store.transact(lambda writer: work(writer, fails=True))
    assert await waiting(world) == [done]
    await world.deps.store.transact(lambda writer: work(writer, fails=False))
    assert await waiting(world) == []


@pytest.mark.req("DR-79")
async def test_an_item_that_fails_three_times_is_parked_until_a_person_releases_it(world: TeamWorld) -> None:
    done = await task(world, ("ok", "it ran"))
    assert not await fail(world, 2)
    assert await waiting(world) == [done]
    assert await fail(world, 1)
    assert await waiting(world) == []
    async with world.deps.store.reading() as reader:
        assert [row.item_id for row in await parked_items(reader, world.atlas)] == [done]

    for who, error in ((world.host, NotFound), (world.eve, NotFound), (world.ben, OperationRejected)):
        with pytest.raises(error):
            await release(world, done, who)
    assert await release(world, pending_id(done), world.ana)
    assert await waiting(world) == [done]
    assert not await release(world, done, world.ana)
    assert not await fail(world, 2)


@pytest.mark.req("DR-79")
async def test_only_people_release_and_only_what_is_there(world: TeamWorld) -> None:
    said = await world.say(world.ops, "nothing waits for this")
    with pytest.raises(NotFound):
        await release(world, said, world.ana)
    done = await task(world, ("ok", "it ran"))
    conversation = (await world.open(world.ops)).id

    async def as_agent(cmd: Command) -> bool:
        await cmd.session.speak_in(conversation, idle_hours=24)
        return await release_parked(cmd, done)

    with pytest.raises(Forbidden):
        await command(world.deps, world.caller(world.atlas), as_agent)


@pytest.mark.req("DR-79")
async def test_a_parked_message_goes_back_to_stage_a_and_not_to_stage_b(world: TeamWorld) -> None:
    said = await world.say(world.ops, "nobody could make anything of this")

    async def set_aside(writer: Writer) -> None:
        message = (await writer.get(COMMIT_GUARD, [said]))[said]
        assert isinstance(message, Source)
        key = StageAKey(channel=world.ops, kb=NodeId(str(message.pool)))
        row = await hold_progress(writer, key, world.workspace, world.deps.now())
        await park_message(writer, row, message, world.atlas, world.deps.now())
        await writer.patch_many({row.id: {"cursor": message.seq, "carried": (), "returned": ()}})

    await world.deps.store.transact(set_aside)
    assert await waiting(world) == []
    assert await release(world, said, world.ana)
    assert await waiting(world) == []
    async with world.deps.store.reading() as reader:
        pool = (await world.open(world.ops)).pool
        progress = await find_progress(reader, StageAKey(channel=world.ops, kb=NodeId(str(pool))))
    assert progress is not None
    assert said in progress.returned
