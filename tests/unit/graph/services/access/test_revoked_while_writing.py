"""What commits after a revocation was decided without the right (KN-116, ADR 0025)."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.access import SystemScope
from graph.model.errors import NotFound, StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.people import Right
from graph.rules.ingest import IncomingMessage
from graph.services.access.commands import MAX_REPEATS, Command
from graph.services.access.grants import grant, revoke
from graph.services.access.members import set_members
from graph.services.knowledge.ingest import ingest_messages
from graph.store.port import Isolation
from graph.store.query import Eq, Find
from tests.support.profile import sized
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import run

pytestmark = pytest.mark.req("AD-6", "KN-116")

ENGINES = ["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
ON_NEO4J = pytest.mark.parametrize("engine", [pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True)
ROUNDS = sized(small=6, full=200)


async def take(world: TeamWorld) -> None:
    await run(world, world.dan, lambda cmd: revoke(cmd, world.host, Right.HOST, world.node))


async def give(world: TeamWorld) -> None:
    await run(world, world.dan, lambda cmd: grant(cmd, world.host, Right.HOST, world.node))


async def stored(world: TeamWorld) -> int:
    async with world.deps.store.reading() as reader:
        query = Find(kind=Source, where=Eq("workspace", world.workspace))
        return len((await reader.find(SystemScope(reason="what was written"), query)).nodes)


async def say(cmd: Command, conversation: NodeId, name: str) -> None:
    said = IncomingMessage(external_id=name, sent_at=cmd.at, text=f"said {name}")
    await ingest_messages(cmd, conversation, [said])


@ON_NEO4J
@pytest.mark.parametrize("moment", ["before the writes", "after the writes"])
async def test_a_command_that_a_revocation_overtakes_is_decided_again(world: TeamWorld, moment: str) -> None:
    """The store lets the revocation commit between the facts and the commit: only the last look notices it."""
    conversation = await world.open(world.ops)
    tries = 0

    async def work(cmd: Command) -> None:
        nonlocal tries
        tries += 1
        if moment == "after the writes":
            await say(cmd, conversation.id, "late")
        if tries == 1:
            await take(world)
        if moment == "before the writes":
            await say(cmd, conversation.id, "late")

    with pytest.raises(NotFound):
        await run(world, world.host, work)
    assert tries == 2
    assert await stored(world) == 0


@ON_NEO4J
@pytest.mark.req("AD-7", "BM-62")
async def test_a_command_for_somebody_whose_right_goes_meanwhile_is_decided_again(world: TeamWorld) -> None:
    """The host may do it all the time; it is done for Ben, and what he reads decides it."""
    conversation = await world.open(world.ops)
    read_by: list[bool] = []

    async def work(cmd: Command) -> None:
        ben = await cmd.session.facts_of(world.caller(world.ben))
        read_by.append(bool(ben.channels))
        if len(read_by) == 1:
            await run(world, world.dan, lambda c: set_members(c, world.ops, [world.ana]))
        await say(cmd, conversation.id, f"he is {'in' if ben.channels else 'out'}")

    await run(world, world.host, work)
    assert read_by == [True, False]
    assert await stored(world) == 1


@ON_NEO4J
async def test_a_command_that_a_new_right_overtakes_is_decided_again_and_succeeds(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    tries = 0

    async def work(cmd: Command) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            await take(world)
            await give(world)
        await say(cmd, conversation.id, "kept")

    await run(world, world.host, work)
    assert tries == 2
    assert await stored(world) == 1


@ON_NEO4J
async def test_a_command_whose_caller_changes_without_end_gives_up_and_writes_nothing(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    tries = 0

    async def work(cmd: Command) -> None:
        nonlocal tries
        tries += 1
        await (take if tries % 2 == 0 else give)(world)
        await (give if tries % 2 == 0 else take)(world)
        await give(world)
        await say(cmd, conversation.id, "never") if cmd.facts.grants else None

    with pytest.raises(StoreUnavailable):
        await run(world, world.host, work)
    assert tries == MAX_REPEATS
    assert await stored(world) == 0


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_a_command_that_moves_its_own_callers_rights_runs_once(world: TeamWorld) -> None:
    tries = 0

    async def work(cmd: Command) -> None:
        nonlocal tries
        tries += 1
        await grant(cmd, world.dan, Right.AUDITOR, world.node)
        await revoke(cmd, world.dan, Right.AUDITOR, world.node)

    await run(world, world.dan, work)
    await run(world, world.host, lambda cmd: set_members(cmd, world.ops, [world.ana, world.host]))
    assert tries == 1


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_nothing_commits_after_the_revocation_that_raced_with_it(world: TeamWorld) -> None:
    conversation = await world.open(world.ops)
    for number in range(ROUNDS):

        async def write(name: str = f"m{number}", wait: int = number % 3) -> bool:
            await _turns(wait)
            try:
                await run(world, world.host, lambda cmd: say(cmd, conversation.id, name))
            except NotFound:
                return False
            return True

        async def lose(wait: int = number // 3 % 3) -> int:
            await _turns(wait)
            await take(world)
            return await stored(world)

        before = await stored(world)
        wrote, there = await asyncio.gather(write(), lose())
        assert await stored(world) == there == before + wrote
        await give(world)


@ON_NEO4J
async def test_the_store_of_these_races_has_no_snapshots(world: TeamWorld) -> None:
    """Were it otherwise, the overtaking above would wait for itself."""
    assert world.deps.store.isolation is Isolation.READ_COMMITTED


async def _turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)
