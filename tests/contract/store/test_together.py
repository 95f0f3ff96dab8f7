"""Questions side by side, in a transaction that has something to write: each sees all that was written before."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.people import Principal
from graph.store.port import Reader, Store, Writer
from graph.store.query import Direction, Eq, Find, Match, Newest, TextIndex
from tests.contract.store.asking import Ask, comparable
from tests.support.builders import World, clause, shared

pytestmark = pytest.mark.req("KN-12")

ANYWHERE = SystemScope(reason="test")
PATIENCE_S = 30

Questions = list[Callable[[], Awaitable[Any]]]


async def asked(reader: Reader, *questions: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Ask side by side; whoever waits for ever is told."""
    async with asyncio.timeout(PATIENCE_S):
        return list(await reader.together(questions))


async def test_what_is_removed_and_what_is_put_shows_to_all_who_ask(store: Store, world: World) -> None:
    old, new = world.make_entry(), world.make_entry()
    await world.write(store, old)

    async def work(writer: Writer) -> list[Any]:
        await writer.delete([old.id])
        await writer.put([new])
        return await asked(
            writer, lambda: writer.get(ANYWHERE, [old.id]), lambda: writer.get(ANYWHERE, [new.id, old.id])
        )

    assert await store.transact(work) == [{}, {new.id: new}]


async def test_all_who_count_count_what_was_removed(store: Store, world: World) -> None:
    entries = [world.make_entry() for _ in range(3)]
    await world.write(store, *entries, clauses=[clause(shared())])
    viewer = world.viewer(shared())

    async def work(writer: Writer) -> list[Any]:
        assert (await writer.aggregate(viewer, Entry))[None] == 3
        await writer.delete([entries[0].id])
        counts = [lambda: writer.aggregate(viewer, Entry)] * 2
        return [answer[None] for answer in await asked(writer, *counts)]

    assert await store.transact(work) == [2, 2]


async def test_who_reads_and_who_counts_side_by_side_agree(store: Store, world: World) -> None:
    entries = [world.make_entry() for _ in range(3)]
    await world.write(
        store, *entries, clauses=[clause(shared())], texts=[world.text_for(one, "dog") for one in entries]
    )
    viewer = world.viewer(shared())

    async def work(writer: Writer) -> list[Any]:
        question = Match(index=TextIndex.ENTRY, words=("dog",))
        assert (await writer.match(viewer, question)).total == 3
        await writer.delete([entries[0].id])
        pages: Questions = [
            lambda: writer.find(viewer, Find(kind=Entry, order=Newest(), first=5)),
            lambda: writer.aggregate(viewer, Entry),
            lambda: writer.match(viewer, question),
        ]
        page, counts, matches = await asked(writer, *pages)
        return [len(page.nodes), counts[None], len(matches.hits), matches.total]

    assert await store.transact(work) == [2, 2, 2, 2]


async def test_a_count_by_a_field_does_not_overtake_a_change(store: Store, world: World) -> None:
    entry = world.make_entry(name="old", live_name="old")
    await world.write(store, entry, clauses=[clause(shared())])
    viewer = world.viewer(shared())
    changed = replace(entry, name="new")

    async def work(writer: Writer) -> list[Any]:
        await writer.aggregate(viewer, Entry)
        await writer.patch_many({entry.id: {"name": "new"}})
        questions: Questions = [
            lambda: writer.get(ANYWHERE, [entry.id]),
            lambda: writer.aggregate(viewer, Entry, by="name"),
            lambda: writer.aggregate(viewer, Entry, Eq("pool", entry.pool), by="name"),
            lambda: writer.edges(ANYWHERE, [entry.id], [EdgeType.CITES], Direction.OUT),
        ]
        return await asked(writer, *questions)

    assert await store.transact(work) == [{entry.id: changed}, {"new": 1}, {"new": 1}, []]


async def test_a_text_that_moves_away_from_what_is_removed_is_counted_once(
    store: Store, ask: Ask, world: World
) -> None:
    old, new = world.make_entry(), world.make_entry()
    text, other = world.text_for(old, "dog"), world.text_for(new, "cat")
    await world.write(store, old, new, clauses=[clause(shared())], texts=[text, other])

    async def work(writer: Writer) -> None:
        await writer.delete([old.id])
        await writer.index([replace(text, guard=new.id, item=new.id)])

    await store.transact(work)
    question = await ask.match(world.viewer(shared()), "cat")
    assert (comparable(question)[1:], await ask.found(world.viewer(shared()), "dog")) == (({"cat": 1}, 2), [text.id])


async def test_what_has_a_guard_before_it_is_put_is_let_in(store: Store, ask: Ask, world: World) -> None:
    """A store that takes what is put for new must not refuse an audience for a guard that it did not look for."""
    entry = world.make_entry()
    await store.transact(lambda writer: writer.guard([world.guard_for(entry)]))

    async def work(writer: Writer) -> None:
        await writer.put([entry])
        await writer.admit([world.audience_for(entry, clause(shared()))])

    await store.transact(work)
    assert await ask.ids(world.viewer(shared()), Entry) == [entry.id]


async def test_a_reader_whose_question_was_given_up_answers_the_next(store: Store, world: World) -> None:
    person = world.make_principal()
    await world.write(store, person)
    async with store.reading() as reader:
        look = lambda: reader.get(ANYWHERE, [person.id])  # noqa: E731
        for turns in range(6):
            given_up = asyncio.ensure_future(reader.together([look, look]))
            for _ in range(turns):
                await asyncio.sleep(0)
            given_up.cancel()
            await asyncio.gather(given_up, return_exceptions=True)
            found, again = await asked(reader, look, look)
            assert found == again == {person.id: person}
            assert isinstance(found[person.id], Principal)
