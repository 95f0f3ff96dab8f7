"""Nearest vectors: the engine compares the visible ones, or finds some by its index; the last digits are computed here.

The engine's cosine is rounded to single precision, so a few more than asked for are fetched, and ranked in double
precision: then both engines order alike. Source: KN-12.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j import names, visible
from graph.store.neo4j.aggregate import aggregate
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.conditions import Compiler
from graph.store.neo4j.encoding import VECTOR, VECTOR_BYTES, usable_vector
from graph.store.neo4j.find import ANY_TAG, NODE_OF_ROW, audience_rows
from graph.store.query import Neighbour, Where

_ROUNDING = 1e-5
"""How far the engine's figure, between 0 and 1, may be from the true one."""

EXACT_UP_TO = 5_000
"""So many visible vectors are all compared; of more, those that the engine's index finds, if they are enough."""
_WIDER = (8, 64)
"""So many times what is wanted is asked of the index, which knows nothing of audiences; then all are compared."""

_COMPARABLE = f"n.embeddingModel = $model AND n.{VECTOR} IS NOT NULL AND size(n.{VECTOR}) = $size"

_RANKED = (
    f"WITH n, vector.similarity.cosine(n.{VECTOR}, $vector) AS near ORDER BY near DESC WHERE near IS NOT NULL "
    "WITH collect({n: n, near: near}) AS found "
    "WITH found, CASE WHEN size(found) > $limit THEN found[$limit - 1].near - $rounding ELSE -1.0 END AS least "
    f"UNWIND found AS one WITH one WHERE one.near >= least"
)


async def nearest(
    runner: Asking,
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
    asked = _Asked(runner, scope, kind, vector, model, limit, compiler.where(where), compiler.parameters)
    if isinstance(scope, Viewer) and await _sees_many(runner, scope, kind, clauses):
        for wide in (limit * factor for factor in _WIDER):
            found = await asked.among(
                _near_at_all(scope, asked.fits), index=names.vector_index(kind.__name__), wide=wide
            )
            if len(found) == limit:
                return found
    if isinstance(scope, SystemScope):
        return await asked.among(_candidates(scope, kind, asked.fits))
    return await asked.among(_candidates(scope, kind, asked.fits), **{"clauses": clauses, "tag": ANY_TAG, "from": ""})


async def _sees_many(runner: Asking, viewer: Viewer, kind: type[Node], clauses: Sequence[str]) -> bool:
    return (await aggregate(runner, viewer, kind, None, None, clauses))[None] > EXACT_UP_TO


@dataclass(frozen=True, slots=True)
class _Asked:
    """One question; `fits` is the condition beside model and size, with its parameters."""

    runner: Asking
    scope: Scope
    kind: type[Node]
    vector: Sequence[float]
    model: str
    limit: int
    fits: str
    parameters: Mapping[str, Any]

    async def among(self, start: str, **more: Any) -> list[Neighbour]:
        """Return the nearest of the nodes that a statement binds to ``n``."""
        rows = await table(
            self.runner,
            f"{start} {_RANKED}",
            f"one.n.id, one.n.{VECTOR_BYTES}",
            model=self.model,
            size=len(self.vector),
            vector=list(map(float, self.vector)),
            limit=self.limit,
            rounding=_ROUNDING,
            kind=self.kind.__name__,
            **self.parameters,
            **visible.scope_parameters(self.scope),
            **more,
        )
        return ranked(self.vector, rows)[: self.limit]


def ranked(vector: Sequence[float], rows: Iterable[Sequence[Any]]) -> list[Neighbour]:
    """Return the nodes of rows of id and bytes, nearest first; what was removed or replaced meanwhile is left out."""
    neighbours = [
        Neighbour(id=NodeId(id), similarity=_cosine(vector, values))
        for id, data in rows
        if id is not None and (values := usable_vector(bytes(data or b""))) and len(values) == len(vector)
    ]
    return sorted(neighbours, key=lambda found: (-found.similarity, found.id))


def _near_at_all(scope: Scope, fits: str) -> str:
    """Return the start of a statement that takes the nearest of all, hidden ones too, and keeps the visible."""
    return (
        "CALL db.index.vector.queryNodes($index, $wide, $vector) YIELD node AS n"
        f" WITH n WHERE {_COMPARABLE} AND ({fits}) AND {visible.seen(scope)} WITH n"
    )


def _candidates(scope: Scope, kind: type[Node], fits: str) -> str:
    """Return the start of a statement that binds each visible node that fits, with a vector to compare, to ``n``."""
    if isinstance(scope, SystemScope):
        return f"MATCH (n:{kind.__name__}) WHERE {visible.seen(scope)} AND {_COMPARABLE} AND ({fits}) WITH n"
    return (
        "UNWIND $clauses AS clause WITH clause, $tag AS tag CALL (clause, tag) { "
        f"{audience_rows(ordered=False)} {NODE_OF_ROW} AND {_COMPARABLE} AND ({fits}) RETURN n }} WITH DISTINCT n"
    )


def _cosine(asked: Sequence[float], values: Sequence[float]) -> float:
    lengths = math.hypot(*asked) * math.hypot(*values)
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(asked, values, strict=True)) / lengths))
