"""What operators do about background work."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types.operating import Job
from graph.services.learning.operating import cancel_job, release_job


@strawberry.type
class OperatingMutations:
    """Background work; admins, and curators of the agent."""

    @strawberry.mutation(description="Ends a job until something new asks for its work; the reason is a code.")
    async def cancel_job(self, info: Info[Any, Any], id: strawberry.ID, reason: str) -> Job:
        ctx = context(info)
        view = await ctx.run(info, lambda cmd: cancel_job(cmd, ctx.id(id), reason))
        return Job.from_domain(view, ctx.caller.workspace)

    @strawberry.mutation(description="Lets a job that waits or was given up begin afresh now.")
    async def release_job(self, info: Info[Any, Any], id: strawberry.ID) -> Job:
        ctx = context(info)
        return Job.from_domain(await ctx.run(info, lambda cmd: release_job(cmd, ctx.id(id))), ctx.caller.workspace)
