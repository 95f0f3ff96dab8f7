"""Keyword matches: the full-text index finds sets, the rule of RE-9 chooses among them, no score is looked at.

Every query names the words, the clauses the viewer passes and the place, so hidden texts are never touched. A text is
asked for by at most `_CLAUSES_A_CALL` clauses at once, because the index takes 1,024 terms in one query.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.ids import NodeId
from graph.store.neo4j import counters
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.facts import decode_sort
from graph.store.neo4j.schema import FULL_TEXT, TEXT_LABELS
from graph.store.neo4j.texts import (
    EXCLUDING,
    clause_token,
    excluded_token,
    part_token,
    pool_token,
    workspace_token,
)
from graph.store.neo4j.words import encode_word
from graph.store.query import Match, Matches, TextHit

_CLAUSES_A_CALL = 800
_WORDS_A_CALL = 90
_PLACES_A_CALL = 100

_SORTED_AT_ONCE = 10_000
"""A set of at most so many texts is sorted as it is."""

_SAMPLE = 1_000
_SHARES = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)

_COUNTS_OF_ONE = (
    "UNWIND $asks AS ask CALL (ask) { "
    "CALL db.index.fulltext.queryNodes($index, ask.q, {limit: $cap}) YIELD node RETURN count(*) AS size } "
    "RETURN collect([ask.n, size]) AS sizes"
)
"""Where each set is one query; telling nodes apart takes three times as long."""

_COUNTS_OF_SEVERAL = (
    "UNWIND $asks AS ask CALL (ask) { "
    "CALL db.index.fulltext.queryNodes($index, ask.q, {limit: $cap}) YIELD node RETURN node } "
    "WITH ask.n AS n, count(DISTINCT node) AS size RETURN collect([n, size]) AS sizes"
)

_TOTAL = (
    "CALL () { UNWIND $keys AS key MATCH (c:Counter {key: key}) RETURN sum(c.n) AS counted } "
    "CALL () { UNWIND $excluding AS q CALL (q) { "
    "CALL db.index.fulltext.queryNodes($index, q) YIELD node RETURN node AS t } WITH DISTINCT t "
    "RETURN sum(size([token IN split(t.clauses, ' ') WHERE token IN $passed])) AS looked_at } "
    "RETURN counted + looked_at AS total"
)

_HIT = "t.id, t.guard, t.item, t.part, t.pool, t.words, t.length, t.sort"


@dataclass(frozen=True, slots=True)
class _Set:
    """Texts that hold each of `plus`, at least one of `some` (if there are any) and none of `minus`, not older than
    the stretch of time `span`.
    """

    plus: tuple[str, ...] = ()
    some: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    span: str | None = None


async def match(runner: Asking, scope: Scope, question: Match, clauses: Sequence[str]) -> Matches:
    """Return the visible texts that hold a word; `clauses` are those the viewer passes."""
    asked = _Asked(runner, scope, question, clauses)
    words = sorted(set(question.words))
    found, total = await asked.figures([_Set(plus=(word,)) for word in words], cap=question.df_limit)
    df = dict(zip(words, found, strict=True))
    hits = await _chosen(asked, sorted((word for word in words if df[word]), key=lambda word: (df[word], word)), df)
    return Matches(hits=tuple(hits), df=df, total=max(total, max(df.values(), default=0)))


async def _chosen(asked: _Asked, rarest_first: Sequence[str], df: Mapping[str, int]) -> Sequence[TextHit]:
    """Choose at most `limit` texts: those with the rarest word first, then those with the next, and so on."""
    limit = asked.question.limit
    surely = _surely_all(rarest_first, df, limit)
    hits = list(await asked.hits(_Set(some=tuple(rarest_first[:surely]))) if surely else [])
    plus: list[str] = []
    minus = list(rarest_first[:surely])
    for word in rarest_first[surely:]:
        room = limit - len(hits)
        if room <= 0:
            break
        with_word = _Set(plus=(*plus, word), minus=tuple(minus))
        (count,) = await asked.counts([with_word], cap=room + 1)
        if count <= room:
            hits += await asked.hits(with_word) if count else []
            minus.append(word)
        else:
            plus.append(word)
    room = limit - len(hits)
    if room > 0 and plus:
        hits += await asked.hits(await _newer(asked, _Set(plus=tuple(plus), minus=tuple(minus)), room), newest=room)
    return hits


async def _newer(asked: _Asked, one: _Set, room: int) -> _Set:
    """Return a smaller set that still has the newest `room` texts of a large one, so that few are looked at.

    A sample of times tells about where to cut; how many are left is counted. Whatever the sample was, the answer is
    exact: all texts of a set that are newer than the cut are in the smaller one.
    """
    (count,) = await asked.counts([one], cap=_SORTED_AT_ONCE + 1)
    if count <= _SORTED_AT_ONCE:
        return one
    spans = sorted(await asked.spans(one, _SAMPLE))
    for share in _SHARES if spans else ():
        newer = replace(one, span=spans[int(len(spans) * share)])
        if (await asked.counts([newer], cap=room))[0] == room:
            return newer
    return one


def _surely_all(rarest_first: Sequence[str], df: Mapping[str, int], limit: int) -> int:
    """Return how many words, from the rarest on, cannot fill the limit even if no text holds two of them."""
    total = 0
    for position, word in enumerate(rarest_first):
        total += df[word]
        if total > limit:
            return position
    return len(rarest_first)


class _Asked:
    """One question of one scope, as queries to the full-text index."""

    def __init__(self, runner: Asking, scope: Scope, question: Match, clauses: Sequence[str]) -> None:
        self._runner = runner
        self._scope = scope
        self._clauses = clauses
        self._name = FULL_TEXT[question.index]
        self.question = question

    async def counts(self, sets: Sequence[_Set], *, cap: int) -> Sequence[int]:
        """Return how many visible texts are in each set, counted up to `cap`; one round trip."""
        asks = self._asks(sets)
        rows = await self._runner.run(
            f"CALL () {{ {_counts(asks, len(sets))} }} RETURN sizes", asks=asks, index=self._name, cap=cap
        )
        return _sizes(rows[0][0], len(sets), cap)

    async def figures(self, sets: Sequence[_Set], *, cap: int) -> tuple[Sequence[int], int]:
        """Return `counts`, and the number of all visible texts; one round trip."""
        total, parameters = self._total()
        asks = self._asks(sets)
        rows = await self._runner.run(
            f"CALL () {{ {_counts(asks, len(sets))} }} CALL () {{ {total} }} RETURN sizes, total",
            asks=asks,
            index=self._name,
            cap=cap,
            **parameters,
        )
        sizes, found = rows[0]
        return _sizes(sizes, len(sets), cap), int(found)

    async def hits(self, one: _Set, *, newest: int | None = None) -> Sequence[TextHit]:
        """Return the texts of a set; with `newest`, at most so many, newest first, then by id."""
        cut = "" if newest is None else "ORDER BY t.sort LIMIT $newest "
        rows = await table(
            self._runner,
            "UNWIND $queries AS q CALL (q) { "
            "CALL db.index.fulltext.queryNodes($index, q) YIELD node RETURN node AS t } "
            f"WITH DISTINCT t {cut}",
            _HIT,
            queries=list(self._queries(one)),
            index=self._name,
            newest=newest,
        )
        return whole_hits(rows, self.question.words)

    async def spans(self, one: _Set, count: int) -> Sequence[str]:
        """Return the stretches of time of about `count` texts of a set, whichever the index gives first."""
        rows = await table(
            self._runner,
            "UNWIND $queries AS q CALL (q) { "
            "CALL db.index.fulltext.queryNodes($index, q, {limit: $count}) YIELD node RETURN node AS t }",
            "t.span",
            queries=list(self._queries(one)),
            index=self._name,
            count=count,
        )
        return [span for (span,) in rows if span is not None]

    def _asks(self, sets: Sequence[_Set]) -> list[dict[str, object]]:
        return [{"n": number, "q": query} for number, one in enumerate(sets) for query in self._queries(one)]

    def _total(self) -> tuple[str, dict[str, object]]:
        """Return how to count all visible texts: for a viewer one counter a clause, summed.

        Texts that exclude someone are in no counter; bot memory has them, knowledge has none.
        """
        parts, pools = self.question.parts, self.question.pools
        if isinstance(self._scope, SystemScope):
            return _total_of_system(TEXT_LABELS[self.question.index]), {
                "workspace": self._scope.workspace,
                "parts": None if parts is None else list(parts),
                "pools": None if pools is None else list(pools),
            }
        keys = [
            counters.text_key(clause, self.question.index.value, part, pool)
            for clause in self._clauses
            for part in (dict.fromkeys(parts) if parts is not None else (None,))
            for pool in (dict.fromkeys(pools) if pools is not None else (None,))
        ]
        return _TOTAL, {
            "keys": keys,
            "excluding": list(self._queries(_Set(), excluding=True)),
            "passed": list(map(clause_token, self._clauses)),
        }

    def _queries(self, one: _Set, *, excluding: bool = False) -> Iterator[str]:
        """Yield the queries whose answers together are the set."""
        for some in _batches(one.some, _WORDS_A_CALL) or [()]:
            for clauses in self._clause_batches():
                for place in self._places():
                    yield " ".join([*_words(one, some), *clauses, *place, *([f"+place:{EXCLUDING}"] * excluding)])

    def _clause_batches(self) -> Sequence[Sequence[str]]:
        if isinstance(self._scope, SystemScope):
            return [[]]
        batches = _batches(self._clauses, _CLAUSES_A_CALL)
        return [[_any("clauses", map(clause_token, batch))] for batch in batches]

    def _places(self) -> Iterator[Sequence[str]]:
        """Yield the terms for workspace, parts, pools and excluded viewers."""
        fixed = []
        if isinstance(self._scope, Viewer):
            fixed.append(f"-place:{excluded_token(self._scope.principal)}")
        elif self._scope.workspace is not None:
            fixed.append(f"+place:{workspace_token(self._scope.workspace)}")
        parts, pools = self.question.parts, self.question.pools
        if parts is not None:
            fixed.append(_any("place", map(part_token, parts)) if parts else _NOTHING)
        if pools is None:
            yield fixed
            return
        for batch in _batches(sorted(set(pools)), _PLACES_A_CALL):
            yield [*fixed, _any("place", map(pool_token, batch))]


_NOTHING = "+place:nothing"


def _counts(asks: Sequence[object], sets: int) -> str:
    return _COUNTS_OF_ONE if len(asks) == sets else _COUNTS_OF_SEVERAL


def _words(one: _Set, some: Sequence[str]) -> Iterator[str]:
    for word in one.plus:
        yield f"+words:{encode_word(word)}"
    if some:
        yield _any("words", map(encode_word, some))
    for word in one.minus:
        yield f"-words:{encode_word(word)}"
    if one.span is not None:
        yield f"+span:[* TO {one.span}]"
    if not one.plus and not some:
        yield "*:*"


def _any(name: str, tokens: Iterable[str]) -> str:
    return f"+{name}:({' '.join(sorted(set(tokens)))})"


def _batches(items: Sequence[str], size: int) -> list[Sequence[str]]:
    return [items[start : start + size] for start in range(0, len(items), size)]


def _total_of_system(label: str) -> str:
    return (
        f"MATCH (t:{label}) WHERE ($workspace IS NULL OR t.workspace = $workspace) "
        "AND ($parts IS NULL OR t.part IN $parts) AND ($pools IS NULL OR t.pool IN $pools) RETURN count(t) AS total"
    )


def _sizes(found: Iterable[Sequence[int]], count: int, cap: int) -> Sequence[int]:
    sizes = {number: min(cap, size) for number, size in found}
    return [sizes.get(number, 0) for number in range(count)]


def whole_hits(rows: Iterable[Sequence[object]], words: Iterable[str]) -> list[TextHit]:
    """Return hits of rows of `_HIT`, without those that another transaction removed meanwhile."""
    tokens = {encode_word(word): word for word in words}
    return [_hit(row, tokens) for row in rows if None not in row]


def _hit(row: Sequence[object], tokens: Mapping[str, str]) -> TextHit:
    id, guard, item, part, pool, words, length, sort = row
    held = str(words).split()
    present = set(held) & tokens.keys()
    return TextHit(
        id=str(id),
        guard=NodeId(str(guard)),
        item=NodeId(str(item)),
        part=str(part),
        pool=NodeId(str(pool)),
        counts={tokens[token]: held.count(token) for token in present},
        length=int(str(length)),
        sort_at=decode_sort(str(sort)),
    )
