"""The list of materials."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.types import enums
from api.graphql.types.materials import Material, MaterialConnection
from graph.services.knowledge.material_list import materials


@strawberry.type
class MaterialQueries:
    """The list of materials."""

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
