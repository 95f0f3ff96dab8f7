"""The built-in reranker ``graph``: better order from what the graph knows anyway, without a model.

A candidate gains when its surroundings were found too, when it follows a question that was found, and when the question
names its people or its time. Of the candidates' texts it knows how much they say, whether they ask, and whether they
name a time. Nothing counts but candidates, which the viewer sees: between two of them may lie messages that he does
not, so that neighbours are counted in found messages. Source: RE-17, ADR 0051.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

import regex

from graph.rules.rerank_surroundings import (
    GraphCandidate,
    entry_strength,
    group_strength,
    near_strength,
    shared_strength,
)
from graph.rules.strength import shares
from graph.text.dates import DateMention, dates_in
from graph.text.function_words import LATIN
from graph.text.times import asks_for_time
from graph.text.words import fold


@dataclass(frozen=True, kw_only=True)
class GraphWeights:
    """The constants of the reranker: few, round and chosen by hand on development data.

    The base of a candidate comes from its strength, 1 for the best; `answer` adds to it, the others multiply: by
    1 + the constant where the feature is full, or for `brief` and `asking` by 1 - the constant.

    | constant | value | reason |
    |---|---|---|
    | ``answer`` | 0.4 | what follows a hit that asks is its answer, which seldom repeats the question's words |
    | ``named`` | 1 | who speaks is half of what a question about a person asks |
    | ``dated`` | 4 | a date is more telling than a name: few things were said then |
    | ``dated_half_days`` | 2 | who names a day means it, or tells of it in the days after |
    | ``told_time`` | 1 | who asks when something was is answered by what names a time |
    | ``group`` | 0.5 | a conversation hit several times is about the matter, but may be so elsewhere |
    | ``group_hits`` | 3 | three hits make a topic; counting all would prefer long conversations |
    | ``near`` | 0.5 | as much again for the place in it where the hits are |
    | ``near_share`` | 0.7 | what was found further away lends less: two steps half as much |
    | ``shared_entry`` | 0.2 | what a found entry rests on is evidence |
    | ``brief`` | 0.5 | of a few words no more than half can be the answer: thanks, greetings, assent |
    | ``brief_tokens`` | 40 | two or three sentences; more says no more about who is right |
    | ``asking`` | 0.1 | who asks does not answer, but may tell on the way |
    """

    answer: float = 0.4
    named: float = 1.0
    dated: float = 4.0
    dated_half_days: float = 2.0
    told_time: float = 1.0
    group: float = 0.5
    group_hits: int = 3
    near: float = 0.5
    near_share: float = 0.7
    shared_entry: float = 0.2
    brief: float = 0.5
    brief_tokens: int = 40
    asking: float = 0.1

    @property
    def most(self) -> float:
        """The highest possible product, so that scores can be brought to [0, 1]."""
        return (
            (1.0 + self.answer)
            * (1.0 + self.named)
            * (1.0 + self.dated)
            * (1.0 + self.told_time)
            * (1.0 + self.group)
            * (1.0 + self.near)
            * (1.0 + self.shared_entry)
        )


DEFAULT_WEIGHTS: Final = GraphWeights()

_BEHIND: Final = 0.9
"""Share of the way up to the hit before it that a follower may gain."""


def graph_scores(
    question: str,
    candidates: Sequence[GraphCandidate],
    *,
    today: date | None = None,
    weights: GraphWeights = DEFAULT_WEIGHTS,
) -> list[float]:
    """Return one score in [0, 1] for each candidate, in their order.

    Args:
        question: the query as typed.
        candidates: all that were found, since they are each other's surroundings.
        today: for ``last week`` and the like; None leaves such words out.
        weights: the table of constants.

    >>> alone, named = (GraphCandidate(id=id_, strength=1.0, names=(id_,)) for id_ in ("Bo", "Ana"))
    >>> scores = graph_scores("What did Ana say?", [alone, named])
    >>> scores[1] > scores[0]
    True
    """
    bases = shares({candidate.id: candidate.strength for candidate in candidates})
    found = _Found(
        weights=weights,
        bases=bases,
        asking={candidate.id for candidate in candidates if candidate.asks},
        groups=group_strength(candidates, bases, weights.group_hits),
        near=near_strength(candidates, bases, weights.near_share),
        entries=entry_strength(candidates, bases),
        question=_Question(question, today),
    )
    lifts = {candidate.id: (found.added(candidate), found.factor(candidate)) for candidate in candidates}
    scores = []
    for candidate in candidates:
        added, factor = _lift(candidate, lifts)
        scores.append((bases[candidate.id] + added) * factor / weights.most)
    return scores


def _lift(candidate: GraphCandidate, lifts: Mapping[str, tuple[float, float]]) -> tuple[float, float]:
    """Return what a candidate gains: an entry at least as much as any found message it rests on.

    What speaks for a message speaks for what is believed because of it, so that the present understanding never
    comes behind the utterance it was made of (KN-1).
    """
    own = lifts[candidate.id]
    if not candidate.is_entry:
        return own
    all_ = [own, *(lifts[source] for source in candidate.sources if source in lifts)]
    return max(added for added, _ in all_), max(factor for _, factor in all_)


@dataclass(frozen=True, kw_only=True)
class _Found:
    """All that was found, as the surroundings of each candidate."""

    weights: GraphWeights
    bases: Mapping[str, float]
    asking: set[str]
    groups: Mapping[str | None, float]
    near: Mapping[str, float]
    entries: Mapping[str, Sequence[tuple[float, str]]]
    question: "_Question"

    def added(self, candidate: GraphCandidate) -> float:
        """Return what a message gains from a hit directly before it that asks; never enough to pass it by this alone.

        Any other neighbour counts through the text that the two have together, where it was found.
        """
        if candidate.before is None or candidate.before not in self.asking:
            return 0.0
        before = self.bases[candidate.before]
        return max(0.0, min(self.weights.answer * before, _BEHIND * (before - self.bases[candidate.id])))

    def factor(self, candidate: GraphCandidate) -> float:
        """Return by how much people, time, surroundings and what it says raise or lower a candidate."""
        weights = self.weights
        group = self.groups[candidate.group] if candidate.group is not None else 0.0
        raised = (
            (1.0 + weights.named * self.question.names_any(candidate.names))
            * (1.0 + weights.dated * self.question.date_nearness(candidate, weights.dated_half_days))
            * (1.0 + weights.told_time * (candidate.tells_time and self.question.asks_for_time))
            * (1.0 + weights.group * group)
            * (1.0 + weights.near * self.near.get(candidate.id, 0.0))
            * (1.0 + weights.shared_entry * shared_strength(candidate, self.entries))
        )
        return raised * self._substance(candidate) * (1.0 - weights.asking * candidate.asks)

    def _substance(self, candidate: GraphCandidate) -> float:
        if candidate.tokens is None:
            return 1.0
        brief = self.weights.brief
        return 1.0 - brief + brief * min(1.0, candidate.tokens / self.weights.brief_tokens)


class _Question:
    """What a question names: people by words, times by dates."""

    def __init__(self, text: str, today: date | None) -> None:
        self._text = fold(text)
        self._words = frozenset(_words(self._text))
        self._dates = dates_in(text, today=today)
        self._known: dict[tuple[str, ...], bool] = {}
        self.asks_for_time = asks_for_time(text)

    def names_any(self, names: tuple[str, ...]) -> bool:
        """True if the question names one of them; few people say most of what is found, so answers are kept."""
        known = self._known.get(names)
        if known is None:
            known = self._known[names] = any(self._names(fold(name)) for name in names)
        return known

    def date_nearness(self, candidate: GraphCandidate, half_days: float) -> float:
        if candidate.first_day is None or not self._dates:
            return 0.0
        last = candidate.last_day or candidate.first_day
        days = min(_days_between(mention, candidate.first_day, last) for mention in self._dates)
        nearness: float = 2.0 ** (-days / half_days)
        return nearness

    def _names(self, name: str) -> bool:
        if _UNSPACED.search(name):
            return len(name) > 1 and name in self._text
        return any(len(word) > 2 and word not in _NO_NAMES and word in self._words for word in _words(name))


_UNSPACED: Final = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]")
_WORD: Final = regex.compile(r"[\p{L}\p{N}\p{M}]+")
_NO_NAMES: Final = LATIN["en"] | {"mrs", "miss", "prof", "bot", "agent", "assistant", "user"}


def _words(folded: str) -> list[str]:
    return _WORD.findall(folded)


def _days_between(mention: DateMention, first: date, last: date) -> int:
    if not mention.every_year:
        return max((first - mention.last).days, (mention.first - last).days, 0)
    if last - first >= timedelta(days=366):
        return 0
    return min(mention.days_from(first), mention.days_from(last))
