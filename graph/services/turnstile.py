"""Lets so many tasks of one subject run at once in this process; the others wait in the order in which they came.

Source: BM-122: `concurrency` counts confide answers, rewrites and learning steps of a bot on one server together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class _Place:
    inside: int = 0
    waiting: deque[tuple[int, asyncio.Future[None]]] = field(default_factory=deque)


@dataclass(slots=True)
class Ticket:
    """The right to be inside; leave once, or hand it over to who leaves later."""

    _turnstile: Turnstile
    _subject: str
    _held: bool = True

    def leave(self) -> None:
        """Let the next one in; again, or after handing over, it does nothing."""
        if self._held:
            self._held = False
            self._turnstile._leave(self._subject)

    def hand_over(self) -> Ticket:
        """Return the ticket of who goes on; this one is void then."""
        assert self._held, "a ticket that was left cannot be handed over"
        self._held = False
        return Ticket(self._turnstile, self._subject)


@dataclass(slots=True)
class Turnstile:
    """Counts the tasks under way, by subject. One is shared by all that a process does."""

    _places: dict[str, _Place] = field(default_factory=dict)
    _kept: set[asyncio.Task[None]] = field(default_factory=set)

    async def enter(self, subject: str, limit: int | None) -> Ticket:
        """Wait until fewer than `limit` tasks of the subject are inside, and be one of them.

        None waits for nobody, but counts for others. Who is cancelled while he waits takes no place.
        """
        place = self._places.setdefault(subject, _Place())
        if limit is not None and (place.waiting or place.inside >= limit):
            await self._wait(subject, place, limit)
        else:
            place.inside += 1
        return Ticket(self, subject)

    def keep(self, work: Coroutine[Any, Any, None]) -> None:
        """Let work go on that nobody waits for."""
        task = asyncio.ensure_future(work)
        self._kept.add(task)
        task.add_done_callback(self._kept.discard)

    async def _wait(self, subject: str, place: _Place, limit: int) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiter = (limit, turn)
        place.waiting.append(waiter)
        try:
            await turn
        except asyncio.CancelledError:
            if waiter in place.waiting:
                place.waiting.remove(waiter)
                self._let_in(subject, place)
            elif not turn.cancelled():  # let in, and cancelled before he came to know
                self._leave(subject)
            raise

    def _leave(self, subject: str) -> None:
        place = self._places[subject]
        place.inside -= 1
        self._let_in(subject, place)

    def _let_in(self, subject: str, place: _Place) -> None:
        while place.waiting and place.inside < place.waiting[0][0]:
            _, turn = place.waiting.popleft()
            if not turn.done():  # else cancelled, and about to say so
                place.inside += 1
                turn.set_result(None)
        if not place.inside and not place.waiting:
            self._places.pop(subject, None)
