"""Read large JSON files piece by piece, and report where they break without saying what stands there."""

from collections.abc import Iterator
from typing import IO, Any

import ijson

from api.importers.dates import Place
from graph.model.errors import ImportInvalid


def array_items(stream: IO[bytes], *, file: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield position and value of each object of a top-level JSON array; one item is held at a time.

    Raises:
        ImportInvalid: `bad_json`, or `bad_item` for an item that is not an object.
    """
    position = -1
    try:
        for position, item in enumerate(ijson.items(stream, "item", use_float=True)):
            if not isinstance(item, dict):
                raise Place(file=file, index=f"item {position}").invalid("bad_item", "an object was expected")
            yield position, item
    except (ijson.JSONError, UnicodeDecodeError, ValueError) as error:
        if isinstance(error, ImportInvalid):
            raise
        raise _broken(file, position) from None
    if position < 0:
        raise _broken(file, position)


def _broken(file: str, position: int) -> ImportInvalid:
    return Place(file=file, index=f"item {position + 1}").invalid(
        "bad_json", "the file is not a JSON array of objects, or is cut off; export it again"
    )


def text_of(item: dict[str, Any], key: str, place: Place) -> str:
    """Return a field that must be a text.

    Raises:
        ImportInvalid: `bad_field`.
    """
    value = item.get(key)
    if not isinstance(value, str) or not value:
        raise place.invalid("bad_field", f"the field {key} must be a text")
    return value
