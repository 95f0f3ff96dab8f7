"""Relay connections with keyset cursors that are bound to their query (KN-113, KN-114).

A cursor holds the place after which to go on and a fingerprint of the question: field, arguments and caller. With
another question it answers CURSOR_INVALID.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import strawberry

from api.cursors import after_of, cursor_of
from graph.model.errors import CursorInvalid, LimitExceeded
from graph.services.knowledge.listing import Listing
from graph.store.query import After

T = TypeVar("T")
V = TypeVar("V")
C = TypeVar("C", bound="Connection[Any]")

MAX_FIRST = 100
DEFAULT_FIRST = 20


@strawberry.type
class PageInfo:
    """Whether there is more, and where this page starts and ends."""

    has_next_page: bool
    has_previous_page: bool
    start_cursor: str | None
    end_cursor: str | None


@strawberry.type(name="Edge")
class Edge(Generic[T]):
    """One node with its place."""

    cursor: str
    node: T


@strawberry.type(name="Connection")
class Connection(Generic[T]):
    """A page of nodes."""

    edges: list[Edge[T]]
    page_info: PageInfo
    counter: strawberry.Private[Callable[[], Awaitable[int]]]

    @strawberry.field(description="Counts only what the caller may see.")
    async def total_count(self) -> int:
        return await self.counter()


@dataclass(frozen=True, kw_only=True, slots=True)
class Cursors:
    """Writes and reads the cursors of one question."""

    fingerprint: bytes

    @classmethod
    def of(cls, field: str, arguments: Mapping[str, Any]) -> Cursors:
        """Return the cursors of a question; `arguments` must say all that shapes its order and its rows."""
        text = json.dumps([field, arguments], sort_keys=True, default=str)
        return cls(fingerprint=hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())

    def encode(self, place: After) -> str:
        """Return the cursor of a place."""
        return cursor_of(self.fingerprint, [place.value, place.id])

    def decode(self, cursor: str | None) -> After | None:
        """Return the place of a cursor; None stays None.

        Raises:
            CursorInvalid: damaged, or made by another question.
        """
        if cursor is None:
            return None
        try:
            return after_of(self.fingerprint, cursor)
        except ValueError as error:
            raise CursorInvalid("ask again without a cursor: this one belongs to another question") from error


def check_first(first: int | None, default: int = DEFAULT_FIRST) -> int:
    """Return a page size that is allowed; none given is the default.

    Raises:
        LimitExceeded: it is not 1 to 100.
    """
    if first is None:
        return default
    if not 1 <= first <= MAX_FIRST:
        raise LimitExceeded(f"ask for 1 to {MAX_FIRST} at a time", field="first", limit=MAX_FIRST)
    return first


def connection_of(
    kind: type[C],
    listing: Listing[V],
    make: Callable[[V], T],
    cursors: Cursors,
    after: str | None,
) -> C:
    """Return a page of a service as a connection of a kind."""
    marks = [cursors.encode(place) for place in listing.places]
    edges = [Edge(cursor=mark, node=make(item)) for mark, item in zip(marks, listing.items, strict=True)]
    page_info = PageInfo(
        has_next_page=listing.more,
        has_previous_page=after is not None,
        start_cursor=marks[0] if marks else None,
        end_cursor=marks[-1] if marks else None,
    )
    return kind(edges=edges, page_info=page_info, counter=listing.count)
