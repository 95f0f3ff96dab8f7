"""Walks of provenance: from a statement to its sources, or from a source to what rests on it.

Source: KN-72, KN-79, KN-80.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from graph.model.edges import PROVENANCE_EDGES, Edge, EdgeType
from graph.model.errors import LimitExceeded, OperationRejected
from graph.model.ids import NodeId

if TYPE_CHECKING:
    import networkx as nx

DEFAULT_DEPTH = 4
MAX_DEPTH = 16
MAX_NODES = 500

_MADE_BY = frozenset({EdgeType.PRODUCED})
"""Stored from the maker to what it made, so upstream goes against the arrow: from a record to its run."""


class Direction(StrEnum):
    """Where a walk goes."""

    UPSTREAM = "upstream"
    DOWNSTREAM = "downstream"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProvenanceNode:
    """A node that the walk reached, `depth` edges from the start."""

    node: NodeId
    depth: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProvenanceEdge:
    """An edge between two reached nodes, as it is stored; `depth` is that of its farther end, at least 1."""

    edge: Edge
    depth: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProvenanceResult:
    """What a walk found: nodes breadth first, edges by depth; `truncated` if more exist than are here."""

    nodes: tuple[ProvenanceNode, ...]
    edges: tuple[ProvenanceEdge, ...]
    truncated: bool

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """Return the same as a graph: nodes have depth, edges (keyed by type and key) depth and type."""
        import networkx as nx  # here: a server at rest does without its 11 MiB

        graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
        for n in self.nodes:
            graph.add_node(n.node, depth=n.depth)
        for e in self.edges:
            edge = e.edge
            key = f"{edge.type}:{edge.key}"
            graph.add_edge(edge.source, edge.target, key=key, type=str(edge.type), depth=e.depth)
        return graph


def walk(
    starts: Sequence[NodeId],
    edges: Iterable[Edge],
    *,
    depth: int = DEFAULT_DEPTH,
    direction: Direction = Direction.UPSTREAM,
    visible: Collection[NodeId] | None = None,
    max_nodes: int = MAX_NODES,
) -> ProvenanceResult:
    """Return what is reached from `starts`, breadth first, equal depth in the order of type, id and key.

    An audit record and its target lead to each other both ways; a run is upstream of the records it produced. So
    a statement leads to its sources, and over its records to the run and all that the run consumed.

    Args:
        starts: one node, or the parts of an entry; those not visible are left out.
        edges: all provenance edges around the reached nodes; give them one step beyond `depth`, so that
            `truncated` can tell. Other types are ignored.
        depth: most edges from a start, 1 to 16.
        direction: to the sources or to the dependents.
        visible: nodes that the viewer may see; hidden ones are neither returned, walked through nor counted
            (KN-80). None: all.
        max_nodes: most nodes returned, the starts included.

    Raises:
        LimitExceeded: `depth` is not 1 to 16.

    Source: KN-79.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise LimitExceeded("ask for a depth of 1 to 16", field="depth", limit=MAX_DEPTH)
    seen = _visible_edges(edges, visible)
    steps = _steps(seen, direction)
    depths = {node: 0 for node in starts if visible is None or node in visible}
    truncated = len(depths) > max_nodes
    depths = dict(list(depths.items())[:max_nodes])
    layer = list(depths)
    for level in range(1, depth + 1):
        layer, cut = _next_layer(layer, steps, depths, level, max_nodes)
        truncated = truncated or cut
    truncated = truncated or any(t not in depths for node in layer for t in steps.get(node, ()))
    return ProvenanceResult(
        nodes=tuple(ProvenanceNode(node=node, depth=d) for node, d in depths.items()),
        edges=_edges_between(seen, depths),
        truncated=truncated,
    )


def check_derivation(edges: Iterable[Edge], *, max_depth: int = MAX_DEPTH) -> None:
    """Refuse derivations that go round or are too deep.

    Args:
        edges: the new edges together with all DERIVED_FROM edges above and below their ends; other types are
            ignored.
        max_depth: most edges on a path.

    Raises:
        OperationRejected: ``PROVENANCE_CYCLE``: there is a cycle, or a path longer than `max_depth` edges.

    Source: KN-72.
    """
    sources: dict[NodeId, set[NodeId]] = {}
    for edge in edges:
        if edge.type is EdgeType.DERIVED_FROM:
            sources.setdefault(edge.source, set()).add(edge.target)
            sources.setdefault(edge.target, set())
    height = _heights(sources)
    if height is None or height > max_depth:
        raise OperationRejected(
            "PROVENANCE_CYCLE",
            f"derive statements from others without a cycle and at most {max_depth} steps deep",
            limit=max_depth,
        )


def _visible_edges(edges: Iterable[Edge], visible: Collection[NodeId] | None) -> list[Edge]:
    shown = (
        e
        for e in edges
        if e.type in PROVENANCE_EDGES and (visible is None or (e.source in visible and e.target in visible))
    )
    return sorted(shown, key=lambda e: e.identity)


def _steps(edges: Iterable[Edge], direction: Direction) -> Mapping[NodeId, list[NodeId]]:
    steps: dict[NodeId, list[NodeId]] = {}
    for e in edges:
        along = (e.type in _MADE_BY) != (direction is Direction.UPSTREAM)
        if along or e.type is EdgeType.TARGETS:
            steps.setdefault(e.source, []).append(e.target)
        if not along or e.type is EdgeType.TARGETS:
            steps.setdefault(e.target, []).append(e.source)
    return steps


def _next_layer(
    layer: Iterable[NodeId],
    steps: Mapping[NodeId, Sequence[NodeId]],
    depths: dict[NodeId, int],
    level: int,
    max_nodes: int,
) -> tuple[list[NodeId], bool]:
    """Add the nodes at distance `level` to `depths`; return them, and whether the limit cut some off."""
    reached: list[NodeId] = []
    for node in layer:
        for target in steps.get(node, ()):
            if target in depths:
                continue
            if len(depths) >= max_nodes:
                return reached, True
            depths[target] = level
            reached.append(target)
    return reached, False


def _edges_between(edges: Iterable[Edge], depths: Mapping[NodeId, int]) -> tuple[ProvenanceEdge, ...]:
    found = [
        ProvenanceEdge(edge=e, depth=max(1, depths[e.source], depths[e.target]))
        for e in edges
        if e.source in depths and e.target in depths
    ]
    return tuple(sorted(found, key=lambda e: e.depth))


def _heights(sources: Mapping[NodeId, Collection[NodeId]]) -> int | None:
    """Return the number of edges of the longest path, or None if there is a cycle."""
    waiting = {node: len(targets) for node, targets in sources.items()}
    dependents: dict[NodeId, list[NodeId]] = {node: [] for node in sources}
    for node, targets in sources.items():
        for target in targets:
            dependents[target].append(node)
    heights = dict.fromkeys((node for node, count in waiting.items() if not count), 0)
    ordered = list(heights)
    for node in ordered:
        for dependent in dependents[node]:
            heights[dependent] = max(heights.get(dependent, 0), heights[node] + 1)
            waiting[dependent] -= 1
            if not waiting[dependent]:
                ordered.append(dependent)
    return max(heights.values(), default=0) if len(ordered) == len(sources) else None
