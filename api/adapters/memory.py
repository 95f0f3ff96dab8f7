"""The memory of a process that runs for long: what the start needed goes back, and garbage is looked for seldom."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress

_THRESHOLDS = (20_000, 20, 50)
"""New objects before the youngest are looked at, and how often the older ones then are."""


def collect_seldom() -> None:
    """Look for cycles of garbage less often than Python does by itself, and never among what is there now.

    An answer is thousands of small values without cycles, which go when nobody names them: looking through them every
    700 new ones, and through all modules now and then, takes a sixth of the time of a proof. Source: ADR 0024.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)


def give_back() -> None:
    """Return freed memory to the system, where the C library can (glibc's `malloc_trim`); elsewhere do nothing."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
