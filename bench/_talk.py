"""Made-up talk: sentences whose words are as common and as rare as in real text, the same on every run."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import accumulate

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.ingest import IncomingMessage

START = Millis(1_746_867_600_000)
MINUTE_MS = 60_000
_SYLLABLES = ("ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "zu")
_VOCABULARY = 20_000


def _word(number: int) -> str:
    syllables = []
    while number or not syllables:
        number, digit = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[digit])
    return "".join(syllables) + "n"


WORDS = [_word(number + 15) for number in range(_VOCABULARY)]
"""Commonest first; the n-th is used in proportion to 1 / (n + 10)."""
_WEIGHTS = list(accumulate(1 / (number + 10) for number in range(_VOCABULARY)))


class Talk:
    """An endless talk of one or more speakers, a message a minute."""

    def __init__(
        self, *, speakers: tuple[NodeId, ...] = (), seed: int = 7, words: int = 25, at: Millis = START
    ) -> None:
        self._random = random.Random(seed)
        self._speakers = speakers
        self._seed = seed
        self._words = words
        self._told = 0
        self._at = at

    def sentence(self, words: int | None = None) -> str:
        """Return so many words, the common ones often."""
        return " ".join(self._random.choices(WORDS, cum_weights=_WEIGHTS, k=words or self._words))

    def message(self) -> IncomingMessage:
        """Return the next message."""
        self._told += 1
        speaker = self._speakers[self._told % len(self._speakers)] if self._speakers else None
        return IncomingMessage(
            external_id=f"{self._seed}-{self._told}",
            sent_at=Millis(self._at + self._told * MINUTE_MS),
            text=self.sentence(),
            speaker_id=speaker,
            speaker="" if speaker else "Somebody",
        )

    def batches(self, count: int, size: int) -> Iterator[list[IncomingMessage]]:
        """Yield `count` messages in lists of `size`."""
        for done in range(0, count, size):
            yield [self.message() for _ in range(min(size, count - done))]


def times(count: int, make: Callable[[], str]) -> list[str]:
    """Return so many made-up texts."""
    return [make() for _ in range(count)]
