"""What the reference says of the routes of file memories (FM-24, FM-38 to FM-81)."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from api.rest.openapi import ALWAYS, Operation, Reference
from api.rest.said import SEGMENTS
from api.rest.workspace.memory_shapes import (
    AUDIT,
    FILE,
    FILES,
    MEMORIES,
    MEMORY,
    MOVE,
    RESTORE,
    REVISION,
    REVISIONS,
    ContentBody,
    MemoryPatch,
    MoveBody,
    NewFileBody,
    NewMemoryBody,
)


class Problem(BaseModel):
    """What went wrong; branch on code and details alone."""

    code: str
    message: str
    details: dict[str, Any]
    request_id: str


class Failure(BaseModel):
    """What a failure answers with (FM-5)."""

    error: Problem


class WorkspaceMemoryView(BaseModel):
    """A memory."""

    id: str
    name: str
    description: str | None
    kind: Literal["file", "record"]
    type: str
    provider_id: str | None
    namespace: str | None
    guide: str | None = Field(description='null inherits, "" is none')
    inherited_guide: str = Field(description="what null resolves to")
    always_load: list[str]
    labels: dict[str, str]
    file_count: int | None
    content_bytes: int | None
    history_bytes: int | None
    version: int
    created_by_id: str
    updated_by_id: str
    created_at: str
    updated_at: str


class MemoryFileRow(BaseModel):
    """A file without its content."""

    id: str
    path: str
    size: int = Field(description="UTF-8 bytes")
    version: int = Field(description="the last change that touched it")
    description: str | None
    updated_by_principal_id: str
    updated_by_run_id: str | None
    created_at: str
    updated_at: str


class MemoryFileView(MemoryFileRow):
    """A file."""

    content: str


class RevisionRow(BaseModel):
    """A change without content."""

    seq: int
    path: str
    op: Literal["create", "update", "delete", "move_out", "move_in"]
    moved_path: str | None
    principal_id: str
    run_id: str | None
    tool_call_id: str | None
    created_at: str


class HunkView(BaseModel):
    """Lines that changed, with three around them."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: list[str]


class RevisionDetail(RevisionRow):
    """A change with its texts and difference."""

    previous_content: str | None
    content: str | None
    hunks: list[HunkView]


class RestoredView(BaseModel):
    """What is at the path now."""

    path: str
    file: MemoryFileView | None


class PurgedView(BaseModel):
    """How many changes were erased."""

    purged: int


class AuditEventView(BaseModel):
    """A step that was audited."""

    id: str
    action: str
    actor_id: str
    target_id: str
    memory_id: str | None
    details: dict[str, Any]
    created_at: str


class _Page(BaseModel):
    next_cursor: str | None


class MemoryPage(_Page):
    """Some memories."""

    items: list[WorkspaceMemoryView]


class FilePage(_Page):
    """Some files."""

    items: list[MemoryFileRow]


class RevisionPage(_Page):
    """Some changes."""

    items: list[RevisionRow]


class AuditPage(_Page):
    """Some audited steps."""

    items: list[AuditEventView]


READ_STATES: Final = (*ALWAYS, 403)
LIST_STATES: Final = (400, *READ_STATES)
CHANGE_STATES: Final = (400, *READ_STATES, 409, 413)
TAGGED_STATES: Final = (*CHANGE_STATES, 412, 428)
PAGE: Final[dict[str, dict[str, Any]]] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
    "cursor": {"type": "string", "description": "next_cursor of the page before"},
}


def _text(description: str, **schema: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **schema}


REFERENCE: Reference = {
    MEMORIES: {
        "GET": Operation(
            summary="List memories",
            gives=MemoryPage,
            failure=Failure,
            errors=LIST_STATES,
            query={
                **PAGE,
                "label": _text("key:value; up to 8", pattern="^[^:]+:"),
                "kind": _text("", enum=["file", "record"]),
                "type": _text(""),
            },
        ),
        "POST": Operation(
            summary="Make a memory",
            takes=NewMemoryBody,
            gives=WorkspaceMemoryView,
            done=201,
            etag=True,
            failure=Failure,
            errors=CHANGE_STATES,
        ),
    },
    MEMORY: {
        "GET": Operation(
            summary="Read a memory", gives=WorkspaceMemoryView, etag=True, failure=Failure, errors=READ_STATES
        ),
        "PATCH": Operation(
            summary="Change a memory; needs If-Match",
            takes=MemoryPatch,
            gives=WorkspaceMemoryView,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
        "DELETE": Operation(
            summary="Delete a memory with all that is in it; needs If-Match",
            gives=None,
            done=204,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
    },
    FILES: {
        "GET": Operation(
            summary="List files under a directory",
            gives=FilePage,
            failure=Failure,
            errors=(*LIST_STATES, 409),
            query={**PAGE, "prefix": _text("empty, or ends in /", pattern="^$|/$")},
        ),
        "POST": Operation(
            summary="Make a file",
            takes=NewFileBody,
            gives=MemoryFileView,
            done=201,
            etag=True,
            failure=Failure,
            errors=CHANGE_STATES,
        ),
    },
    MOVE: {
        "POST": Operation(
            summary="Move a file; needs If-Match",
            takes=MoveBody,
            gives=MemoryFileView,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        )
    },
    FILE: {
        "GET": Operation(
            summary="Read a file", gives=MemoryFileView, etag=True, failure=Failure, errors=(304, *LIST_STATES, 409)
        ),
        "PUT": Operation(
            summary="Replace the content of a file; needs If-Match",
            takes=ContentBody,
            gives=MemoryFileView,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
        "DELETE": Operation(
            summary="Delete a file; needs If-Match", gives=None, done=204, failure=Failure, errors=TAGGED_STATES
        ),
    },
    REVISIONS: {
        "GET": Operation(
            summary="List changes, newest first",
            gives=RevisionPage,
            failure=Failure,
            errors=(*LIST_STATES, 409),
            query={
                **PAGE,
                "path": _text("of the file", pattern=SEGMENTS),
                "run_id": _text("of the run that changed it"),
            },
        ),
        "DELETE": Operation(
            summary="Erase the history of a path",
            gives=PurgedView,
            failure=Failure,
            errors=(*LIST_STATES, 409),
            query={"path": {**_text("whose history goes", pattern=SEGMENTS), "required": True}},
        ),
    },
    REVISION: {
        "GET": Operation(
            summary="Read a change with its difference",
            gives=RevisionDetail,
            failure=Failure,
            errors=(*READ_STATES, 409),
        )
    },
    RESTORE: {
        "POST": Operation(
            summary="Put back what a change replaced; needs If-Match if a file is at the path",
            gives=RestoredView,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
            tag=False,
        )
    },
    AUDIT: {
        "GET": Operation(
            summary="List what was done, newest first",
            gives=AuditPage,
            failure=Failure,
            errors=LIST_STATES,
            query={**PAGE, "target_id": _text("of a memory, file, thread or sandbox")},
        )
    },
}
