"""How a node kind declares its fields: plain dataclass fields with a few words of metadata.

Allowed types: str, int, float, bool, bytes, Json (any JSON value), tuple[str, ...], Sealed, each also optional. A
`Sealed` field is encrypted before it reaches a store; it can be neither found nor sorted by.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from graph.model.ids import NodeId, WorkspaceId
from graph.model.time import Millis

Json = Any
"""A JSON value: None, bool, int, float, str, list or dict with str keys. Treated as frozen."""


class FieldType(StrEnum):
    """How a store keeps a field."""

    TEXT = "text"
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    BYTES = "bytes"
    JSON = "json"
    TEXTS = "texts"
    SEALED = "sealed"


def indexed(default: Any = ...) -> Any:
    """Declare a field that `find` looks up or sorts by."""
    return _declare(default, indexed=True)


def _declare(default: Any, **metadata: bool) -> Any:
    if default is ...:
        return field(metadata=metadata)
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """What every node has.

    Attributes:
        id: internal id, whose prefix names the kind.
        workspace: the tenant; nothing crosses it.
        pool: the pool it lives in, if any.
        created_at: when the service recorded it.
    """

    PREFIX: ClassVar[str] = ""
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Sets of fields that are unique together while none of them is None."""
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = ()
    """Compound indexes beside those of single fields."""
    GUARDED: ClassVar[bool] = True
    """False for nodes that only `SystemScope` reads."""
    SHARES_PREFIX: ClassVar[bool] = False
    """True if the prefix names another kind too, whose ids are no paths (with a "/") while all of this kind are."""

    id: NodeId
    workspace: WorkspaceId
    pool: NodeId | None = None
    created_at: Millis
