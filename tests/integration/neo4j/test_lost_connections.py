"""A connection that breaks around the COMMIT: each write is applied exactly once."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from itertools import cycle, islice

import pytest

from graph.model.errors import AlreadyExists, StoreUnavailable
from graph.model.nodes.work import AdminRecord
from graph.store.neo4j import Neo4jStore
from graph.store.port import Writer
from graph.store.query import Find
from tests.support.builders import World
from tests.support.clock import FakeClock
from tests.support.cutting_proxy import Cut, CuttingProxy
from tests.support.neo4j_server import Neo4jServer
from tests.support.neo4j_store import AUTH
from tests.support.profile import sized

CONNECTIONS = int(os.environ.get("ROOTWARD_TEST_CUTS") or sized(small=100, full=1_000))


@pytest.fixture
async def proxy(neo4j_server: Neo4jServer) -> AsyncIterator[CuttingProxy]:
    async with CuttingProxy(neo4j_server.port) as made:
        yield made


@pytest.fixture
async def cut_store(proxy: CuttingProxy) -> AsyncIterator[Neo4jStore]:
    store = Neo4jStore(proxy.uri, auth=AUTH, clock=FakeClock())
    await store.open()
    yield store
    await store.close()


def audited(world: World, number: int) -> AdminRecord:
    return world.make(
        AdminRecord,
        seq=number,
        tx_id=f"tx{number}",
        actor_id="prn_ana",
        operation="test",
        target_id="prn_ana",
        prev_hash="",
        hash="",
    )


async def test_each_write_is_applied_exactly_once(cut_store: Neo4jStore, proxy: CuttingProxy, world: World) -> None:
    base = world.make_knowledge_base(version=0)
    await world.write(cut_store, base)
    for number, cut in enumerate(islice(cycle(Cut), CONNECTIONS), start=1):

        async def work(writer: Writer, number: int = number) -> int:
            await writer.put([audited(world, number)])
            return await writer.increment(base.id, "version")

        proxy.arm(cut)
        assert await cut_store.transact(work, tx_id=f"{world.name}-{number}") == number
    assert proxy.cuts == CONNECTIONS
    async with cut_store.reading() as reader:
        records = await reader.find(world.system, Find(kind=AdminRecord))
        (found,) = (await reader.get(world.system, [base.id])).values()
    assert sorted(record.seq for record in records.nodes) == list(range(1, CONNECTIONS + 1))
    assert found.version == CONNECTIONS  # type: ignore[attr-defined]


@pytest.mark.parametrize("cut", list(Cut))
async def test_without_an_id_an_unknown_outcome_is_told_and_never_tried_again(
    cut_store: Neo4jStore, proxy: CuttingProxy, world: World, cut: Cut
) -> None:
    base, runs = world.make_knowledge_base(version=0), 0
    await world.write(cut_store, base)

    async def work(writer: Writer) -> None:
        nonlocal runs
        runs += 1
        await writer.increment(base.id, "version")

    proxy.arm(cut)
    with pytest.raises(StoreUnavailable) as told:
        await cut_store.transact(work)
    assert told.value.details == {"outcome": "unknown"}
    assert runs == 1


async def test_a_later_request_with_the_same_id_is_refused(cut_store: Neo4jStore, world: World) -> None:
    base = world.make_knowledge_base(version=0)
    await world.write(cut_store, base)
    await cut_store.transact(lambda writer: writer.increment(base.id, "version"), tx_id=world.name)
    with pytest.raises(AlreadyExists):
        await cut_store.transact(lambda writer: writer.increment(base.id, "version"), tx_id=world.name)
