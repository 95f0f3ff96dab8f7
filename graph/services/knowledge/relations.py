"""Relations as a reader sees them: with the evidence he sees, at a time, of one entry or many (KN-29)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Relation, RelationVersion
from graph.rules.as_of import NOW, AsOf, holds
from graph.services.access.session import Session
from graph.services.knowledge.entries import known_entry
from graph.services.knowledge.listing import Listing, Row, believed_where, counted, cut_rows, find_listing
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import RelationView
from graph.store.query import After, Eq, Find, In, Linked, Newest, Where, both


class RelationDirection(StrEnum):
    """Which end of a relation an entry is."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


_ENDS: Mapping[RelationDirection, tuple[EdgeType, ...]] = {
    RelationDirection.OUT: (EdgeType.SUBJECT,),
    RelationDirection.IN: (EdgeType.OBJECT,),
    RelationDirection.BOTH: (EdgeType.SUBJECT, EdgeType.OBJECT),
}


async def relations(
    session: Session,
    entry_id: NodeId,
    *,
    direction: RelationDirection = RelationDirection.BOTH,
    types: Sequence[str] | None = None,
    as_of: AsOf = NOW,
    first: int,
    after: After | None = None,
) -> Listing[RelationView]:
    """Return the relations of an entry at a time, the newest first, ties by id.

    Raises:
        NotFound: the entry is missing or hidden at that time.
    """
    await known_entry(session, entry_id, as_of)
    where = at_entries([entry_id], direction, types)
    if as_of == NOW:
        query = Find(kind=Relation, where=both(where, Eq("current", True)), order=Newest(), first=first, after=after)
        listing = await find_listing(session, query)
    else:
        listing = await _at_a_time(session, where, as_of, first, after)
    views = await relation_views(session, [relation.id for relation in listing.items], as_of)
    return listing.mapped(lambda relation: views.get(relation.id))


async def relation_views(session: Session, ids: Sequence[NodeId], as_of: AsOf = NOW) -> Mapping[NodeId, RelationView]:
    """Return those of the relations that the caller sees and that were believed and held at a time."""
    opened = {id_: node for id_, node in (await session.open(ids)).items() if isinstance(node, Relation)}
    versions = await _versions(session, list(opened), as_of)
    supports = await supports_of(session, [opened[id_] for id_ in versions])
    return {
        id_: RelationView(node=opened[id_], version=versions[id_], support=supports[id_])
        for id_ in opened
        if id_ in versions
    }


async def last_relation_views(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, RelationView]:
    """Return relations by id, also those taken back, each in its last version."""
    opened = {id_: node for id_, node in (await session.open(ids)).items() if isinstance(node, Relation)}
    where = In("relation_id", list(opened))
    page = await session.page(Find(kind=RelationVersion, where=where)) if opened else None
    last: dict[NodeId, RelationVersion] = {}
    for version in sorted(page.nodes if page else (), key=lambda version: version.version):
        last[version.relation_id] = version
    supports = await supports_of(session, [opened[id_] for id_ in last])
    return {id_: RelationView(node=opened[id_], version=last[id_], support=supports[id_]) for id_ in last}


async def relation_versions(
    session: Session, relation_id: NodeId, *, first: int, after: After | None = None
) -> Listing[RelationVersion]:
    """Return the versions of a relation, newest first."""
    query = Find(kind=RelationVersion, where=Eq("relation_id", relation_id), order=Newest(), first=first, after=after)
    return await find_listing(session, query)


def at_entries(entry_ids: Sequence[NodeId], direction: RelationDirection, types: Sequence[str] | None) -> Where:
    """Return the condition on relations that have one of these entries, which the caller sees, at an end."""
    linked = Linked(_ENDS[direction], entry_ids)
    found = both(linked, None if types is None else In("type", types))
    assert found is not None
    return found


async def _at_a_time(session: Session, where: Where, as_of: AsOf, first: int, after: After | None) -> Listing[Relation]:
    found = await session.reader.find(session.viewer, Find(kind=Relation, where=where))
    ids = [relation.id for relation in found.nodes]
    then = _fitting(await _found_versions(session, ids, as_of), as_of)
    rows = [Row(key=-relation.created_at, id=relation.id) for relation in found.nodes if relation.id in then]
    cut, more = cut_rows(rows, first=first, after=after)
    shown = await session.open([row.id for row in cut])
    kept = [(relation, row) for row in cut if isinstance(relation := shown.get(row.id), Relation)]
    return Listing(
        items=tuple(relation for relation, _ in kept),
        places=tuple(row.place for _, row in kept),
        more=more,
        count=counted(len(rows)),
    )


async def _found_versions(session: Session, ids: Sequence[NodeId], as_of: AsOf) -> Sequence[RelationVersion]:
    """Return versions that the index proposes, to choose relations by; not to be shown."""
    if not ids:
        return ()
    where = both(In("relation_id", ids), believed_where(as_of))
    return (await session.reader.find(session.viewer, Find(kind=RelationVersion, where=where))).nodes


async def _versions(session: Session, ids: Sequence[NodeId], as_of: AsOf) -> Mapping[NodeId, RelationVersion]:
    if not ids:
        return {}
    where = both(In("relation_id", ids), believed_where(as_of))
    return _fitting((await session.page(Find(kind=RelationVersion, where=where))).nodes, as_of)


def _fitting(versions: Iterable[RelationVersion], as_of: AsOf) -> Mapping[NodeId, RelationVersion]:
    return {version.relation_id: version for version in versions if holds(version, as_of)}
