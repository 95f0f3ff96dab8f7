"""What the reference says of the routes of sandbox memory (SB-104 to SB-118)."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from api.rest.openapi import Operation, Reference
from api.rest.workspace.memory_reference import (
    CHANGE_STATES,
    LIST_STATES,
    PAGE,
    READ_STATES,
    TAGGED_STATES,
    Failure,
)
from api.rest.workspace.memory_shapes import ContentBody
from api.rest.workspace.sandbox_shapes import (
    FILE,
    FILES,
    SANDBOX,
    SANDBOXES,
    SESSION_SNAPSHOTS,
    SNAPSHOT,
    NewSandboxBody,
)


class SandboxRow(BaseModel):
    """A sandbox session as it is made."""

    id: str
    status: Literal["open", "closing", "closed"]
    created_at: str


class SandboxView(SandboxRow):
    """A sandbox session."""

    closed_at: str | None
    report: dict[str, Any] | None = Field(description="what closing did")


class SandboxFileRow(BaseModel):
    """A file without its content."""

    id: str
    path: str
    size: int = Field(description="bytes")
    version: int
    created_at: str
    updated_at: str


class SandboxFileView(SandboxFileRow):
    """A file."""

    content: str


class SandboxFilePage(BaseModel):
    """Files by path."""

    items: list[SandboxFileRow]
    next_cursor: str | None


class SnapshotView(BaseModel):
    """A copy of a workspace."""

    id: str
    session_id: str
    created_at: str


REFERENCE: Final[Reference] = {
    SANDBOXES: {
        "POST": Operation(
            summary="Make a sandbox session",
            takes=NewSandboxBody,
            gives=SandboxRow,
            done=201,
            failure=Failure,
            errors=CHANGE_STATES,
        )
    },
    SANDBOX: {
        "GET": Operation(summary="Read a sandbox session", gives=SandboxView, failure=Failure, errors=READ_STATES),
        "DELETE": Operation(
            summary="Delete a sandbox session with its workspace and memory; snapshots stay",
            gives=None,
            done=204,
            failure=Failure,
            errors=READ_STATES,
        ),
    },
    FILES: {
        "GET": Operation(
            summary="List files below a directory prefix",
            gives=SandboxFilePage,
            failure=Failure,
            errors=LIST_STATES,
            query={**PAGE, "prefix": {"type": "string", "description": "empty, or ends in /"}},
        )
    },
    FILE: {
        "GET": Operation(summary="Read a file", gives=SandboxFileView, failure=Failure, errors=(304, *LIST_STATES)),
        "PUT": Operation(
            summary="Make a file (201); with If-Match replace one",
            takes=ContentBody,
            gives=SandboxFileView,
            failure=Failure,
            errors=(201, *TAGGED_STATES),
            tag=False,
        ),
        "DELETE": Operation(
            summary="Delete a file; needs If-Match", gives=None, done=204, failure=Failure, errors=TAGGED_STATES
        ),
    },
    SESSION_SNAPSHOTS: {
        "POST": Operation(
            summary="Copy a workspace as it is", gives=SnapshotView, done=201, failure=Failure, errors=READ_STATES
        )
    },
    SNAPSHOT: {
        "DELETE": Operation(summary="Delete a snapshot", gives=None, done=204, failure=Failure, errors=READ_STATES)
    },
}
