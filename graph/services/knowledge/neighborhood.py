"""The entries around an entry, by the relations that the caller sees (KN-118)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from graph.model.errors import LimitExceeded, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Relation
from graph.rules.as_of import NOW, AsOf
from graph.services.access.session import Session
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.relations import RelationDirection, at_entries, relation_views
from graph.services.knowledge.views import EntryView, RelationView
from graph.store.query import After, Eq, Find, Newest, Where, both

MAX_DEPTH = 3
MAX_NODES = 200
MAX_RELATIONS = 2_000
"""Most relations looked at: two entries may have very many between them."""
_PAGE = 400


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighborhood:
    """Entries nearest first, the root being the first, and the relations by which they were reached or joined.

    Attributes:
        depths: distance of every entry from the root.
        truncated: true if the limits left something out within the asked depth.
    """

    nodes: tuple[EntryView, ...]
    relations: tuple[RelationView, ...]
    depths: Mapping[NodeId, int]
    truncated: bool


async def neighborhood(
    session: Session,
    entry_id: NodeId,
    *,
    depth: int = 1,
    types: Sequence[str] | None = None,
    limit: int = MAX_NODES,
    as_of: AsOf = NOW,
) -> Neighborhood:
    """Return the entries around one, nearest first; of equally near ones those with the newest relation first.

    Hidden entries and relations are neither shown nor walked through nor counted.

    Raises:
        NotFound: the entry is missing or hidden.
        LimitExceeded: `depth` is not 1 to 3, or `limit` not 1 to 200.
    """
    _check(depth, limit)
    walk = _Walk(session=session, types=types, limit=limit, as_of=as_of)
    await walk.begin(entry_id)
    layer: Sequence[NodeId] = [entry_id]
    for level in range(1, depth + 1):
        layer = await walk.step(layer, level)
    return walk.result()


def _check(depth: int, limit: int) -> None:
    if not 1 <= depth <= MAX_DEPTH:
        raise LimitExceeded(f"ask for a depth of 1 to {MAX_DEPTH}", field="depth", limit=MAX_DEPTH)
    if not 1 <= limit <= MAX_NODES:
        raise LimitExceeded(f"ask for 1 to {MAX_NODES} entries", field="limit", limit=MAX_NODES)


@dataclass(kw_only=True, slots=True)
class _Walk:
    """A walk in breadth; `seen` counts the relations looked at."""

    session: Session
    types: Sequence[str] | None
    limit: int
    as_of: AsOf
    nodes: dict[NodeId, EntryView] = field(default_factory=dict)
    depths: dict[NodeId, int] = field(default_factory=dict)
    found: dict[NodeId, RelationView] = field(default_factory=dict)
    seen: int = 0
    truncated: bool = False

    async def begin(self, root: NodeId) -> None:
        views = await entry_views(self.session, [root], self.as_of)
        if root not in views:
            raise NotFound
        self.nodes[root], self.depths[root] = views[root], 0

    async def step(self, layer: Sequence[NodeId], level: int) -> Sequence[NodeId]:
        """Take in what is one relation farther; return the new layer."""
        fresh: list[NodeId] = []
        after: After | None = None
        more = bool(layer)
        while more and not self._is_full():
            where = self._where(layer)
            page = await self.session.page(Find(kind=Relation, where=where, order=Newest(), first=_PAGE, after=after))
            self.seen += len(page.nodes)
            fresh += await self._take([relation.id for relation in page.nodes], level)
            more, after = page.more and bool(page.places), page.places[-1] if page.places else None
        self.truncated |= more
        return fresh

    def result(self) -> Neighborhood:
        kept = [r for r in self.found.values() if r.node.subject_id in self.nodes and r.node.object_id in self.nodes]
        return Neighborhood(
            nodes=tuple(self.nodes.values()), relations=tuple(kept), depths=self.depths, truncated=self.truncated
        )

    async def _take(self, relation_ids: Sequence[NodeId], level: int) -> list[NodeId]:
        relations = await relation_views(self.session, relation_ids, self.as_of)
        ends = dict.fromkeys(end for r in relations.values() for end in (r.node.subject_id, r.node.object_id))
        views = await entry_views(self.session, [end for end in ends if end not in self.nodes], self.as_of)
        room = self.limit - len(self.nodes)
        fresh = list(views)[:room]
        self.truncated |= len(views) > room
        self.nodes |= {id_: views[id_] for id_ in fresh}
        self.depths |= dict.fromkeys(fresh, level)
        self.found |= {id_: relation for id_, relation in relations.items() if id_ not in self.found}
        return fresh

    def _where(self, layer: Sequence[NodeId]) -> Where | None:
        current = Eq("current", True) if self.as_of.recorded is None else None
        return both(at_entries(layer, RelationDirection.BOTH, self.types), current)

    def _is_full(self) -> bool:
        return self.seen >= MAX_RELATIONS
