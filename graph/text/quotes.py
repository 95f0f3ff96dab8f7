"""Verbatim quotes: whether a citation's words stand in its source, and where.

Offsets count code points of the source's normalised text, which ``normalise_source`` returns.
"""

import unicodedata
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

MIN_QUOTE_CHARACTERS: Final = 4
MAX_QUOTE_CHARACTERS: Final = 500


class QuoteRefusalReason(StrEnum):
    """Why a quote is not accepted; each ends in ``QUOTE_NOT_VERBATIM``."""

    TOO_SHORT = "too_short"
    TOO_LONG = "too_long"
    NOT_IN_SOURCE = "not_in_source"


@dataclass(frozen=True, kw_only=True)
class Quote:
    """Words that stand in a source: ``normalise_source(source)[start:end] == text``."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class QuoteRefusal:
    """A quote that is not accepted, with nothing of its content."""

    reason: QuoteRefusalReason


def normalise_source(text: str) -> str:
    r"""Return the form in which quotes are compared: NFC, with CRLF as LF. Case and spaces stay.

    >>> normalise_source("a\r\nb")
    'a\nb'
    """
    return unicodedata.normalize("NFC", text).replace("\r\n", "\n")


def find_quote(quote: str, source: str, *, start: int = 0, end: int | None = None) -> Quote | QuoteRefusal:
    """Return the first place where a quote stands in its source, or why it is refused.

    A quote has 4–500 characters; a source shorter than 4 is quoted whole. Comparison is case-sensitive.

    Args:
        quote: as the citation gives it; it is normalised like the source.
        source: the full text of the source version.
        start: the quote must lie in ``[start, end)`` of the normalised source, for example in the recorded steps
            of a task result.
        end: None for the end of the text.

    Source: KN-70.

    >>> find_quote("Ana joined", "Yes: Ana joined Helio")
    Quote(text='Ana joined', start=5, end=15)
    >>> find_quote("Ana joined Helios", "Ana joined Helio").reason.value
    'not_in_source'
    """
    wanted, text = normalise_source(quote), normalise_source(source)
    refused = _length_refusal(len(wanted), len(text))
    if refused is not None:
        return QuoteRefusal(reason=refused)
    at = text.find(wanted, start, len(text) if end is None else end)
    if at < 0:
        return QuoteRefusal(reason=QuoteRefusalReason.NOT_IN_SOURCE)
    return Quote(text=wanted, start=at, end=at + len(wanted))


def content_key(text: str) -> str:
    r"""Return what two texts share when they count as the same content: NFKC, casefold, single spaces.

    Evidence whose keys are equal is one piece of evidence, however it is typed. Source: DR-63.

    >>> content_key(" The invoice\r\nwas LATE. ") == content_key("the invoice was late.")
    True
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


def _length_refusal(quote_length: int, source_length: int) -> QuoteRefusalReason | None:
    if quote_length > MAX_QUOTE_CHARACTERS:
        return QuoteRefusalReason.TOO_LONG
    if quote_length < max(1, min(MIN_QUOTE_CHARACTERS, source_length)):
        return QuoteRefusalReason.TOO_SHORT
    return None
