"""Evidence recall of the pure ranking functions, without a store: one knowledge base a conversation.

    python bench/retrieval_offline.py path/to/locomo-dev.json [--route-depth 50] [--rerank none]

The data are not part of the project and may not be copied into it; LoCoMo's licence is CC BY-NC 4.0. A turn counts
as found when its own id is among the first ten results. Categories: 1 multi-hop, 2 temporal, 3 open-domain,
4 single-hop, 5 adversarial (reported apart, not in the mean).
"""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import log2
from pathlib import Path
from typing import Any

from graph.model.time import Millis
from graph.rules.decay import DecaySettings, age_in_days, decay
from graph.rules.ranking import AVERAGE_WORDS, Bm25, ItemKind, TextKind, best_first, fuse, message_score
from graph.rules.rerank_graph import graph_scores
from graph.rules.rerank_surroundings import GraphCandidate
from graph.rules.strength import shares
from graph.text.times import names_time
from graph.text.tokens import DEFAULT_TOKENIZER
from graph.text.words import analyze, query_words

ROUTE = "message_keyword"
DEEPER = 2
"""As in `graph.services.search.candidates`."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message of a conversation."""

    id: str
    speaker: str
    text: str
    session: str
    said_at: datetime

    @property
    def indexed(self) -> str:
        """The text that is analysed; see ``graph.rules.message_words``."""
        return f"{self.speaker} {self.text}"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question with the ids of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


class Index:
    """The two keyword texts of every turn: alone, and with the neighbours before and after."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self.turns = turns
        self.by_id = {turn.id: place for place, turn in enumerate(turns)}
        self.times = {turn.id: turn.said_at for turn in turns}
        self.places_in_time = {turn.id: Millis(round(turn.said_at.timestamp() * 1_000)) for turn in turns}
        alone = [analyze(turn.indexed) for turn in turns]
        windows = [sum(alone[max(0, place - 1) : place + 2], ()) for place in range(len(turns))]
        self._texts = {TextKind.MESSAGE: alone, TextKind.MESSAGE_WINDOW: windows}
        self._frequency = {
            kind: Counter(word for text in texts for word in set(text)) for kind, texts in self._texts.items()
        }

    def scores(self, question: str) -> dict[str, float]:
        words = query_words(question)
        alone, window = (self._scores(kind, words) for kind in self._texts)
        return {
            turn.id: message_score(one, two)
            for turn, one, two in zip(self.turns, alone, window, strict=True)
            if one > 0 or two > 0
        }

    def candidate(self, id_: str, strength: float) -> GraphCandidate:
        place = self.by_id[id_]
        turn = self.turns[place]
        return GraphCandidate(
            id=id_,
            strength=strength,
            names=(turn.speaker,),
            first_day=turn.said_at.date(),
            group=turn.session,
            place=(self.places_in_time[id_], place),
            before=self.turns[place - 1].id if place else None,
            tokens=DEFAULT_TOKENIZER.count(turn.text),
            asks=turn.text.rstrip().endswith(("?", "？")),
            tells_time=names_time(turn.text),
            sources=frozenset([id_]),
        )

    def _scores(self, kind: TextKind, words: Sequence[str]) -> list[float]:
        scorer = Bm25(
            words=words,
            visible_texts=len(self.turns),
            document_frequency=self._frequency[kind],
            average_words=AVERAGE_WORDS[kind],
        )
        return [scorer.score_words(text) for text in self._texts[kind]]


def search(index: Index, question: str, *, depth: int, rerank: bool, now: datetime) -> list[str]:
    """Return the ids of the results, best first."""
    found = index.scores(question)
    ids = best_first(found, index.places_in_time)[: depth * DEEPER if rerank else depth]
    if rerank:
        strengths = shares(found)
        scores = graph_scores(question, [index.candidate(id_, strengths[id_]) for id_ in ids], today=now.date())
    else:
        scores = [one.score for one in fuse({ROUTE: ids}).values()]
    settings = DecaySettings()
    aged = {
        id_: score * decay(ItemKind.MESSAGE, age_in_days(index.times[id_], now), settings)
        for id_, score in zip(ids, scores, strict=True)
    }
    return best_first(aged, index.places_in_time)


def recall_and_ndcg(ranked: Sequence[str], evidence: frozenset[str], k: int = 10) -> tuple[float, float]:
    """Return recall@k and nDCG@k with binary relevance."""
    places = [place for place, id_ in enumerate(ranked[:k]) if id_ in evidence]
    gain = sum(1 / log2(place + 2) for place in places)
    best = sum(1 / log2(place + 2) for place in range(min(k, len(evidence))))
    return len(places) / len(evidence), gain / best


def read(path: Path) -> Iterator[tuple[list[Turn], list[Question]]]:
    """Yield the turns and the questions of each conversation of a file in LoCoMo's form."""
    for sample in json.loads(path.read_text(encoding="utf-8")):
        turns = list(_turns(sample["conversation"]))
        known = {turn.id for turn in turns}
        questions = [
            Question(text=qa["question"], category=qa["category"], evidence=frozenset(qa["evidence"]) & known)
            for qa in sample["qa"]
        ]
        yield turns, [question for question in questions if question.evidence]


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(key.split("_")[1]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in numbers:
        said_at = _time(conversation[f"session_{number}_date_time"])
        for place, turn in enumerate(conversation[f"session_{number}"]):
            yield Turn(
                id=turn["dia_id"],
                speaker=turn["speaker"],
                text=turn["text"],
                session=str(number),
                said_at=said_at + timedelta(seconds=place),
            )


def _time(text: str) -> datetime:
    chinese = re.fullmatch(r"(\d+)年(\d+)月(\d+)日", text)
    if chinese:
        year, month, day = map(int, chinese.groups())
        return datetime(year, month, day, tzinfo=UTC)
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def main() -> None:
    """Print recall@10 and nDCG@10 by category, and the time of a search."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--route-depth", type=int, default=50)
    parser.add_argument("--rerank", choices=["graph", "none"], default="graph")
    arguments = parser.parse_args()
    results: dict[int, list[tuple[float, float]]] = {}
    spent = 0.0
    for turns, questions in read(arguments.data):
        index = Index(turns)
        now = turns[-1].said_at + timedelta(days=1)
        for question in questions:
            started = time.perf_counter()
            depth, rerank = arguments.route_depth, arguments.rerank == "graph"
            ranked = search(index, question.text, depth=depth, rerank=rerank, now=now)
            spent += time.perf_counter() - started
            results.setdefault(question.category, []).append(recall_and_ndcg(ranked, question.evidence))
    _report(results, spent)


def _report(results: Mapping[int, Sequence[tuple[float, float]]], spent_s: float) -> None:
    counted = [result for category, found in results.items() if category != 5 for result in found]
    rows = [(f"category {category}", found) for category, found in sorted(results.items())]
    for name, found in [("categories 1-4", counted), *rows]:
        recall, ndcg = (sum(values) / len(found) for values in zip(*found, strict=True))
        print(f"{name:<15} questions {len(found):>4}   R@10 {recall:.3f}   nDCG@10 {ndcg:.3f}")
    print(f"{1000 * spent_s / sum(map(len, results.values())):.1f} ms a search, scoring every turn in Python")


if __name__ == "__main__":
    main()
