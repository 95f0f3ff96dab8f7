"""Sandbox memory: workspaces of agents that learn from run to run, their files, and copies of them.

Outside, ids have the prefixes of the contract (SB-104, SB-118); `graph.rules.workspace_ids` makes one of the other.
Who may read the workspace of the service may read all of them (SB-100). Source: SB-104 to SB-118.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.time import Millis


class SandboxState(StrEnum):
    """Life of a session (SB-105)."""

    OPEN = "open"
    CLOSING = "closing"
    CLOSED = "closed"


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxSession(Node):
    """One live sandbox workspace; a pool: its own id is its `pool`. Outside ``sbx_…``.

    Attributes:
        status: a `SandboxState`.
        works: what closing has to do, and how far it is: JSON of the library (`rootward.sandbox.work`), one a layout.
        report: of its close (SB-114).
        snapshot_id: what the workspace started as.
        closed_by: who closed it.
    """

    PREFIX: ClassVar[str] = "sbx"
    status: str
    works: Json = None
    report: Json = None
    snapshot_id: NodeId | None = None
    created_by: NodeId
    closed_by: NodeId | None = None
    closed_at: Millis | None = None
    version: int = 1
    access_version: int = 1
    audit_seq: int = 0
    audit_head: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxFile(Node):
    """A file of a session or of a snapshot (`place_id`); its bytes are in its parts. Outside ``sfile_…``.

    Attributes:
        path: relative, in NFC (FM-58).
        size: bytes.
        lines: how many newlines it has.
        ends_open: its last byte is there and is no newline: a line that is appended needs one first (SB-49).
        next_part: number that the next `SandboxPart` gets; numbers are not given twice.
    """

    PREFIX: ClassVar[str] = "sbf"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("place_id", "path"),)
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("place_id", "path"),)
    place_id: NodeId = indexed()
    path: str
    size: int
    lines: int
    ends_open: bool = False
    next_part: int
    version: int = 1
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxPart(Node):
    """Bytes of a file, in a blob (AD-32): an appended line is one more, and nothing that was there is rewritten."""

    PREFIX: ClassVar[str] = "sbp"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("file_id", "number"),)
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("file_id", "number"),)
    file_id: NodeId = indexed()
    number: int
    blob_ref: str = indexed()


@dataclass(frozen=True, kw_only=True, slots=True)
class SandboxSnapshot(Node):
    """A copy of the workspace of a session, kept until it is deleted (SB-118). Outside ``snap_…``."""

    PREFIX: ClassVar[str] = "snp"
    session_id: NodeId = indexed()
    created_by: NodeId
