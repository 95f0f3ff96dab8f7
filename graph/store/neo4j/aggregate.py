"""Counts: from counters where they answer, else over the visible rows only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.fields import Node
from graph.store.neo4j import counters, entrances, names, visible
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.conditions import Compiler
from graph.store.neo4j.encoding import decode_value
from graph.store.neo4j.find import NODE_OF_ROW, audience_rows, tags_of, way_in
from graph.store.query import Where

_STILL_THERE = "n.workspaceId"
"""Read after the value: null for a node that another transaction removed meanwhile, which `count` leaves out."""


async def aggregate(
    runner: Asking, scope: Scope, kind: type[Node], where: Where | None, by: str | None, clauses: Sequence[str]
) -> Mapping[Any, int]:
    """Count visible nodes; `clauses` are those the viewer passes (none for a system scope)."""
    compiler = Compiler(kind)
    condition = compiler.where(where)
    value, counted = ("null", "n") if by is None else (names.reference(kind, by), _STILL_THERE)
    if not visible.may_see_kind(scope, kind):
        return {None: 0} if by is None else {}
    entrance = await way_in(runner, scope, kind, where)
    if entrance is not None or isinstance(scope, SystemScope):
        start = entrance or entrances.through_kind(kind, where)
        rows = await table(
            runner,
            f"{start.text} WHERE {start.condition} AND ({condition}) AND {visible.seen(scope)} "
            f"WITH {value} AS value, count({counted}) AS number",
            "value, number",
            **start.parameters,
            **compiler.parameters,
            **visible.scope_parameters(scope),
        )
    else:
        tags, rest = tags_of(where)
        if by is None and len(tags) == 1 and rest is None:
            return {None: await _counted(runner, scope, kind, clauses, tags[0])}
        rows = await _over_rows(runner, scope, kind, compiler, condition, f"{value}, count({counted})", clauses, tags)
    if by is None:
        return {None: sum(count for _, count in rows)}
    declared = names.field_of(kind, by)
    return {
        decode_value(declared, found): count
        for found, count in rows
        if count and (found is not None or declared.nullable)
    }


async def _counted(runner: Asking, viewer: Viewer, kind: type[Node], clauses: Sequence[str], tag: str) -> int:
    """Sum the counters of nodes with one clause, and look at those with several or with excluded viewers."""
    keys = [counters.row_key(clause, kind.__name__, tag) for clause in clauses]
    single = await counters.read(runner, keys)
    ((several,),) = await runner.run(
        "UNWIND $clauses AS clause MATCH (a:AudSeveral) USING INDEX SEEK a:AudSeveral(clause, kind, tag) "
        "WHERE a.clause = clause AND a.kind = $kind AND a.tag = $tag "
        "AND (a.excluded IS NULL OR NOT $me IN a.excluded) RETURN count(DISTINCT a.node)",
        clauses=clauses,
        kind=kind.__name__,
        tag=tag,
        me=viewer.principal,
    )
    return sum(single.values()) + int(several)


async def _over_rows(
    runner: Asking,
    viewer: Viewer,
    kind: type[Node],
    compiler: Compiler,
    condition: str,
    figures: str,
    clauses: Sequence[str],
    tags: Sequence[str],
) -> list[list[Any]]:
    parameters = {"clauses": clauses, "tags": tags, "kind": kind.__name__, "from": ""}
    return await runner.run(
        "UNWIND $clauses AS clause UNWIND $tags AS tag CALL (clause, tag) { "
        f"{audience_rows(ordered=False)} {NODE_OF_ROW} AND ({condition}) RETURN n }} "
        f"WITH DISTINCT n RETURN {figures}",
        **parameters,
        **compiler.parameters,
        **visible.viewer_parameters(viewer),
    )
