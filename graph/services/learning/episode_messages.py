"""The original messages behind episodes: what whoever quotes or verifies gets (DR-23, RE-21)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.rules.ingest import in_talk_order
from graph.services.access.session import Session
from graph.store.query import Direction


async def episode_messages(session: Session, episodes: Sequence[NodeId]) -> Mapping[NodeId, tuple[Source, ...]]:
    """Return the messages of each episode in talk order, as far as the caller sees them."""
    if not episodes:
        return {}
    edges = await session.reader.edges(session.viewer, episodes, [EdgeType.SUMMARIZES], Direction.OUT)
    shown = await session.open([edge.target for edge in edges])
    found: dict[NodeId, list[Source]] = {id_: [] for id_ in episodes}
    for edge in edges:
        message = shown.get(edge.target)
        if isinstance(message, Source):
            found[edge.source].append(message)
    return {id_: tuple(in_talk_order(messages)) for id_, messages in found.items()}


async def conclusion_messages(
    session: Session, episodes: Sequence[NodeId]
) -> Mapping[NodeId, Mapping[int, tuple[Source, ...]]]:
    """Return the messages behind each conclusion of each episode, by the place of the conclusion (DR-20)."""
    if not episodes:
        return {}
    edges = await session.reader.edges(session.viewer, episodes, [EdgeType.CONCLUDES_FROM], Direction.OUT)
    shown = await session.open([edge.target for edge in edges])
    found: dict[NodeId, dict[int, list[Source]]] = {id_: {} for id_ in episodes}
    for edge in edges:
        message = shown.get(edge.target)
        if isinstance(message, Source):
            found[edge.source].setdefault(edge.props["conclusionIndex"], []).append(message)
    return {id_: {at: tuple(in_talk_order(own)) for at, own in by.items()} for id_, by in found.items()}
