"""Whatever is done, the derived tables are those that a fresh computation gives."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable

import pytest

from graph.model.access import Audience, Guard
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry
from graph.model.time import Millis
from graph.store.embedded import EmbeddedStore
from graph.store.embedded.audience import numbers_of
from graph.store.embedded.session import Session
from graph.store.embedded.tables import FTS
from graph.store.embedded.terms import unpacked
from graph.store.port import Writer
from graph.store.query import TextIndex
from tests.support.builders import NOW, World, clause, private, shared

RULES = [clause(shared()), clause(private("a")), clause(private("b"), shared()), clause(shared("other"))]


class Doing:
    """Random writes about a few nodes."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._chance = random.Random(seed)
        self._entries = [world.make_entry() for _ in range(6)]
        self._guarded: set[NodeId] = set()
        self._put: set[NodeId] = set()

    def next(self) -> Callable[[Writer], Awaitable[object]]:
        entry = self._chance.choice(self._entries)
        if entry.id not in self._put:
            self._put.add(entry.id)
            return lambda writer: writer.put([entry])
        if entry.id not in self._guarded or self._chance.random() < 0.3:
            self._guarded.add(entry.id)
            return lambda writer: writer.guard([self._guard(entry.id)])
        choices = (self._admit, self._admit, self._index, self._index, self._unindex, self._delete)
        return self._chance.choice(choices)(entry.id)

    def _guard(self, id: NodeId) -> Guard:
        entry = next(entry for entry in self._entries if entry.id == id)
        tags = self._chance.sample(("x", "y", "z"), self._chance.randrange(3))
        pool = self._world.id("knb", self._chance.choice("pq"))
        return self._world.guard_for(
            entry, tags=tuple(tags), pool=pool, sort_at=Millis(NOW + self._chance.randrange(3))
        )

    def _admit(self, id: NodeId) -> Callable[[Writer], Awaitable[object]]:
        clauses = frozenset(self._chance.sample(RULES, self._chance.randrange(3)))
        barred = frozenset({NodeId("prn_ana")} if self._chance.random() < 0.3 else ())
        return lambda writer: writer.admit([Audience(node=id, clauses=clauses, excluded=barred)])

    def _index(self, id: NodeId) -> Callable[[Writer], Awaitable[object]]:
        part = self._chance.choice(("name", "block"))
        words = self._chance.choices(("heron", "lake", "c++"), k=self._chance.randrange(1, 4))
        text = self._world.text_for(
            id, words, id=f"{id}#{self._chance.randrange(2)}", part=part, index=self._chance.choice(list(TextIndex)),
            sort_at=Millis(NOW + self._chance.randrange(5_000)),
        )  # fmt: skip
        return lambda writer: writer.index([text])

    def _unindex(self, id: NodeId) -> Callable[[Writer], Awaitable[object]]:
        return lambda writer: writer.unindex([f"{id}#0"])

    def _delete(self, id: NodeId) -> Callable[[Writer], Awaitable[object]]:
        self._put.discard(id)
        self._guarded.discard(id)
        return lambda writer: writer.delete([id])


@pytest.mark.req("KN-114")
@pytest.mark.parametrize("seed", range(12))
async def test_rows_counters_and_terms_follow_every_write(store: EmbeddedStore, world: World, seed: int) -> None:
    doing = Doing(world, seed)
    for _ in range(60):
        await store.transact(doing.next())
    check_derived(store)


@pytest.mark.req("KN-114")
@pytest.mark.parametrize("seed", range(12))
async def test_they_follow_writes_that_were_gathered(store: EmbeddedStore, world: World, seed: int) -> None:
    """Guards and audiences that come one after the other are written together; a question sends what waits."""
    doing, chance = Doing(world, seed), random.Random(seed)

    async def several(writer: Writer) -> None:
        for _ in range(chance.randrange(2, 12)):
            await doing.next()(writer)
            if chance.random() < 0.2:
                await writer.aggregate(world.system, Entry)

    for _ in range(15):
        await store.transact(several)
    check_derived(store)


def check_derived(store: EmbeddedStore) -> None:
    [session] = [session for session in store._sessions if session.writing]
    assert Counter(session.rows("SELECT clause, kind, tag, sort, id, many FROM aud")) == Counter(expected_rows(session))
    assert dict_of(session, "SELECT clause, kind, tag, n FROM tally WHERE n <> 0") == dict_of(
        session, "SELECT clause, kind, tag, count(*) FROM aud WHERE NOT many GROUP BY clause, kind, tag"
    )
    terms, tallies = expected_terms(session)
    assert dict_of(session, "SELECT kind, clause, part, n FROM text_tally WHERE n <> 0") == tallies
    assert stored_terms(session) == terms


def expected_rows(session: Session) -> list[tuple[int, str, int, int, str, int]]:
    return [
        (number, kind, tag, sort_at, node, int(len(numbers) > 1))
        for node, kind, tags, sort_at, one, several in session.rows(
            "SELECT node, kind, tags, sort_at, clause, clauses FROM guard"
        )
        if (numbers := numbers_of(one, several))
        for number in numbers
        for tag in (0, *json.loads(tags))
    ]


def expected_terms(session: Session) -> tuple[dict[tuple[str, str], set[int]], dict[tuple[str, int, int], int]]:
    terms: dict[tuple[str, str], set[int]] = {}
    tallies: Counter[tuple[str, int, int]] = Counter()
    for n, kind, part, words, one, several in session.rows(
        "SELECT t.n, t.kind, t.part, t.words, g.clause, g.clauses FROM text t JOIN guard g ON g.node = t.guard"
    ):
        for number in numbers_of(one, several):
            tallies[kind, number, part] += 1
            for word in unpacked(words):
                terms.setdefault((kind, f"{number}p{part}_{word.replace('+', '_2b')}"), set()).add(n)
    return terms, dict(tallies)


def stored_terms(session: Session) -> dict[tuple[str, str], set[int]]:
    terms: dict[tuple[str, str], set[int]] = {}
    for kind, table in FTS.items():
        session.db.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.v_{table} USING fts5vocab(main, {table}, instance)"
        )
        for term, n in session.rows(f"SELECT term, doc FROM temp.v_{table}"):
            terms.setdefault((kind.value, term), set()).add(n)
    return terms


def dict_of(session: Session, sql: str) -> dict[tuple[object, ...], int]:
    return {tuple(key): n for *key, n in session.rows(sql)}
