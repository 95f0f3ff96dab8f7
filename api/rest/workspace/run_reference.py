"""What the reference says of the routes of threads, mounts, agents and runs (MT-1 to MT-64)."""

from __future__ import annotations

from typing import Any, Final, Literal

from pydantic import BaseModel, Field

from api.rest.openapi import Operation, Reference
from api.rest.workspace.memory_reference import CHANGE_STATES, LIST_STATES, PAGE, READ_STATES, TAGGED_STATES, Failure
from api.rest.workspace.run_shapes import (
    AGENT,
    AGENTS,
    ARCHIVE,
    ATTEMPTS,
    CHECKPOINT,
    COMPACT,
    COMPLETE,
    FORK,
    MOUNT,
    MOUNTS,
    RUN,
    THREAD,
    THREAD_RUNS,
    THREADS,
    TOOL,
    UNARCHIVE,
    AgentPatch,
    CallBody,
    CompleteBody,
    ForkBody,
    MountBody,
    MountPatch,
    NewAgentBody,
    NewRunBody,
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


class AgentShape(BaseModel):
    """What is kept of an agent for its runs."""

    id: str
    name: str
    memory_mounts: list[MountView]
    toolsets: dict[str, Any]
    version: int
    created_at: str
    updated_at: str


class RunShape(BaseModel):
    """A run with its frozen mounts."""

    id: str
    thread_id: str
    agent_id: str
    status: Literal["accepted", "completed", "failed"]
    memory_mounts: list[MountView] = Field(description="by name; they never change")
    created_at: str
    ended_at: str | None


class ToolShape(BaseModel):
    """A tool that a run is offered."""

    name: str
    key: str
    permission_id: str
    description: str
    input_schema: dict[str, Any] = Field(description="JSON Schema of the arguments")


class ReportShape(BaseModel):
    """What became of a memory when an attempt started."""

    memory: str = Field(description="name of the mount")
    status: Literal["full", "changes", "unchanged", "unavailable", "recalled", "timeout", "failed"]


class UnknownCallShape(BaseModel):
    """A write that was begun and of which nobody knows how it ended: look before you write again."""

    tool_call_id: str
    tool: str
    attempt: int


class AttemptShape(BaseModel):
    """What an attempt starts with."""

    number: int
    instructions: str = Field(description="of the mounts, with their guides")
    preamble: list[str] = Field(description="blocks before the input: file contexts, then recall")
    tools: list[ToolShape]
    reports: list[ReportShape]
    unknown_calls: list[UnknownCallShape]


class ToolError(BaseModel):
    """Why a call failed."""

    error: str = Field(description="a code, such as no_match")
    message: str
    current: dict[str, Any] | None = Field(default=None, description="the file as it is now")


class ToolAnswer(BaseModel):
    """One of both."""

    output: dict[str, Any] | None = None
    error: ToolError | None = None


_ACT: Final = (*READ_STATES, 409)

REFERENCE: Reference = {
    THREADS: {
        "POST": Operation(
            summary="Make a thread",
            takes=NewThreadBody,
            optional=True,
            gives=ThreadShape,
            done=201,
            etag=True,
            failure=Failure,
            errors=CHANGE_STATES,
        ),
    },
    THREAD: {
        "GET": Operation(summary="Read a thread", gives=ThreadShape, etag=True, failure=Failure, errors=READ_STATES)
    },
    ARCHIVE: {
        "POST": Operation(
            summary="Archive a thread, which removes its mounts",
            gives=ThreadShape,
            etag=True,
            failure=Failure,
            errors=_ACT,
        )
    },
    UNARCHIVE: {
        "POST": Operation(
            summary="Take a thread back; mounts stay removed",
            gives=ThreadShape,
            etag=True,
            failure=Failure,
            errors=_ACT,
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
        "GET": Operation(
            summary="List all mounts of a thread, whatever the limit",
            gives=MountPage,
            etag=True,
            failure=Failure,
            errors=LIST_STATES,
            query=PAGE,
        ),
        "POST": Operation(
            summary="Mount a memory; needs If-Match of the thread",
            takes=MountBody,
            gives=MountView,
            done=201,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
    },
    MOUNT: {
        "PATCH": Operation(
            summary="Change a mount; needs If-Match of the thread",
            takes=MountPatch,
            gives=MountView,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
        "DELETE": Operation(
            summary="Remove a mount; needs If-Match of the thread",
            gives=None,
            done=204,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
    },
    AGENTS: {
        "POST": Operation(
            summary="Make an agent",
            takes=NewAgentBody,
            gives=AgentShape,
            done=201,
            etag=True,
            failure=Failure,
            errors=CHANGE_STATES,
        )
    },
    AGENT: {
        "GET": Operation(summary="Read an agent", gives=AgentShape, etag=True, failure=Failure, errors=READ_STATES),
        "PATCH": Operation(
            summary="Change an agent; needs If-Match",
            takes=AgentPatch,
            gives=AgentShape,
            etag=True,
            failure=Failure,
            errors=TAGGED_STATES,
        ),
    },
    THREAD_RUNS: {
        "POST": Operation(
            summary="Accept a run", takes=NewRunBody, gives=RunShape, done=201, failure=Failure, errors=CHANGE_STATES
        )
    },
    RUN: {"GET": Operation(summary="Read a run", gives=RunShape, failure=Failure, errors=READ_STATES)},
    ATTEMPTS: {
        "POST": Operation(
            summary="Start an attempt of a run", gives=AttemptShape, done=201, failure=Failure, errors=_ACT
        )
    },
    CHECKPOINT: {
        "POST": Operation(summary="Commit the progress of a run", gives=RunShape, failure=Failure, errors=_ACT)
    },
    COMPLETE: {
        "POST": Operation(
            summary="End a run", takes=CompleteBody, gives=RunShape, failure=Failure, errors=CHANGE_STATES
        )
    },
    FORK: {
        "POST": Operation(
            summary="Make a thread out of the history of a run",
            takes=ForkBody,
            optional=True,
            gives=ThreadShape,
            done=201,
            etag=True,
            failure=Failure,
            errors=CHANGE_STATES,
        )
    },
    TOOL: {
        "POST": Operation(
            summary="Call a tool of a run", takes=CallBody, gives=ToolAnswer, failure=Failure, errors=CHANGE_STATES
        )
    },
}
