"""Threads, the memories that they mount, agents and runs, and what an attempt of a run starts with (MT-1 to MT-34)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.ids import to_global
from api.graphql.scalars import JSON
from api.graphql.types.node import Node
from api.graphql.types.workspace import WorkspaceMemory
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes import workspace
from graph.model.time import Millis
from graph.rules.run_mounts import Access, Mount, by_name, check_listed, named_mount
from graph.rules.run_tools import Offer, default_toolsets
from graph.rules.workspace_ids import outside
from graph.services.workspace.agents import agent_tag
from graph.services.workspace.attempts import Attempt, Report
from graph.services.workspace.mounts import mounts_of
from graph.services.workspace.run_finding import thread_tag


@strawberry.input
class MemoryMountInput:
    """A memory to mount."""

    name: str = strawberry.field(description="By which the model refers to it: a letter, then a-z, 0-9 and hyphens.")
    memory_id: strawberry.ID
    access: str = strawberry.field(default=Access.READ.value, description="read or write.")
    recall: bool = True


@strawberry.type
class MemoryMount:
    """A memory on a thread, in a run, or among the defaults of an agent."""

    name: str
    memory_id: strawberry.ID
    access: str = strawberry.field(description="read or write.")
    recall: bool
    mount: strawberry.Private[Mount]

    @classmethod
    def from_domain(cls, mount: Mount, tenant: WorkspaceId) -> MemoryMount:
        return cls(
            name=mount.name,
            memory_id=to_global(mount.memory_id, tenant),
            access=str(mount.access),
            recall=mount.recall,
            mount=mount,
        )

    @strawberry.field(description="Null if it is gone, or not the caller's to read.")
    async def memory(self, info: Info[Any, Any]) -> WorkspaceMemory | None:
        node = await context(info).loaders.nodes.load(self.mount.memory_id)
        return WorkspaceMemory.from_domain(node) if isinstance(node, workspace.WorkspaceMemory) else None


@strawberry.type
class AgentProfile(Node):
    """What is kept of an agent for its runs."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    name: str
    memory_mounts: list[MemoryMount] = strawberry.field(description="Mounted at the first run of a thread.")
    toolsets: JSON
    version: int
    etag: str
    created_at: Millis
    updated_at: Millis

    @classmethod
    def from_domain(cls, node: workspace.AgentProfile) -> AgentProfile:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            name=node.name,
            memory_mounts=shown_mounts(map(Mount.of, node.memory_mounts or ()), node.workspace),
            toolsets=_toolsets(node),
            version=node.version,
            etag=agent_tag(node),
            created_at=node.created_at,
            updated_at=node.updated_at,
        )


@strawberry.type
class RunThread(Node):
    """A thread of runs; its mounts decide which memories later runs use."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    archived_at: Millis | None
    version: int
    etag: str = strawberry.field(description="What a change of its mounts expects.")
    created_at: Millis
    updated_at: Millis
    node: strawberry.Private[workspace.RunThread]

    @classmethod
    def from_domain(cls, node: workspace.RunThread) -> RunThread:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            archived_at=node.archived_at,
            version=node.version,
            etag=thread_tag(node),
            created_at=node.created_at,
            updated_at=node.updated_at,
            node=node,
        )

    @strawberry.field(description="By name.")
    async def mounts(self, info: Info[Any, Any]) -> list[MemoryMount]:
        return shown_mounts(await mounts_of(context(info).session.reader, self.node.id), self.node.workspace)

    @strawberry.field(description="Of the thread of an async subagent.")
    async def parent_run(self, info: Info[Any, Any]) -> WorkspaceRun | None:
        return await workspace_run_of(info, self.node.parent_run_id)


@strawberry.type
class WorkspaceRun(Node):
    """A run with the mounts of the moment when it was accepted."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    thread_id: strawberry.ID
    agent_id: strawberry.ID
    status: str = strawberry.field(description="accepted, completed or failed.")
    memory_mounts: list[MemoryMount] = strawberry.field(description="By name.")
    created_at: Millis
    ended_at: Millis | None
    node: strawberry.Private[workspace.WorkspaceRun]

    @classmethod
    def from_domain(cls, node: workspace.WorkspaceRun) -> WorkspaceRun:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            thread_id=to_global(node.thread_id, node.workspace),
            agent_id=to_global(node.agent_id, node.workspace),
            status=node.state,
            memory_mounts=shown_mounts(by_name(map(Mount.of, node.mounts or ())), node.workspace),
            created_at=node.created_at,
            ended_at=node.ended_at,
            node=node,
        )

    @strawberry.field
    async def thread(self, info: Info[Any, Any]) -> RunThread | None:
        node = await context(info).loaders.nodes.load(self.node.thread_id)
        return RunThread.from_domain(node) if isinstance(node, workspace.RunThread) else None

    @strawberry.field
    async def agent(self, info: Info[Any, Any]) -> AgentProfile | None:
        node = await context(info).loaders.nodes.load(self.node.agent_id)
        return AgentProfile.from_domain(node) if isinstance(node, workspace.AgentProfile) else None


