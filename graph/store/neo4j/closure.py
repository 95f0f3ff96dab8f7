"""Everything reached along edges, in one round trip.

The engine walks breadth first with a visited set (its pruning expansion, which it takes only if nothing but the end
and the shortest length is asked), so diamonds cost nothing and a cycle ends. What is handed back is the graph with
its cycles; whether something on a cycle is proved is for the law alone. Trap: a test over the leaves of paths, in
Cypher, shows what hangs on a cycle, because a path that only goes round never meets a bad leaf.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.store.neo4j.conditions import relationship_types
from graph.store.neo4j.driver import Runner, table
from graph.store.query import Direction, Reached


async def closure(
    runner: Runner,
    ids: Sequence[NodeId],
    types: Iterable[EdgeType],
    direction: Direction,
    *,
    depth: int | None,
    limit: int | None,
) -> Reached:
    """Return what is reached from `ids`, breadth first; see `graph.store.port.Reader.closure`."""
    starts, among = sorted(set(ids)), relationship_types(types)
    if not starts or not among:
        return _reached(dict.fromkeys(starts, 0), [], depth=depth, limit=limit)
    rows = await table(runner, _statement(among, direction, depth), "id, far, walked", ids=starts)
    depths: dict[NodeId, int] = dict.fromkeys(starts, 0)
    depths.update((NodeId(id), distance) for id, distance, _ in rows)
    edges = [(NodeId(id), _edge(direction, id, *found)) for id, _, walked in rows for found in walked]
    return _reached(depths, edges, depth=depth, limit=limit)


def _statement(types: str, direction: Direction, depth: int | None) -> str:
    steps = f"*0..{depth if depth is not None else ''}"
    return (
        "UNWIND $ids AS id CALL (id) { MATCH (s:Node {id: id}) USING INDEX SEEK s:Node(id) "
        f"MATCH p = (s){_arrow(direction, f'[:{types}{steps}]')}(m) RETURN m, min(length(p)) AS far }} "
        "WITH m, min(far) AS far "
        f"WITH m.id AS id, far, COLLECT {{ MATCH (m){_arrow(direction, f'[r:{types}]')}(o) "
        "RETURN [type(r), o.id, r.key, r.record] } AS walked"
    )


def _arrow(direction: Direction, relationship: str) -> str:
    return f"-{relationship}->" if direction is Direction.OUT else f"<-{relationship}-"


def _edge(direction: Direction, at: str, type: str, other: str, key: str, record: list[str] | None) -> Edge:
    source, target = (at, other) if direction is Direction.OUT else (other, at)
    return Edge(
        type=EdgeType(type),
        source=NodeId(source),
        target=NodeId(target),
        key=key,
        record=None if record is None else tuple(record),
    )


def _reached(
    depths: Mapping[NodeId, int], edges: Sequence[tuple[NodeId, Edge]], *, depth: int | None, limit: int | None
) -> Reached:
    """Cut by depth and limit; edges come with the end they were walked from."""
    ordered = sorted(depths.items(), key=_by_distance)
    kept = dict(ordered if limit is None else ordered[:limit])
    at_kept = [(near, edge) for near, edge in edges if near in kept]
    walked = [edge for near, edge in at_kept if depth is None or kept[near] < depth]
    inside = [edge for edge in walked if edge.source in kept and edge.target in kept]
    return Reached(
        depths=kept,
        edges=tuple(sorted(inside, key=lambda edge: edge.identity)),
        truncated=len(kept) < len(ordered) or len(walked) < len(at_kept),
    )


def _by_distance(found: tuple[NodeId, int]) -> tuple[Any, ...]:
    return found[1], found[0]
