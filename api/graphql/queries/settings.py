"""Settings, tokens and members: what administration looks at."""

from __future__ import annotations

import asyncio
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types.administration import Setting, Token
from api.graphql.types.people import Principal, principal_of
from graph.services.access.members import list_members
from graph.services.access.settings_write import list_settings
from graph.services.access.tokens import list_tokens


@strawberry.type
class SettingQueries:
    """What administration looks at."""

    @strawberry.field
    async def settings(self, info: Info[Any, Any]) -> list[Setting]:
        return [Setting.from_domain(view) for view in await list_settings(context(info).session)]

    @strawberry.field
    async def agent_settings(self, info: Info[Any, Any], agent_id: strawberry.ID) -> list[Setting]:
        ctx = context(info)
        return [Setting.from_domain(view) for view in await list_settings(ctx.session, ctx.id(agent_id))]

    @strawberry.field
    async def tokens(self, info: Info[Any, Any], principal_id: strawberry.ID | None = None) -> list[Token]:
        ctx = context(info)
        found = await list_tokens(ctx.session, None if principal_id is None else ctx.id(principal_id))
        return [Token.from_domain(one, ctx.caller.workspace) for one in found]

    @strawberry.field
    async def members(self, info: Info[Any, Any], place_id: strawberry.ID) -> list[Principal]:
        ctx = context(info)
        found = await list_members(ctx.session, ctx.id(place_id))
        return list(await asyncio.gather(*(principal_of(info, member) for member in found)))
