"""Everything out and in again; these tests empty the database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest

from graph.model.errors import BadState
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Entry
from graph.store.neo4j import Neo4jStore, archive
from graph.store.port import Row
from graph.store.query import Find, Match, Newest, TextIndex
from tests.support.builders import World, channel, clause, private, shared, vector
from tests.support.neo4j_store import run, wipe

NUMBERS = 3
VIEWERS = ((shared(),), (private("chn_1"),), (shared(), channel("chn_2")))


async def fill(store: Neo4jStore, world: World) -> None:
    """Store something of everything: links to what is missing, several clauses, tags, vectors, excluded viewers."""
    entries = [world.make_entry(name=f"名 {n}", type="topic") for n in range(NUMBERS)]
    sources = [world.make_source(text=f"text {n}", meta={"steps": [n]}) for n in range(NUMBERS)]
    block = world.make_block_version(embedding=vector(1.0, 0.5), embedding_model="m")
    clauses = [clause(shared()), clause(private("chn_1"))]
    nodes = [*entries, *sources, block]
    await world.write(
        store,
        *nodes,
        guards=[world.guard_for(node, tags=("topic",)) for node in nodes],
        audiences=[world.audience_for(node, *clauses, excluded=["prn_left"]) for node in nodes],
        edges=[world.cites(block, source, props={"quote": "so", "said_at": 1}) for source in sources]
        + [world.cites(block, world.id("src", "missing"), key="2", record=None)],
        texts=[world.text_for(entry, f"alpha C++ {n}") for n, entry in enumerate(entries)],
    )


async def rows_of(store: Neo4jStore) -> list[Row]:
    return [row async for row in store.export_rows()]


async def stream(rows: Iterable[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row


async def answers(store: Neo4jStore, world: World) -> list[object]:
    """Return what viewers get to see."""
    found: list[object] = []
    async with store.reading() as reader:
        for held in VIEWERS:
            viewer = world.viewer(*held)
            for kind in (Entry, Source):
                found.append(await reader.find(viewer, Find(kind=kind, order=Newest())))
                found.append(await reader.aggregate(viewer, kind))
            matches = await reader.match(viewer, Match(index=TextIndex.ENTRY, words=("alpha", "C++")))
            found += [sorted(hit.id for hit in matches.hits), matches.df, matches.total]
    return found


@pytest.mark.req("AD-41")
async def test_an_export_imported_into_an_empty_store_gives_equal_answers(
    empty_store: Neo4jStore, world: World, neo4j_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_PAGE", 2)
    monkeypatch.setattr(archive, "_BATCH", 3)
    await fill(empty_store, world)
    rows, before = await rows_of(empty_store), await answers(empty_store, world)
    await wipe(neo4j_uri)
    assert await empty_store.import_rows(stream(rows)) == len(rows)
    assert await answers(empty_store, world) == before
    assert await rows_of(empty_store) == rows


@pytest.mark.req("AD-41")
async def test_importing_the_same_rows_again_changes_nothing(
    empty_store: Neo4jStore, world: World, neo4j_uri: str
) -> None:
    await fill(empty_store, world)
    rows = await rows_of(empty_store)
    counted = await run(neo4j_uri, "MATCH (n) RETURN count(n)")
    await empty_store.import_rows(stream(rows))
    assert await rows_of(empty_store) == rows
    assert await run(neo4j_uri, "MATCH (n) RETURN count(n)") == counted


async def test_an_import_that_was_killed_is_finished_by_the_next(
    empty_store: Neo4jStore, world: World, neo4j_uri: str
) -> None:
    await fill(empty_store, world)
    rows = await rows_of(empty_store)
    await wipe(neo4j_uri)
    await empty_store.import_rows(stream(rows[: len(rows) // 2]))
    await empty_store.import_rows(stream(rows))
    assert await rows_of(empty_store) == rows


async def test_an_import_that_fails_takes_back_what_it_loaded(
    empty_store: Neo4jStore, world: World, neo4j_uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "_BATCH", 2)
    await fill(empty_store, world)
    rows = await rows_of(empty_store)
    await wipe(neo4j_uri)

    async def damaged() -> AsyncIterator[Row]:
        for row in rows[:-1]:
            yield row
        raise OSError("damaged")

    with pytest.raises(OSError, match="damaged"):
        await empty_store.import_rows(damaged())
    assert await rows_of(empty_store) == []
    assert await run(neo4j_uri, "MATCH (n:Aud|Text) RETURN count(n)") == [[0]]
    assert await run(neo4j_uri, "MATCH (n:Counter) RETURN coalesce(sum(n.n), 0)") == [[0]]


async def test_a_store_that_holds_other_data_takes_no_import(empty_store: Neo4jStore, world: World) -> None:
    await fill(empty_store, world)
    rows = await rows_of(empty_store)
    await world.write(empty_store, world.make_entry(name="Other"))
    with pytest.raises(BadState):
        await empty_store.import_rows(stream(rows))


async def test_an_export_is_of_one_state_and_holds_writers_back_meanwhile(
    empty_store: Neo4jStore, world: World
) -> None:
    await fill(empty_store, world)
    expected = await rows_of(empty_store)
    rows = empty_store.export_rows()
    first = await anext(rows)
    late = asyncio.create_task(world.write(empty_store, world.make_entry(name="Late")))
    async with empty_store.reading() as reader:
        assert await reader.aggregate(world.system, Entry) == {None: NUMBERS}
    assert [first, *[row async for row in rows]] == expected
    await late
    assert len(await rows_of(empty_store)) == len(expected) + 1


async def test_an_export_that_is_given_up_lets_writers_go_on(empty_store: Neo4jStore, world: World) -> None:
    await fill(empty_store, world)
    rows = empty_store.export_rows()
    await anext(rows)
    await rows.aclose()  # type: ignore[attr-defined]
    await world.write(empty_store, world.make_entry(name="Late"))
    async with empty_store.reading() as reader:
        assert await reader.aggregate(world.system, Entry) == {None: NUMBERS + 1}
