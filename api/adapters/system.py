"""The clock, ids and randomness of the machine."""

from __future__ import annotations

import asyncio
import secrets
import time

from graph.model.ids import encode_body
from graph.model.time import Millis


class SystemClock:
    """The time of the machine."""

    def now(self) -> Millis:
        """Return the present time in UTC milliseconds."""
        return Millis(time.time_ns() // 1_000_000)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class RandomIds:
    """Ids of 48 bits of time and 80 random bits (AD-2)."""

    def new(self) -> str:
        """Return a body never returned before."""
        return encode_body(time.time_ns() // 1_000_000, secrets.token_bytes(10))


class SystemRandomness:
    """Random bytes of the operating system."""

    def bytes(self, count: int) -> bytes:
        """Return `count` unpredictable bytes."""
        return secrets.token_bytes(count)
