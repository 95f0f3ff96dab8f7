"""What a question costs is counted in steps of SQLite's virtual machine: hidden rows cost nothing.

Source: docs/design.md#the-stores; the goals of `growth` in docs/how-to/run-the-benchmarks.md.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

import apsw
import pytest

from graph.model.access import Clause, Rule, SystemScope, Viewer
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Entry
from graph.model.time import Millis
from graph.store.embedded import EmbeddedStore, session
from graph.store.embedded.session import Session
from graph.store.embedded.tables import FTS
from graph.store.embedded.writer import EmbeddedWriter
from graph.store.port import Reader
from graph.store.query import And, Eq, Find, In, Match, Newest, Tagged, TextIndex
from tests.support.builders import NOW, World, channel, clause, person, private, shared

MINE, ALSO = private("chn_mine"), private("chn_also")
THEIRS = private("chn_theirs")
FEW = 20
"""Steps that the shape of a tree may add."""


@pytest.fixture(autouse=True)
def each_read_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is broken off in the event loop is done again in the thread, and would be counted twice."""
    monkeypatch.setattr(session, "_BRIEF_SPELLS", math.inf)
    monkeypatch.setattr(session, "_BRIEF_S", math.inf)


@contextmanager
def counting(store: EmbeddedStore) -> Iterator[list[int]]:
    """Add up the steps of every statement that ends inside the block, on all connections."""
    steps: list[int] = []

    def note(event: dict[str, dict[str, int]]) -> None:
        steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

    for one in store._sessions:
        one.db.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)
    try:
        yield steps
    finally:
        for one in store._sessions:
            one.db.trace_v2(0, None)


async def cost(store: EmbeddedStore, question: Callable[[Reader], Awaitable[object]]) -> int:
    """Return the steps of a question."""
    with counting(store) as steps:
        async with store.reading() as reader:
            await question(reader)
    return sum(steps)


async def fill(store: EmbeddedStore, world: World, count: int, *clauses: Clause) -> None:
    """Store tagged entries of different times with a text each; merge the keyword index, whose parts cost a look."""
    entries = [world.make_entry(created_at=Millis(NOW + n)) for n in range(count)]
    await world.write(
        store,
        *entries,
        guards=[world.guard_for(entry, tags=("topic", f"tag{n % 3}")) for n, entry in enumerate(entries)],
        audiences=[world.audience_for(entry, *clauses) for entry in entries],
        texts=[world.text_for(entry, "heron lake") for entry in entries],
    )
    await store.transact(lambda writer: cast("EmbeddedWriter", writer).run(merge))


def merge(on: Session) -> None:
    for table in FTS.values():
        on.db.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")


def newest(viewer: Viewer, *tags: str, type: str | None = None) -> Callable[[Reader], Awaitable[object]]:
    where = Tagged(tags) if type is None else And((Tagged(tags), Eq("type", type)))
    query = Find(kind=Entry, where=where, order=Newest(), first=20)
    return lambda reader: reader.find(viewer, query)


def questions(world: World) -> dict[str, Callable[[Reader], Awaitable[object]]]:
    one, two = world.viewer(MINE), world.viewer(MINE, ALSO)
    heron = Match(index=TextIndex.ENTRY, words=("heron", "owl"), limit=20)
    return {
        "newest of one clause": newest(one, "topic"),
        "newest of two clauses and two tags": newest(two, "tag0", "tag1"),
        "newest that fit a condition": newest(one, "topic", type="topic"),
        "by an indexed field": lambda reader: reader.find(one, Find(kind=Entry, where=Eq("type", "topic"), first=20)),
        "count": lambda reader: reader.aggregate(two, Entry),
        "count of a tag": lambda reader: reader.aggregate(two, Entry, Tagged(("topic",))),
        "facets": lambda reader: reader.aggregate(two, Entry, None, "type"),
        "keyword match": lambda reader: reader.match(two, heron),
    }


