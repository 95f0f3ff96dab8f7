"""What Dreaming did for an agent, and how much of it people left alone."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.types.dreaming import DreamRun, DreamRunConnection, SurvivalRate
from graph.services.learning.dream_runs import dream_runs
from graph.services.learning.survival import survival_rate


@strawberry.type
class DreamingQueries:
    """Runs of both stages."""

    @strawberry.field(description="The runs of both stages for an agent, newest first.")
    async def dream_runs(
        self, info: Info[Any, Any], agent_id: strawberry.ID, first: int | None = 20, after: str | None = None
    ) -> DreamRunConnection:
        ctx = context(info)
        cursors = Cursors.of("dreamRuns", {"agent": agent_id, "caller": ctx.caller.principal})
        listing = await dream_runs(ctx.session, ctx.id(agent_id), first=check_first(first), after=cursors.decode(after))
        return connection_of(DreamRunConnection, listing, DreamRun.from_domain, cursors, after)

    @strawberry.field
    async def survival_rate(self, info: Info[Any, Any], agent_id: strawberry.ID) -> SurvivalRate:
        ctx = context(info)
        return SurvivalRate.from_domain(await survival_rate(ctx.session, ctx.id(agent_id)))
