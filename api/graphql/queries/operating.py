"""Background work and model profiles."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import check_first
from api.graphql.context import context
from api.graphql.types import enums
from api.graphql.types.operating import Job, ModelProfile
from graph.services.learning.operating import list_jobs
from graph.services.learning.profiles import list_model_profiles

MOST_JOBS = 100


@strawberry.type
class OperatingQueries:
    """What operators look at."""

    @strawberry.field(description="Background work that the caller may operate, longest due first.")
    async def jobs(
        self,
        info: Info[Any, Any],
        states: list[enums.JobState] | None = None,
        agent_id: strawberry.ID | None = None,
        first: int | None = MOST_JOBS,
    ) -> list[Job]:
        ctx = context(info)
        found = await list_jobs(
            ctx.session,
            states=[str(one) for one in states or ()],
            agent=None if agent_id is None else ctx.id(agent_id),
            first=check_first(first, MOST_JOBS),
        )
        return [Job.from_domain(view, ctx.caller.workspace) for view in found]

    @strawberry.field(description="The models of the workspace, by the names that settings use.")
    async def model_profiles(self, info: Info[Any, Any]) -> list[ModelProfile]:
        return [ModelProfile.from_domain(one) for one in await list_model_profiles(context(info).session)]
