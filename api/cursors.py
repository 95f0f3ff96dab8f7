"""Cursors: a place in a list as an opaque text that is good for one question alone (KN-113, FM-9)."""

from __future__ import annotations

import base64
import hashlib
import json
from math import isfinite
from typing import Any

from graph.model.ids import NodeId
from graph.store.query import After

_CHECK_BYTES = 8
_INTEGER_BITS = 64


def cursor_of(fingerprint: bytes, place: Any) -> str:
    """Return the cursor of a place, a JSON value, in the question that `fingerprint` stands for."""
    raw = json.dumps(place, separators=(",", ":"), ensure_ascii=False).encode()
    return base64.urlsafe_b64encode(_check(fingerprint, raw) + raw).decode().rstrip("=")


def place_of(fingerprint: bytes, cursor: str) -> Any:
    """Return the place of a cursor.

    Raises:
        ValueError: damaged, or made by another question.
    """
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        check, raw = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
        if check == _check(fingerprint, raw):
            return json.loads(raw)
    except (ValueError, RecursionError):
        pass
    raise ValueError("a damaged cursor, or one of another question")


def after_of(fingerprint: bytes, cursor: str) -> After:
    """Return the place of nodes that a cursor of ``[value, id]`` keeps; whether the value fits is for the question.

    A check value is no secret, so what it fits may still be made up.

    Raises:
        ValueError: damaged, made by another question, or no place of a node.
    """
    place = place_of(fingerprint, cursor)
    if not (isinstance(place, list) and len(place) == 2 and isinstance(place[1], str)):
        raise ValueError("no place of a node")
    value, id_ = place
    parts = value if isinstance(value, list) else [value]
    if not all(_is_plain(part) for part in (*parts, id_)):
        raise ValueError("no place of a node")
    return After(tuple(parts) if isinstance(value, list) else value, NodeId(id_))


def _is_plain(value: Any) -> bool:
    """Return whether a value is one that a store can be asked with."""
    if isinstance(value, str):
        return not any("\ud800" <= character <= "\udfff" for character in value)
    if isinstance(value, int):
        return value.bit_length() < _INTEGER_BITS
    return value is None or (isinstance(value, float) and isfinite(value))


def _check(fingerprint: bytes, raw: bytes) -> bytes:
    return hashlib.sha256(fingerprint + raw).digest()[:_CHECK_BYTES]
