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

    async def of(
        self, ids: Sequence[NodeId], read: Callable[[Sequence[NodeId]], Awaitable[Mapping[NodeId, T]]]
    ) -> Mapping[NodeId, T]:
        """Return what there is of `ids`, in their order; `read` is asked for what is not known."""
        missing = [id for id in dict.fromkeys(ids) if id not in self._known]
        if not missing:
            return self._found(ids)
        read_now = await read(missing)
        if len(self._known) + len(missing) > _MOST:
            known, self._known = self._known, {}
            return {id: thing for id in ids if (thing := read_now.get(id) or known.get(id)) is not None}
        self._known.update((id, read_now.get(id)) for id in missing)
        return self._found(ids)

    def forget(self, ids: Iterable[NodeId]) -> None:
        """Forget what the transaction changes."""
        for id in ids:
            self._known.pop(id, None)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()

    def _found(self, ids: Sequence[NodeId]) -> dict[NodeId, T]:
        return {id: thing for id in ids if (thing := self._known[id]) is not None}
