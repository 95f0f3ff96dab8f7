"""From JSON to typed operations: each is read alone, so that a bad one spoils no other. Source: DR-42, KN-78."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import ValidationError

from graph.model.errors import LimitExceeded, OperationRejected
from graph.rules.operations.schema import KINDS, Operation
from graph.rules.operations.verdicts import refuse

NUMERIC_WORDS: Final = frozenset({"confidence", "probability", "certainty", "score"})
"""Belief is never a number (KN-77)."""

_MAX_NESTING: Final = 12
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})

_ID_FIELDS: Final = frozenset(
    {
        "entry",
        "block",
        "relation",
        "subject",
        "object",
        "source",
        "after",
        "sameAs",
        "principal",
        "duplicateOf",
        "lesson",
    }
)
_ID_LISTS: Final = frozenset({"supersedes", "fromBlocks"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """One operation of a list as it was read.

    Attributes:
        op: its name as given, or "" if it gives none.
        ref: the name that later operations use for the entry it makes.
        operation: what it says; None if `error` says why it cannot be read.
    """

    index: int
    op: str
    ref: str | None = None
    operation: Operation | None = None
    error: OperationRejected | None = None


def parse_operations(raw: Sequence[Any], *, max_operations: int) -> tuple[Parsed, ...]:
    """Read a list of operations.

    Raises:
        LimitExceeded: more than `max_operations`; nothing of the list counts.
    """
    if len(raw) > max_operations:
        raise LimitExceeded(f"send at most {max_operations} operations", field="operations", limit=max_operations)
    return tuple(_parsed(index, given) for index, given in enumerate(raw))


def map_ids(raw: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return an operation as JSON with `change` applied to every text that stands where an id may stand.

    Transports turn their ids into internal ones with it; `change` returns a `ref` as it is.

    >>> map_ids({"op": "addBlock", "entry": "1", "text": "1", "citations": [{"source": "2"}]}, lambda id: "x" + id)
    {'op': 'addBlock', 'entry': 'x1', 'text': '1', 'citations': [{'source': 'x2'}]}
    """
    return {key: _mapped(key, value, change) for key, value in raw.items()}


def _mapped(key: str, value: Any, change: Callable[[str], str]) -> Any:
    if key in _ID_FIELDS and isinstance(value, str):
        return change(value)
    if key in _ID_LISTS and isinstance(value, list | tuple):
        return [change(item) if isinstance(item, str) else item for item in value]
    if key in ("citations", "blocks", "lines") and isinstance(value, list | tuple):
        return [map_ids(item, change) if isinstance(item, Mapping) else item for item in value]
    if key == "deduction" and isinstance(value, Mapping):
        return {name: _basis(name, item, change) for name, item in value.items()}
    if key in ("set", "attributes"):
        return _attributes(value, change)
    return value


def _basis(name: str, value: Any, change: Callable[[str], str]) -> Any:
    return _mapped("supersedes", value, change) if name == "basis" else value


def _attributes(value: Any, change: Callable[[str], str]) -> Any:
    """Change the ids in the citations of attributes alone: an attribute may be called `source`."""
    if isinstance(value, Mapping):
        return {key: _attribute(item, change) for key, item in value.items()}
    return [_attribute(item, change) for item in value] if isinstance(value, list | tuple) else value


def _attribute(value: Any, change: Callable[[str], str]) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {key: _mapped(key, item, change) if key == "citations" else item for key, item in value.items()}


def _parsed(index: int, given: Any) -> Parsed:
    op = given.get("op") if isinstance(given, Mapping) else None
    name = op if isinstance(op, str) and len(op) <= 64 else ""
    ref = given.get("ref") if isinstance(given, Mapping) else None
    try:
        operation = _read(given, name)
    except OperationRejected as error:
        return Parsed(index=index, op=name, ref=ref if isinstance(ref, str) else None, error=error)
    return Parsed(index=index, op=name, ref=ref if isinstance(ref, str) else None, operation=operation)


def _read(given: Any, name: str) -> Operation:
    if not isinstance(given, Mapping):
        raise refuse("SCHEMA_INVALID", "an operation is a JSON object with a field op")
    if "op" not in given:
        raise refuse("SCHEMA_INVALID", "the field op is missing", field="op")
    if not isinstance(given["op"], str):
        raise refuse("SCHEMA_INVALID", "the field op is a text", field="op")
    if name not in KINDS:
        raise refuse("UNKNOWN_OPERATION", f"op is one of {', '.join(KINDS)}")
    if any(word.casefold() in NUMERIC_WORDS for word in _keys(given)):
        raise refuse("NUMERIC_CONFIDENCE", "say how sure a statement is by its standing, never by a number")
    try:
        return KINDS[name].model_validate(given)
    except ValidationError as error:
        raise _schema_error(error) from None


def _keys(value: Any) -> set[str]:
    """Return every field name, and what attributes in a list or a list of unset ones are called."""
    found: set[str] = set()
    level = [value]
    for _ in range(_MAX_NESTING):
        below: list[Any] = []
        for item in level:
            if isinstance(item, Mapping):
                found.update(map(str, item))
                key = item.get("key")
                if isinstance(key, str):
                    found.add(key)
                item = item.values()
            below += [one for one in item if type(one) not in _PLAIN and isinstance(one, Mapping | list | tuple)]
        if not below:
            break
        level = below
    return found


def _schema_error(error: ValidationError) -> OperationRejected:
    """Name the first field that is wrong; a name that is not the contract's own is content and is left out."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    known = {field for kind in KINDS.values() for field in _field_names(kind)}
    path = ".".join(str(part) for part in first["loc"] if isinstance(part, int) or part in known)
    says = "is missing" if first["type"] == "missing" else f"is not as the contract has it ({first['type']})"
    return refuse("SCHEMA_INVALID", f"{path or 'the operation'} {says}", field=path)


def _field_names(model: Any) -> frozenset[str]:
    nested = ("lines", "source", "quote", "role", "condition", "conclusion", "basis", "date", "key", "value", "text")
    more = ("deduction", "standing", "change", "durability", "citations", "authority", "after", "supersedes")
    return frozenset((*model.model_fields, *nested, *more))
