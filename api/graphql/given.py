"""What a command of workspace memory was given: arguments left out, nulls, and JSON that must be an object."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import strawberry

from graph.rules.memory_refusals import invalid


def given_of(asked: Mapping[str, Any], *, never_null: Iterable[str] = ()) -> dict[str, Any]:
    """Return the arguments that a client gave, by the names that services have for them.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at one that is null where only another value may be set.
    """
    given = {field: value for field, value in asked.items() if value is not strawberry.UNSET}
    for field in never_null:
        if field in given and given[field] is None:
            raise invalid(field, "is not null")
    return given


def object_of(field: str, given: Any) -> dict[str, Any]:
    """Return a JSON object; none given is an empty one.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`.
    """
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise invalid(field, "is an object")
    return dict(given)


def texts_of(field: str, given: Any) -> dict[str, str]:
    """Return a JSON object of texts; none given is an empty one.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `field`.
    """
    found = object_of(field, given)
    if not all(isinstance(value, str) for value in found.values()):
        raise invalid(field, "is a map of texts")
    return found
