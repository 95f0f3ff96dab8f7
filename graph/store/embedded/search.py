"""Keyword matches by sets alone. Source: RE-9."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from graph.model.access import Scope, SystemScope, Viewer
from graph.store.embedded import terms
from graph.store.embedded.places import bucket_range
from graph.store.embedded.session import Session
from graph.store.embedded.tables import FTS
from graph.store.embedded.values import listed
from graph.store.query import Match, Matches, TextHit

_WEIGHED = 250
"""So many texts too many are rather looked at than asked about again; common words make questions dear."""

HIT_COLUMNS = "t.id, t.guard, t.item, p.text, t.pool, t.words, t.length, t.sort_at"


def match(session: Session, scope: Scope, question: Match) -> Matches:
    """Return the visible texts that match, chosen as `Match` says, with the figures that BM25 needs."""
    words = tuple(dict.fromkeys(question.words))
    if isinstance(scope, SystemScope):
        return _match_everything(session, scope, question, words)
    prefixes, total = _prefixes(session, scope, question)
    if not prefixes or not words:
        return Matches(hits=(), df=dict.fromkeys(words, 0), total=total)
    asking = _Asking(session, FTS[question.index], prefixes)
    df = {word: asking.count(word, question.df_limit) for word in words}
    chosen = asking.choose(df, question.limit)
    needles = _needles(words)
    hits = sorted([_hit(row, needles) for row in _texts(session, chosen)], key=attrgetter("id"))
    return Matches(hits=tuple(hits), df=df, total=max(total, *df.values()))


def _prefixes(session: Session, viewer: Viewer, question: Match) -> tuple[list[str], int]:
    """Return the term prefixes of the (clause, part) pairs that have visible texts, and how many texts these have."""
    pools = None if question.pools is None else frozenset(question.pools)
    parameters: list[Any] = [session.clauses.passing(viewer, pools).parameter, question.index.value]
    within = ""
    if question.parts is not None:
        within = " AND t.part IN (SELECT n FROM part WHERE text IN (SELECT value FROM json_each(?)))"
        parameters.append(listed(question.parts))
    tallies = session.rows(
        "SELECT t.clause, t.part, t.n FROM json_each(?) c CROSS JOIN text_tally t"
        f" ON t.kind = ? AND t.clause = c.value AND t.n > 0{within}",
        parameters,
    )
    return [terms.prefix(clause, part) for clause, part, _ in tallies], sum(n for _, _, n in tallies)


def _rarest_first(df: Mapping[str, int]) -> list[str]:
    return sorted((word for word, count in df.items() if count), key=lambda word: (df[word], word))


@dataclass(frozen=True)
class _Asking:
    """Questions to one keyword index about the texts behind some prefixes."""

    session: Session
    index: str
    prefixes: Sequence[str]

    def count(self, word: str, limit: int) -> int:
        """Return how many texts hold the word, counted to `limit`."""
        sql = f"SELECT count(*) FROM (SELECT 1 FROM {self.index} WHERE {self.index} MATCH ? LIMIT ?)"
        return int(self.session.value(sql, (self._one(word), limit)))

    def choose(self, df: Mapping[str, int], limit: int) -> list[int]:
        """Return up to `limit` texts: those with the rarer word first, then the next word, then the newest."""
        words = _rarest_first(df)
        if not words or limit < 1:
            return []
        if df[words[-1]] <= limit:
            everything = self._found(terms.any_of(self.prefixes, words), limit + 1)
            if len(everything) <= limit:
                return everything
        return self._narrow(words, [], [], limit)

    def _narrow(self, words: Sequence[str], held: list[str], missing: list[str], need: int) -> list[int]:
        """Choose among the texts with all words `held` and none `missing`; `words` are still undecided."""
        chosen: list[int] = []
        for place, word in enumerate(words):
            room = need - len(chosen)
            inside, rest = [*held, word], words[place + 1 :]
            found = self._found(self._query(inside, missing), room + _WEIGHED + 1)
            if len(found) > room + _WEIGHED:
                return chosen + self._narrow(rest, inside, missing, room)
            if len(found) > room:
                return chosen + self._weighed(found, rest, room)
            chosen += found
            missing = [*missing, word]
        return chosen + self._newest(self._query(held, missing), need - len(chosen)) if held else chosen

    def _weighed(self, found: Sequence[int], words: Sequence[str], need: int) -> list[int]:
        """Choose among a few texts by looking at their words."""
        lacks = "".join("instr(t.words, ?) = 0, " for _ in words)
        rows = self.session.db.execute(
            "SELECT t.n FROM json_each(?) w CROSS JOIN text t ON t.n = w.value"
            f" ORDER BY {lacks}t.sort_at DESC, t.id LIMIT ?",
            (listed(found), *map(terms.needle, words), need),
        )
        return [n for (n,) in rows]

    def _query(self, held: Sequence[str], missing: Sequence[str]) -> str:
        query = " AND ".join(map(self._one, held))
        return f"({query}) NOT {terms.any_of(self.prefixes, missing)}" if missing else query

    def _one(self, word: str) -> str:
        return terms.any_of(self.prefixes, (word,))

    def _found(self, query: str, limit: int) -> list[int]:
        sql = f"SELECT rowid FROM {self.index} WHERE {self.index} MATCH ? LIMIT ?"
        return [n for (n,) in self.session.db.execute(sql, (query, limit))]

    def _newest(self, query: str, need: int) -> list[int]:
        """Return the newest; within the stretch of time where the cut falls, by exact time and id."""
        sql = f"SELECT rowid FROM {self.index} WHERE {self.index} MATCH ?"
        found = [n for (n,) in self.session.db.execute(f"{sql} ORDER BY rowid DESC LIMIT ?", (query, need + 1))]
        if len(found) <= need:
            return found
        low, high = bucket_range(found[-1])
        sure = [n for n in found if n >= high]
        tied = [n for (n,) in self.session.db.execute(f"{sql} AND rowid BETWEEN ? AND ?", (query, low, high - 1))]
        return sure + self._weighed(tied, (), need - len(sure))


def _texts(session: Session, numbers: Sequence[int]) -> Iterable[tuple[Any, ...]]:
    return session.db.execute(
        f"SELECT {HIT_COLUMNS} FROM json_each(?) w CROSS JOIN text t ON t.n = w.value JOIN part p ON p.n = t.part",
        (listed(numbers),),
    )


def _needles(words: Sequence[str]) -> Sequence[tuple[str, str]]:
    return [(word, terms.needle(word)) for word in words]


def _hit(row: Sequence[Any], needles: Sequence[tuple[str, str]]) -> TextHit:
    id, guard, item, part, pool, text, length, sort_at = row
    counts = {word: count for word, needle in needles if (count := text.count(needle))}
    return TextHit(id, guard, item, part, pool, counts, length, sort_at)


def _match_everything(session: Session, scope: SystemScope, question: Match, words: Sequence[str]) -> Matches:
    """Answer for the system by looking at every text: rare work, so the index has no terms for it."""
    sql, parameters = _system_texts(scope, question)
    total, found, needles = 0, [], _needles(words)
    for row in session.db.execute(sql, parameters):
        total += 1
        hit = _hit(row, needles)
        if hit.counts:
            found.append(hit)
    df = {word: min(question.df_limit, sum(word in hit.counts for hit in found)) for word in words}
    rarest = _rarest_first(df)
    found.sort(key=lambda hit: ([word not in hit.counts for word in rarest], -hit.sort_at, hit.id))
    return Matches(hits=tuple(found[: question.limit]), df=df, total=total)


def _system_texts(scope: SystemScope, question: Match) -> tuple[str, list[Any]]:
    sql = f"SELECT {HIT_COLUMNS} FROM text t JOIN part p ON p.n = t.part LEFT JOIN guard g ON g.node = t.guard"
    conditions, parameters = ["t.kind = ?"], [question.index.value]
    if scope.workspace is not None:
        conditions.append("g.workspace = ?")
        parameters.append(scope.workspace)
    for column, values in (("p.text", question.parts), ("t.pool", question.pools)):
        if values is not None:
            conditions.append(f"{column} IN (SELECT value FROM json_each(?))")
            parameters.append(listed(values))
    return f"{sql} WHERE {' AND '.join(conditions)}", parameters
