from __future__ import annotations

import asyncio

import pytest

from graph.model.access import SystemScope
from graph.model.errors import BadInput, Forbidden, LimitExceeded, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.learning import PendingItem, SignalSource
from graph.model.nodes.work import AdminRecord
from graph.model.time import Millis
from graph.rules.ingest import Arrival
from graph.rules.pools import base_id
from graph.rules.signals import MAX_TEXT, IncomingSignal
from graph.services.knowledge.operations import apply_operations
from graph.services.knowledge.signals import SignalReceipt, ingest_signal
from graph.services.knowledge.signals_provisioning import create_signal_source, set_signal_source, signal_sources
from graph.store.query import Find
from tests.support.operations import block, cite, create
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import ask, run, sees

SYSTEM = SystemScope(reason="test")


def signal(external_id: str = "e1", payload: object = None, type: str = "deploy.done") -> IncomingSignal:
    said = {"version": "4.2", "to": "Berlin"} if payload is None else payload
    return IncomingSignal(external_id=external_id, type=type, payload=said, occurred_at=Millis(1_700_000_000_000))


@pytest.fixture
async def deploys(world: TeamWorld) -> SignalSource:
    return await make(world)


async def make(world: TeamWorld, base: KbKind = KbKind.SHARED, **more: object) -> SignalSource:
    return await run(
        world,
        world.dan,
        lambda cmd: create_signal_source(cmd, world.atlas, "Deploys", base, **more),  # type: ignore[arg-type]
    )


async def send(world: TeamWorld, to: SignalSource, what: IncomingSignal, who: NodeId | None = None) -> SignalReceipt:
    return await run(world, who or world.host, lambda cmd: ingest_signal(cmd, to.id, what))


async def all_of(world: TeamWorld, kind: type) -> list[object]:
    async with world.deps.store.reading() as reader:
        return list((await reader.find(SYSTEM, Find(kind=kind))).nodes)


@pytest.mark.req("MA-15", "MA-16")
async def test_an_event_becomes_a_source_of_the_base_its_source_is_routed_to(
    world: TeamWorld, deploys: SignalSource
) -> None:
    receipt = await send(world, deploys, signal())
    assert (receipt.stored, receipt.arrival) == (True, Arrival.STORED)
    source = await ask(world, world.ben, lambda s: s.open_one(receipt.source_id or NodeId(""), Source))
    assert (source.kind, source.pool) == (SourceKind.SIGNAL, base_id(world.name, world.atlas, KbKind.SHARED))
    assert source.text == 'deploy.done\n{\n "version": "4.2",\n "to": "Berlin"\n}'
    assert (source.speaker, source.occurred_at) == ("Deploys", 1_700_000_000_000)
    assert not await sees(world, world.eve, source.id)


@pytest.mark.req("MA-15", "DR-31")
async def test_it_waits_for_stage_b_and_can_be_cited(world: TeamWorld, deploys: SignalSource) -> None:
    receipt = await send(world, deploys, signal())
    assert receipt.source_id is not None
    assert [row.item_id for row in await all_of(world, PendingItem)] == [receipt.source_id]  # type: ignore[attr-defined]
    shipped = create("Orion", block("Orion 4.2 runs in Berlin.", cite(receipt.source_id, '"to": "Berlin"')))
    base = base_id(world.name, world.atlas, KbKind.SHARED)
    done = await run(
        world, world.ana, lambda cmd: apply_operations(cmd, operations=[shipped], reason="noted", kb_id=base)
    )
    assert done.verdicts[0].code is None


@pytest.mark.req("MA-16")
async def test_a_repeated_external_id_is_ignored_whatever_it_says_now(world: TeamWorld, deploys: SignalSource) -> None:
    first = await send(world, deploys, signal())
    again = await send(world, deploys, signal(payload="something else"))
    assert (again.source_id, again.arrival) == (first.source_id, Arrival.UNCHANGED)
    assert len(await all_of(world, Source)) == 1


@pytest.mark.req("MA-16")
async def test_ids_of_two_signal_sources_do_not_meet(world: TeamWorld, deploys: SignalSource) -> None:
    other = await make(world)
    await send(world, deploys, signal())
    assert (await send(world, other, signal())).arrival == Arrival.STORED


