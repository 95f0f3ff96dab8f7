"""What a record, its id, a query and the cursor of a list may be (RM-30, RM-33, RM-35, RM-41). Pure."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import Final

from graph.model.ids import NodeId
from graph.rules.memory_limits import MemoryLimits
from graph.rules.memory_refusals import invalid, missing

KIND: Final = "memory_record"
MAX_ID: Final = 256
DEFAULT_NEAREST: Final = 10
MAX_NEAREST: Final = 100
_CHECK_BYTES: Final = 8
_MAX_OFFSET: Final = 2**31 - 1


def checked_text(text: str, limits: MemoryLimits) -> str:
    """Return the text of a record, verbatim.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `text`: it is blank, or too long.
    """
    if not text.strip() or len(text) > limits.record_chars:
        raise invalid("text", f"has 1 to {limits.record_chars} characters and is not blank")
    return text


def checked_query(query: str) -> str:
    """Return what is searched for.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `query`: it is blank.
    """
    if not query.strip():
        raise invalid("query", "is not blank")
    return query


def checked_nearest(limit: int) -> int:
    """Return how many records a search gives.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `limit`.
    """
    if not 1 <= limit <= MAX_NEAREST:
        raise invalid("limit", f"takes 1 to {MAX_NEAREST}")
    return limit


def checked_record_id(given: str) -> str:
    """Return the id of a record, which stands in a path at the backend.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `record_id`: it is too long; ``not_found``: no record has such an id,
            because a path would lead elsewhere.
    """
    if len(given) > MAX_ID:
        raise invalid("record_id", f"has up to {MAX_ID} characters")
    if given in ("", ".", ".."):
        raise missing(KIND, given)
    return given


def cursor_of(memory: NodeId, offset: int) -> str:
    """Return the cursor of a place in the list of a memory: an offset, good with any limit (RM-75)."""
    raw = json.dumps(offset).encode()
    return base64.urlsafe_b64encode(_check(memory, raw) + raw).decode().rstrip("=")


def offset_of(memory: NodeId, cursor: str | None) -> int:
    """Return the place that a cursor names; 0 without one.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `cursor`: it is none of this list.

    >>> offset_of(NodeId("wsm_1"), cursor_of(NodeId("wsm_1"), 70))
    70
    """
    if cursor is None:
        return 0
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        if data[:_CHECK_BYTES] != _check(memory, data[_CHECK_BYTES:]):
            raise ValueError
        offset = int(data[_CHECK_BYTES:])
        if not 0 <= offset <= _MAX_OFFSET:  # the check value is no secret: somebody may make up what it fits
            raise ValueError
        return offset
    except (ValueError, binascii.Error):
        raise invalid("cursor", "is one that this list gave") from None


def _check(memory: NodeId, raw: bytes) -> bytes:
    return hashlib.sha256(f"records/{memory}/".encode() + raw).digest()[:_CHECK_BYTES]
