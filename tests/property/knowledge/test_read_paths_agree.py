"""Every read path shows exactly what the naive law shows, no more and no less (attack goals A1 and A8).

Each comparison of one node on one path for one viewer is a triple; the run must make enough of them.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import pytest

from graph.model.access import Viewer
from graph.model.edges import PROVENANCE_EDGES, EdgeType
from graph.model.errors import NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Attribute, BlockVersion, Entry, Relation
from graph.model.nodes.work import AuditRecord
from graph.model.schema import kind_of
from graph.services.access.session import Session
from graph.services.knowledge.audit_log import AuditFilter, audit_log
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import attributes_of, entry_views
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.explain import explain_visibility
from graph.services.knowledge.listing import Listing
from graph.services.knowledge.neighborhood import neighborhood
from graph.services.knowledge.nodes import node_views
from graph.services.knowledge.provenance import provenance
from graph.services.knowledge.provenance_export import ProvenanceFormat, provenance_export
from graph.services.knowledge.relations import relations
from graph.services.knowledge.sources import citing_statements, entry_sources
from graph.store.query import After
from tests.property.knowledge.conftest import NewStore, deps_of
from tests.support.clock import FakeClock
from tests.support.profile import sized
from tests.support.random_library import RandomLibrary, Truth, random_library

pytestmark = pytest.mark.req("KN-60", "KN-61", "KN-62", "KN-80", "KN-114", "KN-124")

WORLDS = sized(small=2, full=100)
ENOUGH = sized(small=10_000, full=500_000)
"""Triples of one engine; both together make 20,000 on every run and a million in a soak."""


_EVIDENCE = (EdgeType.CITES, EdgeType.DERIVED_FROM)


@dataclass
class Model:
    """What one viewer may see by the naive law."""

    nodes: Mapping[NodeId, Node]
    visible: set[NodeId]
    truth: Truth

    def shown(self, kind: type[Node], fits: Callable[[Node], bool] = lambda _: True) -> set[NodeId]:
        return {id_ for id_ in self.visible if isinstance(node := self.nodes[id_], kind) and fits(node)}

    def is_live(self, entry: NodeId) -> bool:
        node = self.nodes[entry]
        return entry in self.visible and isinstance(node, Entry) and node.deleted_at is None

    def current(self, kind: type[Node], entry: NodeId) -> set[NodeId]:
        """Return the visible statements of a kind that an entry makes now."""
        return self.shown(
            kind, lambda node: getattr(node, "entry_id", "") == entry and getattr(node, "invalidated_at", 0) is None
        )

    def relations_at(self, entry: NodeId) -> set[NodeId]:
        return self.shown(Relation, lambda node: is_current(node) and entry in ends_of(node))

    def upstream(self, starts: Iterable[NodeId]) -> set[NodeId]:
        """Return what is reached upstream from visible nodes through visible nodes."""
        seen, queue = set(starts), list(starts)
        while queue:
            for target in self._steps().get(queue.pop(), ()):
                if target in self.visible and target not in seen:
                    seen.add(target)
                    queue.append(target)
        return seen

    def behind(self, statements: Iterable[NodeId]) -> set[NodeId]:
        """Return the visible sources behind statements."""
        seen, queue = set(statements), list(statements)
        while queue:
            at = queue.pop()
            for edge in self.truth.edges:
                if edge.source == at and edge.type in _EVIDENCE and edge.target not in seen:
                    seen.add(edge.target)
                    queue.append(edge.target)
        return {id_ for id_ in seen & self.visible if isinstance(self.nodes[id_], Source)}

    def _steps(self) -> Mapping[NodeId, list[NodeId]]:
        steps: dict[NodeId, list[NodeId]] = {}
        for edge in self.truth.edges:
            if edge.type in PROVENANCE_EDGES:
                back = edge.type is EdgeType.PRODUCED
                start, end = (edge.target, edge.source) if back else (edge.source, edge.target)
                steps.setdefault(start, []).append(end)
                if edge.type is EdgeType.TARGETS:
                    steps.setdefault(end, []).append(start)
        return steps


@dataclass
class Check:
    """Compares sets of ids and counts the triples."""

    library: RandomLibrary
    session: Session
    model: Model
    rng: random.Random
    counts: Counter[str] = field(default_factory=Counter)

    def same(self, path: str, got: Iterable[NodeId], wanted: Iterable[NodeId], among: int) -> None:
        """Fail unless both are the same set; `among` nodes were decided."""
        shown, expected = set(got), set(wanted)
        assert shown == expected, f"{path}: too many {shown - expected}, too few {expected - shown}"
        self.counts[path] += among

    async def every_path(self) -> None:
        await self.node()
        await self.lists()
        await self.search()
        await self.pages()
        await self.walks()
        await self.explain()
        await self.audit()

    async def node(self) -> None:
        ids = [id_ for id_ in self.model.nodes if (spec := kind_of(id_)) and spec.guarded]
        gone = {id_ for id_ in ids if isinstance(node := self.model.nodes[id_], Entry) and node.deleted_at is not None}
        got = await node_views(self.session, [*ids, NodeId("src_missing0"), NodeId("ent_none")])
        self.same("node", got, self.model.visible - gone, len(ids))

    async def lists(self) -> None:
        agent = self.library.world.atlas
        live = {id_ for id_ in self.model.shown(Entry) if self.model.is_live(id_)}
        everything, count = await every_page(
            lambda after: entries(self.session, agent, first=self.rng.choice((1, 2, 5, 53)), after=after)
        )
        self.same("list", [view.id for view in everything], live, len(self.library.entries))
        assert count == len(live)
        self.counts["count"] += len(self.library.entries)
        for type_ in ("person", "project"):
            found, count = await every_page(
                lambda after, t=type_: entries(  # type: ignore[misc]
                    self.session, agent, EntryFilter(types=(t,)), first=5, after=after
                )
            )
            wanted = {id_ for id_ in live if getattr(self.model.nodes[id_], "type", "") == type_}
            self.same("list", [view.id for view in found], wanted, len(self.library.entries))
            assert count == len(wanted)

    async def search(self) -> None:
        for guard, word in self.library.words.items():
            entry = self.library.items[guard]
            found = await entries(self.session, self.library.world.atlas, EntryFilter(text=word), first=5)
            is_seen = guard in self.model.visible and self.model.is_live(entry)
            self.same("search", [view.id for view in found.items], {entry} if is_seen else set(), 1)
            assert await found.count() == is_seen

    async def pages(self) -> None:
        ids = [entry.id for entry in self.library.entries]
        views = await entry_views(self.session, ids)
        blocks = await blocks_of(self.session, ids)
        attributes = await attributes_of(self.session, ids)
        for id_ in ids:
            shown = {block.current.node.id for block in blocks[id_] if block.current}
            self.same("blocks", shown, self.model.current(BlockVersion, id_), len(shown) + 1)
            values = {attribute.node.id for attribute in attributes[id_]}
            self.same("attributes", values, self.model.current(Attribute, id_), len(values) + 1)
            if id_ in views:
                await self.around(id_)
        for source in self.library.sources:
            wanted = self.citing(source) if source.id in self.model.visible else set()
            got = {node.id for node in await citing_statements(self.session, source.id)}
            self.same("cited by", got, wanted, len(wanted) + 1)

    async def around(self, id_: NodeId) -> None:
        """Check the relations, neighbours and sources of a visible entry."""
        at = self.model.relations_at(id_)
        listed, count = await every_page(lambda after: relations(self.session, id_, first=2, after=after))
        self.same("relations", [view.id for view in listed], at, len(self.library.relations))
        assert count == len(at)
        near = await neighborhood(self.session, id_, depth=1)
        self.same("neighbours", [r.id for r in near.relations], at, len(self.library.relations))
        ends = {end for relation in at for end in ends_of(self.model.nodes[relation])}
        self.same("neighbours", [view.id for view in near.nodes], ends | {id_}, len(self.library.entries))
        for view in listed:
            cited = {citation.source.id for citation in view.support.citations}
            self.same("evidence", cited, self.cited(view.id), len(cited) + 1)
        facets = {f for f in self.model.current(Node, id_) if prefix_of(f) in ("fct", "blv", "att")}
        sources, count = await every_page(lambda after: entry_sources(self.session, id_, first=3, after=after))
        wanted = self.model.behind(facets | at)
        self.same("sources", [source.id for source in sources], wanted, len(self.library.sources))
        assert count == len(wanted)

    async def walks(self) -> None:
        ids = sorted(id_ for id_ in self.model.nodes if prefix_of(id_) in ("blv", "rel", "aud", "att", "fct", "src"))
        for id_ in self.rng.sample(ids, min(len(ids), 12)):
            if id_ not in self.model.visible:
                with pytest.raises(NotFound):
                    await provenance(self.session, id_, depth=16)
                self.counts["provenance"] += 1
                continue
            found = await provenance(self.session, id_, depth=16)
            exported = await provenance_export(self.session, id_, format=ProvenanceFormat.PROV_JSON)
            wanted = self.model.upstream([id_])
            hidden = [other for other in self.model.nodes.keys() - self.model.visible if f'"{other}"' in exported]
            assert hidden == []
            if not found.truncated:
                self.same("provenance", [node.id for node in found.nodes], wanted, len(wanted))
                self.same("export", wanted & ids_in(exported, self.model.nodes), wanted, len(wanted))

    async def explain(self) -> None:
        ids = sorted(id_ for id_ in self.model.nodes if (spec := kind_of(id_)) and spec.guarded)
        for id_ in self.rng.sample(ids, min(len(ids), 40)):
            proof = await explain_visibility(self.session, id_)
            assert (proof is not None and proof.visible) == (id_ in self.model.visible)
            self.counts["explain"] += 1

    async def audit(self) -> None:
        wanted = self.model.shown(AuditRecord)
        first = self.rng.choice((7, 53, 100))
        got, count = await every_page(lambda after: audit_log(self.session, AuditFilter(), first=first, after=after))
        self.same("audit", [record.id for record in got], wanted, len(wanted) + 1)
        assert count == len(wanted)
        assert [-r.recorded_at for r in got] == sorted(-r.recorded_at for r in got)

    def citing(self, source: Source) -> set[NodeId]:
        edges = (e for e in self.model.truth.edges if e.type is EdgeType.CITES and e.target == source.id)
        wanted = {edge.source for edge in edges}
        return {id_ for id_ in wanted & self.model.visible if is_current(self.model.nodes[id_])}

    def cited(self, statement: NodeId) -> set[NodeId]:
        edges = (e for e in self.model.truth.edges if e.type is EdgeType.CITES and e.source == statement)
        return {edge.target for edge in edges} & self.model.visible


async def every_page(ask: Callable[[After | None], object]) -> tuple[list, int]:  # type: ignore[type-arg]
    """Return the items of all pages and the count, which must be the same on each."""
    items: list[object] = []
    counts: set[int] = set()
    after: After | None = None
    while True:
        page: Listing[object] = await ask(after)  # type: ignore[misc]
        items += page.items
        counts.add(await page.count())
        if not page.more:
            assert len(counts) == 1
            return items, counts.pop()
        after = page.places[-1]


def is_current(node: Node) -> bool:
    return node.current if isinstance(node, Relation) else getattr(node, "invalidated_at", None) is None


def ends_of(node: Node) -> tuple[NodeId, ...]:
    return (node.subject_id, node.object_id) if isinstance(node, Relation) else ()


def ids_in(exported: str, known: Iterable[NodeId]) -> set[NodeId]:
    text = json.dumps(json.loads(exported), ensure_ascii=False)
    return {id_ for id_ in known if id_ in text}


async def test_every_read_path_agrees_with_the_law(new_store: NewStore, clock: FakeClock) -> None:
    counts: Counter[str] = Counter()
    for seed in range(WORLDS):
        deps = deps_of(await new_store(), clock)
        library = await random_library(deps, clock, seed)
        truth = await Truth.of(deps.store)
        hidden_somewhere = False
        for asker in library.askers:
            async with asker.session(deps) as session:
                viewer: Viewer = session.viewer
                model = Model(nodes=truth.nodes, visible=truth.visible(viewer), truth=truth)
                check = Check(library=library, session=session, model=model, rng=random.Random(seed))
                await check.every_path()
                counts += check.counts
                hidden_somewhere |= 0 < len(model.shown(BlockVersion)) < len(library.blocks)
        assert hidden_somewhere
    assert counts.total() >= ENOUGH
