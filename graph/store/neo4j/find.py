"""Pages of nodes: which way in is the cheapest, and the statement for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j import names, visible
from graph.store.neo4j.conditions import Compiler, order_by, parts_of
from graph.store.neo4j.driver import Runner
from graph.store.neo4j.encoding import NODE_MAP, decode_node, decode_sort, encode_sort
from graph.store.query import After, And, Eq, Find, In, Linked, Newest, Page, Tagged, Where

N = TypeVar("N", bound=Node)

ANY_TAG = ""

_FEW = 2_000
"""A condition that fits at most so many nodes, hidden ones included, is the way in; otherwise the audience rows."""

_LAST = "\U0010ffff"

Row = tuple[Mapping[str, Any], str | None]
"""Properties of a node, and its guard's sort text."""


async def find(runner: Runner, scope: Scope, query: Find[N], clauses: Sequence[str]) -> Page[N]:
    """Return a page; `clauses` are those the viewer passes (none for a system scope)."""
    compiler = Compiler(query.kind)
    condition = compiler.where(query.where)
    if not visible.may_see_kind(scope, query.kind):
        return Page(nodes=(), places=(), more=False)
    if isinstance(scope, SystemScope) or await is_narrow(runner, query.kind, query.where):
        rows = await _by_condition(runner, scope, query, compiler, condition)
    else:
        rows = await _by_audience(runner, scope, query, compiler, condition, clauses)
    return _page(query, rows)


async def is_narrow(runner: Runner, kind: type[Node], where: Where | None) -> bool:
    """True if some indexed part of the condition fits only few nodes; costs one small round trip."""
    for part in parts_of(where):
        if _leads_in(kind, part):
            compiler = Compiler(kind)
            ((count,),) = await runner.run(
                f"MATCH (n:{kind.__name__}) WHERE {compiler.where(part)} WITH n LIMIT $few RETURN count(n)",
                few=_FEW + 1,
                **compiler.parameters,
            )
            if count <= _FEW:
                return True
    return False


def tags_of(where: Where | None) -> tuple[list[str], Where | None]:
    """Return the keys of the audience rows to read, and what is left of the condition."""
    parts = parts_of(where)
    tagged = next((part for part in parts if isinstance(part, Tagged)), None)
    if tagged is None:
        return [ANY_TAG], where
    return sorted({tag_key(tag) for tag in tagged.tags}), And(tuple(part for part in parts if part is not tagged))


def tag_key(tag: str) -> str:
    """Return how a tag is written in audience rows; never `ANY_TAG`."""
    return f"={tag}"


def audience_rows(*, ascending: bool = True, bound: str = "a.sort > $from", ordered: bool = True) -> str:
    """Return the part of a statement that reads the rows of one (clause, tag) in order, and their nodes.

    Every property of the index has a predicate and the fixed ones lead the order: only then does the planner read
    the index in order instead of sorting everything.
    """
    down = "" if ascending else " DESC"
    order = f"WITH a ORDER BY a.clause{down}, a.kind{down}, a.tag{down}, a.sort{down} " if ordered else ""
    return (
        "MATCH (a:Aud) USING INDEX SEEK a:Aud(clause, kind, tag, sort) "
        f"WHERE a.clause = clause AND a.kind = $kind AND a.tag = tag AND {bound} "
        f"AND (a.excluded IS NULL OR NOT $me IN a.excluded) {order}"
        "MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = a.node AND n.workspaceId = $workspace"
    )


async def _by_condition(runner: Runner, scope: Scope, query: Find[N], compiler: Compiler, condition: str) -> list[Row]:
    """Read through the indexes of the kind and test each node that fits."""
    place = query.after
    after = "true" if place is None else compiler.after(query.order, place, backward=query.backward)
    lead = ""
    if isinstance(scope, SystemScope) and isinstance(query.order, Newest) and scope.workspace:
        lead = "n.workspaceId" + (" DESC, " if query.backward else ", ")
    order = lead + order_by(query.kind, query.order, query.where, backward=query.backward)
    rows = await runner.run(
        f"MATCH (n:{query.kind.__name__}) WHERE ({condition}) AND ({after}) AND {visible.seen(scope)} "
        f"WITH n ORDER BY {order} {_limit(query)}RETURN {NODE_MAP}, n.guardSort",
        **compiler.parameters,
        **visible.scope_parameters(scope),
        **_first(query),
    )
    return [(properties, sort) for properties, sort in rows]


async def _by_audience(
    runner: Runner, viewer: Viewer, query: Find[N], compiler: Compiler, condition: str, clauses: Sequence[str]
) -> list[Row]:
    """Read the audience rows of the clauses the viewer passes: hidden nodes are never touched."""
    tags, _ = tags_of(query.where)
    shared = {"clauses": clauses, "tags": tags, "kind": query.kind.__name__}
    if isinstance(query.order, Newest):
        statement = _newest_statement(query, condition)
        extra = {"from": _start(query)}
    else:
        statement = _sorted_statement(query, compiler, condition)
        extra = {"from": ""}
    rows = await runner.run(
        statement, **shared, **extra, **compiler.parameters, **visible.viewer_parameters(viewer), **_first(query)
    )
    return [(properties, sort) for properties, sort in rows]


def _newest_statement(query: Find[N], condition: str) -> str:
    down = " DESC" if query.backward else ""
    bound = f"a.sort {'<' if query.backward else '>'} $from"
    return (
        "UNWIND $clauses AS clause UNWIND $tags AS tag CALL (clause, tag) { "
        f"{audience_rows(ascending=not query.backward, bound=bound)} AND ({condition}) "
        f"RETURN n, a.sort AS sort {_limit(query)}}} "
        f"WITH DISTINCT n, sort ORDER BY sort{down} {_limit(query)}RETURN {NODE_MAP}, sort"
    )


def _sorted_statement(query: Find[N], compiler: Compiler, condition: str) -> str:
    place = query.after
    after = "true" if place is None else compiler.after(query.order, place, backward=query.backward)
    order = order_by(query.kind, query.order, None, backward=query.backward)
    return (
        "UNWIND $clauses AS clause UNWIND $tags AS tag CALL (clause, tag) { "
        f"{audience_rows(ordered=False)} AND ({condition}) AND ({after}) RETURN n }} "
        f"WITH DISTINCT n ORDER BY {order} {_limit(query)}RETURN {NODE_MAP}, n.guardSort"
    )


def _page(query: Find[N], rows: list[Row]) -> Page[N]:
    first = len(rows) if query.first is None else query.first
    nodes = [cast(N, decode_node(properties)) for properties, _ in rows[:first]]
    places = [_place(query, node, sort) for node, (_, sort) in zip(nodes, rows, strict=False)]
    return Page(nodes=tuple(nodes), places=tuple(places), more=len(rows) > first)


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


def _leads_in(kind: type[Node], part: Where) -> bool:
    if isinstance(part, Linked):
        return True
    if not isinstance(part, Eq | In) or (isinstance(part, Eq) and part.value is None):
        return False
    return part.field in ("id", "pool") or names.field_of(kind, part.field).indexed
