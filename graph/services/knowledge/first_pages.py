"""First pages of what hangs on many entries or blocks, for lists of them: round trips do not grow with their number.

Each page equals the one that the service for a single entry or block gives; its places go on from there. What is read
is proportional to what the caller may see of all of them (E4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from graph.model.edges import EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Attribute, Block, BlockVersion, Entry, Facet, Relation
from graph.model.nodes.work import AuditRecord
from graph.rules.as_of import NOW, AsOf
from graph.services.access.session import Session
from graph.services.knowledge.blocks import with_support
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.listing import Listing, believed_where, counted, nothing
from graph.services.knowledge.relations import RelationDirection, at_entries, relation_views
from graph.services.knowledge.views import BlockVersionView, RelationView
from graph.store.query import After, Direction, Eq, Find, In, Linked, both

N = TypeVar("N", bound=Node)
T = TypeVar("T")


async def first_relations(
    session: Session,
    entry_ids: Sequence[NodeId],
    *,
    direction: RelationDirection = RelationDirection.BOTH,
    types: Sequence[str] | None = None,
    first: int,
) -> Mapping[NodeId, Listing[RelationView]]:
    """Return the current relations of each entry, the newest first; entries that are hidden have none."""
    shown = await entry_views(session, entry_ids)
    where = both(at_entries(list(shown), direction, types), Eq("current", True))
    page = await session.page(Find(kind=Relation, where=where))
    pages = {
        id_: _first((r for r in page.nodes if id_ in _ends(r, direction)), lambda r: r.created_at, first)
        for id_ in shown
    }
    views = await relation_views(session, [r.id for found in pages.values() for r in found.items])
    return {id_: found.mapped(lambda r: views.get(r.id)) for id_, found in pages.items()}


async def first_sources(
    session: Session, entry_ids: Sequence[NodeId], *, as_of: AsOf = NOW, first: int
) -> Mapping[NodeId, Listing[Source]]:
    """Return the raw sources behind each entry, the newest first; entries that are hidden have none."""
    shown = await entry_views(session, entry_ids, as_of)
    statements = await _statements(session, list(shown), as_of)
    every = sorted({id_ for ids in statements.values() for id_ in ids})
    behind = await _sources_behind(session, every)
    opened = await session.open(sorted({source for ids in behind.values() for source in ids}))
    pages = {}
    for id_, ids in statements.items():
        wanted = sorted({source for statement in ids for source in behind.get(statement, ())})
        sources = [node for source in wanted if isinstance(node := opened.get(source), Source)]
        pages[id_] = _first(sources, lambda source: source.occurred_at, first)
    return pages


async def first_audit(
    session: Session, entry_ids: Sequence[NodeId], *, first: int
) -> Mapping[NodeId, Listing[AuditRecord]]:
    """Return the records of each entry, its blocks and its relations, newest first; hidden entries have none."""
    opened = await session.open(entry_ids)
    entries = [entry for entry in opened.values() if isinstance(entry, Entry)]
    targets = await _targets(session, [entry.id for entry in entries])
    every = sorted({target for ids in targets.values() for target in ids})
    page = await session.page(Find(kind=AuditRecord, where=In("target_id", every)))
    by_target: dict[NodeId, list[AuditRecord]] = {}
    for record in page.nodes:
        by_target.setdefault(record.target_id, []).append(record)
    return {
        entry.id: _first(
            (r for target in targets[entry.id] for r in by_target.get(target, ()) if r.pool == entry.pool),
            lambda record: record.seq,
            first,
        )
        for entry in entries
    }


async def first_block_versions(
    session: Session, block_ids: Sequence[NodeId], *, first: int
) -> Mapping[NodeId, Listing[BlockVersionView]]:
    """Return the versions of each block that the caller sees, newest first."""
    page = await session.page(Find(kind=BlockVersion, where=In("block_id", list(block_ids))))
    pages = {id_: _first((v for v in page.nodes if v.block_id == id_), lambda v: v.version, first) for id_ in block_ids}
    views = await with_support(session, [v for found in pages.values() for v in found.items])
    return {id_: found.mapped(lambda v: views.get(v.id)) for id_, found in pages.items()}


def none_found() -> Listing[T]:
    """Return the page of an entry that is hidden or missing."""
    found: Listing[T] = nothing()
    return found


def _first(nodes: Iterable[N], value: Callable[[N], int], first: int) -> Listing[N]:
    """Return the first page by falling value, ties by id, as the stores order it."""
    ordered = sorted({node.id: node for node in nodes}.values(), key=lambda node: (-value(node), node.id))
    shown = tuple(ordered[:first])
    return Listing(
        items=shown,
        places=tuple(After(value(node), node.id) for node in shown),
        more=len(ordered) > first,
        count=counted(len(ordered)),
    )


def _ends(relation: Relation, direction: RelationDirection) -> tuple[NodeId, ...]:
    out, in_ = (relation.subject_id,), (relation.object_id,)
    return {RelationDirection.OUT: out, RelationDirection.IN: in_}.get(direction, out + in_)


async def _statements(session: Session, entry_ids: Sequence[NodeId], as_of: AsOf) -> dict[NodeId, list[NodeId]]:
    """Return the ids of what each entry says, as the index proposes it; not to be shown."""
    found: dict[NodeId, list[NodeId]] = {id_: [] for id_ in entry_ids}
    if not entry_ids:
        return found
    where = both(In("entry_id", list(entry_ids)), believed_where(as_of))
    kinds: tuple[type[Facet | BlockVersion | Attribute], ...] = (Facet, BlockVersion, Attribute)
    for kind in kinds:
        for node in (await session.reader.find(session.viewer, Find(kind=kind, where=where))).nodes:
            found[node.entry_id].append(node.id)
    related = both(at_entries(entry_ids, RelationDirection.BOTH, None), Eq("current", True))
    for relation in (await session.reader.find(session.viewer, Find(kind=Relation, where=related))).nodes:
        for end in {relation.subject_id, relation.object_id} & found.keys():
            found[end].append(relation.id)
    return found


async def _sources_behind(session: Session, statements: Sequence[NodeId]) -> Mapping[NodeId, set[NodeId]]:
    """Return the sources that each statement cites, directly or through what it is derived from."""
    types = (EdgeType.CITES, EdgeType.DERIVED_FROM)
    reached = await session.reader.closure(statements, types, Direction.OUT)
    below: dict[NodeId, list[NodeId]] = {}
    for edge in reached.edges:
        below.setdefault(edge.source, []).append(edge.target)
    return {statement: _leaves(statement, below) for statement in statements}


def _leaves(start: NodeId, below: Mapping[NodeId, Sequence[NodeId]]) -> set[NodeId]:
    seen, stack = {start}, [start]
    while stack:
        for target in below.get(stack.pop(), ()):
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return {node for node in seen if prefix_of(node) == Source.PREFIX}


async def _targets(session: Session, entry_ids: Sequence[NodeId]) -> dict[NodeId, list[NodeId]]:
    """Return each entry with its blocks and relations, as the index proposes them."""
    found = {id_: [id_] for id_ in entry_ids}
    if not entry_ids:
        return found
    blocks = await session.reader.find(session.viewer, Find(kind=Block, where=In("entry_id", list(entry_ids))))
    for block in blocks.nodes:
        found[block.entry_id].append(block.id)
    linked = Linked((EdgeType.SUBJECT, EdgeType.OBJECT), list(entry_ids))
    for relation in (await session.reader.find(session.viewer, Find(kind=Relation, where=linked))).nodes:
        for end in {relation.subject_id, relation.object_id} & found.keys():
            found[end].append(relation.id)
    return found
