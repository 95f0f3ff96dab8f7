"""Finding all near pairs among many name keys without comparing each with each. Exact and pure.

Two keys are near if 1 − Levenshtein ÷ longer length reaches the wanted similarity, so the longer one's length says how
many edits are allowed. With one edit, two near keys share a key with at most one character left out. With more, one
of d + 1 pieces of the shorter key stands unchanged in the longer one, near its own place. What shares nothing is never
compared. Where pieces would be too short to tell anything, all keys of fitting lengths are compared.

Source: CO-73; Li, Deng, Wang, Feng 2011, Pass-Join; for one edit Mor and Fraenkel 1982.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from graph.text.similarity import can_be_near

ROUNDING: Final = 1e-6
"""RapidFuzz loses a hit at exactly the limit to rounding; real steps are far larger."""

_MIN_PIECE: Final = 2

_ByLength = dict[int, list[str]]


def near_keys(keys: Iterable[str], similarity: float) -> Iterator[tuple[str, str]]:
    """Yield each pair of different keys that are near, once, in no particular order.

    Args:
        keys: different from one another; those too short to tell (`can_be_near`) are near to none.
        similarity: 0 to 1.

    >>> sorted(near_keys(["heliogmbh", "heliogmbhx", "orion"], 0.85))
    [('heliogmbh', 'heliogmbhx')]
    """
    by_length: _ByLength = defaultdict(list)
    for key in dict.fromkeys(keys):
        if can_be_near(key):
            by_length[len(key)].append(key)
    once = {length for length in by_length if _edits(length, similarity) == 1}
    yield from _one_edit(by_length, once)
    for length in sorted(by_length.keys() - once):
        edits = _edits(length, similarity)
        for shorter in range(max(1, length - edits), length + 1) if edits else ():
            if shorter in by_length:
                yield from _several_edits(by_length[shorter], by_length[length], edits)


def _edits(longer: int, similarity: float) -> int:
    """Return how many edits a pair may differ by whose longer key has this length."""
    return int((1.0 - similarity + ROUNDING) * longer)


def _one_edit(by_length: _ByLength, longer: set[int]) -> Iterator[tuple[str, str]]:
    lengths = sorted(longer | {length - 1 for length in longer} & by_length.keys())
    by_rest: dict[str, list[str]] = defaultdict(list)
    for length in lengths:
        for key in by_length[length]:
            for rest in {key, *(key[:at] + key[at + 1 :] for at in range(length))}:
                by_rest[rest].append(key)
    seen: set[tuple[str, str]] = set()
    for group in by_rest.values():
        for place, key in enumerate(group):
            for other in group[place + 1 :]:
                pair = (key, other) if key < other else (other, key)
                if max(len(key), len(other)) in longer and pair not in seen:
                    seen.add(pair)
                    if Levenshtein.distance(key, other, score_cutoff=1) == 1:
                        yield pair


def _several_edits(shorter: Sequence[str], longer: Sequence[str], edits: int) -> Iterator[tuple[str, str]]:
    """Yield the pairs of one key of each list with at most so many edits; of one and the same list each pair once."""
    same = shorter is longer
    pieces = _pieces(len(shorter[0]), edits)
    if min(length for _, length in pieces) < _MIN_PIECE:
        yield from _all(shorter, longer, edits)
        return
    index: dict[tuple[int, str], list[int]] = defaultdict(list)
    for number, key in enumerate(shorter):
        for place, (start, length) in enumerate(pieces):
            index[place, key[start : start + length]].append(number)
    for number, key in enumerate(longer):
        found = _sharing(index, key, pieces, edits)
        candidates = [shorter[other] for other in sorted(found) if not same or other < number]
        yield from ((other, key) for other in _within(key, candidates, edits))


def _pieces(length: int, edits: int) -> list[tuple[int, int]]:
    """Return start and length of d + 1 pieces of a key, as equal as can be."""
    count = edits + 1
    short, rest = divmod(length, count)
    lengths = [short + (place >= count - rest) for place in range(count)]
    return [(sum(lengths[:place]), lengths[place]) for place in range(count)]


def _sharing(
    index: dict[tuple[int, str], list[int]], key: str, pieces: Sequence[tuple[int, int]], edits: int
) -> set[int]:
    found: set[int] = set()
    for place, (start, length) in enumerate(pieces):
        for at in range(max(0, start - edits), min(len(key) - length, start + edits) + 1):
            found.update(index.get((place, key[at : at + length]), ()))
    return found


def _all(shorter: Sequence[str], longer: Sequence[str], edits: int) -> Iterator[tuple[str, str]]:
    same = shorter is longer
    for number, key in enumerate(longer):
        yield from ((other, key) for other in _within(key, shorter[:number] if same else shorter, edits))


def _within(key: str, others: Sequence[str], edits: int) -> list[str]:
    found = process.extract(key, others, scorer=Levenshtein.distance, processor=None, score_cutoff=edits, limit=None)
    return [other for other, _, _ in found]
