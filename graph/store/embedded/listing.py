"""Nodes by id, pages in an order, and counts, for whoever asks.

For a viewer there are two ways to go: from the audience rows of the clauses he passes to the nodes, or from an index
of the node table to the guards. The first costs what he may see, the second what fits the condition, hidden or not;
the second is taken only if a count, cut off at the first's size, shows that it is smaller. So the cost never grows
with what is hidden.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.embedded.audience import Passing
from graph.store.embedded.conditions import TRUE, Sql, all_of, conjuncts, joined, keyset_sql, order_sql, where_sql
from graph.store.embedded.newest import newest_for_system, newest_for_viewer
from graph.store.embedded.session import Session
from graph.store.embedded.tables import KindTable, table_of, table_of_id
from graph.store.embedded.values import decode, listed
from graph.store.query import After, And, By, Eq, Find, In, Linked, Newest, Page, Range, Tagged, Where

N = TypeVar("N", bound=Node)

_FEW = 64
"""With so few visible nodes it is not worth finding out whether there is a shorter way."""

SEEN = """EXISTS (SELECT 1 FROM guard g WHERE g.node = n.id AND (g.clause IN (SELECT value FROM json_each(?))
 OR (g.clause = -1 AND EXISTS (SELECT 1 FROM json_each(g.clauses) c WHERE c.value IN
 (SELECT value FROM json_each(?))))))"""
"""A node is seen through one of the clauses passed (twice the same parameter)."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Where the rows of a question come from: a FROM clause with the alias ``n`` and a condition."""

    source: str
    source_parameters: tuple[Any, ...]
    where: Sql

    def select(self, columns: str, *more: Sql, tail: str = "") -> tuple[str, tuple[Any, ...]]:
        """Return a statement and its parameters."""
        condition = all_of(self.where, *more)
        sql = f"SELECT {columns} FROM {self.source} WHERE {condition.text}{tail}"
        return sql, (*self.source_parameters, *condition.parameters)