@strawberry.type
class RunTool:
    """A tool as a model is given it."""

    name: str
    key: str
    permission_id: str
    description: str
    input_schema: JSON = strawberry.field(description="JSON Schema of its arguments.")

    @classmethod
    def from_domain(cls, offer: Offer) -> RunTool:
        return cls(
            name=offer.tool.name,
            key=offer.tool.key,
            permission_id=offer.tool.permission_id,
            description=offer.tool.description,
            input_schema=_schema(offer),
        )


@strawberry.type
class RunReport:
    """What became of a memory when an attempt started."""

    memory: str = strawberry.field(description="Name of the mount.")
    status: str = strawberry.field(
        description="full, changes, unchanged or unavailable; of records recalled, timeout or failed."
    )

    @classmethod
    def from_domain(cls, report: Report) -> RunReport:
        return cls(memory=report.memory, status=report.status)


@strawberry.type
class UnknownToolCall:
    """A write that was begun and of which nobody knows how it ended."""

    tool_call_id: str
    tool: str
    attempt: int

    @classmethod
    def from_domain(cls, call: workspace.RunToolCall) -> UnknownToolCall:
        return cls(tool_call_id=call.tool_call_id, tool=call.tool, attempt=call.attempt)


@strawberry.type
class RunAttempt:
    """What the runtime of an agent starts with."""

    number: int
    instructions: str
    preamble: list[str] = strawberry.field(description="Blocks to put before the input, in this order.")
    tools: list[RunTool]
    reports: list[RunReport]
    unknown_calls: list[UnknownToolCall]

    @classmethod
    def from_domain(cls, attempt: Attempt) -> RunAttempt:
        return cls(
            number=attempt.number,
            instructions=attempt.instructions,
            preamble=list(attempt.preamble),
            tools=[RunTool.from_domain(offer) for offer in attempt.tools],
            reports=[RunReport.from_domain(report) for report in attempt.reports],
            unknown_calls=[UnknownToolCall.from_domain(call) for call in attempt.unknown_calls],
        )


@strawberry.type
class RunToolAnswer:
    """What a call of a tool gave: one of the two."""

    output: JSON | None = None
    error: JSON | None = strawberry.field(
        default=None, description='{"error", "message", "current"?}: the call failed and changed nothing.'
    )


def shown_mounts(mounts: Iterable[Mount], tenant: WorkspaceId) -> list[MemoryMount]:
    """Return mounts as clients see them."""
    return [MemoryMount.from_domain(mount, tenant) for mount in mounts]


def mounts_named(ctx: RequestContext, given: list[MemoryMountInput] | None, field: str) -> list[Mount]:
    """Return the mounts that a client asks for, in his order.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at the entry, such as ``memories.0.name``.
    """
    check_listed(given or [], field)
    return [
        named_mount(one.name, ctx.id(one.memory_id), one.access, recall=one.recall, at=f"{field}.{place}.")
        for place, one in enumerate(given or [])
    ]


async def workspace_run_of(info: Info[Any, Any], id_: NodeId | None) -> WorkspaceRun | None:
    """Return a run that the caller may read."""
    node = await context(info).loaders.nodes.load(id_) if id_ else None
    return WorkspaceRun.from_domain(node) if isinstance(node, workspace.WorkspaceRun) else None


def _toolsets(node: workspace.AgentProfile) -> Any:
    return node.toolsets or default_toolsets()


def _schema(offer: Offer) -> Any:
    return offer.schema()
