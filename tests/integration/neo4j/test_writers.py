"""Many writers at once: deadlocks are nobody's business but the store's."""

from __future__ import annotations

import asyncio
import random
from functools import partial

import pytest

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import StoreUnavailable
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.store.neo4j import Neo4jStore
from graph.store.neo4j.faults import TryAgain
from graph.store.port import Writer
from graph.store.query import Direction, Find
from tests.support.builders import World, clause, shared

WORKERS, STATEMENTS = 8, 50


async def test_many_writers_on_one_popular_entity(store: Neo4jStore, world: World) -> None:
    acme = world.make_entry(name="Acme")
    people = [world.make_entry(name=f"Person {n}") for n in range(20)]
    await world.write(store, acme, *people, clauses=[clause(shared())])
    order = random.Random(7)

    async def worker() -> None:
        for _ in range(STATEMENTS):
            statement, person = world.make_block_version(), order.choice(people)
            ends = [world.cites(statement, acme), world.cites(statement, person), world.cites(acme, person)]
            order.shuffle(ends)

            await store.transact(partial(write, statement, person, ends))

    async def write(statement: BlockVersion, person: Entry, ends: list[Edge], writer: Writer) -> None:
        await writer.put([statement])
        for id in order.sample([acme.id, person.id], 2):
            await writer.patch_many({id: {"name": "renamed"}})
        await writer.link(ends)
        await writer.guard([world.guard_for(statement)])
        await writer.admit([world.audience_for(statement)])

    await asyncio.gather(*(worker() for _ in range(WORKERS)))
    async with store.reading() as reader:
        stored = await reader.find(world.system, Find(kind=BlockVersion))
        edges = await reader.edges(world.system, [acme.id], [EdgeType.CITES], Direction.IN)
        counted = await reader.aggregate(world.viewer(shared()), BlockVersion)
    assert len(stored.nodes) == len(edges) == counted[None] == WORKERS * STATEMENTS


async def test_two_writers_that_lock_the_other_way_round_both_get_through(store: Neo4jStore, world: World) -> None:
    entries = [world.make_entry() for _ in range(2)]
    await world.write(store, *entries)
    runs, first_locked = 0, [asyncio.Event(), asyncio.Event()]

    async def add(mine: int) -> None:
        async def work(writer: Writer) -> None:
            nonlocal runs
            runs += 1
            await writer.increment(entries[mine].id, "current_version")
            first_locked[mine].set()
            await first_locked[1 - mine].wait()
            await writer.increment(entries[1 - mine].id, "current_version")

        await store.transact(work)

    await asyncio.gather(add(0), add(1))
    async with store.reading() as reader:
        found = await reader.get(world.system, [entry.id for entry in entries])
    assert [node.current_version for node in found.values()] == [3, 3]  # type: ignore[attr-defined]
    assert runs > len(entries)


async def test_a_write_that_loses_every_time_says_so_and_leaves_nothing(store: Neo4jStore, world: World) -> None:
    entry, runs = world.make_entry(), 0

    async def work(writer: Writer) -> None:
        nonlocal runs
        runs += 1
        await writer.put([entry])
        raise TryAgain("lost again")

    with pytest.raises(StoreUnavailable, match="nothing was written"):
        await store.transact(work)
    assert runs > 1
    async with store.reading() as reader:
        assert not await reader.get(SystemScope(reason="test"), [entry.id])


async def test_a_node_deleted_while_another_writer_links_to_it_stays_a_demand(store: Neo4jStore, world: World) -> None:
    source, statements = world.make_source(), [world.make_block_version() for _ in range(12)]
    await world.write(store, source, *statements)

    async def link(statement: BlockVersion) -> None:
        await store.transact(lambda writer: writer.link([world.cites(statement, source)]))

    async def delete() -> None:
        await store.transact(lambda writer: writer.delete([source.id]))

    await asyncio.gather(*map(link, statements[:6]), delete(), *map(link, statements[6:]))
    async with store.reading() as reader:
        edges = await reader.edges(world.system, [source.id], [EdgeType.CITES], Direction.IN)
        assert not await reader.get(world.system, [source.id])
    assert {edge.source for edge in edges} == {statement.id for statement in statements}
