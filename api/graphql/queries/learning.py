"""Skills with experience, and the resident memo."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.types.learning import (
    ResidentMemoText,
    Skill,
    SkillContext,
    SkillOverlay,
    SkillOverlayConnection,
)
from graph.services.learning.resident_memo import resident_memo
from graph.services.learning.skills import skill_context, skill_overlays, skills_of


@strawberry.type
class LearningQueries:
    """What agents learned beside the state of the world."""

    @strawberry.field(description="The Skills of the workspace, by slug.")
    async def skills(self, info: Info[Any, Any]) -> list[Skill]:
        return [Skill.from_domain(one) for one in await skills_of(context(info).session)]

    @strawberry.field
    async def skill_overlays(
        self, info: Info[Any, Any], owner_id: strawberry.ID, first: int | None = 20, after: str | None = None
    ) -> SkillOverlayConnection:
        ctx = context(info)
        cursors = Cursors.of("skillOverlays", {"owner": owner_id, "caller": ctx.caller.principal})
        listing = await skill_overlays(
            ctx.session, ctx.id(owner_id), first=check_first(first), after=cursors.decode(after)
        )
        return connection_of(SkillOverlayConnection, listing, SkillOverlay.from_domain, cursors, after)

    @strawberry.field
    async def skill_context(self, info: Info[Any, Any], conversation_id: strawberry.ID, skill: str) -> SkillContext:
        ctx = context(info)
        return SkillContext.from_domain(await skill_context(ctx.session, ctx.id(conversation_id), skill))

    @strawberry.field
    async def resident_memo(self, info: Info[Any, Any], conversation_id: strawberry.ID) -> ResidentMemoText:
        ctx = context(info)
        return ResidentMemoText.from_domain(await resident_memo(ctx.session, ctx.id(conversation_id)))
