"""Of which document of which connector an entry is the mirror, for who sees the entry (CO-30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.learning import Connector, Mirror
from graph.services.access.session import Session
from graph.store.query import Find, In

SEEN = SystemScope(reason="the documents behind mirrors that the caller was found to see")


@dataclass(frozen=True, kw_only=True, slots=True)
class MirroredView:
    """Where a mirror comes from.

    Attributes:
        connector: None if the caller may not see it.
        document: the row of the document.
    """

    connector: Connector | None
    document: Mirror


async def mirrored(session: Session, entry_ids: Sequence[NodeId]) -> Mapping[NodeId, MirroredView]:
    """Return where each of these entries comes from that is a mirror; the caller was found to see them."""
    page = await session.reader.find(SEEN, Find(kind=Mirror, where=In("entry_id", list(entry_ids))))
    shown = await session.open(sorted({mirror.connector_id for mirror in page.nodes}))
    found: dict[NodeId, MirroredView] = {}
    for mirror in page.nodes:
        connector = shown.get(mirror.connector_id)
        if mirror.entry_id is not None:
            found[mirror.entry_id] = MirroredView(
                connector=connector if isinstance(connector, Connector) else None, document=mirror
            )
    return found
