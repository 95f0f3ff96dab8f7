"""Time: UTC milliseconds inside, RFC 3339 with milliseconds outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NewType, Protocol

from graph.model.errors import BadInput

Millis = NewType("Millis", int)
"""UTC milliseconds since 1970; may be negative."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class Clock(Protocol):
    """Tells the time; a port, so that tests set it."""

    def now(self) -> Millis:
        """Return the present time in UTC milliseconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a fake clock only moves its hands."""
        ...


def from_datetime(value: datetime) -> Millis:
    """Return `value` in UTC milliseconds.

    Raises:
        BadInput: the value has no zone.

    >>> from_datetime(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000
    """
    if value.tzinfo is None:
        raise BadInput("a time needs a zone, such as 2025-05-10T00:00:00Z", field="time")
    return Millis((value - _EPOCH) // _MILLISECOND)


def to_datetime(value: Millis) -> datetime:
    """Return the aware UTC datetime of `value`."""
    return _EPOCH + timedelta(milliseconds=value)


def parse(text: str) -> Millis:
    """Return the time that an RFC 3339 text names.

    Raises:
        BadInput: not RFC 3339, or without a zone.

    >>> parse("2025-04-01T00:00:00.000Z")
    1743465600000
    """
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput("a time is written as RFC 3339, such as 2025-05-10T00:00:00Z", field="time") from error
    return from_datetime(value)


def render(value: Millis) -> str:
    """Return RFC 3339 in UTC with milliseconds.

    >>> render(Millis(1743465600000))
    '2025-04-01T00:00:00.000Z'
    """
    return to_datetime(value).isoformat(timespec="milliseconds").replace("+00:00", "Z")
