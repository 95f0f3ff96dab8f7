"""The newest first: audience rows of several clauses and tags, merged lazily.

Each (clause, tag) is one ordered run of the audience table. Only as many rows are read as the page needs, plus the
head of each run, so neither hidden rows nor older visible ones cost anything.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import total_ordering

from graph.model.ids import NodeId
from graph.store.embedded.audience import Passing
from graph.store.embedded.conditions import Sql
from graph.store.embedded.session import Session
from graph.store.embedded.tables import KindTable
from graph.store.query import After

Place = tuple[int, NodeId]
"""A node in the order: the time it is sorted by, and its id."""

_FIRST_BATCH = 16
_UNLIMITED = 1_000_000_000


def newest_for_system(
    session: Session, table: KindTable, fits: Sql, after: After | None, first: int | None, *, backward: bool
) -> list[Place]:
    """Return up to ``first + 1`` places of all nodes that fit; those without a guard come last, without a time."""
    way, other = ("ASC", "DESC") if backward else ("DESC", "ASC")
    keyset = _system_keyset(after, backward)
    sql = (
        f"SELECT g.sort_at, n.id FROM {table.name} n LEFT JOIN guard g ON g.node = n.id"
        f" WHERE {fits.text} AND {keyset.text}"
        f" ORDER BY g.sort_at {way} NULLS {'FIRST' if backward else 'LAST'}, n.id {other}"
        f" LIMIT {-1 if first is None else first + 1:d}"
    )
    return [(sort, id) for sort, id in session.db.execute(sql, (*fits.parameters, *keyset.parameters))]


def _system_keyset(after: After | None, backward: bool) -> Sql:
    if after is None:
        return Sql("1")
    further, beyond = ("<", ">") if backward else (">", "<")
    if after.value is None:
        unset = f"(g.sort_at IS NULL AND n.id {further} ?)"
        return Sql(f"({unset} OR g.sort_at IS NOT NULL)" if backward else unset, (after.id,))
    unset = "" if backward else " OR g.sort_at IS NULL"
    return Sql(
        f"(g.sort_at {beyond} ? OR (g.sort_at = ? AND n.id {further} ?){unset})", (after.value, after.value, after.id)
    )


def newest_for_viewer(
    session: Session,
    passing: Passing,
    table: KindTable,
    tags: Sequence[int],
    fits: Sql,
    after: After | None,
    first: int | None,
    backward: bool,
) -> list[Place]:
    """Return up to ``first + 1`` places of what is seen through the clauses and tags and fits."""
    wanted = _UNLIMITED if first is None else first + 1
    reading = _Reading(session, table, fits, backward)
    start = None if after is None else (after.value, after.id)
    runs = [(clause, tag) for clause in passing.clauses for tag in tags]
    if len(runs) == 1:
        return reading.rows(*runs[0], start, wanted)
    return _merged(reading, runs, start, wanted, first is None)


def _merged(
    reading: _Reading, runs: Sequence[tuple[int, int]], start: Place | None, wanted: int, everything: bool
) -> list[Place]:
    """Merge the runs; a run is opened only when the first of its rows could be next."""
    queue = [_Head(order, None, run) for run, order in reading.heads(runs, start)]
    heapq.heapify(queue)
    found: list[Place] = []
    while queue and len(found) < wanted:
        head = heapq.heappop(queue)
        if head.rows is None:
            head.rows = reading.iterate(*head.run, start, wanted if everything else min(_FIRST_BATCH, wanted))
        elif not found or found[-1] != head.order.place:
            found.append(head.order.place)
        following = next(head.rows, None)
        if following is not None:
            heapq.heappush(queue, _Head(_Order(following, reading.backward), head.rows, head.run))
    return found


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """Where a place stands in the order; one without an id stands before all of its time."""

    place: Place
    backward: bool

    def __lt__(self, other: _Order) -> bool:
        (sort, id), (other_sort, other_id) = self.place, other.place
        if sort != other_sort:
            return sort < other_sort if self.backward else sort > other_sort
        if not id or not other_id:
            return not id and bool(other_id)
        return id > other_id if self.backward else id < other_id

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Order) and self.place == other.place


@dataclass(order=True, slots=True)
class _Head:
    """The next row of a run; `rows` is None while only its time is known."""

    order: _Order
    rows: Iterator[Place] | None = field(compare=False)
    run: tuple[int, int] = field(compare=False)


class _Reading:
    """Reads runs of audience rows of one kind, joined with the nodes so that a condition can be tested."""

    def __init__(self, session: Session, table: KindTable, fits: Sql, backward: bool) -> None:
        self.backward = backward
        self._session = session
        self._kind = table.spec.name
        self._fits = fits.parameters
        self._order = "a.sort ASC, a.id DESC" if backward else "a.sort DESC, a.id ASC"
        self._select = (
            f"SELECT a.sort, a.id FROM aud a CROSS JOIN {table.name} n ON n.id = a.id"
            f" WHERE a.clause = ? AND a.kind = ? AND a.tag = ? AND {fits.text}"
        )

    def rows(self, clause: int, tag: int, start: Place | None, limit: int) -> list[Place]:
        """Return up to `limit` rows of a run after a place: first those of the same time, then the others."""
        if start is None:
            return self._rows("", clause, tag, (), limit)
        sort, id = start
        further, beyond = ("<", ">") if self.backward else (">", "<")
        level = self._rows(f" AND a.sort = ? AND a.id {further} ?", clause, tag, (sort, id), limit)
        if len(level) < limit:
            level += self._rows(f" AND a.sort {beyond} ?", clause, tag, (sort,), limit - len(level))
        return level

    def iterate(self, clause: int, tag: int, start: Place | None, batch: int) -> Iterator[Place]:
        """Yield the rows of a run after a place, read in growing batches."""
        while True:
            rows = self.rows(clause, tag, start, batch)
            yield from rows
            if len(rows) < batch:
                return
            start, batch = rows[-1], batch * 2

    def heads(self, runs: Sequence[tuple[int, int]], start: Place | None) -> Iterator[tuple[tuple[int, int], _Order]]:
        """Yield the runs that have rows at or after the place, with the time of the first, whether it fits or not."""
        beyond = "" if start is None else f" AND a.sort {'>=' if self.backward else '<='} ?"
        sql = (
            f"SELECT a.sort FROM aud a WHERE a.clause = ? AND a.kind = ? AND a.tag = ?{beyond}"
            f" ORDER BY {self._order} LIMIT 1"
        )
        for clause, tag in runs:
            bound = (clause, self._kind, tag) if start is None else (clause, self._kind, tag, start[0])
            sort = self._session.value(sql, bound)
            if sort is not None:
                yield (clause, tag), _Order((sort, NodeId("")), self.backward)

    def _rows(self, keyset: str, clause: int, tag: int, bound: tuple[object, ...], limit: int) -> list[Place]:
        sql = f"{self._select}{keyset} ORDER BY {self._order} LIMIT ?"
        rows = self._session.rows(sql, (clause, self._kind, tag, *self._fits, *bound, limit))
        return [(sort, id) for sort, id in rows]
