"""Export gives everything in one state; import takes it into an empty store, and again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

import pytest

from graph.model.access import Audience, Guard
from graph.model.edges import Edge
from graph.model.errors import AlreadyExists, BadState
from graph.model.fields import Node
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.store.port import Row, Store
from graph.store.query import Newest, Tagged, TextRow
from tests.contract.store.asking import Ask, comparable
from tests.support.builders import NOW, World, clause, private, shared, vector

pytestmark = pytest.mark.req("KN-12")


async def fill(store: Store, world: World) -> list[Row]:
    """Store some of everything and return the rows."""
    entry = world.make_entry(name="e\u0301\x00", live_name="heron")
    block = world.make_block_version(embedding=vector(1, 0), embedding_model="m")
    source, episode = (
        world.make_source(state="live"),
        world.make_episode(conclusions={"a": [1, None]}, systems=("a,b",)),
    )
    guarded = [entry, block, source, episode]
    guards = [world.guard_for(node, tags=("x", "y")) for node in guarded]
    audiences = [
        world.audience_for(node, clause(shared()), clause(private("chn_1"), shared("b")), excluded=["prn_ana"])
        for node in guarded
    ]
    edges = [world.cites(block, source, props={"quote": "q"}, record=None), world.cites(block, world.id("src", "gone"))]
    texts = [world.text_for(entry, "dog dog"), world.text_for(block, ["a\x00", "é"])]
    unguarded = [world.make_job(unique_key=world.name), world.make_grant(), world.make_knowledge_base()]
    await world.write(store, *guarded, guards=guards, audiences=audiences, edges=edges, texts=texts)
    await world.write(store, *unguarded)
    return [*guarded, *unguarded, *edges, *guards, *audiences, *texts]


def of_world(world: World, rows: Iterable[Row]) -> list[Row]:
    return [row for row in rows if world.name in repr(row)]


def by_kind(rows: Iterable[Row]) -> list[str]:
    return sorted(repr(_plain(row)) for row in rows)


def _plain(row: Row) -> Any:
    if isinstance(row, Guard):
        rules = sorted(row.rules) if row.rules is not None else None
        return (row.node, row.kind, row.pool, row.need, rules, row.tags, row.sort_at, row.live, row.held)
    if isinstance(row, Audience):
        return (row.node, sorted(map(sorted, row.clauses)), sorted(row.excluded))
    return row


async def exported(store: Store) -> list[Row]:
    return [row async for row in store.export_rows()]


async def stream(rows: Iterable[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row


async def test_export_gives_every_row_nodes_first(store: Store, world: World) -> None:
    rows = await fill(store, world)
    found = of_world(world, await exported(store))
    assert by_kind(found) == by_kind(rows)
    kinds = [isinstance(row, Node) for row in found]
    assert kinds == sorted(kinds, reverse=True)


async def test_an_import_answers_like_the_original(store: Store, ask: Ask, world: World, empty_store: Store) -> None:
    rows = await fill(store, world)
    archive = of_world(world, await exported(store))
    assert await empty_store.import_rows(stream(archive)) == len(rows)
    assert by_kind(await exported(empty_store)) == by_kind(archive)
    copy = Ask(empty_store)
    for scope in (world.system, world.viewer(shared()), world.viewer(shared(), principal="prn_ana")):
        assert await copy.page(scope, Entry, Tagged(("y",)), order=Newest()) == await ask.page(
            scope, Entry, Tagged(("y",)), order=Newest()
        )
        assert await copy.count(scope, Entry) == await ask.count(scope, Entry)
        mine, copied = await ask.match(scope, "dog", "é"), await copy.match(scope, "dog", "é")
        assert comparable(copied) == comparable(mine)
        assert await copy.nearest(scope, BlockVersion, [1, 0]) == await ask.nearest(scope, BlockVersion, [1, 0])
    block = next(row for row in rows if isinstance(row, BlockVersion))
    assert (await copy.closure(block.id)).depths == (await ask.closure(block.id)).depths
    with pytest.raises(AlreadyExists):
        await empty_store.transact(lambda w: w.put([world.make_entry(live_name="heron")]))


async def test_the_same_rows_may_come_again(store: Store, world: World, empty_store: Store) -> None:
    rows = await fill(store, world)
    archive = of_world(world, await exported(store))
    first = await empty_store.import_rows(stream(archive))
    again = await empty_store.import_rows(stream(archive))
    assert first == again == len(rows)
    assert by_kind(await exported(empty_store)) == by_kind(rows)


async def test_a_store_with_other_data_takes_nothing(store: Store, world: World, empty_store: Store) -> None:
    rows = await fill(store, world)
    await world.write(empty_store, world.make_entry(created_at=NOW))
    before = await exported(empty_store)
    with pytest.raises(BadState):
        await empty_store.import_rows(stream(rows))
    assert await exported(empty_store) == before


async def test_a_stream_that_breaks_off_leaves_nothing(store: Store, world: World, empty_store: Store) -> None:
    rows = await fill(store, world)

    async def broken() -> AsyncIterator[Row]:
        for row in rows[:4]:
            yield row
        raise OSError("the archive is damaged")

    with pytest.raises(OSError, match="damaged"):
        await empty_store.import_rows(broken())
    assert await exported(empty_store) == []
    assert await empty_store.import_rows(stream(rows)) == len(rows)


async def test_an_empty_archive_is_fine(empty_store: Store) -> None:
    assert await empty_store.import_rows(stream([])) == 0
    assert await exported(empty_store) == []


async def test_export_is_one_state_while_others_write(snapshot_store: Store, world: World) -> None:
    rows = await fill(snapshot_store, world)
    seen: list[Row] = []
    async for row in snapshot_store.export_rows():
        if not seen:
            await world.write(snapshot_store, world.make_entry(), clauses=[clause(shared())])
        seen.append(row)
    assert by_kind(of_world(world, seen)) == by_kind(rows)
    assert {type(row) for row in rows} >= {Edge, TextRow, Entry}
