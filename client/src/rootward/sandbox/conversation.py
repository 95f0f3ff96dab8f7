"""The history of messages that runs share; independent of sandbox memory. Source: SB-101."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Protocol

from rootward.models import Item


class Session(Protocol):
    """A history of messages, kept wherever its maker likes."""

    @property
    def session_id(self) -> str:
        """Names the history; runs that share it are one memory conversation."""
        ...

    async def get_items(self) -> Sequence[Item]:
        """Return all items, oldest first."""
        ...

    async def add_items(self, items: Sequence[Item]) -> None:
        """Add items at the end."""
        ...


class MemorySession:
    """A history that lives as long as this object.

    >>> MemorySession(session_id="ledger-check").session_id
    'ledger-check'
    """

    def __init__(self, *, session_id: str | None = None) -> None:
        """Without an id a new one is made."""
        self.session_id = session_id if session_id is not None else uuid.uuid4().hex
        self._items: list[Item] = []

    async def get_items(self, limit: int | None = None) -> list[Item]:
        """Return the items, oldest first; with a limit the newest so many."""
        return list(self._items if limit is None else self._items[max(0, len(self._items) - limit) :])

    async def add_items(self, items: Sequence[Item]) -> None:
        self._items += items

    async def pop_item(self) -> Item | None:
        """Remove the newest item and return it; None if there is none."""
        return self._items.pop() if self._items else None

    async def clear_session(self) -> None:
        """Forget all items; what sandbox memory recorded stays."""
        self._items.clear()
