"""A fair queue in front of connections."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

T = TypeVar("T")


class Turnstile(Generic[T]):
    """Hands out a few things in the order of asking.

    A waiter that is cancelled leaves the queue; if it had just been served, the next one is served instead, so that
    nobody is held up by those who left.
    """

    def __init__(self, things: Iterable[T]) -> None:
        self._free = deque(things)
        self._waiting: deque[asyncio.Future[T]] = deque()
        self._closed: Exception | None = None

    async def acquire(self) -> T:
        """Return a thing as soon as one is free and all who asked before are served.

        Raises:
            Exception: the one that `close` was given.
        """
        if self._closed is not None:
            raise self._closed
        if self._free and not self._waiting:
            return self._free.popleft()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            return await future
        except asyncio.CancelledError:
            self._leave(future)
            raise

    def release(self, thing: T) -> None:
        """Give a thing back; call it in the event loop."""
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_result(thing)
                return
        self._free.append(thing)

    def close(self, error: Exception) -> None:
        """Refuse all who wait and all who come later."""
        self._closed = error
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                future.set_exception(error)

    def _leave(self, future: asyncio.Future[T]) -> None:
        if future in self._waiting:
            self._waiting.remove(future)
        elif future.done() and not future.cancelled() and future.exception() is None:
            self.release(future.result())
