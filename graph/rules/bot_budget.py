"""What the Memory Bot of a bot may cost and how long it may take. Pure.

Confirmed cost counts by UTC days and months; usage that no provider confirmed deducts nothing.
Source: BM-123 to BM-126, BM-129 to BM-135.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from graph.model.fields import Json
from graph.model.time import Millis, from_datetime, to_datetime

WAIT_S = 15.0
"""A confide and a new input wait so long, waiting for a free task included (BM-129)."""
STEP_S = 120.0
"""One learning step takes so long, waiting for a free task not included (BM-131)."""
LATE_S = 120.0
"""A call whose answer came too late to be used is let go on for so long, so that its cost is known (BM-130)."""


class Period(StrEnum):
    """Over which time a budget counts."""

    DAY = "day"
    MONTH = "month"


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """A cap on confirmed cost in one period, in millionths of a USD."""

    period: Period
    limit_micros: int

    def is_spent(self, confirmed_micro_usd: int) -> bool:
        """Return whether it is used up; one of 0 is at once (BM-125)."""
        return confirmed_micro_usd >= self.limit_micros


def budget_of(stored: Json) -> Budget | None:
    """Return the budget that a pool keeps as ``{"period", "limitMicros"}``; None limits nothing (BM-124).

    >>> budget_of({"period": "day", "limitMicros": 5}).is_spent(5)
    True
    """
    if stored is None:
        return None
    return Budget(period=Period(stored["period"]), limit_micros=int(stored["limitMicros"]))


def days_of(period: Period, at: Millis) -> tuple[str, str]:
    """Return the first UTC day of the period of a time, and the first day after it.

    >>> days_of(Period.MONTH, Millis(0)), days_of(Period.DAY, Millis(0))
    (('1970-01-01', '1970-02-01'), ('1970-01-01', '1970-01-02'))
    """
    day = to_datetime(at).date()
    first = day if period is Period.DAY else day.replace(day=1)
    return first.isoformat(), to_datetime(next_period(period, at)).date().isoformat()


def next_period(period: Period, at: Millis) -> Millis:
    """Return when the next period begins.

    >>> next_period(Period.DAY, Millis(1)), next_period(Period.MONTH, Millis(1))
    (86400000, 2678400000)
    """
    start = to_datetime(at).replace(hour=0, minute=0, second=0, microsecond=0)
    if period is Period.DAY:
        return from_datetime(start + timedelta(days=1))
    return from_datetime((start.replace(day=1) + timedelta(days=32)).replace(day=1))