@pytest.mark.req("MA-16")
async def test_the_same_event_twice_at_the_same_time_is_stored_once(world: TeamWorld, deploys: SignalSource) -> None:
    receipts = await asyncio.gather(*(send(world, deploys, signal()) for _ in range(5)))
    assert len({receipt.source_id for receipt in receipts}) == 1
    assert len(await all_of(world, Source)) == 1


@pytest.mark.req("MA-18", "MA-17")
async def test_of_a_volatile_source_nothing_is_written(world: TeamWorld) -> None:
    prices = await make(world, volatile=True)
    before = await all_of(world, KnowledgeBase)
    receipt = await send(world, prices, signal(payload={"price": 12}))
    assert (receipt.stored, receipt.source_id) == (False, None)
    assert await all_of(world, KnowledgeBase) == before
    for kind in (Source, PendingItem):
        assert await all_of(world, kind) == []


@pytest.mark.req("MA-16", "KN-52")
async def test_a_changed_route_holds_for_later_events_alone(world: TeamWorld, deploys: SignalSource) -> None:
    first = await send(world, deploys, signal())
    await run(
        world,
        world.dan,
        lambda cmd: set_signal_source(cmd, deploys.id, base=KbKind.CHANNEL, channel_id=world.ops),
    )
    later = await send(world, deploys, signal("e2"))
    assert (await send(world, deploys, signal())).source_id == first.source_id
    sources = {source.id: source.pool for source in await all_of(world, Source)}  # type: ignore[attr-defined]
    assert sources == {
        first.source_id: base_id(world.name, world.atlas, KbKind.SHARED),
        later.source_id: base_id(world.name, world.atlas, KbKind.CHANNEL, world.ops),
    }


@pytest.mark.req("AD-15")
async def test_hosts_and_the_agent_itself_report_and_nobody_else(world: TeamWorld, deploys: SignalSource) -> None:
    assert (await send(world, deploys, signal("a"), world.atlas)).stored
    for who in (world.ana, world.ben, world.cleo, world.eve):
        with pytest.raises(NotFound):
            await send(world, deploys, signal("b"), who)
    with pytest.raises(NotFound):
        await run(world, world.host, lambda cmd: ingest_signal(cmd, NodeId("sig_nowhere"), signal()))


@pytest.mark.req("MA-16")
@pytest.mark.parametrize(
    ("what", "error"),
    [
        (signal(""), BadInput),
        (signal("x" * 513), BadInput),
        (signal(type=" "), BadInput),
        (signal(payload={}), BadInput),
        (signal(payload="x" * MAX_TEXT), LimitExceeded),
    ],
)
async def test_what_cannot_be_taken_is_refused(
    world: TeamWorld, deploys: SignalSource, what: IncomingSignal, error: type[Exception]
) -> None:
    with pytest.raises(error):
        await send(world, deploys, what)
    assert await all_of(world, Source) == []


@pytest.mark.req("AD-18", "KN-46")
async def test_only_an_admin_makes_signal_sources_and_each_step_is_audited(world: TeamWorld) -> None:
    for who in (world.ana, world.host, world.atlas):
        with pytest.raises(Forbidden):
            await run(world, who, lambda cmd: create_signal_source(cmd, world.atlas, "X", KbKind.SHARED))
    made = await make(world, local_id="deploys")
    await run(world, world.dan, lambda cmd: set_signal_source(cmd, made.id, volatile=True))
    assert [node.id for node in await ask(world, world.host, lambda s: signal_sources(s, world.atlas))] == [made.id]
    with pytest.raises(Forbidden):
        await ask(world, world.ben, lambda s: signal_sources(s, world.atlas))
    steps = [r for r in await all_of(world, AdminRecord) if r.target_id == made.id]  # type: ignore[attr-defined]
    assert [step.operation for step in steps] == ["signal_source.set"] * 2  # type: ignore[attr-defined]


@pytest.mark.req("AD-18", "MA-14")
@pytest.mark.parametrize(("base", "channel"), [(KbKind.PRIVATE, None), (KbKind.CHANNEL, None), (KbKind.SHARED, "ops")])
async def test_nothing_is_routed_into_private_chats_or_to_half_named_bases(
    world: TeamWorld, base: KbKind, channel: str | None
) -> None:
    with pytest.raises(BadInput):
        await make(world, base, channel_id=world.ops if channel else None)
    with pytest.raises(NotFound):
        await make(world, KbKind.CHANNEL, channel_id=world.chat)
