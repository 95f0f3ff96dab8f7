"""The memory of a process that runs for long: what the start needed goes back, and garbage is looked for seldom."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

_THRESHOLDS = (20_000, 20, 50)
"""New objects before the youngest are looked at, and how often the older ones then are."""

LARGE: Final = 65_536
"""Bytes of a body after which it is worth a millisecond to look for what is left of it."""


def collect_seldom() -> None:
    """Look for cycles of garbage less often than Python does by itself, and never among what is there now.

    An answer is thousands of small values without cycles, which go when nobody names them: looking through them every
    700 new ones, and through all modules now and then, takes a sixth of the time of a proof. Source: ADR 0024.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


class Tidy:
    """Looks for garbage after a large request, among what is young.

    What executes a GraphQL operation names itself, so that it stays with all that it was given until garbage is looked
    for. That comes after so many objects, whatever their size: after some 250 operations, which may hold a MiB each.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        try:
            await self._app(scope, receive, send)
        finally:
            if scope["type"] == "http" and _length(scope) >= LARGE:
                gc.collect(0)


def _length(scope: Scope) -> int:
    """Return how long the body is said to be; 0 if nothing is said."""
    said = next((value for name, value in scope["headers"] if name == b"content-length"), b"")
    return int(said[:16]) if said.isdigit() else 0


def give_back() -> None:
    """Return freed memory to the system, where the C library can (glibc's `malloc_trim`); elsewhere do nothing."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
