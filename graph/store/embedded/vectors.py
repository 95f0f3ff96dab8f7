"""Nearest vectors, exactly: candidates from memory, or all that is visible by SQL. Source: RE-10, ADR 0021."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec

from graph.model.access import Scope, Viewer
from graph.model.fields import Node
from graph.store.embedded.conditions import Sql, where_sql
from graph.store.embedded.listing import SEEN, Rows, seen_rows
from graph.store.embedded.session import Session
from graph.store.embedded.tables import KindTable, table_of
from graph.store.embedded.values import listed
from graph.store.embedded.vector_cache import Seen, similarities
from graph.store.embedded.vector_filing import has_vectors
from graph.store.query import Eq, IsSet, Neighbour, Where, both

_MANY_CLAUSES = 2_000
"""Who passes more (an auditor, as a rule) is answered by SQL."""
_WIDER = 4


def nearest(
    session: Session,
    scope: Scope,
    kind: type[Node],
    vector: Sequence[float],
    model: str,
    limit: int,
    where: Where | None = None,
) -> Sequence[Neighbour]:
    """Return the nearest visible nodes, exactly; vectors of another size or of length 0 are left out."""
    table = table_of(kind.__name__)
    if not has_vectors(table.spec) or (isinstance(scope, Viewer) and not table.spec.guarded) or not any(vector):
        return []
    asked = _Asked(session, table, vector, model, where)
    if isinstance(scope, Viewer) and limit > 0:
        found = _from_memory(asked, scope, limit)
        if found is not None:
            return found
    return asked.among(seen_rows(session, scope, table, asked.comparable), limit)


class _Asked:
    """One question to one kind."""

    def __init__(
        self, session: Session, table: KindTable, vector: Sequence[float], model: str, where: Where | None
    ) -> None:
        self.session = session
        self.table = table
        self.vector = vector
        self.model = model
        self.comparable = both(Eq("embedding_model", model), IsSet("embedding"), where)
        self._blob = struct.pack(f"<{len(vector)}f", *vector)

    def among(self, rows: Rows, limit: int) -> list[Neighbour]:
        """Return the nearest of some rows; -1 is no limit."""
        sized = Sql("length(n.embedding) = ?", (len(self._blob),))
        sql, parameters = rows.select("n.id AS id, vec_distance_cosine(n.embedding, ?) AS distance", sized)
        found = self.session.db.execute(
            f"SELECT id, distance FROM ({sql}) WHERE distance IS NOT NULL ORDER BY distance, id LIMIT ?",
            (self._blob, *parameters, limit),
        )
        return [Neighbour(id=id, similarity=max(-1.0, min(1.0, 1.0 - distance))) for id, distance in found]

    def visible(self, ids: Sequence[str], passing: str) -> Rows:
        """Return the rows of candidates that fit and are seen, in this snapshot."""
        source = f"json_each(?) w CROSS JOIN {self.table.name} n ON n.id = w.value"
        fits = where_sql(self.comparable, self.table)
        seen = Sql(SEEN, (passing, passing))
        return Rows(source, (listed(ids),), Sql(f"({fits.text}) AND {seen.text}", (*fits.parameters, *seen.parameters)))


def _from_memory(asked: _Asked, viewer: Viewer, limit: int) -> list[Neighbour] | None:
    """Return the nearest by way of the vectors in memory; None if they are not to be had there.

    Candidates are all whose rounded cosine is not clearly below that of the `limit`-th; they are compared exactly. If
    too few of them are seen, more are taken.
    """
    vectors = asked.session.vectors
    if vectors is None or not _can_compare():
        return None
    passing = asked.session.clauses.passing(viewer)
    if len(passing.clauses) > _MANY_CLAUSES:
        return None
    kind, size = asked.table.spec.name, len(asked.vector)
    groups = vectors.groups(asked.session, kind, asked.model, size, passing.clauses)
    if groups is None:
        return None
    found, dead = _compared(asked, groups, passing.parameter, limit)
    if dead:
        vectors.forget(kind, asked.model, size, passing.clauses)
    return found


def _compared(asked: _Asked, groups: Sequence[Seen], passing: str, limit: int) -> tuple[list[Neighbour], bool]:
    """Return the nearest, and whether so many candidates were gone that the groups are better read anew."""
    import numpy as np

    near, off = similarities(asked.vector, groups)
    begins = np.cumsum([0, *(len(group.rows) for group in groups)])
    count = limit
    while True:
        everything = count >= len(near)
        least = -3.0 if everything else float(np.partition(near, len(near) - count)[len(near) - count]) - 2 * off
        places = np.flatnonzero(near >= least)
        of = np.searchsorted(begins, places, side="right") - 1
        inside = zip(of.tolist(), (places - begins[of]).tolist(), strict=True)
        ids = list(dict.fromkeys(groups[group].nodes[place] for group, place in inside))
        found = asked.among(asked.visible(ids, passing), limit)
        sure = len(found) == limit and found[-1].similarity >= least + off
        if sure or everything:
            return found, everything and len(near) > _WIDER * max(len(ids), limit)
        count *= _WIDER


@cache
def _can_compare() -> bool:
    return find_spec("numpy") is not None and find_spec("simsimd") is not None
