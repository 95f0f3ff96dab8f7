"""Provisioning (AD-18): people, agents, organizations, groups, channels, rights, tokens, settings."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.administration import (
    CreateTokenPayload,
    Group,
    MembersPayload,
    Organization,
    Setting,
    Token,
)
from api.graphql.types.evidence import Channel
from api.graphql.types.people import Principal
from graph.model.errors import BadInput
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.services.access.grants import grant, revoke
from graph.services.access.members import set_members
from graph.services.access.provisioning import (
    create_agent,
    create_channel,
    create_group,
    create_organization,
    create_person,
    create_service,
    set_disabled,
    set_organization,
)
from graph.services.access.settings_write import reset_setting, set_setting
from graph.services.access.tokens import create_token, revoke_token


@strawberry.type
class ProvisioningMutations:
    """Making people, agents and places."""

    @strawberry.mutation
    async def create_person(
        self,
        info: Info[Any, Any],
        display_name: str,
        local_id: str | None = None,
        oidc_subject: str | None = None,
    ) -> Principal:
        made = await context(info).run(
            info, lambda cmd: create_person(cmd, display_name, local_id=local_id, oidc_subject=oidc_subject)
        )
        return Principal.from_domain(made)

    @strawberry.mutation
    async def create_service(self, info: Info[Any, Any], display_name: str, local_id: str | None = None) -> Principal:
        made = await context(info).run(info, lambda cmd: create_service(cmd, display_name, local_id=local_id))
        return Principal.from_domain(made)

    @strawberry.mutation
    async def create_agent(self, info: Info[Any, Any], display_name: str, local_id: str | None = None) -> Principal:
        made = await context(info).run(info, lambda cmd: create_agent(cmd, display_name, local_id=local_id))
        return Principal.from_domain(made)

    @strawberry.mutation
    async def create_organization(
        self, info: Info[Any, Any], display_name: str, local_id: str | None = None, settings: JSON | None = None
    ) -> Organization:
        given = _object(settings)
        made = await context(info).run(
            info, lambda cmd: create_organization(cmd, display_name, local_id=local_id, settings=given)
        )
        return Organization.from_domain(made)

    @strawberry.mutation
    async def set_organization(
        self,
        info: Info[Any, Any],
        id: strawberry.ID,
        expected_version: int,
        settings: JSON | None = None,
        display_name: str | None = None,
    ) -> Organization:
        ctx, given = context(info), _object(settings)
        made = await ctx.run(
            info,
            lambda cmd: set_organization(
                cmd, ctx.id(id), expected_version=expected_version, settings=given, display_name=display_name
            ),
        )
        return Organization.from_domain(made)

    @strawberry.mutation
    async def create_group(
        self,
        info: Info[Any, Any],
        display_name: str,
        local_id: str | None = None,
        member_ids: list[strawberry.ID] | None = None,
    ) -> Group:
        ctx = context(info)
        members = ctx.ids(member_ids) or ()
        made = await ctx.run(info, lambda cmd: create_group(cmd, display_name, local_id=local_id, members=members))
        return Group.from_domain(made)

    @strawberry.mutation
    async def create_channel(
        self,
        info: Info[Any, Any],
        agent_id: strawberry.ID,
        kind: enums.ChannelKind,
        display_name: str = "",
        local_id: str | None = None,
        group_id: strawberry.ID | None = None,
        member_ids: list[strawberry.ID] | None = None,
    ) -> Channel:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: create_channel(
                cmd,
                ctx.id(agent_id),
                kind,
                display_name,
                local_id=local_id,
                group_id=_given(ctx, group_id),
                members=ctx.ids(member_ids) or (),
            ),
        )
        return Channel.from_domain(made)

    @strawberry.mutation
    async def set_members(
        self, info: Info[Any, Any], place_id: strawberry.ID, member_ids: list[strawberry.ID]
    ) -> MembersPayload:
        ctx = context(info)
        change = await ctx.run(info, lambda cmd: set_members(cmd, ctx.id(place_id), ctx.ids(member_ids) or ()))
        return MembersPayload(
            added_ids=[ctx.out(id_) for id_ in change.added], removed_ids=[ctx.out(id_) for id_ in change.removed]
        )

    @strawberry.mutation
    async def set_disabled(self, info: Info[Any, Any], principal_id: strawberry.ID, disabled: bool) -> Principal:
        ctx = context(info)
        return Principal.from_domain(await ctx.run(info, lambda cmd: set_disabled(cmd, ctx.id(principal_id), disabled)))


@strawberry.type
class RightMutations:
    """Rights, tokens and settings."""

    @strawberry.mutation
    async def grant_right(
        self, info: Info[Any, Any], principal_id: strawberry.ID, right: enums.Right, object_id: strawberry.ID
    ) -> bool:
        ctx = context(info)
        await ctx.run(info, lambda cmd: grant(cmd, ctx.id(principal_id), right, ctx.id(object_id)))
        return True

    @strawberry.mutation
    async def revoke_right(
        self, info: Info[Any, Any], principal_id: strawberry.ID, right: enums.Right, object_id: strawberry.ID
    ) -> bool:
        ctx = context(info)
        return await ctx.run(info, lambda cmd: revoke(cmd, ctx.id(principal_id), right, ctx.id(object_id)))

    @strawberry.mutation
    async def create_token(
        self,
        info: Info[Any, Any],
        principal_id: strawberry.ID,
        expires_at: Millis,
        rights: list[enums.Right] | None = None,
        organization_id: strawberry.ID | None = None,
    ) -> CreateTokenPayload:
        ctx = context(info)
        minted = await ctx.run(
            info,
            lambda cmd: create_token(
                cmd,
                ctx.id(principal_id),
                expires_at=expires_at,
                rights=rights,
                organization=_given(ctx, organization_id),
            ),
        )
        return CreateTokenPayload(id=ctx.out(minted.token.id), secret=minted.text, expires_at=minted.token.expires_at)

    @strawberry.mutation
    async def revoke_token(self, info: Info[Any, Any], id: strawberry.ID) -> Token:
        ctx = context(info)
        revoked = await ctx.run(info, lambda cmd: revoke_token(cmd, ctx.id(id)))
        return Token.from_domain(revoked, ctx.caller.workspace)

    @strawberry.mutation
    async def set_setting(
        self,
        info: Info[Any, Any],
        name: str,
        value: JSON | None,
        expected_version: int,
        agent_id: strawberry.ID | None = None,
    ) -> Setting:
        ctx = context(info)
        view = await ctx.run(
            info,
            lambda cmd: set_setting(
                cmd, name, value, agent_id=_given(ctx, agent_id), expected_version=expected_version
            ),
        )
        return Setting.from_domain(view)

    @strawberry.mutation
    async def reset_setting(
        self, info: Info[Any, Any], name: str, expected_version: int, agent_id: strawberry.ID | None = None
    ) -> Setting:
        ctx = context(info)
        view = await ctx.run(
            info,
            lambda cmd: reset_setting(cmd, name, agent_id=_given(ctx, agent_id), expected_version=expected_version),
        )
        return Setting.from_domain(view)


def _given(ctx: RequestContext, id_: strawberry.ID | None) -> NodeId | None:
    return None if id_ is None else ctx.id(id_)


def _object(value: Any) -> dict[str, Any] | None:
    if value is not None and not isinstance(value, dict):
        raise BadInput("settings are an object", field="settings")
    return value
