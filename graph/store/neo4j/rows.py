"""Rows of values as parameters: the names of the properties stand in the statement, once, and not in every row.

Packing a name for the wire costs as much as packing a value, and a message has some fifty of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def values_of(rows: Iterable[Mapping[str, Any]], names: Sequence[str]) -> list[list[Any]]:
    """Return each row as a list in the order of `names`; what a row lacks is None.

    >>> values_of([{"b": 2}, {"a": 1, "b": 2}], ["a", "b"])
    [[None, 2], [1, 2]]
    """
    return [[row.get(name) for name in names] for row in rows]


def map_of(names: Sequence[str], variable: str = "row") -> str:
    """Return the Cypher map of such a row; None means that there is no such property.

    >>> map_of(["id", "kbId"])
    '{`id`: row[0], `kbId`: row[1]}'
    """
    return "{" + ", ".join(f"`{name}`: {variable}[{place}]" for place, name in enumerate(names)) + "}"
