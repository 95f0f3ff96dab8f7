"""Dates of validity as operations give them: RFC 3339, or a day, month or year alone. Source: KN-73, KN-74."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from graph.model.errors import BadInput
from graph.model.nodes.knowledge import Precision
from graph.model.time import Millis, from_datetime, parse, to_datetime


@dataclass(frozen=True, slots=True)
class Date:
    """A date of validity in UTC milliseconds, with the precision that its form has."""

    at: Millis
    precision: Precision


_PARTS: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_PRECISIONS: Final = (Precision.YEAR, Precision.MONTH, Precision.DAY)


def parse_date(text: str) -> Date:
    """Return the date that a text names; a day, month or year stands for its first instant in UTC.

    Raises:
        BadInput: neither RFC 3339 with a zone nor ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD``.

    >>> parse_date("2025-04").precision.value, parse_date("2025-04").at == parse_date("2025-04-01T00:00:00Z").at
    ('month', True)
    """
    match = _PARTS.fullmatch(text)
    if match is None:
        return Date(parse(text), Precision.INSTANT)
    given = [int(part) for part in match.groups() if part]
    year, month, day = (*given, 1, 1)[:3]
    try:
        start = datetime(year, month, day, tzinfo=UTC)
    except ValueError as error:
        raise BadInput("a date is a day of the calendar, such as 2025-05-10", field="date") from error
    return Date(from_datetime(start), _PRECISIONS[len(given) - 1])


def day_of(at: Millis) -> str:
    """Return the day of an instant in UTC.

    >>> day_of(Millis(0))
    '1970-01-01'
    """
    return to_datetime(at).date().isoformat()
