"""Pages of nodes: which way in is the cheapest, and the statement for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar, cast

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j import entrances, visible
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.conditions import Compiler, check_fields, order_by, parts_of
from graph.store.neo4j.encoding import columns, decode_node, is_whole
from graph.store.neo4j.entrances import Entrance
from graph.store.neo4j.facts import decode_sort, encode_sort
from graph.store.query import After, And, Find, Newest, Page, Tagged, Where

N = TypeVar("N", bound=Node)

ANY_TAG = ""

MANY_CLAUSES = 400
"""Who passes more (an auditor, as a rule) sees most of a kind: then the kind itself is read in order and tested."""

_WALKED = 1_000
"""So many nodes are looked at along an index that has the order, before the audience rows are sorted instead."""

_LAST = "\U0010ffff"

Row = tuple[Sequence[Any], str | None]
"""Columns of a node, and its guard's sort text."""


Clauses = Callable[[], Awaitable[Sequence[str]]]
"""Looks up the clauses that the viewer passes, where they are needed."""


async def find(runner: Asking, scope: Scope, query: Find[N], clauses: Clauses) -> Page[N]:
    """Return a page; `clauses` are asked for only if audience rows are read."""
    check_fields(query.kind, query.where, query.order)
    if not visible.may_see_kind(scope, query.kind):
        return Page(nodes=(), places=(), more=False)
    along = entrances.along_order(query.kind, query.where, query.order)
    if isinstance(scope, SystemScope):
        way = along or entrances.through_kind(query.kind, query.where)
        return _page(query, await _by_condition(runner, scope, query, way))
    for entrance in entrances.ways_in(query.kind, query.where):
        if (few := await _among_few(runner, scope, query, entrance)) is not None:
            return _page(query, few)
    if along is not None and (walked := await _along_index(runner, scope, query, along)) is not None:
        return _page(query, walked)
    passed = await clauses()
    if len(passed) <= MANY_CLAUSES:
        return _page(query, await _by_audience(runner, scope, query, passed))
    return _page(query, await _by_condition(runner, scope, query, entrances.in_order(query.kind)))


async def way_in(runner: Asking, scope: Scope, kind: type[Node], where: Where | None) -> Entrance | None:
    """Return how to reach the nodes that fit and test each; None to read a viewer's audience rows instead."""
    if isinstance(scope, SystemScope):
        return entrances.through_kind(kind, where)
    return await entrances.narrow(runner, kind, where)


def tags_of(where: Where | None) -> tuple[list[str], Where | None]:
    """Return the keys of the audience rows to read, and what is left of the condition."""
    parts = parts_of(where)
    tagged = next((part for part in parts if isinstance(part, Tagged)), None)
    if tagged is None:
        return [ANY_TAG], where
    rest = tuple(part for part in parts if part is not tagged)
    return sorted({tag_key(tag) for tag in tagged.tags}), And(rest) if rest else None


def tag_key(tag: str) -> str:
    """Return how a tag is written in audience rows; never `ANY_TAG`."""
    return f"={tag}"


def audience_rows(*, ascending: bool = True, bound: str = "a.sort > $from", ordered: bool = True) -> str:
    """Return the part of a statement that reads the rows of one (clause, tag), in order if asked.

    Every property of the index has a predicate and the fixed ones lead the order: only then does the planner read
    the index in order instead of sorting everything.
    """
    down = "" if ascending else " DESC"
    order = f" WITH a ORDER BY a.clause{down}, a.kind{down}, a.tag{down}, a.sort{down}" if ordered else ""
    return (
        "MATCH (a:Aud) USING INDEX SEEK a:Aud(clause, kind, tag, sort) "
        f"WHERE a.clause = clause AND a.kind = $kind AND a.tag = tag AND {bound} "
        f"AND (a.excluded IS NULL OR NOT $me IN a.excluded){order}"
    )


NODE_OF_ROW = "MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = a.node"


async def _by_condition(
    runner: Asking, scope: Scope, query: Find[N], entrance: Entrance, *, among_first: int | None = None
) -> list[Row]:
    """Go in by an index of the kind and test each node that fits, or only the first ones in order."""
    statement, parameters = _condition_statement(scope, query, entrance, walked=among_first is not None)
    rows = await table(
        runner,
        statement,
        _columns(query),
        **parameters,
        **({} if among_first is None else {"walked": among_first}),
    )
    return [(values, sort) for sort, values in rows]


async def _among_few(runner: Asking, scope: Scope, query: Find[N], entrance: Entrance) -> list[Row] | None:
    """Go in by an index if it meets few nodes, hidden ones included; None, in the same round trip, if it does not."""
    statement, parameters = _condition_statement(scope, query, entrance, walked=False)
    met, rows = await runner.ask(
        f"CALL () {{ {entrance.text} WHERE {entrance.condition} WITH n LIMIT $few RETURN count(n) AS met }} "
        f"CALL (met) {{ WITH met WHERE met < $few {statement} RETURN collect([{_columns(query)}]) AS rows }}",
        "[met, rows]",
        few=entrances.FEW + 1,
        **parameters,
    )
    return [(values, sort) for sort, values in rows] if met <= entrances.FEW else None


def _columns(query: Find[N]) -> str:
    """Return what is read of a node, its place first: no place means no guard, unless the node is gone as well."""
    return f"n.guardSort, {columns(query.kind.__name__)}"


