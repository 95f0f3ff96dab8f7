"""Pages of a longer text: lines in, a page with cursors to the pages around it out.

A cursor holds the place where a page begins, not a number of lines: what comes or goes meanwhile, and another size of
the pages, cause no repeat and no gap among the others (KN-113). Source: RE-34.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

from graph.model.errors import CursorInvalid
from graph.model.ids import NodeId
from graph.services.knowledge.views import CitationView
from graph.text.tokens import Tokenizer

Counter = Callable[[str], int]

Key = tuple[int | str, ...]
"""Where a line stands among the lines of its ref; others that come or go leave it as it is."""

Place = tuple[Key, int]
"""The key of a line, and how many of its code points come before."""

HEAD: Final[Key] = (0,)
BODY: Final = 2
"""The first part of the key of all other lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BrowsePage:
    """One page of a longer text, with cursors to the pages around it and the sources of what it shows."""

    ref: NodeId
    text: str
    tokens: int
    next: str | None
    previous: str | None
    sources: tuple[CitationView, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """A line that is not torn apart unless it is longer than a page.

    Attributes:
        key: of the line; the parts of one that was torn share it.
        offset: code points of the line before this part.
    """

    text: str
    key: Key
    offset: int = 0
    sources: tuple[CitationView, ...] = ()

    @property
    def place(self) -> Place:
        """Where it begins."""
        return self.key, self.offset


def page_of(
    ref: NodeId, lines: Iterable[Piece], cursor: Place | None, page_tokens: int, tokenizer: Tokenizer, *, back: bool
) -> BrowsePage:
    """Return the page that begins at a place, or with `back` the one that ends there; None is the beginning.

    Args:
        ref: of what is read.
        lines: in the order of their places.
        cursor: need not be that of a line that is still there.
        page_tokens: most tokens of a page.
        tokenizer: counts them.
        back: whether the page before the place is meant.
    """
    pieces = _torn(tokenizer, lines, page_tokens, cursor)
    count = tokenizer.count
    at = 0 if cursor is None else sum(piece.place < cursor for piece in pieces)
    first, end = (_back(pieces, at, page_tokens, count), at) if back else (at, _forth(pieces, at, page_tokens, count))
    shown = pieces[first:end]
    text = "\n".join(piece.text for piece in shown).strip("\n")
    begun = pieces[first].place if first < len(pieces) else cursor
    return BrowsePage(
        ref=ref,
        text=text,
        tokens=count(text),
        next=_cursor(ref, pieces[end].place) if end < len(pieces) else None,
        previous=_cursor(ref, begun) if first and begun is not None else None,
        sources=tuple({(c.source.id, c.start, c.end): c for piece in shown for c in piece.sources}.values()),
    )


def place_of(ref: NodeId, cursor: str, lines: Iterable[Piece]) -> Place:
    """Return the place that a cursor names, which may be that of a line that is gone.

    Raises:
        CursorInvalid: damaged, or of another ref.
    """
    try:
        of, key, offset = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, TypeError, RecursionError) as error:
        raise _other_cursor() from error
    shapes = {tuple(map(type, line.key)) for line in lines} | {(int,)}
    if of != ref or not isinstance(key, list) or tuple(map(type, key)) not in shapes or type(offset) is not int:
        raise _other_cursor()
    return tuple(key), offset


def _torn(tokenizer: Tokenizer, pieces: Iterable[Piece], page_tokens: int, cut: Place | None) -> list[Piece]:
    """Return the pieces, each small enough for a page of its own; one begins at `cut`, if that lies in a piece."""
    torn: list[Piece] = []
    for piece in pieces:
        here = cut is not None and cut[0] == piece.key and 0 < cut[1] < len(piece.text)
        ends = [cut[1], len(piece.text)] if cut is not None and here else [len(piece.text)]
        for start, end in pairwise([0, *ends]):
            torn += _split(tokenizer, piece, start, end, page_tokens)
    return torn


def _split(tokenizer: Tokenizer, piece: Piece, start: int, end: int, page_tokens: int) -> Iterator[Piece]:
    at, reached = start, _reach(tokenizer, piece.text, start, end, page_tokens)
    while reached < end:
        yield replace(piece, text=piece.text[at:reached], offset=at)
        at, reached = reached, _reach(tokenizer, piece.text, reached, end, page_tokens)
    yield replace(piece, text=piece.text[at:end], offset=at)


def _reach(tokenizer: Tokenizer, text: str, start: int, end: int, page_tokens: int) -> int:
    """Return where a part that begins at `start` ends: one code point at least, else as many as a page holds.

    It looks little further than that, so that a line of any length is torn in time in proportion to it.
    """
    size = 8 * page_tokens
    while True:
        seen = text[start : min(start + size, end)]
        head = tokenizer.cut_to(seen, page_tokens)
        if len(head) < len(seen) or start + size >= end:
            return start + max(len(head), 1)
        size *= 2


def _forth(pieces: Sequence[Piece], first: int, page_tokens: int, count: Counter) -> int:
    end, spent = first, 0
    while end < len(pieces) and (spent + count(pieces[end].text) <= page_tokens or end == first):
        spent += count(pieces[end].text)
        end += 1
    return end


def _back(pieces: Sequence[Piece], end: int, page_tokens: int, count: Counter) -> int:
    first, spent = end, 0
    while first > 0 and (spent + count(pieces[first - 1].text) <= page_tokens or first == end):
        spent += count(pieces[first - 1].text)
        first -= 1
    return first


def _cursor(ref: NodeId, place: Place) -> str:
    return base64.urlsafe_b64encode(json.dumps([ref, *place]).encode()).decode().rstrip("=")


def _other_cursor() -> CursorInvalid:
    return CursorInvalid("use a cursor of an earlier page of the same ref", field="after")
