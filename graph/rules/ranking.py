"""Scores and orders of search candidates: BM25, reciprocal rank fusion and the order of equals.

Everything here works on counts of what the viewer may see, so that hidden text has no part in a rank.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import log
from typing import Final

from graph.model.time import Millis

K1: Final = 1.2
B: Final = 0.75
"""The customary constants of BM25, fixed by RE-9."""


class ItemKind(StrEnum):
    """What a result is; the order of the members is the order of equal scores (RE-19)."""

    ENTRY = "entry"
    EPISODE = "episode"
    MESSAGE = "message"


class TextKind(StrEnum):
    """The separately indexed texts."""

    NAME = "name"
    ALIAS = "alias"
    SUMMARY = "summary"
    BLOCK = "block"
    MESSAGE = "message"
    MESSAGE_WINDOW = "message_window"


AVERAGE_WORDS: Final[Mapping[TextKind, float]] = {
    TextKind.NAME: 3.0,
    TextKind.ALIAS: 2.0,
    TextKind.SUMMARY: 40.0,
    TextKind.BLOCK: 40.0,
    TextKind.MESSAGE: 50.0,
    TextKind.MESSAGE_WINDOW: 150.0,
}
"""Constant lengths in index words, so that a score never depends on texts that the viewer cannot see: a name of a
few words, a block or summary of a short paragraph, a chat message of a few sentences (longer than most, because
brevity alone says little in a chat, and CJK text gives two words a character), three messages in a window."""

ENTRY_WEIGHTS: Final[Mapping[TextKind, float]] = {
    TextKind.NAME: 4.0,
    TextKind.ALIAS: 3.0,
    TextKind.SUMMARY: 2.0,
    TextKind.BLOCK: 1.0,
}
"""Fixed by RE-9."""

WINDOW_OF_WORDS: Final = 1.0
"""How the words of a message with its neighbours count beside those of the message alone. What a chat message is about
is said next door as often as in itself; the window includes the message, so that one which holds the word stays before
its neighbour."""
WINDOW_OF_MEANING: Final = 2.0
"""The same for vectors: the few words of a message alone often have hardly any meaning."""


class Bm25:
    """BM25 of texts of one kind for one query.

    The inverse document frequency is ``ln(1 + (N − df + 0.5) / (df + 0.5))``, which is never negative.

    >>> scorer = Bm25(words=("dog", "run"), visible_texts=100, document_frequency={"dog": 2}, average_words=25)
    >>> scorer.score({"dog": 1}, length=25) > scorer.score({"dog": 1}, length=50) > 0
    True
    """

    def __init__(
        self,
        *,
        words: Iterable[str],
        visible_texts: int,
        document_frequency: Mapping[str, int],
        average_words: float,
        k1: float = K1,
        b: float = B,
    ) -> None:
        """Weigh the words of a query.

        Args:
            words: the different words of the query.
            visible_texts: how many texts of the kind the viewer may see; at least the largest frequency is used.
            document_frequency: visible texts that hold a word, counted to 10,000; a missing word counts 0.
            average_words: the constant length of a text of this kind.
            k1: how slowly repetition saturates.
            b: how much length counts, 0 to 1.
        """
        self._k1 = k1
        self._base = k1 * (1.0 - b)
        self._per_word = k1 * b / average_words
        self._weights = {
            word: _inverse_frequency(visible_texts, document_frequency.get(word, 0)) * (k1 + 1.0) for word in words
        }

    def score(self, counts: Mapping[str, int], *, length: int) -> float:
        """Return the score of a text from its counts of the query's words and its length in index words."""
        norm = self._base + self._per_word * length
        total = 0.0
        for word, count in counts.items():
            weight = self._weights.get(word)
            if weight is not None:
                total += weight * count / (count + norm)
        return total

    def score_words(self, text_words: Sequence[str]) -> float:
        """Return the score of a text given as all its index words."""
        counts: dict[str, int] = {}
        weights = self._weights
        for word in text_words:
            if word in weights:
                counts[word] = counts.get(word, 0) + 1
        return self.score(counts, length=len(text_words))


def _inverse_frequency(visible_texts: int, frequency: int) -> float:
    texts = max(visible_texts, frequency)
    return log(1.0 + (texts - frequency + 0.5) / (frequency + 0.5))


def message_score(alone: float, window: float) -> float:
    """Return a message's score from its text alone and its text with the neighbours before and after.

    Both texts belong to one message and give it one rank in the route ``message_keyword``: the scores are added. Each
    is BM25 over its own kind of text, with its own average length.

    >>> message_score(1.0, 0.5)
    1.5
    """
    return alone + WINDOW_OF_WORDS * window


