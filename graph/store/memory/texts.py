"""Keyword matches and nearest vectors by looking at everything. Source: RE-9."""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from graph.model.access import Scope
from graph.model.fields import Node
from graph.store.memory.conditions import fits
from graph.store.memory.sight import Sight
from graph.store.memory.tables import Tables
from graph.store.query import Match, Matches, Neighbour, TextHit, TextRow, Where

_FLOAT_BYTES = 4


def match(tables: Tables, scope: Scope, question: Match) -> Matches:
    """Return hits, document frequencies and the number of visible texts."""
    words = frozenset(question.words)
    sight = Sight(tables, scope)
    found: list[TextHit] = []
    total = 0
    for text in _asked(tables.texts.values(), question):
        weight = sight.clauses_of(text.guard)
        total += weight
        if weight and not words.isdisjoint(text.words):
            found.append(_hit(text, words))
    df = {word: min(question.df_limit, sum(word in hit.counts for hit in found)) for word in words}
    return Matches(hits=tuple(_chosen(found, df, question.limit)), df=df, total=max(total, max(df.values(), default=0)))


def _asked(texts: Iterable[TextRow], question: Match) -> Iterator[TextRow]:
    for text in texts:
        if (
            text.index == question.index
            and (question.parts is None or text.part in question.parts)
            and (question.pools is None or text.pool in question.pools)
        ):
            yield text


def _hit(text: TextRow, words: frozenset[str]) -> TextHit:
    return TextHit(
        id=text.id,
        guard=text.guard,
        item=text.item,
        part=text.part,
        pool=text.pool,
        counts=dict(Counter(word for word in text.words if word in words)),
        length=len(text.words),
        sort_at=text.sort_at,
    )


def _chosen(found: Sequence[TextHit], df: dict[str, int], limit: int) -> Sequence[TextHit]:
    rarest_first = sorted(df, key=lambda word: (df[word], word))

    def preference(hit: TextHit) -> tuple[tuple[bool, ...], int, str]:
        return tuple(word not in hit.counts for word in rarest_first), -hit.sort_at, hit.id

    return sorted(found, key=preference)[:limit]


def nearest(
    tables: Tables,
    scope: Scope,
    kind: type[Node],
    vector: Sequence[float],
    *,
    model: str,
    limit: int,
    where: Where | None = None,
) -> Sequence[Neighbour]:
    """Return the nearest visible nodes of `kind` by cosine; vectors of another size or of length 0 are left out."""
    sight = Sight(tables, scope)
    neighbours = [
        Neighbour(id=node.id, similarity=similarity)
        for node in tables.of_kind(kind).values()
        if getattr(node, "embedding_model", None) == model
        and fits(tables, node, where)
        and sight.sees(node)
        and (similarity := _cosine(vector, getattr(node, "embedding", None))) is not None
    ]
    return sorted(neighbours, key=lambda found: (-found.similarity, found.id))[:limit]


def _cosine(asked: Sequence[float], stored: bytes | None) -> float | None:
    if stored is None or len(stored) != _FLOAT_BYTES * len(asked):
        return None
    values = struct.unpack(f"<{len(asked)}f", stored)
    lengths = math.hypot(*asked) * math.hypot(*values)
    if not lengths:
        return None
    return max(-1.0, min(1.0, math.fsum(a * b for a, b in zip(asked, values, strict=True)) / lengths))
