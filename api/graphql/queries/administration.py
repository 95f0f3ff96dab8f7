"""What admins look up: the workspace, tokens, members, organizations, settings, the audit of administration."""

from __future__ import annotations

import asyncio
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types.administration import AdminRecord, Organization, Setting, TokenInfo, Workspace
from api.graphql.types.people import Principal, principal_of
from api.limits import MAX_FIRST
from graph.model.errors import LimitExceeded
from graph.services.access.admin_log import admin_log
from graph.services.access.members import list_members
from graph.services.access.organizations import list_organizations
from graph.services.access.settings_write import list_settings
from graph.services.access.tokens import list_tokens
from graph.services.access.workspaces import workspace_of


@strawberry.type
class AdminQueries:
    """What admins look up."""

    @strawberry.field(description="The workspace of the caller.")
    async def workspace(self, info: Info[Any, Any]) -> Workspace:
        return Workspace.from_domain(await workspace_of(context(info).session))

    @strawberry.field(description="One's own tokens; an admin may ask for anyone's.")
    async def tokens(self, info: Info[Any, Any], principal_id: strawberry.ID | None = None) -> list[TokenInfo]:
        ctx = context(info)
        found = await list_tokens(ctx.session, None if principal_id is None else ctx.id(principal_id))
        return [TokenInfo.from_domain(one, ctx.caller.workspace) for one in found]

    @strawberry.field(description="Who belongs to a channel, group or organization, by id.")
    async def members(self, info: Info[Any, Any], id: strawberry.ID) -> list[Principal]:
        ctx = context(info)
        found = await list_members(ctx.session, ctx.id(id))
        return list(await asyncio.gather(*(principal_of(info, one) for one in found)))

    @strawberry.field(description="The organizations of the workspace with their settings, by name.")
    async def organizations(self, info: Info[Any, Any]) -> list[Organization]:
        return [Organization.from_domain(one) for one in await list_organizations(context(info).session)]

    @strawberry.field(description="The settings of knowledge in force in the workspace.")
    async def settings(self, info: Info[Any, Any]) -> list[Setting]:
        return [Setting.from_domain(one) for one in await list_settings(context(info).session)]

    @strawberry.field(description="The settings of knowledge in force for one agent.")
    async def agent_settings(self, info: Info[Any, Any], agent_id: strawberry.ID) -> list[Setting]:
        ctx = context(info)
        return [Setting.from_domain(one) for one in await list_settings(ctx.session, ctx.id(agent_id))]

    @strawberry.field(description="Steps of administration, newest first.")
    async def admin_log(
        self, info: Info[Any, Any], first: int | None = 20, before_seq: int | None = None
    ) -> list[AdminRecord]:
        wanted = 20 if first is None else first
        if not 0 <= wanted <= MAX_FIRST:
            raise LimitExceeded(f"ask for 0 to {MAX_FIRST} records", field="first", limit=MAX_FIRST)
        page = await admin_log(context(info).session, first=wanted, before_seq=before_seq)
        return [AdminRecord.from_domain(one) for one in page.records]