def get(session: Session, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
    """Return the nodes that exist and are seen, in the order of `ids`."""
    found: dict[NodeId, Node] = {}
    for table, wanted in by_table(ids).items():
        found.update(_get(session, scope, table, wanted))
    return {id: found[id] for id in ids if id in found}


def by_table(ids: Iterable[NodeId]) -> dict[KindTable, list[NodeId]]:
    """Group ids by the table they would be in; ids of no kind are left out."""
    groups: dict[KindTable, list[NodeId]] = {}
    for id in dict.fromkeys(ids):
        table = table_of_id(id)
        if table is not None:
            groups.setdefault(table, []).append(id)
    return groups


def _get(session: Session, scope: Scope, table: KindTable, ids: Sequence[NodeId]) -> dict[NodeId, Node]:
    if isinstance(scope, Viewer) and not table.spec.guarded:
        return {}
    seen = TRUE
    if isinstance(scope, Viewer):
        passing = session.clauses.passing(scope)
        seen = Sql(SEEN, (passing.parameter, passing.parameter))
    rows = Rows(f"json_each(?) w CROSS JOIN {table.name} n ON n.id = w.value", (listed(ids),), _within(scope))
    nodes = map(table.decode, session.db.execute(*rows.select(table.columns, seen)))
    return {node.id: node for node in nodes}


def find(session: Session, scope: Scope, query: Find[N]) -> Page[N]:
    """Return a page of the nodes that fit and are seen."""
    table = table_of(query.kind.__name__)
    if isinstance(scope, Viewer) and not table.spec.guarded:
        where_sql(query.where, table)
        return Page(nodes=(), places=(), more=False)
    if isinstance(query.order, Newest):
        return _find_newest(session, scope, table, query)
    return _find_by(session, scope, table, query, query.order)


def _find_by(session: Session, scope: Scope, table: KindTable, query: Find[N], order: By) -> Page[N]:
    rows = seen_rows(session, scope, table, query.where)
    after = keyset_sql(order, table, query.after, backward=query.backward)
    limit = -1 if query.first is None else query.first + 1
    tail = f" ORDER BY {order_sql(order, table, backward=query.backward)} LIMIT {limit:d}"
    if query.without:
        lean = rows.select(table.columns_without(query.without), after, tail=tail)
        return _page(cast(list[N], list(map(table.decode, session.db.execute(*lean)))), [], query.first)
    nodes = cast(
        list[N], [table.decode(row) for row in session.db.execute(*rows.select(table.columns, after, tail=tail))]
    )
    return _page(nodes, [After(getattr(node, order.field), node.id) for node in nodes], query.first)


def _find_newest(session: Session, scope: Scope, table: KindTable, query: Find[N]) -> Page[N]:
    if isinstance(scope, SystemScope):
        fits = all_of(_within(scope), where_sql(query.where, table))
        places = newest_for_system(session, table, fits, query.after, query.first, backward=query.backward)
    else:
        tags, rest = _tags_and_rest(session, query.where, table)
        passing = session.clauses.passing(scope)
        places = newest_for_viewer(
            session, passing, table, tags, all_of(_within(scope), rest), query.after, query.first, query.backward
        )
    kept = places if query.first is None else places[: query.first]
    found = get(session, SystemScope(reason="nodes of a page just chosen"), [id for _, id in kept])
    nodes = [cast(N, found[id]) for _, id in kept]
    return Page(nodes=tuple(nodes), places=tuple(After(sort, id) for sort, id in kept), more=len(places) > len(kept))


def _page(nodes: list[N], places: list[After], first: int | None) -> Page[N]:
    size = len(nodes) if first is None else first
    return Page(nodes=tuple(nodes[:size]), places=tuple(places[:size]), more=len(nodes) > size)


def aggregate(
    session: Session, scope: Scope, kind: type[Node], where: Where | None, by: str | None
) -> Mapping[Any, int]:
    """Count the nodes that fit and are seen, by a field; from the counters where these are enough."""
    table = table_of(kind.__name__)
    fits = where_sql(where, table)
    column = None if by is None else table.field(by)
    if isinstance(scope, Viewer) and not table.spec.guarded:
        return {} if column else {None: 0}
    if column is None:
        counted = _counted(session, scope, table, where)
        if counted is not None:
            return {None: counted}
        rows = seen_rows(session, scope, table, where, fits)
        return {None: session.value(*rows.select("count(*)"))}
    name = f'n."{column.name}"'
    rows = seen_rows(session, scope, table, where, fits)
    counts = session.db.execute(*rows.select(f"{name}, count(*)", tail=f" GROUP BY {name}"))
    return {decode(column, value): number for value, number in counts}


def _counted(session: Session, scope: Scope, table: KindTable, where: Where | None) -> int | None:
    """Return the count from the counters, if the question is one they answer: all, or all with one tag."""
    if not isinstance(scope, Viewer) or not (where is None or (isinstance(where, Tagged) and len(where.tags) == 1)):
        return None
    tag = 0 if where is None else tag_number(session, where.tags[0])
    if tag is None:
        return 0
    clauses = session.clauses.passing(scope).parameter
    single = session.value(
        "SELECT sum(t.n) FROM json_each(?) c CROSS JOIN tally t ON t.clause = c.value AND t.kind = ? AND t.tag = ?",
        (clauses, table.spec.name, tag),
    )
    shared = session.value(
        "SELECT count(DISTINCT a.id) FROM json_each(?) c CROSS JOIN aud a"
        " ON a.clause = c.value AND a.kind = ? AND a.tag = ? AND a.many",
        (clauses, table.spec.name, tag),
    )
    return (single or 0) + (shared or 0)


def seen_rows(session: Session, scope: Scope, table: KindTable, where: Where | None, fits: Sql | None = None) -> Rows:
    """Return where the nodes that fit and are seen come from, by the shorter way."""
    fits = where_sql(where, table) if fits is None else fits
    if isinstance(scope, SystemScope):
        return Rows(f"{table.name} n", (), all_of(_within(scope), fits))
    passing = session.clauses.passing(scope)
    if _table_is_shorter(session, passing, table, where):
        seen = Sql(SEEN, (passing.parameter, passing.parameter))
        return Rows(f"{table.name} n", (), all_of(_within(scope), fits, seen))
    tags, rest = _tags_and_rest(session, where, table)
    source, parameters = audience_source(passing, table, tags)
    return Rows(f"{source} CROSS JOIN {table.name} n ON n.id = v.id", parameters, all_of(_within(scope), rest))


def audience_source(passing: Passing, table: KindTable, tags: Sequence[int]) -> tuple[str, tuple[Any, ...]]:
    """Return a FROM clause of the ids, alias ``v``, of what may be seen with one of the tags (0: any)."""
    distinct = "" if len(passing.clauses) == 1 and len(tags) == 1 else "DISTINCT "
    source = (
        f"(SELECT {distinct}a.id FROM json_each(?) c CROSS JOIN json_each(?) t CROSS JOIN aud a"
        " ON a.clause = c.value AND a.kind = ? AND a.tag = t.value) v"
    )
    return source, (passing.parameter, listed(tags), table.spec.name)


def _table_is_shorter(session: Session, passing: Passing, table: KindTable, where: Where | None) -> bool:
    ways = _ways(conjuncts(where), table)
    if not ways:
        return False
    visible = session.value(
        "SELECT count(*) FROM (SELECT 1 FROM json_each(?) c CROSS JOIN aud a"
        f" ON a.clause = c.value AND a.kind = ? AND a.tag = 0 LIMIT {_FEW})",
        (passing.parameter, table.spec.name),
    )
    if visible < _FEW:
        return False
    visible = session.value(
        "SELECT sum(t.n) FROM json_each(?) c CROSS JOIN tally t ON t.clause = c.value AND t.kind = ? AND t.tag = 0",
        (passing.parameter, table.spec.name),
    )
    return any(_matches(session, table, way, visible or _FEW) for way in ways)


def _matches(session: Session, table: KindTable, way: Where, limit: int) -> bool:
    """True if fewer than `limit` rows fit, hidden or not."""
    fits = where_sql(way, table)
    found = session.value(
        f"SELECT count(*) FROM (SELECT 1 FROM {table.name} n WHERE {fits.text} LIMIT {limit:d})", fits.parameters
    )
    return bool(found < limit)


def _ways(parts: Sequence[Where], table: KindTable) -> list[Where]:
    """Return what an index finds rows by, the narrowest first: two fields of one index, then single ones."""
    pairs = [
        And((first, then))
        for first in parts
        if isinstance(first, Eq) and first.value is not None
        for then in parts
        if isinstance(then, In | Range | Eq)
        and table.seeks_pair(first.field, then.field)
        and then != Eq(then.field, None)
    ]
    return [*pairs, *(part for part in parts if _seeks(part, table))]


def _seeks(part: Where, table: KindTable) -> bool:
    match part:
        case Eq(field=name, value=value):
            return value is not None and table.seeks(name)
        case In(field=name):
            return table.seeks(name)
        case Linked():
            return True
        case _:
            return False


def _tags_and_rest(session: Session, where: Where | None, table: KindTable) -> tuple[list[int], Sql]:
    """Split off one condition on tags, which the audience rows answer; [0] means any."""
    parts = conjuncts(where)
    tagged = next((part for part in parts if isinstance(part, Tagged)), None)
    rest = joined([where_sql(part, table) for part in parts if part is not tagged], "AND", "1")
    if tagged is None:
        return [0], rest if parts else TRUE
    numbers = {tag_number(session, tag) for tag in tagged.tags}
    return sorted(n for n in numbers if n is not None), rest if len(parts) > 1 else TRUE


def tag_number(session: Session, tag: str) -> int | None:
    """Return the number of an interned tag, or None."""
    return cast("int | None", session.value("SELECT n FROM tag WHERE text = ?", (tag,)))


def _within(scope: Scope) -> Sql:
    return TRUE if scope.workspace is None else Sql("n.workspace = ?", (scope.workspace,))
