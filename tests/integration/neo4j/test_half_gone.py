"""Readers beside writers who remove what is read: a thing half gone reads as gone, and nobody's read fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from graph.model.edges import EdgeType
from graph.model.nodes.knowledge import BlockVersion
from graph.store.neo4j import Neo4jStore
from graph.store.port import Reader, Writer
from graph.store.query import Direction, Find, Match, TextIndex
from tests.support.builders import World, clause, shared, vector
from tests.support.profile import sized

ROUNDS = sized(small=15, full=1_000)
READERS = 2
MANY = 120
"""So many things are read at once: the last ones are looked at long after they were found."""

Work = Callable[[], Coroutine[Any, Any, None]]


async def beside(write: Work, read: Work) -> None:
    """Write some rounds while readers read all the time."""
    done = asyncio.Event()

    async def reading() -> None:
        while not done.is_set():
            await read()

    readers = [asyncio.create_task(reading()) for _ in range(READERS)]
    try:
        for _ in range(ROUNDS):
            await write()
    finally:
        done.set()
        await asyncio.gather(*readers)


async def test_links_that_are_removed_and_made_again_while_they_are_read(store: Neo4jStore, world: World) -> None:
    statements = [world.make_block_version() for _ in range(MANY)]
    source = world.make_source()
    links = [world.cites(statement, source, record=("a", "b")) for statement in statements]
    await world.write(store, source, *statements, clauses=[clause(shared())], edges=links)
    ids, identities = [statement.id for statement in statements], {link.identity for link in links}

    async def write() -> None:
        await store.transact(lambda writer: writer.unlink(links))
        await store.transact(lambda writer: writer.link(links))

    async def read() -> None:
        async with store.reading() as reader:
            found = await reader.edges(world.system, ids, [EdgeType.CITES], Direction.OUT)
            reached = await reader.closure(ids, [EdgeType.CITES], Direction.OUT)
        assert {edge.identity for edge in (*found, *reached.edges)} <= identities

    await beside(write, read)


async def test_nodes_that_are_deleted_and_made_again_while_they_are_read(store: Neo4jStore, world: World) -> None:
    versions = [world.make_block_version(embedding=vector(1.0, 0.5), embedding_model="m") for _ in range(MANY)]
    guards = {version.id: world.guard_for(version, excluded=frozenset({version.id})) for version in versions}
    audiences = {version.id: world.audience_for(version, excluded=[version.id]) for version in versions}
    texts = {text.id: text for text in (world.text_for(version, "word", part="block") for version in versions)}
    ids = [version.id for version in versions]
    facts = [*guards.values()], [*audiences.values()], [*texts.values()]

    async def make(writer: Writer) -> None:
        await writer.put(versions)
        await writer.guard(facts[0])
        await writer.admit(facts[1])
        await writer.index(facts[2])

    async def write() -> None:
        await store.transact(lambda writer: writer.delete(ids))
        await store.transact(make)

    async def read() -> None:
        async with store.reading() as reader:
            for guard in (await reader.guards(ids)).values():
                assert guard == guards[guard.node]
            for audience in (await reader.audiences(ids)).values():
                assert audience == audiences[audience.node]
            await read_all(reader)

    async def read_all(reader: Reader) -> None:
        for scope in (world.system, world.viewer(shared())):
            assert set((await reader.get(scope, ids)).values()) <= set(versions)
            assert set((await reader.find(scope, Find(kind=BlockVersion))).nodes) <= set(versions)
            counted = await reader.aggregate(scope, BlockVersion, by="basis")
            assert counted.keys() <= {"stated"}
            near = await reader.nearest(scope, BlockVersion, [1.0, 0.5], model="m", limit=MANY)
            assert {neighbour.id for neighbour in near} <= set(ids)
            matches = await reader.match(scope, Match(index=TextIndex.ENTRY, words=("word",), limit=MANY))
            assert {hit.id for hit in matches.hits} <= texts.keys()

    await store.transact(make)
    await beside(write, read)
