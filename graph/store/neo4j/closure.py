"""Everything reached along edges, in one round trip, with its guards if they are asked for.

The engine walks breadth first with a visited set (its pruning expansion, which it takes only if nothing but the
distinct ends are asked), so diamonds cost nothing and a cycle ends. What is handed back is the graph with
its cycles; whether something on a cycle is proved is for the law alone. Trap: a test over the leaves of paths, in
Cypher, shows what hangs on a cycle, because a path that only goes round never meets a bad leaf.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.conditions import relationship_types
from graph.store.neo4j.driver import Rows
from graph.store.neo4j.facts import GUARD, whole_guards
from graph.store.neo4j.links import is_whole_edge
from graph.store.query import Direction, Reached

_COLUMNS = "m.id, o.id, r.key, r.record, type(r)"

_MANY = 10_000
"""Whoever sets a limit wants the nearest; if more is reached than this, it is read level by level."""


async def closure(
    runner: Asking,
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
        return _walked(starts, {}, direction, depth=depth, limit=limit)
    statement = f"{_reached(among, direction, depth)} {_edges_of(among, direction)}"
    rows = await table(runner, statement, _COLUMNS, ids=starts, most=None if limit is None else _MANY)
    if not rows and limit is not None:
        edges = await _level_by_level(runner, starts, among, direction, limit)
    else:
        edges = _by_near_end(rows, direction)
    return _walked(starts, edges, direction, depth=depth, limit=limit)


async def guarded_closure(
    runner: Asking, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction, *, depth: int | None
) -> Reached:
    """Return what is reached from `ids`, with the guards of it all, in the same round trip."""
    starts, among = sorted(set(ids)), relationship_types(types)
    rows, facts = await runner.ask(
        f"{_reached(among, direction, depth)} "
        f"CALL (reached) {{ {_edges_of(among, direction)} RETURN collect([{_COLUMNS}]) AS edges }} "
        "CALL (reached) { UNWIND reached AS n WITH n WHERE n.guardKind IS NOT NULL "
        f"RETURN collect([{GUARD}]) AS facts }}",
        "[edges, facts]",
        ids=starts,
        most=None,
    )
    reached = _walked(starts, _by_near_end(rows, direction), direction, depth=depth, limit=None)
    return replace(reached, guards={guard.node: guard for guard in whole_guards(facts)})


def _reached(types: str, direction: Direction, depth: int | None) -> str:
    """Return the start of a statement that binds the list of all that is reached.

    With `most`, it gives nothing at all if more nodes than that are reached, and stops there.
    """
    steps = f"*0..{depth if depth is not None else ''}"
    return (
        "UNWIND $ids AS id MATCH (s:Node {id: id}) USING INDEX SEEK s:Node(id) "
        f"MATCH (s){_arrow(direction, f'[:{types}{steps}]')}(m) "
        "WITH DISTINCT m LIMIT coalesce($most + 1, 9223372036854775807) "
        "WITH collect(m) AS reached WHERE $most IS NULL OR size(reached) <= $most"
    )


def _edges_of(types: str, direction: Direction) -> str:
    """Return the part that binds every edge at a reached node; the distances follow from the edges."""
    return f"UNWIND reached AS m MATCH (m){_arrow(direction, f'[r:{types}]')}(o)"


async def _level_by_level(
    runner: Asking, starts: Sequence[NodeId], types: str, direction: Direction, limit: int
) -> Mapping[NodeId, list[Edge]]:
    """Return the edges at the nearest nodes until there are more than `limit`: for starts that reach very much."""
    edges: dict[NodeId, list[Edge]] = {}
    level, seen = list(starts), set(starts)
    while level and len(edges) <= limit:
        rows = await table(
            runner,
            "UNWIND $ids AS id MATCH (m:Node {id: id}) USING INDEX SEEK m:Node(id) "
            f"MATCH (m){_arrow(direction, f'[r:{types}]')}(o)",
            _COLUMNS,
            ids=level,
        )
        edges.update({id: [] for id in level})
        edges.update(_by_near_end(rows, direction))
        level = sorted({NodeId(far) for _, far, *_ in rows if far is not None} - seen)
        seen.update(level)
    return edges


def _arrow(direction: Direction, relationship: str) -> str:
    return f"-{relationship}->" if direction is Direction.OUT else f"<-{relationship}-"


def _by_near_end(rows: Rows, direction: Direction) -> Mapping[NodeId, list[Edge]]:
    """Return edges by the end they are walked from."""
    edges: dict[NodeId, list[Edge]] = defaultdict(list)
    outward = direction is Direction.OUT
    for near, far, key, record, type in rows:
        if not is_whole_edge(near, far, key, type):
            continue
        edges[near].append(
            Edge(
                type=EdgeType(type),
                source=near if outward else far,
                target=far if outward else near,
                key=key,
                record=None if record is None else tuple(record),
            )
        )
    return edges


def _walked(
    starts: Sequence[NodeId],
    edges: Mapping[NodeId, list[Edge]],
    direction: Direction,
    *,
    depth: int | None,
    limit: int | None,
) -> Reached:
    """Walk the edges level by level, as far as depth and limit allow; a level is taken in id order."""
    depths: dict[NodeId, int] = {}
    walked: list[Edge] = []
    level, distance, truncated = sorted(starts), 0, False
    while level:
        room = len(level) if limit is None else max(0, limit - len(depths))
        truncated |= len(level) > room
        kept = level[:room]
        depths.update(dict.fromkeys(kept, distance))
        at_level = [edge for id in kept for edge in edges.get(id, ())]
        if distance == depth:
            truncated |= bool(at_level)
            break
        walked += at_level
        ends = {edge.target if direction is Direction.OUT else edge.source for edge in at_level}
        level, distance = sorted(ends - depths.keys()), distance + 1
    inside = [edge for edge in walked if edge.source in depths and edge.target in depths]
    return Reached(depths=depths, edges=tuple(sorted(inside, key=_identity)), truncated=truncated)


def _identity(edge: Edge) -> tuple[str, NodeId, NodeId, str]:
    return edge.identity
