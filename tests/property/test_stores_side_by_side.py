"""Random sequences of operations on the reference and the embedded store: every answer is the same (KN-12).

The reference is wrapped by the observing store, which must not change an answer either.

Operations draw from few ids, names and words, so that they collide: keys are taken, nodes are deleted and come back,
links lead to what is missing, transactions fail half-way. ``ROOTWARD_STORE_SEQUENCES`` sets how many sequences run.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from graph.model.access import Clause, Need, Scope
from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.errors import RootwardError
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Entry
from graph.model.time import Millis
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.observing import ObservingStore
from graph.store.port import Reader, Store, Writer
from graph.store.query import (
    And,
    By,
    Direction,
    Eq,
    Find,
    In,
    IsSet,
    Linked,
    Match,
    Newest,
    Or,
    Order,
    Range,
    Tagged,
    TextIndex,
    Where,
)
from tests.support.builders import NOW, World, channel, person, private, shared, vector
from tests.support.clock import FakeClock
from tests.support.profile import sized

SEQUENCES = int(os.environ.get("ROOTWARD_STORE_SEQUENCES") or sized(small=15, full=1_500))
STEPS = sized(small=25, full=60)

WORLD = World(name="w1")
IDS = [WORLD.id(prefix, body) for prefix in ("ent", "blv", "src") for body in "abc"]
RULES = [shared(), channel("chn_1"), private("chn_2"), person("prn_reader")]
NAMES = ["a", "A", "a\x00", "\u00e9", "e\u0301", "a,b", ""]
WORDS = ["dog", "cat", "é", '"', "a\x00"]
TAGS = ["x", "y", "a,b"]
POOLS = [WORLD.id("knb", "p"), WORLD.id("knb", "q")]
TYPES = [EdgeType.CITES, EdgeType.SUPERSEDES]

ids = st.sampled_from(IDS)
times = st.integers(-2, 2).map(lambda step: Millis(NOW + step))
clauses = st.frozensets(st.frozensets(st.sampled_from(RULES), min_size=1, max_size=2), max_size=3).map(
    lambda found: frozenset(c for c in found if not any(other < c for other in found))
)
edges = st.builds(
    lambda type, one, two, key, n: Edge(type=type, source=one, target=two, key=key, props={"n": n}),
    st.sampled_from(TYPES),
    ids,
    ids,
    st.sampled_from(["", "k"]),
    st.integers(0, 3),
)

Operation = Callable[[Writer], Awaitable[object]]


def new_node(id: NodeId, name: str, at: Millis, pool: NodeId, live_name: str | None) -> Node:
    """Return a node of the kind that the id names."""
    common: dict[str, Any] = {"id": id, "pool": pool, "created_at": at}
    if id.startswith("ent"):
        deleted_at = at if name > "a" else None
        return WORLD.make_entry(name=name, live_name=live_name, type=name[:1], deleted_at=deleted_at, **common)
    if id.startswith("blv"):
        embedding = vector(float(len(name)), float(at - NOW))
        return WORLD.make_block_version(text=name, embedding=embedding, embedding_model="m", **common)
    return WORLD.make_source(text=name, state="live", seq=int(at - NOW), **common)


def putting(node: Node) -> Operation:
    return lambda writer: writer.put([node])


def patching(id: NodeId, at: Millis, live_name: str | None, expected_at: Millis | None) -> Operation:
    changes: dict[str, Any] = {"created_at": at}
    if id.startswith("ent"):
        changes |= {"live_name": live_name, "read_only": live_name is None}
    expected = None if expected_at is None else {"created_at": expected_at}
    return lambda writer: writer.patch(id, changes, expected=expected)


def admitting(id: NodeId, own: Clause, tags: tuple[str, ...], at: Millis, found: Any, excluded: bool) -> Operation:
    """Set guard and audience of a node, if it is there."""

    async def work(writer: Writer) -> object:
        node = (await writer.get(WORLD.system, [id])).get(id)
        if node is None:
            return None
        await writer.guard([WORLD.guard_for(node, *own, tags=tags, sort_at=at, need=Need.ALL)])
        audience = WORLD.audience_for(id, excluded=["prn_reader"] if excluded else [])
        await writer.admit([replace(audience, clauses=found)])
        return True

    return work


def indexing(id: NodeId, words: list[str], part: str, at: Millis) -> Operation:
    """Index a text, if its guard is there."""

    async def work(writer: Writer) -> object:
        guard = (await writer.guards([id])).get(id)
        if guard is None or guard.pool is None:
            return None
        await writer.index([WORLD.text_for(id, words, id=f"{id}#{part}", part=part, pool=guard.pool, sort_at=at)])
        return True

    return work


operations = st.one_of(
    st.builds(
        lambda *parts: putting(new_node(*parts)),
        ids,
        st.sampled_from(NAMES),
        times,
        st.sampled_from(POOLS),
        st.none() | st.sampled_from(NAMES),
    ),
    st.builds(patching, ids, times, st.none() | st.sampled_from(NAMES), st.none() | times),
    st.builds(
        lambda where, name: (
            lambda writer: writer.patch_where(Entry, And((Eq("workspace", "w1"), where)), {"type": name})
        ),
        st.builds(Eq, st.just("name"), st.sampled_from(NAMES)) | st.builds(Range, st.just("created_at"), times, times),
        st.sampled_from(NAMES),
    ),
    st.builds(lambda gone: lambda writer: writer.delete(gone), st.lists(ids, max_size=2)),
    st.builds(lambda linked: lambda writer: writer.link(linked), st.lists(edges, max_size=4)),
    st.builds(lambda gone: lambda writer: writer.unlink(gone), st.lists(edges, max_size=3)),
    st.builds(
        admitting,
        ids,
        st.frozensets(st.sampled_from(RULES), min_size=1, max_size=2),
        st.lists(st.sampled_from(TAGS), unique=True, max_size=2).map(tuple),
        times,
        clauses,
        st.booleans(),
    ),
    st.builds(indexing, ids, st.lists(st.sampled_from(WORDS), max_size=4), st.sampled_from(["name", "block"]), times),
    st.builds(
        lambda id, part: lambda writer: writer.unindex([f"{id}#{part}"]), ids, st.sampled_from(["name", "block"])
    ),
    st.builds(lambda id: lambda writer: writer.increment(id, "seq"), ids.filter(lambda id: id.startswith("src"))),
)

scopes: st.SearchStrategy[Scope] = st.one_of(
    st.just(WORLD.system),
    st.builds(
        lambda held, principal, audits, pools: WORLD.viewer(*held, principal=principal, audits=audits, pools=pools),
        st.frozensets(st.sampled_from(RULES)),
        st.sampled_from(["prn_reader", "prn_other"]),
        st.sampled_from([(), ("prn_agent",), ("*",)]),
        st.none() | st.frozensets(st.sampled_from(POOLS)),
    ),
)
leaves: st.SearchStrategy[Where] = st.one_of(
    st.builds(Eq, st.just("name"), st.sampled_from(NAMES)),
    st.builds(Eq, st.just("deleted_at"), st.none() | times),
    st.builds(IsSet, st.sampled_from(["deleted_at", "live_name"])),
    st.builds(In, st.just("type"), st.lists(st.sampled_from(["a", "A", "é", ""]), max_size=3).map(tuple)),
    st.builds(Range, st.just("created_at"), st.none() | times, st.none() | times),
    st.builds(Tagged, st.lists(st.sampled_from(TAGS), max_size=2).map(tuple)),
    st.builds(Linked, st.just(("CITES",)), st.lists(ids, max_size=3).map(tuple)),
)
wheres = st.recursive(
    leaves,
    lambda inner: st.builds(And, st.lists(inner, max_size=2)) | st.builds(Or, st.lists(inner, max_size=2)),
    max_leaves=4,
)
orders: st.SearchStrategy[Order] = st.sampled_from(
    [By("id"), By("name"), By("name", descending=True), By("deleted_at"), By("created_at", descending=True), Newest()]
)


class GaveUp(Exception):
    """Ends a transaction on purpose."""


class SideBySide(RuleBasedStateMachine):
    """The reference and the embedded store under the same operations."""

    @initialize()
    def open(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        clock = FakeClock()
        self.stores: dict[str, Store] = {
            "memory": ObservingStore(MemoryStore(clock=clock)),
            "embedded": EmbeddedStore(Path(self.folder.name) / "store.db", clock=clock),
        }
        for store in self.stores.values():
            self.runner.run(store.open())

    @rule(work=st.lists(operations, min_size=1, max_size=4), give_up=st.sampled_from([False, False, False, True]))
    def transact(self, work: list[Operation], give_up: bool) -> None:
        async def run(writer: Writer) -> list[object]:
            results = [await operation(writer) for operation in work]
            if give_up:
                await writer.get(WORLD.system, IDS)  # sends what an engine gathered, so that its faults come first
                raise GaveUp
            return results

        async def outcome(store: Store) -> object:
            try:
                return await store.transact(run)
            except (RootwardError, GaveUp) as error:
                return type(error)

        self._same(outcome)

    @rule(scope=scopes, where=st.none() | wheres, order=orders, backward=st.booleans(), size=st.integers(1, 4))
    def page(self, scope: Scope, where: Where | None, order: Order, backward: bool, size: int) -> None:
        if order == Newest() and scope is WORLD.system:
            order = By("id")  # nodes without a guard have no place in that order

        async def read(reader: Reader) -> object:
            answers: list[object] = [
                await reader.aggregate(scope, Entry, where),
                await reader.aggregate(scope, Entry, where, "type"),
            ]
            after = None
            while True:
                query = Find(kind=Entry, where=where, order=order, first=size, after=after, backward=backward)
                page = await reader.find(scope, query)
                answers.append(page)
                if not page.more:
                    return answers
                after = page.places[-1]

        self._same_read(read)

    @rule(
        scope=scopes,
        words=st.lists(st.sampled_from([*WORDS, "none"]), max_size=4).map(tuple),
        limit=st.integers(1, 6),
        parts=st.sampled_from([None, ("name",), ("name", "block")]),
        pools=st.sampled_from([None, tuple(POOLS), (POOLS[0],)]),
    )
    def match(self, scope: Scope, words: tuple[str, ...], limit: int, parts: Any, pools: Any) -> None:
        question = Match(index=TextIndex.ENTRY, words=words, limit=limit, parts=parts, pools=pools)

        async def read(reader: Reader) -> object:
            matches = await reader.match(scope, question)
            return sorted(matches.hits, key=lambda hit: hit.id), dict(matches.df), matches.total

        self._same_read(read)

    @rule(
        scope=scopes,
        starts=st.lists(ids, max_size=4),
        direction=st.sampled_from(Direction),
        depth=st.none() | st.integers(0, 3),
    )
    def walk(self, scope: Scope, starts: list[NodeId], direction: Direction, depth: int | None) -> None:
        async def read(reader: Reader) -> object:
            reached = await reader.closure(starts, LAW_EDGES | {EdgeType.SUPERSEDES}, direction, depth=depth)
            walked = sorted(edge.identity for edge in reached.edges)
            return dict(reached.depths), walked, await reader.edges(scope, starts, TYPES, direction)

        self._same_read(read)

    @rule(scope=scopes, asked=st.tuples(st.integers(-2, 2), st.integers(1, 2)))
    def near(self, scope: Scope, asked: tuple[int, int]) -> None:
        async def read(reader: Reader) -> object:
            found = await reader.nearest(scope, BlockVersion, [float(n) for n in asked], model="m", limit=9)
            return sorted((round(neighbour.similarity, 4), neighbour.id) for neighbour in found)

        self._same_read(read)

    @invariant()
    def agree_on_everything_stored(self) -> None:
        if not hasattr(self, "stores"):
            return

        async def read(reader: Reader) -> object:
            everyone = WORLD.viewer(*RULES, principal="prn_other")
            return (
                await reader.get(WORLD.system, IDS),
                await reader.get(everyone, IDS),
                await reader.guards(IDS),
                await reader.audiences(IDS),
                await reader.edges(WORLD.system, IDS, TYPES, Direction.OUT),
                await reader.aggregate(everyone, Source),
                await reader.aggregate(everyone, Entry),
            )

        self._same_read(read)

    def teardown(self) -> None:
        if hasattr(self, "stores"):
            for store in self.stores.values():
                self.runner.run(store.close())
            self.runner.close()
            self.folder.cleanup()

    def _same_read(self, read: Callable[[Reader], Awaitable[object]]) -> None:
        async def ask(store: Store) -> object:
            async with store.reading() as reader:
                return await read(reader)

        self._same(ask)

    def _same(self, ask: Callable[[Store], Awaitable[object]]) -> None:
        async def both() -> Mapping[str, object]:
            return {name: await ask(store) for name, store in self.stores.items()}

        answers = self.runner.run(both())
        assert answers["embedded"] == answers["memory"]


TestSideBySide = pytest.mark.req("KN-12")(SideBySide.TestCase)
TestSideBySide.settings = settings(max_examples=SEQUENCES, stateful_step_count=STEPS, deadline=None)
