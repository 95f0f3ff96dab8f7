"""Answers of the service as typed values: JSON in, frozen dataclasses out.

Members that a dataclass does not name are passed over, so that a newer service still answers an older library.
"""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from rootward.service.failures import UnexpectedAnswer

T = TypeVar("T")


def shaped(kind: type[T], given: object) -> T:
    """Return a JSON value as `kind`.

    `kind` is a dataclass of texts, numbers, truth values, dataclasses, tuples and mappings of these, or unions. A
    member ``updated_at`` is looked up as ``updatedAt`` and as ``updated_at``; one with a default may be missing.

    Raises:
        UnexpectedAnswer: the value has another form.

    >>> @dataclasses.dataclass(frozen=True)
    ... class Row:
    ...     id: str
    ...     updated_at: int = 0
    >>> shaped(Row, {"id": "a", "updatedAt": 7, "more": None})
    Row(id='a', updated_at=7)
    """
    made: T = _shaped(kind, given, kind.__name__)
    return made


def _shaped(kind: Any, given: object, where: str) -> Any:
    origin = typing.get_origin(kind)
    if kind in (Any, object):
        return given
    if origin in (typing.Union, types.UnionType):
        return _one_of(typing.get_args(kind), given, where)
    if origin is tuple:
        inner = typing.get_args(kind)[0]
        return tuple(_shaped(inner, one, where) for one in _is(list, given, where))
    if origin is Mapping:
        inner = typing.get_args(kind)[1]
        return {name: _shaped(inner, one, where) for name, one in _is(dict, given, where).items()}
    if dataclasses.is_dataclass(kind):
        return _object(typing.cast("type[Any]", kind), _is(dict, given, where))
    if kind is float and type(given) is int:
        return float(given)
    return _is(kind, given, where)


def _object(kind: type[Any], given: Mapping[str, object]) -> Any:
    members = {}
    for name, hint, required in _members(typing.cast("Hashable", kind)):
        key = next((one for one in (_camel(name), name) if one in given), None)
        if key is not None:
            members[name] = _shaped(hint, given[key], f"{kind.__name__}.{name}")
        elif required:
            raise UnexpectedAnswer(f"the answer has no {kind.__name__}.{name}")
    return kind(**members)


def _one_of(kinds: tuple[Any, ...], given: object, where: str) -> Any:
    if given is None and types.NoneType in kinds:
        return None
    for kind in kinds:
        if kind is not types.NoneType:
            try:
                return _shaped(kind, given, where)
            except UnexpectedAnswer:
                continue
    raise UnexpectedAnswer(f"the answer has another {where}")


def _is(kind: type[T], given: object, where: str) -> T:
    if not isinstance(given, kind) or (isinstance(given, bool) and kind is not bool):
        raise UnexpectedAnswer(f"the answer has another {where}")
    return given


@lru_cache(maxsize=256)
def _members(kind: Any) -> tuple[tuple[str, Any, bool], ...]:
    hints = typing.get_type_hints(kind)
    return tuple((field.name, hints[field.name], _is_required(field)) for field in dataclasses.fields(kind))


def _is_required(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)
