"""The shapes of threads, mounts, agents and runs (MT-1, MT-19, MT-28 to MT-33)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

from pydantic import Field

from api.rest.said import MountName, Name, Text, one_of
from api.rest.workspace.memory_shapes import Shape
from graph.model.ids import NodeId, node_id
from graph.model.nodes.workspace import AgentProfile, RunToolCall, WorkspaceMemory, WorkspaceRun
from graph.model.time import render
from graph.rules.run_mounts import Access, Mount, by_name, check_listed, named_mount
from graph.rules.run_tools import Offer
from graph.rules.workspace_ids import inside, outside
from graph.services.workspace.attempts import Attempt
from graph.services.workspace.threads import ThreadView

THREADS: Final = "/threads"
THREAD: Final = "/threads/{thread_id}"
ARCHIVE: Final = "/threads/{thread_id}/archive"
UNARCHIVE: Final = "/threads/{thread_id}/unarchive"
COMPACT: Final = "/threads/{thread_id}/compact"
MOUNTS: Final = "/threads/{thread_id}/memories"
MOUNT: Final = "/threads/{thread_id}/memories/{name}"
THREAD_RUNS: Final = "/threads/{thread_id}/runs"
AGENTS: Final = "/agents"
AGENT: Final = "/agents/{agent_id}"
RUN: Final = "/runs/{run_id}"
ATTEMPTS: Final = "/runs/{run_id}/attempts"
CHECKPOINT: Final = "/runs/{run_id}/checkpoint"
COMPLETE: Final = "/runs/{run_id}/complete"
FORK: Final = "/runs/{run_id}/fork"
TOOL: Final = "/runs/{run_id}/tools/{tool_name}"


class MountBody(Shape):
    """A memory to mount."""

    name: MountName = Field(description="by which the model refers to it")
    memory_id: Text
    access: Annotated[Text, one_of(Access)] = Access.READ.value
    recall: bool = True


class MountPatch(Shape):
    """What changes of a mount; what is left out stays."""

    access: Annotated[Text, one_of(Access)] = Access.READ.value
    recall: bool = True


class ForkBody(Shape):
    """What a fork mounts beside what its thread does."""

    memories: list[MountBody] = Field(default_factory=list)


class NewThreadBody(ForkBody):
    """A thread to make."""

    parent_run_id: Text | None = Field(default=None, description="of an async subagent")


class NewAgentBody(Shape):
    """What is kept of an agent for its runs."""

    name: Name
    memory_mounts: list[MountBody] = Field(default_factory=list, description="mounted at the first run of a thread")
    toolsets: dict[str, Any] = Field(default_factory=dict, description='{"memory": {"enabled", "disabled_tools"}}')


class AgentPatch(Shape):
    """What changes of an agent; what is left out stays."""

    name: Name = Field(default_factory=str)
    memory_mounts: list[MountBody] = Field(default_factory=list)
    toolsets: dict[str, Any] = Field(default_factory=dict)


class NewRunBody(Shape):
    """A run to accept."""

    agent_id: Text
    input: Text


class CompleteBody(Shape):
    """How a run ended."""

    status: Annotated[Text, one_of(["completed", "failed"])]


class CallBody(Shape):
    """A call of a tool."""

    tool_call_id: Text = Field(min_length=1, max_length=256)
    arguments: dict[str, Any] = Field(default_factory=dict)


def mounts_of_body(bodies: Sequence[MountBody], field: str) -> list[Mount]:
    """Return the mounts of a list in a body, in its order.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at the entry, such as ``memories.0.name``.
    """
    check_listed(bodies, field)
    return [mount_of_body(body, f"{field}.{place}.") for place, body in enumerate(bodies)]


def mount_of_body(body: MountBody, at: str = "") -> Mount:
    """Return the mount of a body; an id that can name no memory names one that is not there (MT-14).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `name` or `access`.
    """
    memory = inside(WorkspaceMemory.PREFIX, body.memory_id) or node_id(WorkspaceMemory.PREFIX, "")
    return named_mount(body.name, memory, body.access, recall=body.recall, at=at)


def mount_json(mount: Mount) -> dict[str, Any]:
    """Return a mount (MT-1)."""
    return {
        "name": mount.name,
        "memory_id": outside(mount.memory_id),
        "access": str(mount.access),
        "recall": mount.recall,
    }


def mounts_json(mounts: Iterable[Mount]) -> list[dict[str, Any]]:
    """Return mounts in the order of their names."""
    return [mount_json(mount) for mount in by_name(mounts)]


def thread_json(view: ThreadView) -> dict[str, Any]:
    """Return a thread with its mounts."""
    thread = view.thread
    return {
        "id": outside(thread.id),
        "parent_run_id": _shown(thread.parent_run_id),
        "archived_at": None if thread.archived_at is None else render(thread.archived_at),
        "memories": mounts_json(view.mounts),
        "version": thread.version,
        "created_at": render(thread.created_at),
        "updated_at": render(thread.updated_at),
    }


def agent_json(agent: AgentProfile) -> dict[str, Any]:
    """Return an agent as far as memory is concerned; its mounts are in its own order (MT-19)."""
    return {
        "id": outside(agent.id),
        "name": agent.name,
        "memory_mounts": [mount_json(Mount.of(given)) for given in agent.memory_mounts or ()],
        "toolsets": agent.toolsets,
        "version": agent.version,
        "created_at": render(agent.created_at),
        "updated_at": render(agent.updated_at),
    }


def run_json(run: WorkspaceRun) -> dict[str, Any]:
    """Return a run with its frozen mounts (MT-29)."""
    return {
        "id": outside(run.id),
        "thread_id": outside(run.thread_id),
        "agent_id": outside(run.agent_id),
        "status": run.state,
        "memory_mounts": mounts_json(Mount.of(given) for given in run.mounts or ()),
        "created_at": render(run.created_at),
        "ended_at": None if run.ended_at is None else render(run.ended_at),
    }


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    """Return what a runtime starts with (MT-30, MT-64)."""
    return {
        "number": attempt.number,
        "instructions": attempt.instructions,
        "preamble": list(attempt.preamble),
        "tools": [offer_json(offer) for offer in attempt.tools],
        "reports": [{"memory": report.memory, "status": report.status} for report in attempt.reports],
        "unknown_calls": [call_json(call) for call in attempt.unknown_calls],
    }


def offer_json(offer: Offer) -> dict[str, Any]:
    """Return a tool as a model is given it (MT-50, MT-51, MT-54)."""
    return {
        "name": offer.tool.name,
        "key": offer.tool.key,
        "permission_id": offer.tool.permission_id,
        "description": offer.tool.description,
        "input_schema": offer.schema(),
    }


def call_json(call: RunToolCall) -> dict[str, Any]:
    """Return a write of which nobody knows how it ended."""
    return {"tool_call_id": call.tool_call_id, "tool": call.tool, "attempt": call.attempt}


def _shown(id_: NodeId | None) -> str | None:
    return None if id_ is None else outside(id_)
