"""Runs with memory: agents, attempts and tools. Source: MT-19, MT-28 to MT-33, MT-64, MT-66."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rootward.service.calls import KEEP, Ask, Unset, given, present, reads
from rootward.service.operations import AsyncSurface, SyncSurface, operation
from rootward.service.pages import if_match
from rootward.service.threads import Mount, Thread
from rootward.service.versions import Versioned

_AGENTS = "/api/v1/agents"
_AGENT = f"{_AGENTS}/{{agent_id}}"
_RUN = "/api/v1/runs/{run_id}"


@dataclass(frozen=True, kw_only=True)
class RunAgent(Versioned):
    """What is kept of an agent for its runs."""

    name: str
    memory_mounts: tuple[Mount, ...]
    toolsets: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run with its frozen mounts; `status` is ``accepted``, ``completed`` or ``failed``."""

    id: str
    thread_id: str
    agent_id: str
    status: str
    memory_mounts: tuple[Mount, ...]
    created_at: str
    ended_at: str | None


@dataclass(frozen=True, kw_only=True)
class RunTool:
    """A tool to offer to the model; `input_schema` is JSON Schema."""

    name: str
    key: str
    permission_id: str
    description: str
    input_schema: Mapping[str, object]


@dataclass(frozen=True, kw_only=True)
class MountReport:
    """What became of a mount when an attempt started, such as ``full`` or ``recalled``."""

    memory: str
    status: str


@dataclass(frozen=True, kw_only=True)
class UnknownCall:
    """A write of which nobody knows how it ended: look before you write again."""

    tool_call_id: str
    tool: str
    attempt: int


@dataclass(frozen=True, kw_only=True)
class Attempt:
    """What an attempt starts with; `preamble` are blocks to place before the input, in order."""

    number: int
    instructions: str
    preamble: tuple[str, ...]
    tools: tuple[RunTool, ...]
    reports: tuple[MountReport, ...]
    unknown_calls: tuple[UnknownCall, ...]


@dataclass(frozen=True, kw_only=True)
class ToolError:
    """Why a call of a tool failed, to be told to the model; `current` is the file as it is now."""

    error: str
    message: str
    current: Mapping[str, object] | None = None


@dataclass(frozen=True, kw_only=True)
class ToolAnswer:
    """What a tool gave; one of the two."""

    output: object = None
    error: ToolError | None = None


@operation("POST", _AGENTS)
def create_agent(
    name: str, *, memory_mounts: Sequence[Mount] = (), toolsets: Mapping[str, Any] | None = None
) -> Ask[RunAgent]:
    """Make an agent; its mounts are those of a thread's first run."""
    body = present(name=name, memory_mounts=[mount.body() for mount in memory_mounts], toolsets=toolsets)
    return Ask(body=body, read=reads(RunAgent))


@operation("GET", _AGENT)
def read_agent(agent_id: str) -> Ask[RunAgent]:
    """Read an agent."""
    return Ask(ids=[agent_id], read=reads(RunAgent))


@operation("PATCH", _AGENT)
def update_agent(
    agent_id: str,
    *,
    etag: str,
    name: str | Unset = KEEP,
    memory_mounts: Sequence[Mount] | Unset = KEEP,
    toolsets: Mapping[str, Any] | Unset = KEEP,
) -> Ask[RunAgent]:
    """Change what is named."""
    mounts = memory_mounts if isinstance(memory_mounts, Unset) else [mount.body() for mount in memory_mounts]
    body = given(name=name, memory_mounts=mounts, toolsets=toolsets)
    return Ask(ids=[agent_id], body=body, headers=if_match(etag), read=reads(RunAgent))


@operation("POST", "/api/v1/threads/{thread_id}/runs")
def accept_run(thread_id: str, *, agent_id: str, input: str) -> Ask[Run]:
    """Accept a run of a thread, which freezes its mounts."""
    return Ask(ids=[thread_id], body={"agent_id": agent_id, "input": input}, read=reads(Run))


@operation("GET", _RUN)
def read_run(run_id: str) -> Ask[Run]:
    """Read a run."""
    return Ask(ids=[run_id], read=reads(Run))


@operation("POST", f"{_RUN}/attempts")
def start_attempt(run_id: str) -> Ask[Attempt]:
    """Start an attempt of a run: instructions, context and tools for its model."""
    return Ask(ids=[run_id], read=reads(Attempt))


@operation("POST", f"{_RUN}/tools/{{tool_name}}")
def call_tool(run_id: str, tool_name: str, *, tool_call_id: str, arguments: Mapping[str, Any]) -> Ask[ToolAnswer]:
    """Execute one call of a model; what the tool refuses is an answer, not an exception."""
    body = {"tool_call_id": tool_call_id, "arguments": dict(arguments)}
    return Ask(ids=[run_id, tool_name], body=body, read=reads(ToolAnswer))


@operation("POST", f"{_RUN}/checkpoint")
def commit_progress(run_id: str) -> Ask[Run]:
    """Commit the progress of a run: the context that it got counts as delivered."""
    return Ask(ids=[run_id], read=reads(Run))


@operation("POST", f"{_RUN}/complete")
def complete_run(run_id: str, *, status: str = "completed") -> Ask[Run]:
    """End a run; `status` is ``completed`` or ``failed``."""
    return Ask(ids=[run_id], body={"status": status}, read=reads(Run))


@operation("POST", f"{_RUN}/fork")
def fork_run(run_id: str, *, memories: Sequence[Mount] = ()) -> Ask[Thread]:
    """Make a thread out of the history of a run, with its mounts and further ones."""
    return Ask(ids=[run_id], body={"memories": [mount.body() for mount in memories]}, read=reads(Thread))


class RunOperations:
    """What can be done with runs and their agents."""

    create_agent = create_agent
    agent = read_agent
    update_agent = update_agent
    accept = accept_run
    read = read_run
    attempt = start_attempt
    call_tool = call_tool
    checkpoint = commit_progress
    complete = complete_run
    fork = fork_run


class Runs(RunOperations, SyncSurface):
    """Runs, waiting in the thread."""


class AsyncRuns(RunOperations, AsyncSurface):
    """Runs, waiting in the task."""
