"""What an agent may ask of models in a day, per kind of work. Pure. Source: AD-33, bug case 20."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from graph.model.time import Millis, from_datetime, to_datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class DayLimits:
    """At most so many calls, failed ones included, and so many tokens in and out, a day (UTC)."""

    calls: int
    tokens: int

    def spent(self, calls: int, tokens: int) -> str:
        """Return which limit is used up: ``calls``, ``tokens``, or nothing.

        >>> DayLimits(calls=2, tokens=100).spent(1, 100)
        'tokens'
        """
        if calls >= self.calls:
            return "calls"
        return "tokens" if tokens >= self.tokens else ""


def day_of(at: Millis) -> str:
    """Return the UTC day.

    >>> day_of(Millis(0))
    '1970-01-01'
    """
    return to_datetime(at).date().isoformat()


def next_day(at: Millis) -> Millis:
    """Return when the next UTC day begins.

    >>> next_day(Millis(1))
    86400000
    """
    start = to_datetime(at).replace(hour=0, minute=0, second=0, microsecond=0)
    return from_datetime(start + timedelta(days=1))
