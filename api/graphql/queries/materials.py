"""Materials: their list, one of them, and what a newer version would do."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.types import enums
from api.graphql.types.materials import Material, MaterialConnection
from graph.services.knowledge.learning_progress import learning_progress
from graph.services.knowledge.material_list import materials
from graph.services.knowledge.replacing import stale_if_replaced


@strawberry.type
class MaterialQueries:
    """Materials, and what a newer version of one would do."""

    @strawberry.field
    async def materials(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        kb_ids: list[strawberry.ID] | None = None,
        states: list[enums.LearningState] | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> MaterialConnection:
        ctx = context(info)
        question = {"owner": owner_id, "kbs": kb_ids, "states": states, "caller": ctx.caller.principal}
        cursors = Cursors.of("materials", question)
        listing = await materials(
            ctx.session,
            ctx.id(owner_id),
            kb_ids=ctx.ids(kb_ids),
            states=states,
            first=check_first(first),
            after=cursors.decode(after),
        )
        return connection_of(MaterialConnection, listing, Material.from_domain, cursors, after)

    @strawberry.field(description="A material as far as it was learned from; pasted texts and pages too.")
    async def material(self, info: Info[Any, Any], id: strawberry.ID) -> Material:
        ctx = context(info)
        return Material.from_domain((await learning_progress(ctx.session, ctx.id(id))).material)

    @strawberry.field(description="How many statements go stale when a material is replaced, of those one sees.")
    async def stale_if_replaced(self, info: Info[Any, Any], material_id: strawberry.ID) -> int:
        ctx = context(info)
        return await stale_if_replaced(ctx.session, ctx.id(material_id))
