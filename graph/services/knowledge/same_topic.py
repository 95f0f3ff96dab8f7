"""Entries of narrower and wider knowledge bases that stand for the same topic (KN-34, DR-66)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.services.access.session import Session
from graph.services.knowledge.entries import entry_views
from graph.store.query import Direction


async def same_topic(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, tuple[NodeId, ...]]:
    """Return for each entry the live entries on the same topic that the caller sees, by id.

    The mark is seen only where both are, so that from a wider entry nobody learns of a narrower one that he does not
    read.
    """
    edges = [
        edge
        for way in (Direction.OUT, Direction.IN)
        for edge in await session.reader.edges(session.viewer, list(ids), [EdgeType.SAME_AS], way)
    ]
    shown = await entry_views(session, sorted({end for edge in edges for end in (edge.source, edge.target)}))
    found: dict[NodeId, set[NodeId]] = {id_: set() for id_ in ids}
    for edge in edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if one in found and one in shown and other in shown:
                found[one].add(other)
    return {id_: tuple(sorted(others)) for id_, others in found.items()}
