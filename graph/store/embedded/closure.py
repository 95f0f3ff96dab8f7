"""Edges, and everything reached along them. The frontier goes level by level, inside one visit to the thread."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from graph.model.access import Scope, Viewer
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.making import maker
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.knowledge import Attribute, BlockVersion, EntryVersion, Facet, RelationVersion
from graph.model.nodes.learning import Lesson, MemoLine
from graph.store.embedded.guards import guards
from graph.store.embedded.listing import SEEN, by_table
from graph.store.embedded.session import Session
from graph.store.embedded.values import listed, texts_from
from graph.store.query import Direction, Reached

EdgeRow = tuple[str, NodeId, NodeId, str, str | None, str | None]
"""type, source, target, key, props, record"""

_AT = {Direction.OUT: "source", Direction.IN: "target"}
_TYPES = {str(type): type for type in EdgeType}
_EDGE = maker(Edge)
_FEW_LINKS = frozenset(
    kind.PREFIX
    for kind in (Source, Episode, Facet, EntryVersion, BlockVersion, Attribute, RelationVersion, Lesson, MemoLine)
)
"""Kinds of which little goes out but what they rest on: one look-up for all their edges is cheaper than one a type."""


def edges(
    session: Session, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
) -> Sequence[Edge]:
    """Return the edges at `ids` whose ends are seen, ordered by (type, source, target, key)."""
    rows = sorted(_at(session, dict.fromkeys(ids), listed(set(types)), direction, props=True))
    hidden = _hidden(session, scope, {end for row in rows for end in row[1:3]})
    return [edge_of(row) for row in rows if row[1] not in hidden and row[2] not in hidden]


def closure(
    session: Session,
    ids: Sequence[NodeId],
    types: Iterable[EdgeType],
    direction: Direction,
    depth: int | None,
    limit: int | None,
    *,
    guarded: bool = False,
) -> Reached:
    """Return what is reached, breadth first; see the port."""
    wanted, far = listed(set(types)), 2 if direction is Direction.OUT else 1
    depths: dict[NodeId, int] = {}
    walked: list[EdgeRow] = []
    level, distance, truncated = sorted(set(ids)), 0, False
    while level:
        room = len(level) if limit is None else max(0, limit - len(depths))
        truncated |= len(level) > room
        kept = level[:room]
        depths.update(dict.fromkeys(kept, distance))
        if distance == depth:
            truncated |= bool(_at(session, kept, wanted, direction, props=False, limit=1))
            break
        rows = _at(session, kept, wanted, direction, props=False)
        if not rows:
            break
        walked += rows
        level = sorted({row[far] for row in rows} - depths.keys())
        distance += 1
    if truncated:
        walked = [row for row in walked if row[1] in depths and row[2] in depths]
    walked.sort()
    facts = guards(session, list(depths)) if guarded else {}
    return Reached(depths=depths, edges=tuple([edge_of(row) for row in walked]), truncated=truncated, guards=facts)


def edge_of(row: EdgeRow) -> Edge:
    """Return the edge of a row."""
    type, source, target, key, props, record = row
    return _EDGE(
        _TYPES[type],
        source,
        target,
        key,
        {} if props is None else json.loads(props),
        () if record == "[]" else None if record is None else texts_from(record),
    )


def _at(
    session: Session, ids: Iterable[NodeId], types: str, direction: Direction, *, props: bool, limit: int = -1
) -> list[Any]:
    if direction is Direction.IN:
        return _seek(session, ids, types, direction, props=props, limit=limit)
    few: list[NodeId] = []
    many: list[NodeId] = []
    for id in ids:
        (few if prefix_of(id) in _FEW_LINKS else many).append(id)
    rows = _seek(session, few, types, direction, props=props, limit=limit, scan=True) if few else []
    if many and (limit < 0 or len(rows) < limit):
        rows += _seek(session, many, types, direction, props=props, limit=limit)
    return rows


def _seek(
    session: Session,
    ids: Iterable[NodeId],
    types: str,
    direction: Direction,
    *,
    props: bool,
    limit: int,
    scan: bool = False,
) -> list[Any]:
    """Return the edges at `ids`: by a look-up for each type, or with `scan` by one for all, fitting or not."""
    at = _AT[direction]
    sql = (
        f"SELECT e.type, e.source, e.target, e.key, {'e.props' if props else 'NULL'}, e.record FROM json_each(?) w"
        f" CROSS JOIN edge e ON e.{at} = w.value AND {'+' * scan}e.type IN (SELECT value FROM json_each(?))"
        f" LIMIT {limit:d}"
    )
    return session.db.execute(sql, (listed(ids), types)).fetchall()


def _hidden(session: Session, scope: Scope, ends: set[NodeId]) -> set[NodeId]:
    """Return the ends that are not seen; a system scope sees placeholders, but nothing of another workspace."""
    if isinstance(scope, Viewer):
        return ends - set(_seen(session, scope, ends))
    return set() if scope.workspace is None else set(_foreign(session, scope.workspace, ends))


def _seen(session: Session, viewer: Viewer, ends: Iterable[NodeId]) -> Iterator[NodeId]:
    passing = session.clauses.passing(viewer).parameter
    for table, ids in by_table(ends).items():
        if table.spec.guarded:
            sql = (
                f"SELECT n.id FROM json_each(?) w CROSS JOIN {table.name} n ON n.id = w.value"
                f" WHERE n.workspace = ? AND {SEEN}"
            )
            yield from (id for (id,) in session.db.execute(sql, (listed(ids), viewer.workspace, passing, passing)))


def _foreign(session: Session, workspace: str, ends: Iterable[NodeId]) -> Iterator[NodeId]:
    for table, ids in by_table(ends).items():
        sql = f"SELECT n.id FROM json_each(?) w CROSS JOIN {table.name} n ON n.id = w.value WHERE n.workspace <> ?"
        yield from (id for (id,) in session.db.execute(sql, (listed(ids), workspace)))
