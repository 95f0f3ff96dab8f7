"""From a statement to the sources behind it, or from a source to what rests on it (KN-79, KN-80, KN-122).

Only edges between nodes that the viewer may see are followed, so that what is hidden is neither shown nor walked
through nor counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.model.edges import PROVENANCE_EDGES, Edge, EdgeType
from graph.model.errors import LimitExceeded, NotFound
from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Block, Entry
from graph.rules.provenance import DEFAULT_DEPTH, MAX_DEPTH, MAX_NODES, Direction, ProvenanceEdge, walk
from graph.services.access.session import Session
from graph.store.query import Direction as Way

_PARTS: dict[str, tuple[EdgeType, ...]] = {
    Entry.PREFIX: (EdgeType.HAS_FACET, EdgeType.HAS_BLOCK, EdgeType.HAS_ATTRIBUTE),
    Block.PREFIX: (EdgeType.HAS_VERSION,),
}
"""What hangs on a page and carries the evidence; walked before the walk so that one may start at a page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Provenance:
    """What a provenance walk found: nodes nearest first, the root being the first."""

    root: Node
    nodes: tuple[Node, ...]
    edges: tuple[ProvenanceEdge, ...]
    truncated: bool


async def provenance(
    session: Session, root_id: NodeId, *, depth: int = DEFAULT_DEPTH, direction: Direction = Direction.UPSTREAM
) -> Provenance:
    """Return the graph around one node.

    Raises:
        NotFound: missing and hidden alike.
        LimitExceeded: `depth` is not 1 to 16.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise LimitExceeded(f"ask for a depth of 1 to {MAX_DEPTH}", field="depth", limit=MAX_DEPTH)
    root = (await session.open([root_id])).get(root_id)
    if root is None:
        raise NotFound
    parts = await _parts(session, root_id)
    starts = [root_id, *dict.fromkeys(edge.target for edge in parts)]
    edges, visible = await _around(session, starts, depth, direction)
    found = walk(starts, edges, depth=depth, direction=direction, visible=visible)
    nodes = await session.open([n.node for n in found.nodes])
    return Provenance(
        root=root,
        nodes=tuple(nodes[n.node] for n in found.nodes if n.node in nodes),
        edges=(*(ProvenanceEdge(edge=edge, depth=0) for edge in parts), *found.edges),
        truncated=found.truncated,
    )


async def _parts(session: Session, root_id: NodeId) -> list[Edge]:
    """Return the edges from a page down to the statements that carry its evidence."""
    layer, found = [root_id], []
    while layer:
        types = {t for node in layer for t in _PARTS.get(prefix_of(node), ())}
        if not types:
            break
        edges = await session.reader.edges(session.viewer, layer, types, Way.OUT)
        shown = await session.prove(sorted({edge.target for edge in edges}))
        kept = [edge for edge in edges if edge.target in shown]
        found += kept
        layer = sorted({edge.target for edge in kept})
    return found


async def _around(
    session: Session, starts: Sequence[NodeId], depth: int, direction: Direction
) -> tuple[list[Edge], frozenset[NodeId]]:
    """Return the edges between visible nodes, one step farther than `depth`, and the visible nodes."""
    visible = set(await session.prove(starts))
    layer, edges = sorted(visible), dict[tuple[str, NodeId, NodeId, str], Edge]()
    for _ in range(depth + 1):
        if not layer or len(visible) > 2 * MAX_NODES:
            break
        met = await _step(session, layer, direction)
        ends = {end for edge in met for end in (edge.source, edge.target)} - visible
        fresh = await session.prove(sorted(ends))
        visible |= fresh
        edges |= {edge.identity: edge for edge in met if edge.source in visible and edge.target in visible}
        layer = sorted(fresh)
    return list(edges.values()), frozenset(visible)


async def _step(session: Session, layer: Sequence[NodeId], direction: Direction) -> list[Edge]:
    """Return the edges at a layer in the asked direction; records lead to their targets and back both ways."""
    way, back = (Way.OUT, Way.IN) if direction is Direction.UPSTREAM else (Way.IN, Way.OUT)
    run = {EdgeType.TARGETS, EdgeType.PRODUCED}
    along = await session.reader.edges(session.viewer, layer, PROVENANCE_EDGES, way)
    against = await session.reader.edges(session.viewer, layer, run, back)
    return [*along, *against]
