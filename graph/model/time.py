"""Time: UTC milliseconds inside, RFC 3339 with milliseconds outside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NewType, Protocol

from graph.model.errors import BadInput

Millis = NewType("Millis", int)
"""UTC milliseconds since 1970; may be negative."""

MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND, _MINUTE = timedelta(milliseconds=1), timedelta(minutes=1)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


class Clock(Protocol):
    """Tells the time; a port, so that tests set it."""

    def now(self) -> Millis:
        """Return the present time in UTC milliseconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait; a fake clock only moves its hands."""
        ...


def clock_reading(at: Millis, offset: int | None) -> Millis:
    """Return what the clock of somebody `offset` minutes ahead of UTC showed at a time, as if it were UTC.

    For dates as people mean them: the day of a message is the day where it was written. None stands for UTC.
    """
    return Millis(at + (offset or 0) * MINUTE_MS)


def zone_name(offset: int) -> str:
    """Return an offset in minutes as RFC 3339 writes it.

    >>> zone_name(540), zone_name(-210), zone_name(0)
    ('+09:00', '-03:30', '+00:00')
    """
    hours, minutes = divmod(abs(offset), 60)
    return f"{'-' if offset < 0 else '+'}{hours:02}:{minutes:02}"


def from_datetime(value: datetime) -> Millis:
    """Return `value` in UTC milliseconds.

    Raises:
        BadInput: the value has no zone, or lies in UTC outside of the years 1 to 9999: nothing could show it again.

    >>> from_datetime(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000
    """
    if value.tzinfo is None:
        raise BadInput("a time needs a zone, such as 2025-05-10T00:00:00Z", field="time")
    if not _FIRST <= value <= _LAST:
        raise BadInput("a time lies in the years 1 to 9999 of UTC", field="time")
    return Millis((value - _EPOCH) // _MILLISECOND)


def to_datetime(value: Millis) -> datetime:
    """Return the aware UTC datetime of `value`."""
    return _EPOCH + timedelta(milliseconds=value)


def within_years(value: int) -> Millis | None:
    """Return a time that something outside tells, None if it lies outside of the years 1 to 9999 and cannot be shown.

    >>> within_years(1_000), within_years(10**18), within_years(-(10**18))
    (1000, None, None)
    """
    try:
        return from_datetime(to_datetime(Millis(value)))
    except OverflowError:
        return None


def parse(text: str) -> Millis:
    """Return the time that an RFC 3339 text names.

    Raises:
        BadInput: not RFC 3339, without a zone or with seconds in it, or outside of the years 1 to 9999.

    >>> parse("2025-04-01T00:00:00.000Z")
    1743465600000
    """
    try:
        value = datetime.fromisoformat(text)
        if (value.utcoffset() or _MINUTE) % _MINUTE:
            raise ValueError("the offset has seconds")
    except ValueError as error:
        raise BadInput("a time is written as RFC 3339, such as 2025-05-10T00:00:00Z", field="time") from error
    return from_datetime(value)


def parse_said(text: str) -> tuple[Millis, int | None]:
    """Return the time that an RFC 3339 text names, and how many minutes its clock is ahead of UTC.

    The offset is None for a text that ends in Z: that says when, and not where (RFC 9557).

    Raises:
        BadInput: not RFC 3339, or without a zone.

    >>> parse_said("2024-01-01T00:30:00+09:00")
    (1704036600000, 540)
    """
    at = parse(text)
    offset = datetime.fromisoformat(text).utcoffset()
    return at, None if text[-1:] in "Zz" or offset is None else int(offset.total_seconds() // 60)


def render_said(at: Millis, offset: int | None) -> str:
    """Return RFC 3339 in the zone in which it was said; `parse_said` reads it back.

    >>> render_said(Millis(1704036600000), 540)
    '2024-01-01T00:30:00.000+09:00'
    """
    return render(at) if offset is None else render(clock_reading(at, offset))[:-1] + zone_name(offset)


def render(value: Millis) -> str:
    """Return RFC 3339 in UTC with milliseconds.

    >>> render(Millis(1743465600000))
    '2025-04-01T00:00:00.000Z'
    """
    return to_datetime(value).isoformat(timespec="milliseconds").replace("+00:00", "Z")
