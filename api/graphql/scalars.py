"""The scalars of AD-4: DateTime, Long and JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NewType

import strawberry
from strawberry.types.scalar import ScalarDefinition

from graph.model.errors import BadInput
from graph.model.fields import Json as JsonValue
from graph.model.time import Millis, parse, parse_said, render, render_said

Long = NewType("Long", int)
"""Milliseconds, micro-USD, byte counts, sequence numbers: exact up to 2^53 − 1 in JSON readers."""

JSON = NewType("JSON", object)


@dataclass(frozen=True, slots=True)
class SaidAt:
    """A time as it was told: when, and how many minutes that clock was ahead of UTC, if it was told."""

    at: Millis
    offset: int | None


MAX_LONG = 2**63 - 1


def _parse_time(value: Any) -> Millis:
    if not isinstance(value, str):
        raise BadInput("a time is written as RFC 3339, such as 2025-05-10T00:00:00Z", field="time")
    return parse(value)


def _parse_said(value: Any) -> SaidAt:
    if not isinstance(value, str):
        raise BadInput("a time is written as RFC 3339, such as 2025-05-10T00:00:00+02:00", field="time")
    return SaidAt(*parse_said(value))


def _render_said(value: SaidAt) -> str:
    return render_said(value.at, value.offset)


def _parse_long(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > MAX_LONG:
        raise BadInput("a Long is a whole number of 64 bits", field="long")
    return value


def _same(value: JsonValue) -> JsonValue:
    return value


DATE_TIME = strawberry.scalar(
    name="DateTime",
    description="A time in UTC: RFC 3339 with milliseconds.",
    serialize=render,
    parse_value=_parse_time,
)
ZONED = strawberry.scalar(
    name="ZonedDateTime",
    description="A time in the zone of who told it: RFC 3339 with milliseconds. One that ends in Z tells no zone.",
    serialize=_render_said,
    parse_value=_parse_said,
)
LONG = strawberry.scalar(name="Long", description="A whole number of 64 bits.", serialize=int, parse_value=_parse_long)
JSON_SCALAR = strawberry.scalar(name="JSON", description="Any JSON value.", serialize=_same, parse_value=_same)

SCALARS: dict[object, ScalarDefinition] = {Millis: DATE_TIME, SaidAt: ZONED, Long: LONG, JSON: JSON_SCALAR}
