"""JSON bodies: parsing them, and naming the field that does not fit as the body spells it (SM-62 to SM-64)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from graph.model.errors import InvalidRequest

MAX_PATH_SHOWN: Final = 200


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
        elif isinstance(one, str) and not one.isascii() and _has_surrogate(one):
            raise InvalidRequest("a text has a lone surrogate", path=_shown(path))


def _has_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _no_json(name: str) -> Any:
    raise ValueError(name)


def path_of(error: ValidationError, given: Any) -> str:
    """Return the field that is wrong as the body spells it, such as ``command.key``; the whole body is ``body``."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return _shown(tuple(_places(first, given)))


def _shown(places: Sequence[str]) -> str:
    path = ".".join(places) or "body"
    return path.encode("utf-8", "replace").decode("utf-8")[:MAX_PATH_SHOWN]


def _places(error: ErrorDetails, given: Any) -> Iterator[str]:
    """Yield the steps to a field; pydantic also names which of several shapes it took, which no body does."""
    for step, place in enumerate(error["loc"], 1):
        is_there = place in given if isinstance(given, dict) else isinstance(given, list)
        if is_there or (step == len(error["loc"]) and error["type"] == "missing"):
            yield str(place)
            given = given[place] if is_there else None
    if error["type"].startswith("union_tag"):
        yield "_tag"
