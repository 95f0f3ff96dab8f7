"""The scalars of AD-4: DateTime, Long and JSON."""

from __future__ import annotations

from typing import Any, NewType

import strawberry
from strawberry.types.scalar import ScalarDefinition

from graph.model.errors import BadInput
from graph.model.fields import Json as JsonValue
from graph.model.time import Millis, parse, render

Long = NewType("Long", int)
"""Milliseconds, micro-USD, byte counts, sequence numbers: exact up to 2^53 − 1 in JSON readers."""

JSON = NewType("JSON", object)

MAX_LONG = 2**63 - 1


def _parse_time(value: Any) -> Millis:
    if not isinstance(value, str):
        raise BadInput("a time is written as RFC 3339, such as 2025-05-10T00:00:00Z", field="time")
    return parse(value)


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
LONG = strawberry.scalar(name="Long", description="A whole number of 64 bits.", serialize=int, parse_value=_parse_long)
JSON_SCALAR = strawberry.scalar(name="JSON", description="Any JSON value.", serialize=_same, parse_value=_same)

SCALARS: dict[object, ScalarDefinition] = {Millis: DATE_TIME, Long: LONG, JSON: JSON_SCALAR}
