"""What the reference says of the routes of threads, mounts, agents and runs (MT-1 to MT-64)."""

from __future__ import annotations

from typing import Final, Literal

from pydantic import BaseModel, Field

from api.rest.openapi import Operation, Reference
from api.rest.workspace.memory_reference import CHANGE_STATES, READ_STATES, TAGGED_STATES, Failure
from api.rest.workspace.run_shapes import (
    ARCHIVE,
    COMPACT,
    MOUNT,
    MOUNTS,
    THREAD,
    THREADS,
    UNARCHIVE,
    MountBody,
    MountPatch,
    NewThreadBody,
)


class MountView(BaseModel):
    """A memory by a name."""

    name: str
    memory_id: str
    access: Literal["read", "write"]
    recall: bool = Field(description="a record memory recalls into each run; a file memory ignores it")


class MountPage(BaseModel):
    """All mounts of a thread."""

    items: list[MountView]
    next_cursor: None


class ThreadShape(BaseModel):
    """A thread of runs."""

    id: str
    parent_run_id: str | None
    archived_at: str | None
    memories: list[MountView] = Field(description="by name")
    version: int
    created_at: str
    updated_at: str


_ACT: Final = (*READ_STATES, 409)

REFERENCE: Reference = {
    THREADS: {
        "POST": Operation(
            summary="Make a thread",
            takes=NewThreadBody,
            gives=ThreadShape,
            done=201,
            failure=Failure,
            errors=CHANGE_STATES,
        ),
    },
    THREAD: {"GET": Operation(summary="Read a thread", gives=ThreadShape, failure=Failure, errors=READ_STATES)},
    ARCHIVE: {
        "POST": Operation(
            summary="Archive a thread, which removes its mounts", gives=ThreadShape, failure=Failure, errors=_ACT
        )
    },
    UNARCHIVE: {
        "POST": Operation(
            summary="Take a thread back; mounts stay removed", gives=ThreadShape, failure=Failure, errors=_ACT
        )
    },
    COMPACT: {
        "POST": Operation(
            summary="Say that the history of a thread was compacted",
            gives=None,
            done=204,
            failure=Failure,
            errors=_ACT,
        )
    },
    MOUNTS: {
        "GET": Operation(summary="List the mounts of a thread", gives=MountPage, failure=Failure, errors=READ_STATES),
        "POST": Operation(
            summary="Mount a memory; needs If-Match of the thread",
            takes=MountBody,
            gives=MountView,
            done=201,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
    },
    MOUNT: {
        "PATCH": Operation(
            summary="Change a mount; needs If-Match of the thread",
            takes=MountPatch,
            gives=MountView,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
        "DELETE": Operation(
            summary="Remove a mount; needs If-Match of the thread",
            gives=None,
            done=204,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
    },
}
