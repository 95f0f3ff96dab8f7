"""Pages of what a caller may see, with keyset places and a count that is made only if it is asked for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from graph.model.access import Viewer
from graph.model.errors import CursorInvalid
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.rules.as_of import AsOf
from graph.services.access.session import Session
from graph.store.query import After, And, Eq, Find, Or, Range, Where

T = TypeVar("T")
U = TypeVar("U")
N = TypeVar("N", bound=Node)


@dataclass(frozen=True, kw_only=True, slots=True)
class Listing(Generic[T]):
    """A page: items in order, the place of each, whether more follow, and how to count them all (KN-113, KN-114)."""

    items: tuple[T, ...]
    places: tuple[After, ...]
    more: bool
    count: Callable[[], Awaitable[int]]

    def mapped(self, change: Callable[[T], U | None]) -> Listing[U]:
        """Return the same page of other values; an item that becomes None is left out."""
        pairs = [(made, place) for item, place in zip(self.items, self.places, strict=True) if (made := change(item))]
        return Listing(
            items=tuple(made for made, _ in pairs),
            places=tuple(place for _, place in pairs),
            more=self.more,
            count=self.count,
        )


async def find_listing(session: Session, query: Find[N], viewer: Viewer | None = None) -> Listing[N]:
    """Return a page that the index proposes and the law proves; its count is made by the index."""
    page = await session.page(query, viewer)

    async def count() -> int:
        counts = await session.reader.aggregate(viewer or session.viewer, query.kind, query.where)
        return counts.get(None, 0)

    return Listing(items=page.nodes, places=page.places, more=page.more, count=count)


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One item of an order that is made in memory: it comes in the order of `key`, then of `id`."""

    key: Any
    id: NodeId

    @property
    def place(self) -> After:
        """The keyset place of the row."""
        return After(self.key, self.id)


def cut_rows(rows: Sequence[Row], *, first: int, after: After | None) -> tuple[tuple[Row, ...], bool]:
    """Return a page of rows, and whether more follow.

    Raises:
        CursorInvalid: `after` is no place of this order.
    """
    ordered = sorted(rows, key=lambda row: (row.key, row.id))
    if after is not None:
        try:
            ordered = [row for row in ordered if (row.key, row.id) > (after.value, after.id)]
        except TypeError:  # a client may make places up
            raise misplaced() from None
    return tuple(ordered[:first]), len(ordered) > first


def misplaced() -> CursorInvalid:
    """Return the refusal of a place that is none of the order it is given for."""
    return CursorInvalid("take the cursor of an earlier page of this very list", field="after")


def counted(number: int) -> Callable[[], Awaitable[int]]:
    """Return the counter of a number that is known already."""

    async def count() -> int:
        return number

    return count


def nothing() -> Listing[Any]:
    """Return an empty page."""
    return Listing(items=(), places=(), more=False, count=counted(0))


def believed_where(as_of: AsOf) -> Where:
    """Return the condition on versions that the service believed at the asked moment (KN-76)."""
    if as_of.recorded is None:
        return Eq("invalidated_at", None)
    beyond = as_of.recorded + 1
    ended_later = Or((Eq("invalidated_at", None), Range("invalidated_at", beyond, None)))
    return And((Range("recorded_at", None, beyond), ended_later))
