"""Names of entries: when two are the same, when two are suspiciously alike, and when one carries a date."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

import regex

from graph.rules.near_keys import ROUNDING, near_keys
from graph.text.similarity import key_similarity, name_key

NEAR_SIMILARITY: Final = 0.85
"""Default of ``lint.similarity`` and the fixed limit of DR-65."""

EVENT_TYPE: Final = "event"


def normalised_name(name: str) -> str:
    """Return the form in which live names of one knowledge base are unique: NFKC, casefold, single spaces.

    Source: KN-18.

    >>> normalised_name("  Ångström   LABS ")
    'ångström labs'
    """
    folded = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def is_same_name(name: str, other: str) -> bool:
    """Return whether two names differ in case, spaces, punctuation and signs alone.

    Such a pair may become one entity without asking anybody; a digit or letter of difference never may.

    >>> is_same_name("Wren", "Wren 🕯️"), is_same_name("Room 101", "Room 102")
    (True, False)
    """
    return name_key(name) == name_key(other)


def is_near_name(name: str, others: Iterable[str], *, similarity: float = NEAR_SIMILARITY) -> bool:
    """Return whether a name is equal or near to one of the others. Sources: CO-73, DR-65."""
    key = name_key(name)
    return any(_reaches(key, name_key(other), similarity) for other in others)


@dataclass(frozen=True, kw_only=True)
class NamedEntry:
    """An entry with its name and aliases."""

    id: str
    names: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, order=True)
class NearPair:
    """Two entries with near names, the smaller id first."""

    first: str
    second: str


def near_pairs(
    entries: Sequence[NamedEntry],
    *,
    similarity: float = NEAR_SIMILARITY,
    distinct: Collection[NearPair] = frozenset(),
) -> list[NearPair]:
    """Return the pairs of entries whose names or aliases are near, each once, in order of ids.

    Args:
        entries: of one knowledge base.
        similarity: ``lint.similarity``, 0 to 1.
        distinct: pairs that a human marked as different, smaller id first.

    Source: CO-73.

    >>> near_pairs([NamedEntry(id="a", names=("Helio GmbH",)), NamedEntry(id="b", names=("Helio Gmbh.", "HLO"))])
    [NearPair(first='a', second='b')]
    """
    owners: dict[str, set[str]] = {}
    for entry in entries:
        for name in entry.names:
            owners.setdefault(name_key(name), set()).add(entry.id)
    found = {pair for ids in owners.values() if len(ids) > 1 for pair in _pairs(ids, ids)}
    for key, other in near_keys(owners, similarity):
        found.update(_pairs(owners[key], owners[other]))
    return sorted(found.difference(distinct))


def is_dated_name(name: str, *, entry_type: str | None = None) -> bool:
    """Return whether a name contains a date or a day word, as a page about a stable topic should not.

    A bare year is no date, and entries of type ``event`` may be dated. Sources: CO-72, DR-51.

    >>> is_dated_name("Standup 2025-05-10"), is_dated_name("Plan 2025"), is_dated_name("Q3 2024 report")
    (True, False, True)
    >>> is_dated_name("Offsite 2025-06-01", entry_type="event")
    False
    """
    if entry_type == EVENT_TYPE:
        return False
    text = unicodedata.normalize("NFKC", name)
    return _DAY_WORD.search(text) is not None or (_DIGIT.search(text) is not None and _has_date(text))


def _has_date(text: str) -> bool:
    return _DATED.search(text) is not None or any(map(_is_day, _EIGHT_DIGITS.findall(text)))


_MONTHS: Final = (
    "january|february|march|april|may|june|july|august|september|october|november|december"
    "|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec"
)
_YEAR: Final = "(?<![0-9])[12][0-9]{3}(?![0-9])"
_EIGHT_DIGITS: Final = regex.compile(r"(?<![0-9])[0-9]{8}(?![0-9])")
_MONTH_NUMBER: Final = "(?:0[1-9]|1[0-2])"
_DATED: Final = regex.compile(
    "|".join(
        (
            rf"(?<![0-9])[12][0-9]{{3}}[-/.]{_MONTH_NUMBER}(?![0-9])",
            r"(?<![0-9])[12][0-9]{3}[-/.](?:0?[1-9]|1[0-2])[-/.](?:0?[1-9]|[12][0-9]|3[01])(?![0-9])",
            r"(?<![0-9])[12][0-9]{3}\s*年\s*(?:0?[1-9]|1[0-2])\s*月",
            r"(?<![0-9])[12][0-9]{3}-?W(?:0[1-9]|[1-4][0-9]|5[0-3])(?![0-9])",
            rf"(?<![\p{{L}}\p{{N}}])Q[1-4][\s\-/]*{_YEAR}",
            rf"{_YEAR}[\s\-/]*Q[1-4](?![\p{{L}}\p{{N}}])",
            rf"(?<!\p{{L}})(?:{_MONTHS})\b\.?[\s,\-/]*(?:[0-9]{{1,2}}(?:st|nd|rd|th)?[\s,]+)?(?:of\s+)?{_YEAR}",
            rf"{_YEAR}[\s,\-/]*(?:{_MONTHS})(?!\p{{L}})",
        )
    ),
    regex.IGNORECASE | regex.VERSION1,
)
"""Every one of them has a digit; most names have none, and looking for a digit is a hundred times as fast."""
_DIGIT: Final = regex.compile("[0-9]")
_DAY_WORD: Final = regex.compile(
    r"\b(?:today|yesterday|tomorrow|this\s+week|last\s+week)\b|今天|昨天|明天|本周|上周",
    regex.IGNORECASE | regex.VERSION1,
)


def _is_day(digits: str) -> bool:
    year = int(digits[:4])
    try:
        date(year, int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return 1900 <= year <= 2099


def _reaches(key: str, other: str, similarity: float) -> bool:
    return key_similarity(key, other) >= similarity - ROUNDING


def _pairs(ids: Iterable[str], others: Collection[str]) -> Iterator[NearPair]:
    for one in ids:
        for other in others:
            if one != other:
                yield NearPair(first=min(one, other), second=max(one, other))