@pytest.mark.parametrize("name", questions(World()))
async def test_hidden_rows_cost_nothing(store: EmbeddedStore, world: World, name: str) -> None:
    await fill(store, world, 100, clause(MINE))
    await fill(store, world, 100, clause(ALSO), clause(MINE, channel("c")))
    await fill(store, world, 10, clause(THEIRS))
    question = questions(world)[name]
    before = await cost(store, question)
    await fill(store, world, 1_500, clause(THEIRS))
    assert await cost(store, question) <= before + FEW


async def test_older_visible_rows_cost_nothing_either(store: EmbeddedStore, world: World) -> None:
    question = newest(world.viewer(MINE), "topic")
    await fill(store, world, 100, clause(MINE))
    before = await cost(store, question)
    await fill(store, world, 1_000, clause(MINE))
    assert await cost(store, question) <= before + FEW


async def fill_talk(store: EmbeddedStore, world: World, first: int, count: int) -> None:
    """Store visible messages of one channel, numbered in order."""
    said = [world.make_source(channel_id=NodeId("chn_talk"), seq=n) for n in range(first, first + count)]
    await world.write(
        store,
        *said,
        guards=[world.guard_for(source) for source in said],
        audiences=[world.audience_for(source, clause(MINE)) for source in said],
    )


@pytest.mark.parametrize("scope", ["viewer", "system"])
async def test_neighbours_by_number_do_not_cost_more_in_a_longer_talk(
    store: EmbeddedStore, world: World, scope: str
) -> None:
    """All rows are visible and fit every condition but that of the numbers."""
    where = And((Eq("kind", "message"), Eq("latest", True), Eq("channel_id", "chn_talk"), In("seq", [98, 99, 101])))
    who = world.viewer(MINE) if scope == "viewer" else SystemScope(reason="test")

    async def near(reader: Reader) -> object:
        page = await reader.find(who, Find(kind=Source, where=where))
        assert [source.seq for source in page.nodes] == [98, 99, 101]
        return page

    await fill_talk(store, world, 0, 400)
    before = await cost(store, near)
    await fill_talk(store, world, 400, 1_000)
    assert await cost(store, near) <= before + FEW


async def test_the_newest_need_no_sorting(store: EmbeddedStore, world: World) -> None:
    await fill(store, world, 100, clause(MINE))
    sorts: list[int] = []
    for one in store._sessions:
        one.db.trace_v2(
            apsw.SQLITE_TRACE_PROFILE, lambda event: sorts.append(event["stmt_status"]["SQLITE_STMTSTATUS_SORT"])
        )
    async with store.reading() as reader:
        await newest(world.viewer(MINE), "topic")(reader)
    assert sum(sorts) == 0


@pytest.mark.parametrize("other", [person, private], ids=["other persons", "other chats"])
async def test_clause_look_up_does_not_touch_clauses_of_others(
    store: EmbeddedStore, world: World, other: Callable[[str], Rule]
) -> None:
    """They all contain a wide rule that the viewer holds, but are filed under the narrowest."""
    viewer = world.viewer(MINE, shared())
    await fill(store, world, 30, clause(MINE, shared()))

    async def look_up(reader: Reader) -> object:
        return await reader.aggregate(viewer, Entry)

    before = await cost(store, look_up)
    entries = [world.make_entry() for _ in range(500)]
    await world.write(
        store,
        *entries,
        guards=[world.guard_for(entry) for entry in entries],
        audiences=[world.audience_for(entry, clause(other(f"x{n}"), shared())) for n, entry in enumerate(entries)],
    )
    assert await cost(store, look_up) <= before + FEW


async def test_a_decision_by_id_costs_the_ids_asked_for(store: EmbeddedStore, world: World) -> None:
    entries = [world.make_entry() for _ in range(50)]
    await world.write(store, *entries, clauses=[clause(MINE)])
    asked = [entry.id for entry in entries]

    async def decide(reader: Reader) -> Sequence[object]:
        return [await reader.get(world.viewer(MINE), asked), await reader.audiences(asked)]

    before = await cost(store, decide)
    await fill(store, world, 1_000, clause(MINE))
    assert await cost(store, decide) <= before + FEW
