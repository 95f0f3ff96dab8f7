"""How the values of fields are kept in columns, both ways.

None is NULL; booleans are 0 and 1; tuples of texts and JSON are JSON text, whose objects have sorted keys so that
equal values are equal texts; all else is kept as it is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from graph.model.fields import FieldType
from graph.model.json_text import encoder
from graph.model.schema import FieldSpec
from graph.model.sealed import Sealed
from graph.store import scalars

Column = None | int | float | str | bytes
"""What SQLite holds in one place."""


def encode(spec: FieldSpec, value: Any) -> Column:
    """Return the column value of a field's value.

    Raises:
        TypeError: the field does not take the value.
    """
    if value is None:
        if not spec.nullable:
            raise TypeError(f"{spec.name} needs a value")
        return None
    try:
        return ENCODERS[spec.type](value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{spec.name} takes {spec.type.value}") from error


def encode_asked(spec: FieldSpec, value: Any) -> Column:
    """Return the column value of what a question compares a field with; None is NULL for every field."""
    return None if value is None else encode(spec, value)


def decode(spec: FieldSpec, column: Any) -> Any:
    """Return the value that `encode` was given."""
    decoder = DECODERS.get(spec.type)
    return column if column is None or decoder is None else decoder(column)


def to_json(value: Any) -> str:
    """Return JSON text; equal values give equal texts."""
    try:
        return _SORTED(value)
    except TypeError:  # keys of several types do not sort; JSON makes texts of them all
        return to_json(json.loads(json.dumps(value, allow_nan=False)))


def listed(values: Any) -> str:
    """Return texts or numbers as one parameter, to be read by ``json_each(?)``; any text is safe in it."""
    items = tuple(values)
    return _LISTED(items) if items else "[]"


_LISTED = encoder(ascii_only=True, sort_keys=False)
_SORTED = encoder(ascii_only=False, sort_keys=True, allow_nan=False)


def texts_from(column: str) -> tuple[str, ...]:
    """Return the tuple that was kept as JSON text."""
    return () if column == "[]" else tuple(json.loads(column))


def _boolean(value: Any) -> int:
    return int(scalars.boolean(value))


def _sealed(value: Any) -> bytes:
    return scalars.sealed(value).data


def _texts(value: Any) -> str:
    return to_json(scalars.texts(value)) if value else "[]"


ENCODERS: Mapping[FieldType, Callable[[Any], Column]] = {
    FieldType.TEXT: scalars.text,
    FieldType.INTEGER: scalars.integer,
    FieldType.REAL: scalars.real,
    FieldType.BOOLEAN: _boolean,
    FieldType.BYTES: scalars.raw,
    FieldType.TEXTS: _texts,
    FieldType.JSON: to_json,
    FieldType.SEALED: _sealed,
}

DECODERS: Mapping[FieldType, Callable[[Any], Any]] = {
    FieldType.BOOLEAN: bool,
    FieldType.TEXTS: texts_from,
    FieldType.JSON: json.loads,
    FieldType.SEALED: Sealed,
}
"""Types that come back as they are kept have none."""