def _condition_statement(
    scope: Scope, query: Find[N], entrance: Entrance, *, walked: bool
) -> tuple[str, dict[str, Any]]:
    compiler = Compiler(query.kind)
    condition = compiler.where(query.where)
    place = query.after
    after = "true" if place is None else compiler.after(query.order, place, backward=query.backward)
    order = order_by(query.kind, query.order, query.where, backward=query.backward, leading=entrance.leading)
    if entrance.ordered and isinstance(query.order, Newest):
        order = f"n.workspaceId{' DESC' if query.backward else ''}, {order}"
    statement = (
        f"{entrance.text} WHERE {entrance.condition} AND ({after}) "
        f"{f'WITH n ORDER BY {order} LIMIT $walked WITH n WHERE' if walked else 'AND'} "
        f"({condition}) AND {visible.seen(scope)} WITH n ORDER BY {order} {_limit(query)}"
    )
    return statement, {
        **entrance.parameters,
        **compiler.parameters,
        **visible.scope_parameters(scope),
        **_first(query),
    }


async def _along_index(runner: Asking, scope: Scope, query: Find[N], along: Entrance) -> list[Row] | None:
    """Walk an index that has the order; None if a full page is not among the first few nodes, hidden ones included."""
    if query.first is None:
        return None
    rows = await _by_condition(runner, scope, query, along, among_first=_WALKED)
    return rows if len(rows) > query.first else None


async def _by_audience(runner: Asking, viewer: Viewer, query: Find[N], clauses: Sequence[str]) -> list[Row]:
    """Read the audience rows of the clauses the viewer passes: hidden nodes are never touched."""
    tags, rest = tags_of(query.where)
    compiler = Compiler(query.kind)
    condition = compiler.where(rest)
    if not isinstance(query.order, Newest):
        statement = _sorted_statement(query, compiler, condition)
    elif rest is None:
        statement = _newest_statement(query)
    else:
        statement = _newest_fitting_statement(query, condition)
    rows = await table(
        runner,
        statement,
        f"{columns(query.kind.__name__)}, sort",
        clauses=clauses,
        tags=tags,
        kind=query.kind.__name__,
        me=viewer.principal,
        **{"from": _start(query) if isinstance(query.order, Newest) else ""},
        **compiler.parameters,
        **_first(query),
    )
    return [(values, sort) for values, sort in rows]


def _newest_statement(query: Find[N]) -> str:
    """Merge the rows first and fetch the nodes of the page alone; one that is gone meanwhile still counts as met."""
    down = " DESC" if query.backward else ""
    return (
        f"{_for_each(query)}RETURN a.node AS id, a.sort AS sort {_limit(query)}}} "
        f"WITH DISTINCT id, sort ORDER BY sort{down} {_limit(query)}"
        f"OPTIONAL MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = id WITH n, sort ORDER BY sort{down}"
    )


def _newest_fitting_statement(query: Find[N], condition: str) -> str:
    """Test the nodes of the rows in order, until enough fit."""
    down = " DESC" if query.backward else ""
    return (
        f"{_for_each(query)}{NODE_OF_ROW} AND ({condition}) RETURN n, a.sort AS sort {_limit(query)}}} "
        f"WITH DISTINCT n, sort ORDER BY sort{down} {_limit(query)}"
    )


def _for_each(query: Find[N]) -> str:
    bound = f"a.sort {'<' if query.backward else '>'} $from"
    rows = audience_rows(ascending=not query.backward, bound=bound)
    return f"UNWIND $clauses AS clause UNWIND $tags AS tag CALL (clause, tag) {{ {rows} "


def _sorted_statement(query: Find[N], compiler: Compiler, condition: str) -> str:
    place = query.after
    after = "true" if place is None else compiler.after(query.order, place, backward=query.backward)
    order = order_by(query.kind, query.order, None, backward=query.backward)
    return (
        "UNWIND $clauses AS clause UNWIND $tags AS tag CALL (clause, tag) { "
        f"{audience_rows(ordered=False)} {NODE_OF_ROW} AND ({condition}) AND ({after}) RETURN n }} "
        f"WITH DISTINCT n ORDER BY {order} {_limit(query)}WITH n, n.guardSort AS sort"
    )


def _page(query: Find[N], rows: list[Row]) -> Page[N]:
    first = len(rows) if query.first is None else query.first
    there = [(values, sort) for values, sort in rows[:first] if is_whole(values)]
    nodes = [cast(N, decode_node(values)) for values, _ in there]
    places = [_place(query, node, sort) for node, (_, sort) in zip(nodes, there, strict=True)]
    return Page(nodes=tuple(nodes), places=tuple(places), more=len(rows) > first and bool(there or not rows[:first]))


def _place(query: Find[N], node: N, sort: str | None) -> After:
    if isinstance(query.order, Newest):
        return After(None if sort is None else decode_sort(sort), node.id)
    return After(getattr(node, query.order.field), node.id)


def _start(query: Find[N]) -> str:
    if query.after is None:
        return _LAST if query.backward else ""
    if query.after.value is None:
        return _LAST  # nodes without a guard come last, and no audience row is theirs
    return encode_sort(query.after.value, NodeId(query.after.id))


def _limit(query: Find[N]) -> str:
    return "" if query.first is None else "LIMIT $first "


def _first(query: Find[N]) -> dict[str, int]:
    return {} if query.first is None else {"first": query.first + 1}