def message_similarities(alone: Mapping[str, float], window: Mapping[str, float]) -> dict[str, float]:
    """Return one similarity for each message from the cosines of its text alone and of its text with the neighbours.

    It is their mean, the window at double weight. A message that is among the nearest in one way only counts in the
    other as the least of those that are: it is no nearer than that.

    Args:
        alone: cosines of the nearest messages by their own text.
        window: cosines of the nearest messages by their text with neighbours.

    >>> round(message_similarities({"a": 0.9, "b": 0.6}, {"a": 0.75, "c": 0.6})["c"], 3)
    0.6
    """
    least_alone, least_window = min(alone.values(), default=0.0), min(window.values(), default=0.0)
    weights = 1.0 + WINDOW_OF_MEANING
    return {
        id_: (alone.get(id_, least_alone) + WINDOW_OF_MEANING * window.get(id_, least_window)) / weights
        for id_ in alone.keys() | window.keys()
    }


def entry_score(texts: Iterable[tuple[TextKind, float]]) -> float:
    """Return the weighted sum over the visible texts of an entry (name 4, alias 3, summary 2, block 1). Source: RE-9.

    >>> entry_score([(TextKind.NAME, 1.0), (TextKind.BLOCK, 0.5)])
    4.5
    """
    return sum(ENTRY_WEIGHTS[kind] * score for kind, score in texts)


@dataclass(frozen=True, kw_only=True)
class Match:
    """A text that holds at least one of the query's words."""

    id: str
    words: frozenset[str]
    time: datetime


def choose_matches(matches: Iterable[Match], *, frequency: Mapping[str, int], limit: int) -> list[Match]:
    """Return at most ``limit`` matches, chosen by sets of words alone.

    The words go from rarest to commonest, ties in byte order; a text with the rarer word comes before one without,
    then the next word decides. Equal ones: newest first, then by id. Source: RE-9.
    """
    rarest_first = sorted(frequency, key=lambda word: (frequency[word], word))

    def preference(match: Match) -> tuple[tuple[bool, ...], float, str]:
        return tuple(word not in match.words for word in rarest_first), -match.time.timestamp(), match.id

    return sorted(matches, key=preference)[:limit]


def best_first(scores: Mapping[str, float], times: Mapping[str, Millis]) -> list[str]:
    """Return the ids by falling score; equal ones newer first, then in byte order.

    >>> best_first({"b": 1.0, "a": 1.0, "c": 2.0}, dict.fromkeys("abc", Millis(0)))
    ['c', 'a', 'b']
    """
    return sorted(scores, key=lambda id_: (-scores[id_], -times[id_], id_))


def owners_best_first(hits: Iterable[str], owner_of: Mapping[str, str]) -> list[str]:
    """Return the owners of hits, each at its best rank, with dense ranks again. Source: RE-8.

    >>> owners_best_first(["b1", "b2", "b3"], {"b1": "e1", "b2": "e1", "b3": "e2"})
    ['e1', 'e2']
    """
    return list(dict.fromkeys(owner_of[hit] for hit in hits))


@dataclass(frozen=True, kw_only=True)
class Fused:
    """A candidate's fused score and its rank, from 1, in each route that found it."""

    score: float
    ranks: Mapping[str, int]


def fuse(rankings: Mapping[str, Sequence[str]], *, k: float = 10.0) -> dict[str, Fused]:
    """Merge the rankings of the routes into one score for each id: the sum of ``1 / (k + rank)``.

    Args:
        rankings: ids by route, best first, each at most once in a route; every route has the same weight.
        k: ``search.rrf_k``; larger values flatten the top.

    Source: RE-13; Cormack, Clarke, Büttcher 2009.

    >>> {id_: round(fused.score, 4) for id_, fused in fuse({"r1": ["a", "b"], "r2": ["b"]}, k=60).items()}
    {'a': 0.0164, 'b': 0.0325}
    """
    ranks: dict[str, dict[str, int]] = {}
    for route, ids in rankings.items():
        for rank, id_ in enumerate(ids, start=1):
            ranks.setdefault(id_, {})[route] = rank
    return {
        id_: Fused(score=sum(1.0 / (k + rank) for rank in found.values()), ranks=found) for id_, found in ranks.items()
    }


_KIND_ORDER: Final = {kind: place for place, kind in enumerate(ItemKind)}


def order_key(score: float, kind: ItemKind, time: datetime, id_: str) -> tuple[float, int, float, str]:
    """Return the sort key of a result: higher score, then entry before episode before message, newer, id. RE-19."""
    return -score, _KIND_ORDER[kind], -time.timestamp(), id_


def visible_frequency(texts: Iterable[Collection[str]], words: Iterable[str], *, cap: int = 10_000) -> dict[str, int]:
    """Return in how many of the texts each word stands, counted to ``cap``; for callers without an index."""
    counts = dict.fromkeys(words, 0)
    for text in texts:
        for word in counts.keys() & text:
            counts[word] = min(cap, counts[word] + 1)
    return counts
