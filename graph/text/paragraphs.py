"""Cut a text into paragraphs short enough to be one block each.

A paragraph is an exact slice of the normalised text (NFC, CRLF as LF), so its offsets can be used
for a citation. Pure; no language model, no language detection.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import regex

from graph.text.quotes import MAX_QUOTE_CHARACTERS, normalise_source

MAX_PARAGRAPH = 2_000
"""Characters (code points after NFC) of one block. Source: KN-21, MA-12."""

_BLANK_LINES = regex.compile(r"\n[^\S\n]*\n\s*")
_HEADING = regex.compile(r"#{1,6} [^\n]+\Z")
_SENTENCE_END = regex.compile(r"[.!?…][\"'”’)\]]*\s+|[。！？；][”’」』）]*|\n")
_SPACE = regex.compile(r"\s+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Paragraph:
    """A slice ``[start, end)`` of the normalised text, in code points, without white space at its ends."""

    text: str
    start: int
    end: int


def cut_paragraphs(text: str, *, limit: int = MAX_PARAGRAPH) -> list[Paragraph]:
    r"""Cut a text at blank lines, and paragraphs over the limit at sentence ends.

    A Markdown heading stays with the paragraph below it. Where a sentence is over the limit too it is cut
    at white space, and where there is none between two user-perceived characters. Nothing but white space
    is lost. A text of white space gives an empty list.

    Args:
        text: any text; it is normalised first, and the offsets count in the normalised text.
        limit: most characters of a paragraph, at least 1.

    >>> [p.text for p in cut_paragraphs("# Plan\n\nWe ship in May.\n\nThen we rest.")]
    ['# Plan\n\nWe ship in May.', 'Then we rest.']
    """
    if limit < 1:
        raise ValueError("limit must be at least 1")
    whole = normalise_source(text)
    return [piece for start, end in _join_headings(whole, limit) for piece in _cut(whole, start, end, limit)]


def leading_quote(paragraph: str, *, limit: int = MAX_QUOTE_CHARACTERS) -> str:
    """Return the longest beginning of a paragraph that may be a quote, cut like a long sentence.

    >>> leading_quote("All of it.")
    'All of it.'
    """
    return next(_cut(paragraph, 0, len(paragraph), limit)).text


def _spans(whole: str) -> Iterator[tuple[int, int]]:
    """Yield the stretches between blank lines."""
    start = 0
    for gap in _BLANK_LINES.finditer(whole):
        yield start, gap.start()
        start = gap.end()
    yield start, len(whole)


def _join_headings(whole: str, limit: int) -> Iterator[tuple[int, int]]:
    """Yield the same stretches, headings together with what follows where both fit."""
    begin: int | None = None
    end = 0
    for start, stop in _spans(whole):
        if begin is not None and stop - begin > limit:
            yield begin, end
            begin = None
        begin = start if begin is None else begin
        end = stop
        if not _HEADING.match(whole, start, stop):
            yield begin, end
            begin = None
    if begin is not None:
        yield begin, end


def _cut(whole: str, start: int, end: int, limit: int) -> Iterator[Paragraph]:
    """Yield pieces of at most ``limit`` characters of one stretch, without the white space around them."""
    while True:
        start, end = _strip(whole, start, end)
        if start == end:
            return
        stop = end if end - start <= limit else _breaking_point(whole, start, start + limit)
        left, right = _strip(whole, start, stop)
        yield Paragraph(text=whole[left:right], start=left, end=right)
        start = stop


def _strip(whole: str, start: int, end: int) -> tuple[int, int]:
    while start < end and whole[start].isspace():
        start += 1
    while end > start and whole[end - 1].isspace():
        end -= 1
    return start, end


def _breaking_point(whole: str, start: int, stop: int) -> int:
    """Return the best place in ``(start, stop]`` to cut: sentence, word, character, in this order."""
    for pattern in (_SENTENCE_END, _SPACE):
        last = max((m.end() for m in pattern.finditer(whole, start, stop)), default=start)
        if last - start > (stop - start) // 4:
            return last
    return _character_break(whole, start, stop)


def _character_break(whole: str, start: int, stop: int) -> int:
    """Return a cut that does not tear a user-perceived character, if one is not longer than the limit."""
    last = start
    for cluster in regex.finditer(r"\X", whole, pos=start, endpos=min(len(whole), stop + 64)):
        if cluster.end() > stop:
            break
        last = cluster.end()
    return last if last > start else stop
