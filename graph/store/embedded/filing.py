"""Writes of guards and audiences: audience rows and counters follow in the same call.

The audience rows of a node are always those of its guard's row: of its clauses, tags and time. So the old rows can
be taken out by what the guard's row says, and the two cannot drift apart.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple

from graph.model.access import Audience, Guard
from graph.model.errors import BadState
from graph.model.ids import NodeId
from graph.model.schema import kinds
from graph.store.embedded import guards as stored
from graph.store.embedded import texts
from graph.store.embedded.audience import columns_of, interned, numbers_of
from graph.store.embedded.session import Session
from graph.store.embedded.values import listed
from graph.store.embedded.vector_filing import has_vectors

AudienceRow = tuple[int, str, int, int, str, int]
"""clause, kind, tag (0: any), time, node, whether the node has several clauses"""


class Filed(NamedTuple):
    """What the audience rows of a node are made of; `barred` is kept beside them to be read back."""

    node: NodeId
    kind: str
    workspace: str
    pool: str | None
    tags: str
    sort: int
    clauses: tuple[int, ...]
    barred: str | None

    def rows(self) -> Iterable[AudienceRow]:
        """Yield one row a clause and tag, tag 0 standing for any."""
        many = int(len(self.clauses) > 1)
        for clause in self.clauses:
            for tag in _with_any(self.tags):
                yield clause, self.kind, tag, self.sort, self.node, many


@lru_cache(maxsize=10_000)
def _with_any(tags: str) -> tuple[int, ...]:
    return (0, *sorted(set(json.loads(tags))))


def guard(session: Session, guards: Sequence[Guard]) -> None:
    """Set or replace guards; what was admitted is filed anew if the pool, kind, tags or time changed."""
    latest = {guard.node: guard for guard in guards}
    before = _filed(session, latest)
    tags = _tags(session, latest.values())
    session.db.executemany(
        "INSERT INTO guard(node, kind, workspace, pool, need, rules, live, held, excluded, tags, sort_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET kind = excluded.kind,"
        " workspace = excluded.workspace, pool = excluded.pool, need = excluded.need, rules = excluded.rules,"
        " live = excluded.live, held = excluded.held, excluded = excluded.excluded, tags = excluded.tags,"
        " sort_at = excluded.sort_at",
        [_row(session, guard, tags) for guard in latest.values()],
    )
    if before:
        _file_moved(session, before)


def guard_and_admit(session: Session, guards: Sequence[Guard], audiences: Sequence[Audience]) -> None:
    """Do `guard`, then `admit`; what has no guard yet gets both in one row, written once.

    Kinds with vectors go the long way: the triggers that show vectors look at a guard that is changed.
    """
    admitted = {audience.node: audience for audience in audiences}
    before = _filed(session, admitted)
    fresh = {
        new.node: new
        for new in guards
        if new.node in admitted and new.node not in before and new.kind not in _with_vectors()
    }
    _add(session, [(new, admitted[node]) for node, new in fresh.items()])
    others = [other for other in guards if other.node not in fresh]
    if others:
        guard(session, others)
    rest = [audience for node, audience in admitted.items() if node not in fresh]
    if rest:
        admit(session, rest)


def _add(session: Session, new: Sequence[tuple[Guard, Audience]]) -> None:
    """Add guards with their audiences."""
    tags = _tags(session, [guard for guard, _ in new])
    rows, filed = [], []
    for guard, audience in new:
        row = _row(session, guard, tags)
        unseen = Filed(guard.node, guard.kind, guard.workspace, guard.pool, row[9], guard.sort_at, (), None)
        own = _admitted(session, unseen, audience)
        rows.append((*row, *columns_of(own.clauses), own.barred))
        filed.append(own)
    session.db.executemany(
        "INSERT INTO guard(node, kind, workspace, pool, need, rules, live, held, excluded, tags, sort_at, clause,"
        " clauses, barred) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
    _put_in(session, filed)
    texts.file_anew(session, {own.node: ((), own.clauses) for own in filed if own.clauses})


def _tags(session: Session, guards: Iterable[Guard]) -> dict[str, int]:
    return {tag: interned(session.db, "tag", tag) for tag in {tag for guard in guards for tag in guard.tags}}


@cache
def _with_vectors() -> frozenset[str]:
    return frozenset(spec.name for spec in kinds().values() if has_vectors(spec))


def _row(session: Session, guard: Guard, tags: Mapping[str, int]) -> tuple[Any, ...]:
    return (
        guard.node,
        guard.kind,
        guard.workspace,
        guard.pool,
        guard.need,
        None if guard.rules is None else session.clauses.rule_numbers(guard.rules),
        int(guard.live),
        int(guard.held),
        listed(sorted(guard.excluded)) if guard.excluded else "[]",
        listed([tags[tag] for tag in guard.tags]),
        guard.sort_at,
    )


def _file_moved(session: Session, before: Mapping[NodeId, Filed]) -> None:
    """File anew what had an audience and hangs on other facts now."""
    moved = [now for node, now in _filed(session, before).items() if now != before[node] and now.barred is not None]
    if moved:
        audiences = stored.audiences(session, [now.node for now in moved])
        _take_out(session, [before[now.node] for now in moved])
        _admit(session, list(audiences.values()), out=True)


def admit(session: Session, audiences: Sequence[Audience]) -> None:
    """Set or replace audiences; audience rows, counters and keyword terms follow.

    Raises:
        BadState: a node has no guard.
    """
    _admit(session, audiences, out=False)


def _admit(session: Session, audiences: Sequence[Audience], *, out: bool) -> None:
    """Admit; `out` tells that the old audience rows are out already."""
    latest = {audience.node: audience for audience in audiences}
    old = _filed(session, latest)
    if len(old) < len(latest):
        raise BadState("set the guard of a node before its audience", node=min(latest.keys() - old.keys()))
    new = {node: _admitted(session, old[node], audience) for node, audience in latest.items()}
    session.db.executemany(
        "UPDATE guard SET clause = ?, clauses = ?, barred = ? WHERE node = ?",
        [(*columns_of(now.clauses), now.barred, node) for node, now in new.items()],
    )
    changed = [node for node, now in new.items() if out or now.clauses != old[node].clauses]
    if not out:
        _take_out(session, [old[node] for node in changed])
    _put_in(session, [new[node] for node in changed])
    clauses = {node: (old[node].clauses, new[node].clauses) for node in changed}
    texts.file_anew(session, {node: (was, now) for node, (was, now) in clauses.items() if was != now})


def _admitted(session: Session, filed: Filed, audience: Audience) -> Filed:
    clauses = session.clauses.numbers_for(filed.workspace, filed.pool, audience)
    barred = listed(sorted(audience.excluded)) if audience.excluded else "[]"
    return Filed(filed.node, filed.kind, filed.workspace, filed.pool, filed.tags, filed.sort, clauses, barred)


def drop(session: Session, nodes: Sequence[NodeId]) -> None:
    """Remove guards and audiences; the keyword texts must be gone already."""
    _take_out(session, _filed(session, nodes).values())
    session.db.execute("DELETE FROM guard WHERE node IN (SELECT value FROM json_each(?))", (listed(nodes),))


def _filed(session: Session, nodes: Iterable[NodeId]) -> dict[NodeId, Filed]:
    rows = session.rows(
        "SELECT g.node, g.kind, g.workspace, g.pool, g.tags, g.sort_at, g.clause, g.clauses, g.barred"
        " FROM json_each(?) w CROSS JOIN guard g ON g.node = w.value",
        (listed(nodes),),
    )
    return {
        node: Filed(node, kind, workspace, pool, tags, sort, numbers_of(clause, clauses), barred)
        for node, kind, workspace, pool, tags, sort, clause, clauses, barred in rows
    }


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


def _count(session: Session, rows: Iterable[AudienceRow], by: int) -> None:
    """Move the counters; rows of nodes with several clauses are counted when asked."""
    counts = Counter((clause, kind, tag) for clause, kind, tag, _, _, many in rows if not many)
    session.db.executemany(
        "INSERT INTO tally(clause, kind, tag, n) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
        [(*key, by * number) for key, number in counts.items()],
    )
