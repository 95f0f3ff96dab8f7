"""A store whose readers see each committed change at their next call, as on Neo4j, and that can be told when."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from graph.store.port import Isolation, Reader, Store
from graph.store.wrapping import WrappedReader, WrappedStore

T = TypeVar("T")


async def _nothing() -> None:
    """Do nothing."""


class CommittedReads(WrappedStore):
    """Reads committed data call by call.

    Attributes:
        at: before the call of a reader with this number, counted from 1, `then` is awaited, once.
        calls: calls of readers so far.
    """

    def __init__(self, inner: Store) -> None:
        super().__init__(inner, _through)
        self._whole = inner
        self.calls = 0
        self.at = 0
        self.then: Callable[[], Awaitable[None]] = _nothing

    @property
    def isolation(self) -> Isolation:
        return Isolation.READ_COMMITTED

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        yield _StatementReader(self)

    async def before_call(self) -> None:
        """Count a call and, if it is the one, let something happen first."""
        self.calls += 1
        if self.calls == self.at:
            await self.then()


class _StatementReader(WrappedReader):
    def __init__(self, store: CommittedReads) -> None:
        self._store = store
        self._around = self._fresh

    async def _fresh(self, operation: str, call: Callable[[], Awaitable[T]], /) -> T:
        await self._store.before_call()
        async with self._store._whole.reading() as reader:
            self._reader = reader  # the call looks it up only now
            return await call()


async def _through(operation: str, call: Callable[[], Awaitable[T]], /) -> T:
    return await call()
