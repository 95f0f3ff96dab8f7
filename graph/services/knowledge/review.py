"""Prepared views of an agent's current blocks for who reviews what was learned (CO-61, CO-62).

Worked out on read over what the caller sees, like the lint; only the page that is shown is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.model.access import Viewer
from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion
from graph.rules.as_of import NOW
from graph.rules.review import (
    ReviewView,
    has_ended,
    is_authored,
    is_contested,
    is_inferred,
    rests_on_notes_alone,
)
from graph.services.access.session import Session
from graph.services.knowledge.blocks import with_support
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.listing import Listing, Row, believed_where, counted, cut_rows, nothing
from graph.services.knowledge.owners import watched_bases
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import BlockVersionView, EntryView
from graph.store.query import After, Direction, Eq, Find


@dataclass(frozen=True, kw_only=True, slots=True)
class ReviewedBlock:
    """A block to look at, with its entry."""

    entry: EntryView
    block: BlockVersionView


async def review(
    session: Session, owner_id: NodeId, view: ReviewView, *, first: int, after: After | None = None
) -> Listing[ReviewedBlock]:
    """Return a page of the current blocks of a view, last written first, ties by id.

    Raises:
        NotFound: the caller reads nothing of this agent.
    """
    bases = await watched_bases(session, owner_id)
    if not bases:
        return nothing()
    viewer = session.narrowed([base.id for base in bases])
    current = (await session.reader.find(viewer, Find(kind=BlockVersion, where=believed_where(NOW)))).nodes
    found = await _of_view(session, viewer, view, current)
    rows, more = cut_rows([Row(key=-one.recorded_at, id=one.id) for one in found], first=first, after=after)
    opened = await session.open([row.id for row in rows])
    blocks = await with_support(session, [one for one in opened.values() if isinstance(one, BlockVersion)])
    entries = await entry_views(session, sorted({one.node.entry_id for one in blocks.values()}))
    page = Listing(
        items=tuple(row.id for row in rows),
        places=tuple(row.place for row in rows),
        more=more,
        count=counted(len(found)),
    )

    def shown(id_: NodeId) -> ReviewedBlock | None:
        block = blocks.get(id_)
        entry = None if block is None else entries.get(block.node.entry_id)
        return None if block is None or entry is None else ReviewedBlock(entry=entry, block=block)

    return page.mapped(shown)


async def _of_view(
    session: Session, viewer: Viewer, view: ReviewView, current: Sequence[BlockVersion]
) -> Sequence[BlockVersion]:
    if view is ReviewView.CONTESTED:
        return [one for one in current if is_contested(one)]
    if view is ReviewView.NOTE_ONLY:
        return await _on_notes(session, [one for one in current if is_authored(one)])
    now = session.deps.now()
    ended = [one for one in current if has_ended(one, now)]
    return [*ended, *await _stale(session, viewer, [one for one in current if not has_ended(one, now)])]


async def _on_notes(session: Session, authored: Sequence[BlockVersion]) -> Sequence[BlockVersion]:
    supports = await supports_of(session, authored)
    return [
        one for one in authored if rests_on_notes_alone(citation.source.kind for citation in supports[one.id].citations)
    ]


async def _stale(session: Session, viewer: Viewer, current: Sequence[BlockVersion]) -> Sequence[BlockVersion]:
    """Return the stale ones; only what follows from others, or cites a source that has a newer version, can be."""
    old = (await session.reader.find(viewer, Find(kind=Source, where=Eq("latest", False)))).nodes
    ids = [source.id for source in old]
    edges = await session.reader.edges(viewer, ids, [EdgeType.CITES], Direction.IN) if ids else ()
    citing = {edge.source for edge in edges}
    maybe = [one for one in current if one.id in citing or is_inferred(one)]
    supports = await supports_of(session, maybe)
    return [one for one in maybe if supports[one.id].stale]
