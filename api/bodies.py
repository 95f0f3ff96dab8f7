"""JSON bodies: parsing them, and naming the field that does not fit as the body spells it (SM-62 to SM-64)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graph.model.errors import InvalidRequest
from graph.text.outside import has_surrogate

MAX_PATH_SHOWN: Final = 200

_ASKED: Final[Mapping[str, str]] = {
    "missing": "this field is missing: give it",
    "extra_forbidden": "there is no such field: leave it out",
    "string_type": "give a text",
    "int_type": "give a whole number",
    "int_from_float": "give a whole number",
    "bool_type": "give true or false",
    "list_type": "give a list",
    "dict_type": "give an object",
    "model_type": "give an object",
    "model_attributes_type": "give an object",
}
_LIMITS: Final[Mapping[str, tuple[str, str]]] = {
    "string_too_short": ("give at least {} characters", "min_length"),
    "string_too_long": ("give at most {} characters", "max_length"),
    "greater_than_equal": ("give at least {}", "ge"),
    "less_than_equal": ("give at most {}", "le"),
    "too_long": ("give at most {} members", "max_length"),
    "literal_error": ("give one of {}", "expected"),
    "union_tag_invalid": ("give one of {}", "expected_tags"),
}
"""What to do, by pydantic's name of a fault, with what its limit is called; nothing here repeats what was sent."""


def parsed(raw: bytes) -> Any:
    """Return the JSON value of a body.

    Raises:
        InvalidRequest: it is no JSON in UTF-8, nested too deeply, or has a text with a lone surrogate.
    """
    try:
        value = json.loads(raw.decode("utf-8"), parse_constant=_no_json)
    except (ValueError, RecursionError):
        raise InvalidRequest("the body is no JSON: send an object", path="body") from None
    if b"\\u" in raw:  # nothing else brings one
        _check_texts(value)
    return value


def _check_texts(value: Any) -> None:
    """Refuse texts that no UTF-8 can hold: no answer could repeat them, and no store keep them."""
    waiting: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while waiting:
        path, one = waiting.pop()
        if isinstance(one, dict):
            waiting += [(path, key) for key in one] + [((*path, key), inner) for key, inner in one.items()]
        elif isinstance(one, list):
            waiting += [((*path, str(place)), inner) for place, inner in enumerate(one)]
        elif isinstance(one, str) and has_surrogate(one):
            raise InvalidRequest("a text has a lone surrogate", path=_shown(path))


def _no_json(name: str) -> Any:
    raise ValueError(name)


def path_of(error: ValidationError, given: Any) -> str:
    """Return the field that is wrong as the body spells it, such as ``command.key``; the whole body is ``body``."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return _shown(tuple(_places(first, given)))


def advice_of(error: ValidationError) -> str:
    """Return what to do about the field that is wrong, in words that repeat nothing of what was sent (SM-127)."""
    first = error.errors(include_url=False, include_input=False)[0]
    kind = first["type"]
    if kind in _LIMITS:
        said, limit = _LIMITS[kind]
        return said.format(first.get("ctx", {}).get(limit))
    if kind == "union_tag_not_found":
        return _ASKED["missing"]
    return _ASKED.get(kind, "the body does not fit: see path")


def _shown(places: Sequence[str]) -> str:
    path = ".".join(places) or "body"
    return path.encode("utf-8", "replace").decode("utf-8")[:MAX_PATH_SHOWN]


def _places(error: ErrorDetails, given: Any) -> Iterator[str]:
    """Yield the steps to a field; pydantic also names which of several shapes it took, which no body does."""
    for step, place in enumerate(error["loc"], 1):
        is_there = _has(given, place)
        if is_there or (step == len(error["loc"]) and error["type"] == "missing"):
            yield str(place)
            given = given[place] if is_there else None
    if error["type"].startswith("union_tag"):
        yield "_tag"


def _has(given: Any, place: str | int) -> bool:
    return place in given if isinstance(given, dict) else isinstance(given, list) and isinstance(place, int)
