from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from graph.model.access import SystemScope
from graph.model.errors import StoreUnavailable
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.people import Right
from graph.model.nodes.work import AuditRecord
from graph.services.access.grants import grant
from graph.services.access.members import set_members
from graph.services.access.provisioning import create_channel
from graph.services.access.recorded_reads import read_recorded
from graph.services.access.session import Session
from graph.store.query import Eq, Find
from tests.support.faults import FaultyStore, fail_at
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import run

SYSTEM = SystemScope(reason="test")


async def opened(world: TeamWorld, who: NodeId, *nodes: NodeId) -> Mapping[NodeId, Node]:
    async def work(session: Session) -> Mapping[NodeId, Node]:
        shown: dict[NodeId, Node] = {}
        for node in nodes:  # one request that reads several times
            shown |= await session.open([node])
        return shown

    return await read_recorded(world.deps, world.caller(who), work)


async def records(world: TeamWorld) -> list[AuditRecord]:
    async with world.deps.store.reading() as reader:
        page = await reader.find(SYSTEM, Find(kind=AuditRecord, where=Eq("operation", "access.read")))
    return sorted(page.nodes, key=lambda record: record.seq)


@pytest.mark.req("KN-59", "KN-82")
async def test_an_auditors_read_of_a_private_chat_leaves_one_record_a_request(world: TeamWorld) -> None:
    first = await world.say(world.chat, "My salary is 90k.")
    second = await world.say(world.chat, "Keep it to yourself.")
    assert set(await opened(world, world.cleo, first, second)) == {first, second}
    [record] = await records(world)
    assert (record.actor_id, record.actor_kind, record.target_id) == (world.cleo, "human", record.pool)
    assert (record.before, record.after) == (None, None)
    await opened(world, world.cleo, first)
    assert [r.seq for r in await records(world)] == [record.seq, record.seq + 1]


@pytest.mark.req("KN-59")
async def test_each_private_base_of_a_request_gets_its_record(world: TeamWorld) -> None:
    other = await run(
        world,
        world.dan,
        lambda c: create_channel(c, world.atlas, ChannelKind.PRIVATE_CHAT, local_id="ben-private", members=[world.ben]),
    )
    nodes = [await world.say(place, "Between us.") for place in (world.chat, other.id)]
    await opened(world, world.cleo, *nodes)
    found = await records(world)
    assert len({r.pool for r in found}) == len(found) == 2
    assert len({r.tx_id for r in found}) == 1


@pytest.mark.req("KN-59")
async def test_nothing_is_recorded_for_partners_and_for_other_bases(world: TeamWorld) -> None:
    private = await world.say(world.chat, "My salary is 90k.")
    public = await world.say(world.ops, "The kiln is hot.")
    await opened(world, world.ana, private, public)
    await opened(world, world.cleo, public)
    assert await records(world) == []
    await run(world, world.host, lambda c: set_members(c, world.chat, [world.ana, world.cleo]))
    await opened(world, world.cleo, private)
    assert await records(world) == []


@pytest.mark.req("KN-59")
async def test_the_auditor_of_one_agent_is_recorded_too(world: TeamWorld) -> None:
    private = await world.say(world.chat, "My salary is 90k.")
    await run(world, world.dan, lambda c: grant(c, world.eve, Right.AUDITOR, world.atlas))
    await opened(world, world.eve, private)
    assert [r.actor_id for r in await records(world)] == [world.eve]


@pytest.mark.req("KN-59")
async def test_without_the_record_there_is_no_answer(world: TeamWorld) -> None:
    private = await world.say(world.chat, "My salary is 90k.")
    deps = replace(world.deps, store=FaultyStore(world.deps.store, [fail_at(1, "transact")]))

    async def work(session: Session) -> Mapping[NodeId, Node]:
        return await session.open([private])

    with pytest.raises(StoreUnavailable):
        await read_recorded(deps, world.caller(world.cleo), work)
    assert await records(world) == []


@pytest.mark.req("KN-59", "KN-58")
async def test_the_partner_sees_in_the_audit_who_read(world: TeamWorld) -> None:
    private = await world.say(world.chat, "My salary is 90k.")
    await opened(world, world.cleo, private)
    [record] = await records(world)
    assert record.id in await opened(world, world.ana, record.id)
    assert record.id not in await opened(world, world.ben, record.id)
