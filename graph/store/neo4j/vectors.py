"""Nearest vectors, exactly: the engine compares the visible ones, the last digits are computed here.

The engine's cosine is rounded to single precision, so a few more than asked for are fetched, and ranked in double
precision: then both engines order alike. Source: KN-12.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from graph.model.access import Scope, SystemScope
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j import names, visible
from graph.store.neo4j.conditions import Compiler
from graph.store.neo4j.driver import Runner, table
from graph.store.neo4j.encoding import VECTOR, VECTOR_BYTES
from graph.store.neo4j.find import ANY_TAG, NODE_OF_ROW, audience_rows
from graph.store.query import Neighbour, Where

_ROUNDING = 1e-5
"""How far the engine's figure, between 0 and 1, may be from the true one."""

_COMPARABLE = f"n.embeddingModel = $model AND n.{VECTOR} IS NOT NULL AND size(n.{VECTOR}) = $size"

_RANKED = (
    f"WITH n, vector.similarity.cosine(n.{VECTOR}, $vector) AS near ORDER BY near DESC "
    "WITH collect({n: n, near: near}) AS found "
    "WITH found, CASE WHEN size(found) > $limit THEN found[$limit - 1].near - $rounding ELSE -1.0 END AS least "
    f"UNWIND found AS one WITH one WHERE one.near >= least"
)


async def nearest(
    runner: Runner,
    scope: Scope,
    kind: type[Node],
    vector: Sequence[float],
    *,
    model: str,
    limit: int,
    clauses: Sequence[str],
    where: Where | None = None,
) -> Sequence[Neighbour]:
    """Return the visible nodes whose vector of `model` is nearest; `clauses` are those the viewer passes."""
    usable = any(vector) and all(map(math.isfinite, vector)) and limit > 0
    if not usable or names.vector_field(kind) is None or not visible.may_see_kind(scope, kind):
        return ()
    compiler = Compiler(kind)
    rows = await table(
        runner,
        f"{_candidates(scope, kind, compiler.where(where))} {_RANKED}",
        f"one.n.id, one.n.{VECTOR_BYTES}",
        model=model,
        size=len(vector),
        vector=list(map(float, vector)),
        limit=limit,
        rounding=_ROUNDING,
        **({} if isinstance(scope, SystemScope) else {"clauses": clauses, "tag": ANY_TAG, "from": ""}),
        kind=kind.__name__,
        **compiler.parameters,
        **visible.scope_parameters(scope),
    )
    neighbours = [Neighbour(id=NodeId(id), similarity=_cosine(vector, bytes(data))) for id, data in rows]
    return sorted(neighbours, key=lambda found: (-found.similarity, found.id))[:limit]


def _candidates(scope: Scope, kind: type[Node], fits: str) -> str:
    """Return the start of a statement that binds each visible node that fits, with a vector to compare, to ``n``."""
    if isinstance(scope, SystemScope):
        return f"MATCH (n:{kind.__name__}) WHERE {visible.seen(scope)} AND {_COMPARABLE} AND ({fits}) WITH n"
    return (
        "UNWIND $clauses AS clause WITH clause, $tag AS tag CALL (clause, tag) { "
        f"{audience_rows(ordered=False)} {NODE_OF_ROW} AND {_COMPARABLE} AND ({fits}) RETURN n }} WITH DISTINCT n"
    )


def _cosine(asked: Sequence[float], stored: bytes) -> float:
    values = struct.unpack(f"<{len(asked)}f", stored)
    lengths = math.hypot(*asked) * math.hypot(*values)
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(asked, values, strict=True)) / lengths))
