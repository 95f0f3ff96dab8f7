"""A server that is killed under load: what was acknowledged is there after the restart, once."""

from __future__ import annotations

import asyncio
from pathlib import Path

from graph.model.errors import StoreUnavailable
from graph.model.nodes.work import AdminRecord
from graph.store.neo4j import Neo4jStore
from graph.store.port import Writer
from graph.store.query import Find
from tests.support import neo4j_server as launcher
from tests.support.builders import World
from tests.support.clock import FakeClock
from tests.support.neo4j_plugin import chosen_version
from tests.support.neo4j_server import Neo4jServer
from tests.support.neo4j_store import AUTH

WRITERS, BEFORE_THE_KILL = 4, 60


async def test_what_was_acknowledged_outlives_a_killed_server(own_server: Neo4jServer, world: World) -> None:
    store = Neo4jStore(own_server.uri, auth=AUTH, clock=FakeClock())
    await store.open()
    base = world.make_knowledge_base(version=0)
    await world.write(store, base)
    acknowledged: list[int] = []
    under_load = asyncio.Event()

    async def write(number: int) -> None:
        async def work(writer: Writer) -> int:
            value = await writer.increment(base.id, "version")
            await writer.put([record(world, value)])
            return value

        acknowledged.append(await store.transact(work, tx_id=f"{world.name}-{number}"))
        if len(acknowledged) == BEFORE_THE_KILL:
            under_load.set()

    async def writer(first: int) -> None:
        for number in range(first, 1_000_000, WRITERS):
            await write(number)

    writers = [asyncio.create_task(writer(first)) for first in range(WRITERS)]
    await under_load.wait()
    own_server.kill()
    ends = await asyncio.gather(*writers, return_exceptions=True)
    assert all(isinstance(end, StoreUnavailable) for end in ends)
    await store.close()
    await expect_all(own_server.home, world, acknowledged)


async def expect_all(home: Path, world: World, acknowledged: list[int]) -> None:
    """Start the server again and look for each record; a commit on its way when it was killed may be there too."""
    with launcher.start(chosen_version(), home=home) as server:
        store = Neo4jStore(server.uri, auth=AUTH, clock=FakeClock())
        await store.open()
        async with store.reading() as reader:
            found = [node.seq for node in (await reader.find(world.system, Find(kind=AdminRecord))).nodes]
        await store.close()
        server.kill()
    assert len(acknowledged) >= BEFORE_THE_KILL
    assert set(acknowledged) <= set(found)
    assert sorted(found) == list(range(1, len(found) + 1))
    assert len(found) - len(acknowledged) <= WRITERS


def record(world: World, number: int) -> AdminRecord:
    return world.make(
        AdminRecord,
        seq=number,
        tx_id="t",
        actor_id="prn_ana",
        operation="test",
        target_id="prn_ana",
        prev_hash="",
        hash="",
    )
