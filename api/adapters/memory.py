"""Gives memory back that a work of the start needed and the server does not."""

from __future__ import annotations

import ctypes
import gc
from contextlib import suppress


def give_back() -> None:
    """Return freed memory to the system, where the C library can (glibc's `malloc_trim`); elsewhere do nothing."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
