"""Writes of guards and audiences: audience rows and counters follow in the same call.

The audience rows of a node are always those of its guard's row: of its clauses, tags and time. So the old rows can
be taken out by what the guard's row says, and the two cannot drift apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graph.model.access import Audience, Guard
from graph.model.errors import BadState
from graph.model.ids import NodeId
from graph.store.embedded import texts
from graph.store.embedded.audience import columns_of, interned, numbers_of
from graph.store.embedded.guards import GUARD_COLUMNS, guard_of, tag_texts
from graph.store.embedded.session import Session
from graph.store.embedded.values import listed


@dataclass(frozen=True, slots=True)
class Filed:
    """What the audience rows of a node are made of."""

    node: NodeId
    kind: str
    tags: tuple[int, ...]
    sort: int
    clauses: tuple[int, ...]

    def rows(self) -> Iterable[tuple[int, str, int, int, str, int]]:
        """Yield one row a clause and tag, tag 0 standing for any."""
        many = int(len(self.clauses) > 1)
        for clause in self.clauses:
            for tag in (0, *self.tags):
                yield clause, self.kind, tag, self.sort, self.node, many


def guard(session: Session, guards: Sequence[Guard]) -> None:
    """Set or replace guards; what was admitted is filed anew if the pool, kind, tags or time changed."""
    latest = {guard.node: guard for guard in guards}
    before = _stored(session, latest)
    tags = {tag: interned(session.db, "tag", tag) for tag in {tag for g in latest.values() for tag in g.tags}}
    session.db.executemany(
        "INSERT INTO guard(node, kind, workspace, pool, need, rules, live, held, excluded, tags, sort_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET kind = excluded.kind,"
        " workspace = excluded.workspace, pool = excluded.pool, need = excluded.need, rules = excluded.rules,"
        " live = excluded.live, held = excluded.held, excluded = excluded.excluded, tags = excluded.tags,"
        " sort_at = excluded.sort_at",
        [_row(session, guard, tags) for guard in latest.values()],
    )
    moved = [old for node, old in before.items() if old.audience is not None and _moves(old.guard, latest[node])]
    if moved:
        _take_out(session, [old.filed for old in moved])
        admit(session, [old.audience for old in moved if old.audience is not None], removed=True)


def _row(session: Session, guard: Guard, tags: Mapping[str, int]) -> tuple[Any, ...]:
    return (
        guard.node,
        guard.kind,
        guard.workspace,
        guard.pool,
        guard.need.value,
        None if guard.rules is None else session.clauses.rule_numbers(guard.rules),
        int(guard.live),
        int(guard.held),
        listed(sorted(guard.excluded)),
        listed(tags[tag] for tag in guard.tags) if guard.tags else "[]",
        guard.sort_at,
    )


def _moves(old: Guard, new: Guard) -> bool:
    return (old.workspace, old.pool, old.kind, old.tags, old.sort_at) != (
        new.workspace,
        new.pool,
        new.kind,
        new.tags,
        new.sort_at,
    )


def admit(session: Session, audiences: Sequence[Audience], *, removed: bool = False) -> None:
    """Set or replace audiences; audience rows, counters and keyword terms follow.

    With `removed` the old audience rows are out already.

    Raises:
        BadState: a node has no guard.
    """
    latest = {audience.node: audience for audience in audiences}
    stored = _stored(session, latest)
    if len(stored) < len(latest):
        missing = min(latest.keys() - stored.keys())
        raise BadState("set the guard of a node before its audience", node=missing)
    old = [stored[node].filed for node in latest]
    new = [
        replace(filed, clauses=session.clauses.numbers_for(stored[filed.node].guard, latest[filed.node]))
        for filed in old
    ]
    session.db.executemany(
        "UPDATE guard SET clause = ?, clauses = ?, barred = ? WHERE node = ?",
        [(*columns_of(filed.clauses), listed(sorted(latest[filed.node].excluded)), filed.node) for filed in new],
    )
    changed = [(was, now) for was, now in zip(old, new, strict=True) if removed or was != now]
    if not removed:
        _take_out(session, [was for was, _ in changed])
    _put_in(session, [now for _, now in changed])
    texts.file_anew(
        session, {now.node: (was.clauses, now.clauses) for was, now in changed if was.clauses != now.clauses}
    )


def drop(session: Session, nodes: Sequence[NodeId]) -> None:
    """Remove guards and audiences; the keyword texts must be gone already."""
    _take_out(session, [stored.filed for stored in _stored(session, nodes).values()])
    session.db.execute("DELETE FROM guard WHERE node IN (SELECT value FROM json_each(?))", (listed(nodes),))


@dataclass(frozen=True, slots=True)
class _Stored:
    guard: Guard
    audience: Audience | None
    filed: Filed


def _stored(session: Session, nodes: Iterable[NodeId]) -> dict[NodeId, _Stored]:
    rows = session.rows(
        f"SELECT {GUARD_COLUMNS}, g.clause, g.clauses, g.barred"
        " FROM json_each(?) w CROSS JOIN guard g ON g.node = w.value",
        (listed(nodes),),
    )
    names = tag_texts(session, rows)
    return {row[0]: _read(session, row, names) for row in rows}


def _read(session: Session, row: Sequence[Any], names: Mapping[int, str]) -> _Stored:
    *columns, clause, clauses, barred = row
    guard = guard_of(session, columns, names)
    audience = None if clause is None else session.clauses.audience(guard.node, clause, clauses, barred)
    tags = tuple(sorted(set(json.loads(columns[9]))))
    filed = Filed(guard.node, guard.kind, tags, guard.sort_at, numbers_of(clause, clauses))
    return _Stored(guard, audience, filed)


def _put_in(session: Session, filed: Iterable[Filed]) -> None:
    rows = [row for one in filed for row in one.rows()]
    session.db.executemany("INSERT INTO aud(clause, kind, tag, sort, id, many) VALUES (?, ?, ?, ?, ?, ?)", rows)
    _count(session, rows, 1)


def _take_out(session: Session, filed: Iterable[Filed]) -> None:
    rows = [row for one in filed for row in one.rows()]
    session.db.executemany(
        "DELETE FROM aud WHERE clause = ? AND kind = ? AND tag = ? AND sort = ? AND id = ?", [row[:5] for row in rows]
    )
    _count(session, rows, -1)


def _count(session: Session, rows: Iterable[tuple[int, str, int, int, str, int]], by: int) -> None:
    """Move the counters; rows of nodes with several clauses are counted when asked."""
    counts = Counter((clause, kind, tag) for clause, kind, tag, _, _, many in rows if not many)
    session.db.executemany(
        "INSERT INTO tally(clause, kind, tag, n) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
        [(*key, by * number) for key, number in counts.items()],
    )
