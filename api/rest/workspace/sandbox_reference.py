"""What the reference says of the routes of sandbox memory (SB-104 to SB-118)."""

from __future__ import annotations

from typing import Final, Literal

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
    CLOSE,
    FILE,
    FILES,
    ROLLOUTS,
    RUNS,
    SANDBOX,
    SANDBOXES,
    SESSION_SNAPSHOTS,
    SNAPSHOT,
    NewRunBody,
    NewSandboxBody,
    RolloutBody,
)


class SandboxRow(BaseModel):
    """A sandbox session as it is made."""

    id: str
    status: Literal["open", "closing", "closed"]
    created_at: str


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


class BegunRunView(BaseModel):
    """What a run starts with."""

    developer_prompt: str | None = Field(description="what it is told of memory")
    capabilities_required: list[str]


class RecordedView(BaseModel):
    """Where a run was recorded."""

    rollout_id: str
    path: str
    segment_count: int
    updated_at: str


class NotRecordedView(BaseModel):
    """A run whose memory generates nothing."""

    recorded: Literal[False]


class ExtractionView(BaseModel):
    """What became of one conversation."""

    rollout_id: str
    status: Literal["extracted", "empty", "failed"]
    error: str | None = Field(default=None, description="a code; there only if it failed")


class ConsolidationView(BaseModel):
    """What became of the memory of a layout."""

    status: Literal["completed", "skipped", "failed"]
    selected: list[str]
    removed: list[str]
    error: str | None = Field(default=None, description="a code; there only if it failed")


class LayoutReportView(BaseModel):
    """Both phases of one layout."""

    memories_dir: str
    sessions_dir: str
    phase_one: list[ExtractionView]
    phase_two: ConsolidationView


class ReportView(BaseModel):
    """What closing did."""

    layouts: list[LayoutReportView]


class SandboxView(SandboxRow):
    """A sandbox session."""

    closed_at: str | None
    report: ReportView | None = Field(description="what closing did")


REFERENCE: Final[Reference] = {
    SANDBOXES: {
        "POST": Operation(
            summary="Make a sandbox session",
            takes=NewSandboxBody,
            optional=True,
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
    RUNS: {
        "POST": Operation(
            summary="Begin a run: reserve its layout, and get what it is told of memory",
            takes=NewRunBody,
            gives=BegunRunView,
            done=201,
            failure=Failure,
            errors=CHANGE_STATES,
        )
    },
    ROLLOUTS: {
        "POST": Operation(
            summary="Record a finished run",
            takes=RolloutBody,
            gives=RecordedView,
            done=201,
            failure=Failure,
            also={200: NotRecordedView},
            errors=CHANGE_STATES,
        )
    },
    CLOSE: {
        "POST": Operation(
            summary="Make memory of what was recorded; with wait=false in the background (202)",
            gives=ReportView,
            failure=Failure,
            also={202: SandboxView},
            errors=LIST_STATES,
            query={"wait": {"type": "boolean", "default": True}},
        )
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
        "GET": Operation(
            summary="Read a file", gives=SandboxFileView, etag=True, failure=Failure, errors=(304, *LIST_STATES)
        ),
        "PUT": Operation(
            summary="Make a file (201); with If-Match replace one",
            takes=ContentBody,
            gives=SandboxFileView,
            etag=True,
            failure=Failure,
            also={201: SandboxFileView},
            errors=TAGGED_STATES,
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
