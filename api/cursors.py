"""Cursors: a place in a list as an opaque text that is good for one question alone (KN-113, FM-9)."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

_CHECK_BYTES = 8


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


def _check(fingerprint: bytes, raw: bytes) -> bytes:
    return hashlib.sha256(fingerprint + raw).digest()[:_CHECK_BYTES]
