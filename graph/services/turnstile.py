"""Lets so many tasks of one subject run at once in this process; the others wait in the order in which they came.

Source: BM-122: `concurrency` counts confide answers, rewrites and learning steps of a bot on one server together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class _Place:
    inside: int = 0
    waiting: deque[tuple[int, asyncio.Future[None]]] = field(default_factory=deque)


@dataclass(slots=True)
class Turnstile:
    """Counts the tasks under way, by subject. One is shared by all that a process does."""

    _places: dict[str, _Place] = field(default_factory=dict)

    @asynccontextmanager
    async def inside(self, subject: str, limit: int | None) -> AsyncIterator[None]:
        """Be one of at most `limit` tasks of the subject; None waits for nobody, but counts for others.

        Who is cancelled while he waits takes no place.
        """
        place = self._places.setdefault(subject, _Place())
        if limit is not None and (place.waiting or place.inside >= limit):
            await self._wait(place, limit)
        else:
            place.inside += 1
        try:
            yield
        finally:
            place.inside -= 1
            self._let_in(place)
            if not place.inside and not place.waiting:
                self._places.pop(subject, None)

    async def _wait(self, place: _Place, limit: int) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = (limit, turn)
        place.waiting.append(waiter)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():  # let in and cancelled at once: the place is free again
                place.inside -= 1
            elif waiter in place.waiting:
                place.waiting.remove(waiter)
            self._let_in(place)
            raise

    def _let_in(self, place: _Place) -> None:
        while place.waiting and place.inside < place.waiting[0][0]:
            _, turn = place.waiting.popleft()
            if not turn.done():
                place.inside += 1
                turn.set_result(None)
