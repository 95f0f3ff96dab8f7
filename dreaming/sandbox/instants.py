"""The service's time as the library writes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from graph.model.time import Millis

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def instant(at: Millis) -> datetime:
    """Return a time in UTC.

    >>> instant(Millis(1_500))
    datetime.datetime(1970, 1, 1, 0, 0, 1, 500000, tzinfo=datetime.timezone.utc)
    """
    return _EPOCH + timedelta(milliseconds=at)
