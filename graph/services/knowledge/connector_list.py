"""What connectors bring to an agent, document by document, for who reads where they bring it (CO-36, CO-40).

A document that was withdrawn, or that could never be read, has no source that anybody sees: its row tells its name at
its place, its state and why, and nothing of its content.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceState
from graph.model.nodes.knowledge import Entry
from graph.model.nodes.learning import Connector, Mirror
from graph.rules.mirrors import LIVE
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, Row, counted, cut_rows
from graph.services.knowledge.mirrored import SEEN
from graph.store.query import After, And, Eq, Find, In


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentView:
    """One document of a connector.

    Attributes:
        document: its row.
        connector: what brings it.
        source: its newest version; None if that cannot be read (any more).
    """

    document: Mirror
    connector: Connector
    source: Source | None


async def connector_materials(
    session: Session, owner_id: NodeId, *, first: int, after: After | None = None
) -> Listing[DocumentView]:
    """Return the documents of an agent's connectors whose knowledge base the caller reads, by name, then by id."""
    page = await session.page(Find(kind=Connector, where=Eq("owner_id", owner_id)))
    connectors = {connector.id: connector for connector in page.nodes}
    documents = {document.id: document for document in await _documents(session, sorted(connectors))}
    rows = [Row(key=document.external_id, id=document.id) for document in documents.values()]
    cut, more = cut_rows(rows, first=first, after=after)
    kept = [documents[row.id] for row in cut]
    sources = await _sources(session, kept)
    shown = [(document, sources.get(document.series or NodeId(""))) for document in kept]
    seen = [(d, source) for d, source in shown if source is not None or d.state != LIVE]
    return Listing(
        items=tuple(DocumentView(document=d, connector=connectors[d.connector_id], source=s) for d, s in seen),
        places=tuple(After(d.external_id, d.id) for d, _ in seen),
        more=more,
        count=counted(len(rows)),
    )


async def _documents(session: Session, connectors: Sequence[NodeId]) -> list[Mirror]:
    """Return the rows of connectors that the caller sees; of a live one only if the index proposes its entry to him."""
    found = (await session.reader.find(SEEN, Find(kind=Mirror, where=In("connector_id", connectors)))).nodes
    live = sorted({mirror.entry_id for mirror in found if mirror.state == LIVE and mirror.entry_id})
    seen = {e.id for e in (await session.reader.find(session.viewer, Find(kind=Entry, where=In("id", live)))).nodes}
    erased = await _erased(session, [mirror.series for mirror in found if mirror.state != LIVE and mirror.series])
    return [m for m in found if (m.entry_id in seen if m.state == LIVE else m.series not in erased)]


async def _erased(session: Session, series: Sequence[NodeId]) -> frozenset[NodeId]:
    """Return which documents were erased: they are told of to nobody, not even by name (KN-81)."""
    where = And((In("series", sorted(series)), Eq("state", SourceState.ERASED)))
    page = await session.reader.find(SEEN, Find(kind=Source, where=where))
    return frozenset(source.series for source in page.nodes)


async def _sources(session: Session, documents: Sequence[Mirror]) -> dict[NodeId, Source]:
    """Return the newest versions of documents that the caller sees, by series."""
    series = sorted({document.series for document in documents if document.series})
    where = And((In("series", series), Eq("latest", True)))
    return {source.series: source for source in (await session.page(Find(kind=Source, where=where))).nodes}
