"""Writes of keyword texts: the rows, their terms behind each clause of the guard, and the counters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from graph.model.ids import NodeId
from graph.store.embedded import terms
from graph.store.embedded.audience import interned, numbers_of
from graph.store.embedded.places import bucket_range, first_number
from graph.store.embedded.session import Session
from graph.store.embedded.tables import FTS
from graph.store.embedded.values import listed
from graph.store.query import TextIndex, TextRow


class _Text(NamedTuple):
    """What the index holds of a text."""

    n: int
    kind: str
    guard: NodeId
    part: int
    words: Sequence[str]


def index(session: Session, texts: Sequence[TextRow]) -> None:
    """Add or replace texts."""
    latest = {text.id: text for text in texts}
    unindex(session, tuple(latest))
    ordered = sorted(latest.values(), key=lambda text: first_number(text.sort_at))  # the index wants rising numbers
    parts = {part: interned(session.db, "part", part) for part in {text.part for text in ordered}}
    numbers = _Numbers(session)
    rows = [(numbers.next(text.sort_at), text, parts[text.part]) for text in ordered]
    session.db.executemany(
        "INSERT INTO text(n, id, kind, guard, item, part, pool, words, length, sort_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [_row(*row) for row in rows],
    )
    clauses = _clauses_of(session, {text.guard for text in ordered})
    written = [_Text(n, text.index, text.guard, part, text.words) for n, text, part in rows]
    _add_terms(session, ((text, clauses.get(text.guard, ())) for text in written))


def _row(n: int, text: TextRow, part: int) -> tuple[Any, ...]:
    words = terms.packed(text.words)
    return n, text.id, text.index, text.guard, text.item, part, text.pool, words, len(text.words), text.sort_at


def unindex(session: Session, ids: Sequence[str]) -> None:
    """Remove texts by id."""
    _drop(session, _found(session, "id", ids))


def drop_of(session: Session, guards: Sequence[NodeId]) -> None:
    """Remove the texts that hang on guards."""
    _drop(session, _found(session, "guard", guards))


def file_anew(session: Session, changes: Mapping[NodeId, tuple[tuple[int, ...], tuple[int, ...]]]) -> None:
    """Put the texts of guards behind other clauses; a change is the clauses before and after."""
    found = sorted(_found(session, "guard", tuple(changes)), key=lambda text: text.n)
    _remove_terms(session, [(text, changes[text.guard][0]) for text in found])
    _add_terms(session, [(text, changes[text.guard][1]) for text in found])


def texts_of(session: Session, guards: Sequence[NodeId]) -> Sequence[TextRow]:
    """Return the texts that hang on guards, in id order."""
    rows = session.rows(
        "SELECT t.id, t.kind, t.guard, t.item, p.text, t.pool, t.words, t.sort_at FROM json_each(?) w"
        " CROSS JOIN text t ON t.guard = w.value JOIN part p ON p.n = t.part ORDER BY t.id",
        (listed(dict.fromkeys(guards)),),
    )
    return [text_of(row) for row in rows]


def text_of(row: Sequence[Any]) -> TextRow:
    """Return the text of a row: id, kind, guard, item, part, pool, words, sort_at."""
    id, kind, guard, item, part, pool, words, sort_at = row
    return TextRow(
        id=id,
        index=TextIndex(kind),
        guard=guard,
        item=item,
        part=part,
        pool=pool,
        words=terms.unpacked(words),
        sort_at=sort_at,
    )


class _Numbers:
    """Gives new texts numbers that grow with their time."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._next: dict[int, int] = {}
        self._highest = session.value("SELECT max(n) FROM text")

    def next(self, sort_at: int) -> int:
        low = first_number(sort_at)
        number = self._next[low] if low in self._next else self._free(low)
        self._next[low] = number + 1
        return number

    def _free(self, low: int) -> int:
        if self._highest is None or self._highest < low:
            return low
        _, end = bucket_range(low)
        last = self._session.value("SELECT max(n) FROM text WHERE n >= ? AND n < ?", (low, end))
        return low if last is None else int(last) + 1


def _found(session: Session, by: str, values: Sequence[str]) -> list[_Text]:
    rows = session.db.execute(
        f"SELECT t.n, t.kind, t.guard, t.part, t.words FROM json_each(?) w CROSS JOIN text t ON t.{by} = w.value",
        (listed(values),),
    )
    return [_Text(n, kind, guard, part, terms.unpacked(words)) for n, kind, guard, part, words in rows]


def _drop(session: Session, found: Sequence[_Text]) -> None:
    if not found:
        return
    clauses = _clauses_of(session, {text.guard for text in found})
    _remove_terms(session, [(text, clauses.get(text.guard, ())) for text in found])
    session.db.executemany("DELETE FROM text WHERE n = ?", [(text.n,) for text in found])


def _clauses_of(session: Session, guards: Iterable[NodeId]) -> dict[NodeId, tuple[int, ...]]:
    rows = session.db.execute(
        "SELECT g.node, g.clause, g.clauses FROM json_each(?) w CROSS JOIN guard g ON g.node = w.value",
        (listed(guards),),
    )
    return {node: numbers_of(clause, clauses) for node, clause, clauses in rows}


def _add_terms(session: Session, texts: Iterable[tuple[_Text, tuple[int, ...]]]) -> None:
    shown = [(text, clauses) for text, clauses in texts if clauses]
    for kind, table in FTS.items():
        session.db.executemany(
            f"INSERT INTO {table}(rowid, terms) VALUES (?, ?)",
            [(text.n, _document(text, clauses)) for text, clauses in shown if text.kind == kind],
        )
    _count(session, shown, 1)


def _document(text: _Text, clauses: tuple[int, ...]) -> str:
    return terms.document([terms.prefix(clause, text.part) for clause in clauses], text.words)


def _remove_terms(session: Session, texts: Iterable[tuple[_Text, tuple[int, ...]]]) -> None:
    shown = [(text, clauses) for text, clauses in texts if clauses]
    for kind, table in FTS.items():
        session.db.executemany(
            f"DELETE FROM {table} WHERE rowid = ?", [(text.n,) for text, _ in shown if text.kind == kind]
        )
    _count(session, shown, -1)


def _count(session: Session, texts: Iterable[tuple[_Text, tuple[int, ...]]], by: int) -> None:
    counts = Counter((text.kind, clause, text.part) for text, clauses in texts for clause in clauses)
    session.db.executemany(
        "INSERT INTO text_tally(kind, clause, part, n) VALUES (?, ?, ?, ?)"
        " ON CONFLICT DO UPDATE SET n = n + excluded.n",
        [(*key, by * number) for key, number in counts.items()],
    )
