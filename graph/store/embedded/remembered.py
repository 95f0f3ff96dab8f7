"""What one transaction has read: nobody else writes meanwhile, so it stays so until the transaction changes it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

from graph.model.ids import NodeId

T = TypeVar("T")

_MOST = 1_000
"""A transaction that reads very much does not keep all of it in memory."""


class Remembered(Generic[T]):
    """Things by the id of their node; that something is not there is remembered as well."""

    def __init__(self) -> None:
        self._known: dict[NodeId, T | None] = {}
        self._forgotten = 0

    async def of(
        self, ids: Sequence[NodeId], read: Callable[[Sequence[NodeId]], Awaitable[Mapping[NodeId, T]]]
    ) -> Mapping[NodeId, T]:
        """Return what there is of `ids`, in their order; `read` is asked for what is not known."""
        known = {id: self._known[id] for id in ids if id in self._known}
        missing = [id for id in dict.fromkeys(ids) if id not in known]
        if missing:
            known |= await self._read(missing, read)
        return {id: thing for id in ids if (thing := known[id]) is not None}

    def forget(self, ids: Iterable[NodeId]) -> None:
        """Forget what the transaction changes."""
        self._forgotten += 1
        for id in ids:
            self._known.pop(id, None)

    def clear(self) -> None:
        """Forget everything."""
        self._forgotten += 1
        self._known.clear()

    async def _read(
        self, ids: Sequence[NodeId], read: Callable[[Sequence[NodeId]], Awaitable[Mapping[NodeId, T]]]
    ) -> dict[NodeId, T | None]:
        """Read, and remember it unless something was changed meanwhile: a transaction may do things side by side."""
        forgotten = self._forgotten
        found = await read(ids)
        now = {id: found.get(id) for id in ids}
        if len(self._known) + len(now) > _MOST:
            self._known = {}
        elif forgotten == self._forgotten:
            self._known.update(now)
        return now
