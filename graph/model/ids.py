"""Identity of nodes: internal ids, host-chosen ids and the global id that clients see.

An internal `NodeId` is ``<prefix>_<body>``; the prefix names the kind (see `graph.model.schema`). The body is
made by the service (26 characters: 48 bits of time, 80 random bits) or, for what a host may name, is the path
``workspace/container/local``. Clients only ever see the opaque `GlobalId` form. Source: AD-1 to AD-3, KN-15.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NewType, Protocol

from graph.model.errors import BadInput

NodeId = NewType("NodeId", str)
WorkspaceId = NewType("WorkspaceId", str)

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_PAIRS = tuple(high + low for high in _ALPHABET for low in _ALPHABET)
"""Two characters of an id for each ten bits."""
_LOCAL = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_CHECK_BYTES = 6
_DASH = 62
"""What ``-`` stands for in Base64; an id that began with it would be taken for an option on a command line."""
_BODY_LENGTH = 26


class IdSource(Protocol):
    """Makes bodies of new ids; a port, so that tests get the ids they expect."""

    def new(self) -> str:
        """Return a body never returned before, of 26 characters with at least 80 random bits."""
        ...


def encode_body(time_ms: int, randomness: bytes) -> str:
    """Return 48 bits of time and 80 random bits as 26 characters that sort by time.

    >>> encode_body(0, bytes(10))
    '00000000000000000000000000'
    """
    return f"{_time_part(time_ms)}{_forty_bits(randomness[:5])}{_forty_bits(randomness[5:10])}"


@lru_cache(maxsize=64)
def _time_part(time_ms: int) -> str:
    """Return the first ten characters: many ids are made in one millisecond."""
    number = time_ms & (2**48 - 1)
    return "".join([_PAIRS[(number >> shift) & 1023] for shift in range(40, -1, -10)])


def _forty_bits(randomness: bytes) -> str:
    number = int.from_bytes(randomness, "big")
    return f"{_PAIRS[number >> 30]}{_PAIRS[number >> 20 & 1023]}{_PAIRS[number >> 10 & 1023]}{_PAIRS[number & 1023]}"


def node_id(prefix: str, body: str) -> NodeId:
    """Return the internal id of a node of the kind that `prefix` names."""
    return NodeId(f"{prefix}_{body}")


def hosted_id(prefix: str, workspace: str, local: str, *, container: str = "") -> NodeId:
    """Return the internal id of something whose local id a host chose.

    Raises:
        BadInput: the local id is not 1 to 128 characters of ``A-Za-z0-9._:-`` (AD-2).

    >>> hosted_id("prn", "w1", "ana", container="human")
    'prn_w1/human/ana'
    """
    if not _LOCAL.fullmatch(local):
        raise BadInput("a local id has 1 to 128 characters of A-Z a-z 0-9 . _ : -", field="id")
    return NodeId(f"{prefix}_{workspace}/{container}/{local}")


def prefix_of(node: str) -> str:
    """Return the part of an internal id that names its kind; empty if there is none."""
    head, separator, _ = node.partition("_")
    return head if separator else ""


def is_made(node: str) -> bool:
    """True if the service made the body of an id: nothing can have named it before it was made.

    >>> is_made(node_id("ent", encode_body(0, bytes(10)))), is_made("prn_w1/human/ana")
    (True, False)
    """
    return len(node.partition("_")[2]) == _BODY_LENGTH and "/" not in node


def local_part(node: str) -> str:
    """Return what a host would call this node: the last part of its path, or its body."""
    return node.partition("_")[2].rpartition("/")[2]


@dataclass(frozen=True, kw_only=True, slots=True)
class GlobalId:
    """What a GraphQL ``ID`` says: a kind, a workspace and an internal id."""

    kind: str
    workspace: WorkspaceId
    node: NodeId

    def encode(self) -> str:
        """Return the opaque, URL-safe form; it is checked by `decode`."""
        raw = "\x00".join((self.kind, self.workspace, self.node)).encode()
        return base64.urlsafe_b64encode(_check(raw) + raw).decode().rstrip("=")

    @classmethod
    def decode(cls, text: str) -> GlobalId | None:
        """Return what `text` stands for, or None if it is damaged (which answers like an unknown id)."""
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
            check, raw = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
            kind, workspace, node = raw.decode().split("\x00")
        except (ValueError, binascii.Error):
            return None
        found = cls(kind=kind, workspace=WorkspaceId(workspace), node=NodeId(node))
        return found if check == _check(raw) and found.encode() == text else None


def _check(raw: bytes) -> bytes:
    check = hashlib.sha256(b"rootward-id\x00" + raw).digest()[:_CHECK_BYTES]
    return bytes([check[0] & 0x7F]) + check[1:] if check[0] >> 2 == _DASH else check
