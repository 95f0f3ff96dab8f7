"""Row numbers of texts that grow with time, so that a keyword index read backwards gives the newest first.

A number is a stretch of time of about a second, then a serial number inside it.
"""

from __future__ import annotations

_SERIAL_BITS = 27
_STRETCH_BITS = 10
_MOST = 2**35 - 1


def first_number(sort_at: int) -> int:
    """Return the lowest number of the stretch that a time in milliseconds is in.

    Times beyond the ends (more than a thousand years away) share the last stretch; order within a stretch is
    settled by the time itself.
    """
    return max(-_MOST, min(_MOST, sort_at >> _STRETCH_BITS)) << _SERIAL_BITS


def bucket_range(number: int) -> tuple[int, int]:
    """Return the stretch that a number is in: its first number and the first after it."""
    low = number >> _SERIAL_BITS << _SERIAL_BITS
    return low, low + (1 << _SERIAL_BITS)
