"""Commands on agents and their runs, as the runtime of an agent drives them (AD-22, AD-23, MT-28 to MT-33)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.acting import act_on, run_on
from api.graphql.context import context
from api.graphql.given import given_of, object_of
from api.graphql.scalars import JSON
from api.graphql.tagging import refusing
from api.graphql.types.runs import (
    AgentProfile,
    MemoryMountInput,
    RunAttempt,
    RunThread,
    RunToolAnswer,
    WorkspaceRun,
    mounts_named,
)
from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes import workspace
from graph.rules.run_tool_errors import ToolFailed
from graph.services.access.commands import Command
from graph.services.access.session import Session, read
from graph.services.workspace import agents, runs
from graph.services.workspace.attempts import start_attempt
from graph.services.workspace.finding import require_readable
from graph.services.workspace.run_finding import KINDS
from graph.services.workspace.threads import fork_run
from graph.services.workspace.tools import ToolCall, call_tool, check_driver

_RUN = KINDS[workspace.WorkspaceRun.PREFIX]


@strawberry.type
class RunMutations:
    """What is done to agents and runs."""

    @strawberry.mutation(description="Make an agent that runs can be accepted for.")
    async def create_agent_profile(
        self,
        info: Info[Any, Any],
        name: str,
        memory_mounts: list[MemoryMountInput] | None = None,
        toolsets: JSON | None = None,
    ) -> AgentProfile:
        ctx = context(info)
        with refusing():
            named, tools = mounts_named(ctx, memory_mounts, "memory_mounts"), object_of("toolsets", toolsets)
            return AgentProfile.from_domain(
                await ctx.run(info, lambda cmd: agents.create_agent(cmd, name, named, tools))
            )

    @strawberry.mutation(description="Change what is given; threads that had their first run do not notice.")
    async def update_agent_profile(
        self,
        info: Info[Any, Any],
        agent_id: strawberry.ID,
        expected_etag: str,
        name: str | None = strawberry.UNSET,
        memory_mounts: list[MemoryMountInput] | None = strawberry.UNSET,
        toolsets: JSON | None = strawberry.UNSET,
    ) -> AgentProfile:
        ctx = context(info)
        id_ = ctx.id(agent_id)
        asked: dict[str, Any] = {"name": name, "memory_mounts": memory_mounts, "toolsets": toolsets}

        async def work(cmd: Command) -> workspace.AgentProfile:
            given = given_of(asked, never_null=asked)
            if "memory_mounts" in given:
                given["memory_mounts"] = mounts_named(ctx, given["memory_mounts"], "memory_mounts")
            if "toolsets" in given:
                given["toolsets"] = object_of("toolsets", given["toolsets"])
            return await agents.change_agent(cmd, id_, [expected_etag], given)

        return AgentProfile.from_domain(await run_on(info, workspace.AgentProfile, work))

    @strawberry.mutation(description="Accept a run with the mounts that its thread has now.")
    async def accept_run(
        self, info: Info[Any, Any], thread_id: strawberry.ID, agent_id: strawberry.ID, input: str
    ) -> WorkspaceRun:
        ctx = context(info)
        thread, agent = ctx.id(thread_id), ctx.id(agent_id)
        return WorkspaceRun.from_domain(
            await run_on(info, workspace.RunThread, lambda cmd: runs.accept_run(cmd, thread, agent, input))
        )

    @strawberry.mutation(description="Start an attempt: what it is told, which tools it has, which writes are unknown.")
    async def start_run_attempt(self, info: Info[Any, Any], run_id: strawberry.ID) -> RunAttempt:
        ctx = context(info)
        id_ = ctx.id(run_id)
        attempt = await act_on(info, workspace.WorkspaceRun, lambda: start_attempt(ctx.deps, ctx.caller, id_))
        return RunAttempt.from_domain(attempt)

    @strawberry.mutation(description="Commit progress: what was told and done is part of the thread from here on.")
    async def checkpoint_run(self, info: Info[Any, Any], run_id: strawberry.ID) -> WorkspaceRun:
        id_ = context(info).id(run_id)
        return WorkspaceRun.from_domain(
            await run_on(info, workspace.WorkspaceRun, lambda cmd: runs.commit_progress(cmd, id_))
        )

    @strawberry.mutation(description="End a run as completed or failed; what it wrote stays.")
    async def complete_run(self, info: Info[Any, Any], run_id: strawberry.ID, status: str) -> WorkspaceRun:
        id_ = context(info).id(run_id)
        return WorkspaceRun.from_domain(
            await run_on(info, workspace.WorkspaceRun, lambda cmd: runs.end_run(cmd, id_, status))
        )

    @strawberry.mutation(
        description="Make a thread out of the history of a run, with the mounts of its thread and more."
    )
    async def fork_run(
        self, info: Info[Any, Any], run_id: strawberry.ID, memories: list[MemoryMountInput] | None = None
    ) -> RunThread:
        ctx = context(info)
        id_ = ctx.id(run_id)
        view = await run_on(
            info,
            workspace.WorkspaceRun,
            lambda cmd: fork_run(cmd, id_, mounts_named(ctx, memories, "memories")),
        )
        return RunThread.from_domain(view.thread)

    @strawberry.mutation(description="Execute one call of a tool; a toolCallId is never done twice.")
    async def call_run_tool(
        self,
        info: Info[Any, Any],
        run_id: strawberry.ID,
        tool: str,
        tool_call_id: str,
        arguments: JSON | None = None,
    ) -> RunToolAnswer:
        ctx = context(info)
        id_ = ctx.id(run_id)

        async def act() -> RunToolAnswer:
            run, _ = await read(ctx.deps, ctx.caller, lambda reading: _driven(reading, id_))
            call = ToolCall(tool_call_id=tool_call_id, arguments=object_of("arguments", arguments))
            try:
                output = await call_tool(ctx.deps, ctx.caller, run, tool, call)
            except ToolFailed as failure:
                return RunToolAnswer(error=_json(failure.told()))
            return RunToolAnswer(output=_json(output))

        with refusing():
            return await ctx.once(info, act)


async def _driven(reading: Session, run_id: NodeId) -> workspace.WorkspaceRun:
    """Return a run for somebody who drives it; its principal hears of lost rights call by call (MT-55)."""
    try:
        return await check_driver(reading, run_id)
    except WorkspaceRefused:
        require_readable(reading.facts, None, _RUN)
        raise


def _json(value: Any) -> Any:
    return value
