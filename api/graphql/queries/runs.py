"""Reads of threads, agents and runs (AD-22, MT-12, MT-28, MT-29)."""

from __future__ import annotations

from typing import Any, TypeVar

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.tagging import refusing
from api.graphql.types.runs import AgentProfile, RunThread, WorkspaceRun
from graph.model.fields import Node
from graph.model.nodes import workspace
from graph.model.nodes.people import Right
from graph.services.workspace.finding import require_readable
from graph.services.workspace.run_finding import KINDS, open_one

N = TypeVar("N", bound=Node)


@strawberry.type
class RunQueries:
    """Threads, agents and runs of the workspace."""

    @strawberry.field(description="A thread with its mounts.")
    async def run_thread(self, info: Info[Any, Any], thread_id: strawberry.ID) -> RunThread:
        return RunThread.from_domain(await _opened(info, thread_id, workspace.RunThread))

    @strawberry.field(description="What is kept of an agent for its runs.")
    async def agent_profile(self, info: Info[Any, Any], agent_id: strawberry.ID) -> AgentProfile:
        return AgentProfile.from_domain(await _opened(info, agent_id, workspace.AgentProfile))

    @strawberry.field
    async def workspace_run(self, info: Info[Any, Any], run_id: strawberry.ID) -> WorkspaceRun:
        return WorkspaceRun.from_domain(await _opened(info, run_id, workspace.WorkspaceRun))


async def _opened(info: Info[Any, Any], given: strawberry.ID, kind: type[N]) -> N:
    ctx = context(info)
    with refusing():
        require_readable(ctx.session.facts, None, KINDS[kind.PREFIX])
        return await open_one(ctx.session, ctx.id(given), kind, Right.READ)
