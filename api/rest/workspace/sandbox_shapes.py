"""The shapes of sandbox sessions, their files and snapshots, as the contract writes them (SB-104 to SB-118)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field

from api.rest.workspace.memory_shapes import Shape
from graph.model.nodes.sandbox import SandboxFile, SandboxSession, SandboxSnapshot
from graph.model.time import render
from graph.rules.workspace_ids import outside

SANDBOXES: Final = "/sandbox-sessions"
SANDBOX: Final = "/sandbox-sessions/{session_id}"
RUNS: Final = "/sandbox-sessions/{session_id}/runs"
ROLLOUTS: Final = "/sandbox-sessions/{session_id}/rollouts"
CLOSE: Final = "/sandbox-sessions/{session_id}/close"
FILES: Final = "/sandbox-sessions/{session_id}/files"
FILE: Final = "/sandbox-sessions/{session_id}/files/{path:path}"
SESSION_SNAPSHOTS: Final = "/sandbox-sessions/{session_id}/snapshots"
SNAPSHOT: Final = "/snapshots/{snapshot_id}"

_Text = Annotated[str, Field(strict=True)]


class EntryBody(Shape):
    """A file of a new workspace."""

    type: Literal["file"]
    content: _Text = ""


class ManifestBody(Shape):
    """Files by path."""

    entries: dict[str, EntryBody] = Field(default_factory=dict)


class NewSandboxBody(Shape):
    """What a workspace starts with: the files of a snapshot, then those of the manifest whose paths are free."""

    manifest: ManifestBody | None = None
    snapshot_id: _Text | None = None


def sandbox_row(session: SandboxSession) -> dict[str, Any]:
    """Return a session as it is made (SB-104)."""
    return {"id": outside(session.id), "status": session.status, "created_at": render(session.created_at)}


def sandbox_json(session: SandboxSession) -> dict[str, Any]:
    """Return the view of a session (SB-105)."""
    closed_at = None if session.closed_at is None else render(session.closed_at)
    return {**sandbox_row(session), "closed_at": closed_at, "report": session.report}


def sandbox_file_row(file: SandboxFile) -> dict[str, Any]:
    """Return a file without its content, as lists show it."""
    return {
        "id": outside(file.id),
        "path": file.path,
        "size": file.size,
        "version": file.version,
        "created_at": render(file.created_at),
        "updated_at": render(file.updated_at),
    }


def sandbox_file_json(file: SandboxFile, data: bytes) -> dict[str, Any]:
    """Return the view of a file; bytes that are no UTF-8 are replaced by U+FFFD (SB-26)."""
    return {**sandbox_file_row(file), "content": data.decode(errors="replace")}


def snapshot_json(snapshot: SandboxSnapshot) -> dict[str, Any]:
    """Return the view of a snapshot (SB-118)."""
    return {
        "id": outside(snapshot.id),
        "session_id": outside(snapshot.session_id),
        "created_at": render(snapshot.created_at),
    }
