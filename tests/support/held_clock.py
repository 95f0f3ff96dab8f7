"""A clock whose sleepers sleep until a test moves the hands past their time."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from graph.model.time import Millis
from tests.support.clock import FakeClock


class HeldClock(FakeClock):
    """Stands still until it is moved, and so does who sleeps."""

    def __init__(self) -> None:
        super().__init__()
        self._sleepers: list[tuple[Millis, asyncio.Future[None]]] = []
        self._asleep = asyncio.Event()
        self._came = asyncio.Event()

    async def somebody_sleeps(self) -> None:
        """Wait until somebody went to sleep since the hands were moved last."""
        await self._asleep.wait()

    def asleep_until(self, due: Millis) -> int:
        """Return how many sleep until exactly this time."""
        return sum(1 for until, future in self._sleepers if until == due and not future.done())

    async def so_many_sleep_until(self, due: Millis, number: int) -> None:
        """Wait until so many sleep until exactly this time."""
        while self.asleep_until(due) < number:
            self._came.clear()
            await self._came.wait()

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((Millis(self.now() + int(seconds * 1_000)), future))
        self._asleep.set()
        self._came.set()
        await future

    def advance(self, by: timedelta) -> Millis:
        """Move the hands and wake who has slept enough."""
        now = super().advance(by)
        self._asleep.clear()
        for due, future in self._sleepers:
            if due <= now and not future.done():
                future.set_result(None)
        self._sleepers = [(due, future) for due, future in self._sleepers if not future.done()]
        return now
