"""Dates of exports. A date without a zone is refused, or read in the zone that the caller stated.

No zone is ever guessed from this machine. Source: bug case 16.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from api.importers.model import ImportTally
from graph.model.errors import BadInput, ImportInvalid
from graph.model.time import Millis, from_datetime, to_datetime

_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)\Z")
_LAST_SECOND = 253_402_300_799
"""Of the year 9999."""
_NO_ZONE = "the date has no zone; write one, such as 2025-05-10T09:00:00+08:00, or state --timezone"
_NO_DATE = "the date cannot be read; write it as RFC 3339, such as 2025-05-10T09:00:00Z"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where in which file something stands, for errors."""

    file: str
    line: int | None = None
    index: str | None = None

    def invalid(self, reason: str, advice: str) -> ImportInvalid:
        """Return the error for this place: what is wrong as a word, and what to do."""
        where = f", line {self.line}" if self.line is not None else f", at {self.index}" if self.index else ""
        details = {"file": self.file, "reason": reason, "line": self.line, "index": self.index}
        return ImportInvalid(
            f"{self.file}{where}: {advice}", **{key: item for key, item in details.items() if item is not None}
        )


def parse_timezone(text: str) -> tzinfo:
    """Return the zone that `--timezone` names: an IANA name, `UTC`, or an offset such as `+08:00`.

    Raises:
        BadInput: there is no such zone.

    >>> parse_timezone("+05:30").utcoffset(None)
    datetime.timedelta(seconds=19800)
    """
    if text.upper() in ("UTC", "Z"):
        return UTC
    if found := _OFFSET.match(text):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
        if offset < timedelta(hours=24) and int(found[3]) < 60:
            return timezone(-offset if found[1] == "-" else offset)
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadInput(
            "give the zone as an IANA name such as Asia/Shanghai, or an offset such as +08:00", field="timezone"
        ) from None


@dataclass(frozen=True, kw_only=True, slots=True)
class Dates:
    """Turns dates of one import into UTC milliseconds, and counts every zone it had to assume."""

    zone: tzinfo | None
    tally: ImportTally

    def iso(self, text: str, place: Place) -> Millis:
        """Return the time of an ISO 8601 text that names at least a minute.

        Raises:
            ImportInvalid: `bad_date`, or `no_zone`.
        """
        if len(text) < 16 or text[10] not in "Tt ":
            raise place.invalid("bad_date", _NO_DATE)
        try:
            value = datetime.fromisoformat(text)
        except ValueError:
            raise place.invalid("bad_date", _NO_DATE) from None
        return self.local(value, place)

    def offset(self, text: str, at: Millis) -> int | None:
        """Return how many minutes the clock of an ISO 8601 text is ahead of UTC, or that of the stated zone then.

        Args:
            text: as `iso` has read it.
            at: the time it names. A text that ends in Z tells no zone.
        """
        if text[-1] in "Zz":
            return None
        ahead = datetime.fromisoformat(text).utcoffset()
        if ahead is None and self.zone is not None:
            ahead = to_datetime(at).astimezone(self.zone).utcoffset()
        return None if ahead is None else int(ahead.total_seconds() // 60)

    def form(self, text: str, forms: tuple[str, ...], place: Place) -> Millis:
        """Return the time of a text in one of several `strptime` forms; errors as `iso`."""
        for form in forms:
            try:
                value = datetime.strptime(text.strip(), form)  # noqa: DTZ007 - the zone follows
            except ValueError:
                continue
            return self.local(value, place)
        raise place.invalid("bad_date", _NO_DATE)

    def local(self, value: datetime, place: Place) -> Millis:
        """Return the time of a date, in the stated zone if it has none of its own."""
        if value.tzinfo is not None:
            return _millis(value, place)
        if self.zone is None:
            raise place.invalid("no_zone", _NO_ZONE)
        self.tally.assumed_timezone = str(self.zone)
        self.tally.assumed_dates += 1
        return _millis(value.replace(tzinfo=self.zone), place)

    def epoch(self, seconds: object, place: Place) -> Millis:
        """Return the time of Unix seconds, given as a number or its text; these are UTC by definition."""
        try:
            number = float(str(seconds))
        except ValueError:
            number = -1.0
        if not 0 <= number <= _LAST_SECOND:
            raise place.invalid("bad_date", "the time is not a number of seconds since 1970")
        return Millis(int(number * 1_000 + 0.5))


def _millis(value: datetime, place: Place) -> Millis:
    try:
        return from_datetime(value)
    except BadInput:
        raise place.invalid("bad_date", "the date lies outside of the years 1 to 9999 of UTC") from None
