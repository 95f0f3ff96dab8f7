"""A clock that tests set."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta

from graph.model.time import Millis, from_datetime, parse

START = parse("2025-05-10T09:00:00Z")


class FakeClock:
    """Stands still until it is moved; sleeping moves its hands and lets others run."""

    def __init__(self, now: Millis | datetime | str = START) -> None:
        self._now = _millis(now)

    def now(self) -> Millis:
        return self._now

    async def sleep(self, seconds: float) -> None:
        self.advance(timedelta(seconds=seconds))
        await asyncio.sleep(0)

    def advance(self, by: timedelta) -> Millis:
        """Move the hands and return the new time."""
        self._now = Millis(self._now + by // timedelta(milliseconds=1))
        return self._now

    def set(self, now: Millis | datetime | str) -> None:
        """Put the hands to a time: milliseconds, an aware datetime or RFC 3339."""
        self._now = _millis(now)


def _millis(value: Millis | datetime | str) -> Millis:
    if isinstance(value, datetime):
        return from_datetime(value)
    return parse(value) if isinstance(value, str) else value
