"""The list of entries of one owner: filtered, by match or by last change (KN-117)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from graph.model.access import Viewer
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Attribute, BlockVersion, Entry, Facet, Relation
from graph.model.time import Millis
from graph.rules.entry_match import TIERS, match_tiers
from graph.rules.guarding import LIVE_ENTRY
from graph.services.access.session import Session
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.listing import Listing, Row, counted, cut_rows, find_listing, nothing
from graph.services.knowledge.owners import check_named, narrowed_to
from graph.services.knowledge.sources import citing_statements
from graph.services.knowledge.views import EntryView
from graph.services.settings import load_settings
from graph.store.query import (
    After,
    And,
    Eq,
    Find,
    In,
    Match,
    Newest,
    Or,
    Range,
    Tagged,
    TextIndex,
    Where,
    both,
)
from graph.text.words import query_words

MATCH_LIMIT = 10_000
"""Most texts looked at for one question; of more, the choice of `Match` applies."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryFilter:
    """What a list of entries is narrowed by: filters combine with AND, values within one with OR; None is no filter.

    Attributes:
        text: all its words must occur in the entry's visible names, summary and body; blank is no filter.
        author_ids: who made the last change of the entry or of one of its current blocks.
        updated_from, updated_to: of the last change; `updated_to` is exclusive.
        cites_source_id: a source, any version of which a current statement of the entry cites.
    """

    text: str | None = None
    types: tuple[str, ...] | None = None
    kb_ids: tuple[NodeId, ...] | None = None
    author_ids: tuple[NodeId, ...] | None = None
    updated_from: Millis | None = None
    updated_to: Millis | None = None
    ids: tuple[NodeId, ...] | None = None
    cites_source_id: NodeId | None = None


async def entries(
    session: Session,
    owner_id: NodeId,
    filter: EntryFilter | None = None,
    *,
    first: int,
    after: After | None = None,
) -> Listing[EntryView]:
    """Return a page of the live entries that the caller sees in the knowledge bases of an owner.

    With a text they are ordered by where its words are found (`graph.rules.entry_match`), else the last changed
    comes first; ties by id. An owner that does not exist or is hidden has no entries.

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN``: an agent names a base that its conversation does not read (KN-56).
    """
    wanted = filter or EntryFilter()
    viewer = await _viewer_of_owner(session, owner_id, wanted.kb_ids)
    where = await _where(session, viewer, wanted)
    if where is None:
        return nothing()
    if wanted.text is not None and wanted.text.strip():
        listing = await _by_match(session, viewer, where, wanted.text, first, after)
    else:
        query = Find(kind=Entry, where=where, order=Newest(), first=first, after=after)
        listing = await find_listing(session, query, viewer)
    views = await entry_views(session, [entry.id for entry in listing.items])
    return listing.mapped(lambda entry: views.get(entry.id))


async def _viewer_of_owner(session: Session, owner_id: NodeId, kb_ids: Collection[NodeId] | None) -> Viewer:
    check_named(session, kb_ids)
    return await narrowed_to(session, owner_id, kb_ids)


async def _where(session: Session, viewer: Viewer, wanted: EntryFilter) -> Where | None:
    """Return the condition on entries, or None if nothing can fit."""
    if viewer.pools is not None and not viewer.pools:
        return None
    parts: list[Where | None] = [_tags(wanted.types)]
    if wanted.updated_from is not None or wanted.updated_to is not None:
        parts.append(Range("updated_at", wanted.updated_from, wanted.updated_to))
    if wanted.ids is not None:
        parts.append(In("id", wanted.ids))
    if wanted.author_ids is not None:
        parts.append(await _written_by(session, viewer, wanted.author_ids))
    if wanted.cites_source_id is not None:
        parts.append(In("id", await _citing(session, wanted.cites_source_id)))
    return both(*parts)


def _tags(types: Sequence[str] | None) -> Where:
    return Tagged((LIVE_ENTRY,)) if types is None else Tagged(tuple(f"type:{type_}" for type_ in types))


async def _written_by(session: Session, viewer: Viewer, authors: Sequence[NodeId]) -> Where:
    current = And((In("modifier_id", authors), Eq("invalidated_at", None)))
    by_entry = await session.reader.aggregate(viewer, BlockVersion, current, by="entry_id")
    return Or((In("last_modifier_id", authors), In("id", sorted(by_entry))))


async def _citing(session: Session, source_id: NodeId) -> Sequence[NodeId]:
    """Return the entries of which a current statement cites the source in any of its versions."""
    return sorted({entry for node in await citing_statements(session, source_id) for entry in _entries_of(node)})


def _entries_of(statement: Node) -> tuple[NodeId, ...]:
    if isinstance(statement, Relation):
        return statement.subject_id, statement.object_id
    return (statement.entry_id,) if isinstance(statement, BlockVersion | Attribute | Facet) else ()


async def _by_match(
    session: Session, viewer: Viewer, where: Where, text: str, first: int, after: After | None
) -> Listing[Entry]:
    tiers = await _tiers(session, viewer, text)
    page = await session.reader.find(viewer, Find(kind=Entry, where=both(where, In("id", sorted(tiers)))))
    rows = [Row(key=tiers[entry.id], id=entry.id) for entry in page.nodes]
    cut, more = cut_rows(rows, first=first, after=after)
    shown = await session.open([row.id for row in cut])
    kept = [(entry, row) for row in cut if isinstance(entry := shown.get(row.id), Entry)]
    return Listing(
        items=tuple(entry for entry, _ in kept),
        places=tuple(row.place for _, row in kept),
        more=more,
        count=counted(len(rows)),
    )


async def _tiers(session: Session, viewer: Viewer, text: str) -> Mapping[NodeId, int]:
    settings = await load_settings(session.reader, session.caller.workspace)
    words = query_words(text, default=settings["search.default_language"])
    if not words:
        return {}
    question = Match(index=TextIndex.ENTRY, words=words, limit=MATCH_LIMIT, parts=tuple(TIERS), pools=_pools(viewer))
    return match_tiers(words, (await session.reader.match(viewer, question)).hits)


def _pools(viewer: Viewer) -> tuple[NodeId, ...] | None:
    return None if viewer.pools is None else tuple(sorted(viewer.pools))
