"""The values that fields of operations take: dates, kinds of change, roles; read leniently, kept strictly."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints

from graph.model.errors import BadInput
from graph.model.nodes.knowledge import Basis, Precision, Standing
from graph.rules.operations.dates import Date, parse_date


class Change(StrEnum):
    """Why a statement is made or changed (DR-42)."""

    ADDITION = "addition"
    EVOLUTION = "evolution"
    CORRECTION = "correction"
    DISPUTE = "dispute"
    RUMOUR = "rumour"
    INFERENCE = "inference"
    COMPRESSION = "compression"


class Role(StrEnum):
    """What a citation does for its statement (KN-11)."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CORRECTS = "corrects"


class How(StrEnum):
    """How a relation is removed (KN-31)."""

    ENDED = "ended"
    RETRACTED = "retracted"


def _read_date(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_date(value)
    except BadInput as error:
        raise ValueError("a date is written as RFC 3339 or as YYYY-MM-DD") from error


def lowered(value: Any) -> Any:
    """GraphQL writes enumerations in upper case, the stored values are lower case; both are taken."""
    return value.lower() if isinstance(value, str) else value


def listed(value: Any) -> Any:
    """Take attributes as a list of objects with a `key`, or as one object with a member per key."""
    if not isinstance(value, Mapping):
        return value
    return [{**given, "key": key} if isinstance(given, Mapping) else given for key, given in value.items()]


Id = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]

Version = Annotated[int, Field(strict=True, ge=0)]

When = Annotated[Date | None, BeforeValidator(_read_date)]

ChangeIn = Annotated[Change, BeforeValidator(lowered)]

BasisIn = Annotated[Basis, BeforeValidator(lowered)]

StandingIn = Annotated[Standing, BeforeValidator(lowered)]

PrecisionIn = Annotated[Precision | None, BeforeValidator(lowered)]

RoleIn = Annotated[Role, BeforeValidator(lowered)]

HowIn = Annotated[How, BeforeValidator(lowered)]
