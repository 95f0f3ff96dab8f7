"""Provisioning of Skills, items that wait for Dreaming, and runs by hand.

Lessons and memos are written by `applyOperations` (KN-111).
"""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types.dreaming import DreamRun
from api.graphql.types.learning import Skill, SkillOverlay
from graph.services.learning.dream_runs import run_views
from graph.services.learning.pending import release_parked
from graph.services.learning.skill_provisioning import provision_skill, set_skill_enabled
from graph.services.learning.skills import overlay_views
from graph.services.learning.stage_b import request_run


@strawberry.type
class LearningMutations:
    """Skills and waiting items."""

    @strawberry.mutation(description="Makes a Skill, or gives it another name or its next base text.")
    async def provision_skill(self, info: Info[Any, Any], slug: str, name: str, base_text: str) -> Skill:
        made = await context(info).run(info, lambda cmd: provision_skill(cmd, slug, name, base_text))
        return Skill.from_domain(made)

    @strawberry.mutation(description="Enables or disables a Skill for an agent; its lessons are kept.")
    async def set_skill_enabled(
        self, info: Info[Any, Any], agent_id: strawberry.ID, skill: str, enabled: bool
    ) -> SkillOverlay:
        ctx = context(info)
        overlay = await ctx.run(info, lambda cmd: set_skill_enabled(cmd, ctx.id(agent_id), skill, enabled))
        (view,) = await overlay_views(ctx.session, [overlay])
        return SkillOverlay.from_domain(view)

    @strawberry.mutation(description="Lets a parked item wait for Dreaming again; false if it was not parked.")
    async def release_parked(self, info: Info[Any, Any], item_id: strawberry.ID) -> bool:
        ctx = context(info)
        return await ctx.run(info, lambda cmd: release_parked(cmd, ctx.id(item_id)))

    @strawberry.mutation(description="Asks for a run of Stage B now; Stage A of a channel is never started by it.")
    async def run_dreaming(self, info: Info[Any, Any], agent_id: strawberry.ID) -> DreamRun:
        ctx = context(info)
        run = await ctx.run(info, lambda cmd: request_run(cmd, ctx.id(agent_id)))
        return DreamRun.from_domain((await run_views(ctx.session, [run.id]))[run.id])
