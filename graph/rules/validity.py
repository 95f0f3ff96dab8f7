"""How validity in the world is written for readers: as exactly as it is known, never more (KN-74)."""

from __future__ import annotations

from graph.model.nodes.knowledge import Precision
from graph.model.time import DAY_MS, Millis, render, to_datetime

_LENGTHS = {Precision.YEAR: 4, Precision.MONTH: 7, Precision.DAY: 10}


def shown_date(at: Millis, precision: str | None) -> str:
    """Return a date at its precision; without one a midnight is a day and all else an instant.

    >>> shown_date(Millis(1743465600000), "month"), shown_date(Millis(1743465600000), None)
    ('2025-04', '2025-04-01')
    """
    exact = precision or (Precision.INSTANT if at % DAY_MS else Precision.DAY)
    return render(at)[: _LENGTHS.get(Precision(exact))]


def shown_day(at: Millis) -> str:
    """Return the day of a time in UTC."""
    return to_datetime(at).date().isoformat()


def shown_validity(
    valid_from: Millis | None, valid_to: Millis | None, from_precision: str | None, to_precision: str | None
) -> str:
    """Return from when to when a statement holds; empty if neither is known.

    >>> shown_validity(Millis(1743465600000), None, "month", None)
    'since 2025-04'
    """
    begun = None if valid_from is None else shown_date(valid_from, from_precision)
    ended = None if valid_to is None else shown_date(valid_to, to_precision)
    if begun and ended:
        return f"{begun} to {ended}"
    if begun:
        return f"since {begun}"
    return f"until {ended}" if ended else ""
