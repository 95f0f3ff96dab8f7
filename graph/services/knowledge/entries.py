"""Entries as a reader sees them: at a time, with the names and the summary whose evidence he sees.

An entry is shown by its name: who does not see the evidence of the name of the asked time does not see the entry at
that time. Everything here works for many entries at once, in a constant number of round trips.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from graph.model.edges import EdgeType
from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Attribute, Entry, EntryVersion, Facet, FacetField
from graph.rules.as_of import NOW, AsOf, holds, is_there
from graph.services.access.session import Session
from graph.services.knowledge.listing import believed_where
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import AttributeView, EntryView
from graph.store.query import By, Direction, Find, In, both

S = TypeVar("S", EntryVersion, Facet, Attribute)


async def entry(session: Session, entry_id: NodeId, as_of: AsOf = NOW) -> EntryView | None:
    """Return an entry as it was believed at a time; None for what was not there, is not there or is hidden."""
    return (await entry_views(session, [entry_id], as_of)).get(entry_id)


async def known_entry(session: Session, entry_id: NodeId, as_of: AsOf = NOW) -> EntryView:
    """Return an entry as `entry` does.

    Raises:
        NotFound: instead of None.
    """
    found = await entry(session, entry_id, as_of)
    if found is None:
        raise NotFound
    return found


async def entry_views(session: Session, ids: Sequence[NodeId], as_of: AsOf = NOW) -> Mapping[NodeId, EntryView]:
    """Return those of the entries that the caller sees at a time, in the order of `ids`."""
    opened = await session.open(ids)
    entries = {e.id: e for e in opened.values() if isinstance(e, Entry) and is_there(e.deleted_at, as_of)}
    versions = await _believed(session, EntryVersion, list(entries), as_of)
    facets = await _believed(session, Facet, list(versions), as_of)
    views = (_view(entries[id_], versions[id_][-1], facets.get(id_, []), as_of) for id_ in entries if id_ in versions)
    return {view.id: view for view in views if view is not None}


async def wider_entries(
    session: Session, ids: Sequence[NodeId], as_of: AsOf = NOW
) -> Mapping[NodeId, tuple[EntryView, ...]]:
    """Return, of entries that the caller sees, those of wider bases on the same topic, by id (KN-34)."""
    edges = await session.reader.edges(session.viewer, list(ids), [EdgeType.SAME_AS], Direction.OUT)
    views = await entry_views(session, sorted({edge.target for edge in edges}), as_of)
    found: dict[NodeId, list[EntryView]] = {}
    for edge in sorted(edges, key=lambda edge: edge.target):
        if edge.target in views:
            found.setdefault(edge.source, []).append(views[edge.target])
    return {id_: tuple(wider) for id_, wider in found.items()}


async def attributes_of(
    session: Session, entry_ids: Sequence[NodeId], as_of: AsOf = NOW
) -> Mapping[NodeId, tuple[AttributeView, ...]]:
    """Return the attributes of entries that were believed and held at a time, by key, then by age.

    One key may have several current values: a former one that holds no more stays believed (KN-75).
    """
    found = await _believed(session, Attribute, entry_ids, as_of)
    shown = {id_: sorted((a for a in all_ if holds(a, as_of)), key=_attribute_order) for id_, all_ in found.items()}
    supports = await supports_of(session, [attribute for all_ in shown.values() for attribute in all_])
    return {id_: tuple(AttributeView(node=a, support=supports[a.id]) for a in shown.get(id_, ())) for id_ in entry_ids}


async def _believed(
    session: Session, kind: type[S], entry_ids: Sequence[NodeId], as_of: AsOf
) -> Mapping[NodeId, list[S]]:
    """Return the parts of entries that were believed at a time, oldest first."""
    if not entry_ids:
        return {}
    where = both(In("entry_id", list(entry_ids)), believed_where(as_of))
    page = await session.page(Find(kind=kind, where=where, order=By("created_at")))
    found: dict[NodeId, list[S]] = {}
    for node in page.nodes:
        found.setdefault(node.entry_id, []).append(node)
    return found


def _view(entry: Entry, version: EntryVersion, facets: Iterable[Facet], as_of: AsOf) -> EntryView | None:
    values: dict[str, list[str]] = {}
    for facet in facets:
        values.setdefault(facet.field, []).append(facet.value)
    names = values.get(FacetField.NAME)
    if not names:
        return None
    assert entry.pool is not None
    return EntryView(
        id=entry.id,
        owner_id=entry.owner_id,
        pool=entry.pool,
        name=names[-1],
        type=version.type,
        aliases=_in_order(values.get(FacetField.ALIAS, ()), version.aliases),
        summary=values[FacetField.SUMMARY][-1] if FacetField.SUMMARY in values else None,
        version=version.version,
        recorded_at=version.recorded_at,
        origin=entry.origin,
        read_only=entry.read_only,
        created_at=entry.created_at,
        updated_at=entry.updated_at,
        deleted_at=entry.deleted_at,
        last_modifier_id=entry.last_modifier_id,
        principal_id=entry.principal_id,
        as_of=as_of,
    )


def _in_order(shown: Sequence[str], wanted: Sequence[str]) -> tuple[str, ...]:
    """Return the visible aliases in the order of the version; others follow by age."""
    places = {alias: place for place, alias in enumerate(wanted)}
    return tuple(sorted(dict.fromkeys(shown), key=lambda alias: places.get(alias, len(places))))


def _attribute_order(attribute: Attribute) -> tuple[str, int, NodeId]:
    return attribute.key, attribute.version, attribute.id
