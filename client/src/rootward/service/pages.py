"""Collections of workspace memory, page by page. Source: FM-8, FM-9."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from rootward.service.calls import Reply
from rootward.service.failures import UnexpectedAnswer
from rootward.service.shapes import shaped

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, kw_only=True)
class Page(Generic[T_co]):
    """Some of a collection.

    Attributes:
        next_cursor: give it as `cursor` for what follows, with the same filters; None at the end.
        etag: of what the collection belongs to, where the service tells it.
    """

    items: tuple[T_co, ...]
    next_cursor: str | None
    etag: str | None = None


def reads_page(kind: type[T]) -> Callable[[Reply], Page[T]]:
    """Return what makes a page of an answer."""

    def read(reply: Reply) -> Page[T]:
        given = reply.json()
        if not isinstance(given, dict) or not isinstance(given.get("items"), list):
            raise UnexpectedAnswer("the answer is no page", status=reply.status)
        items = tuple(shaped(kind, item) for item in given["items"])
        return Page(items=items, next_cursor=given.get("next_cursor"), etag=reply.headers.get("etag"))

    return read


def if_match(etag: str | None) -> dict[str, str]:
    """Return the header of a change that is meant for one version."""
    return {} if etag is None else {"If-Match": etag}
