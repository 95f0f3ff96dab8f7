"""Provisioning: organizations, people, agents, groups, channels, members, rights, tokens, settings (AD-10, AD-18)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.hosting import Kept, run_kept
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.administration import Group, MembersChange, NewToken, Organization, Setting, TokenInfo
from api.graphql.types.evidence import Channel
from api.graphql.types.people import Principal
from graph.model.errors import BadInput
from graph.model.time import Millis
from graph.services.access import grants, members, provisioning, settings_write, tokens
from graph.services.access.commands import Command


@strawberry.type
class ProvisioningMutations:
    """Who there is and who belongs where; only admins."""

    @strawberry.mutation
    async def create_organization(
        self, info: Info[Any, Any], display_name: str, local_id: str | None = None, settings: JSON | None = None
    ) -> Organization:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: provisioning.create_organization(
                cmd, display_name, local_id=local_id, settings=_object(settings)
            ),
        )
        return Organization.from_domain(made)

    @strawberry.mutation
    async def set_organization(
        self,
        info: Info[Any, Any],
        id: strawberry.ID,
        expected_version: int,
        display_name: str | None = None,
        settings: JSON | None = None,
    ) -> Organization:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: provisioning.set_organization(
                cmd,
                ctx.id(id),
                expected_version=expected_version,
                display_name=display_name,
                settings=_object(settings),
            ),
        )
        return Organization.from_domain(made)

    @strawberry.mutation
    async def create_person(
        self,
        info: Info[Any, Any],
        display_name: str,
        local_id: str | None = None,
        oidc_subject: str | None = None,
    ) -> Principal:
        made = await context(info).run(
            info,
            lambda cmd: provisioning.create_person(cmd, display_name, local_id=local_id, oidc_subject=oidc_subject),
        )
        return Principal.from_domain(made)

    @strawberry.mutation
    async def create_service(self, info: Info[Any, Any], display_name: str, local_id: str | None = None) -> Principal:
        made = await context(info).run(
            info, lambda cmd: provisioning.create_service(cmd, display_name, local_id=local_id)
        )
        return Principal.from_domain(made)

    @strawberry.mutation
    async def create_group(
        self,
        info: Info[Any, Any],
        display_name: str,
        local_id: str | None = None,
        member_ids: list[strawberry.ID] | None = None,
    ) -> Group:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: provisioning.create_group(
                cmd, display_name, local_id=local_id, members=ctx.ids(member_ids) or ()
            ),
        )
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
            lambda cmd: provisioning.create_channel(
                cmd,
                ctx.id(agent_id),
                kind,
                display_name,
                local_id=local_id,
                group_id=None if group_id is None else ctx.id(group_id),
                members=ctx.ids(member_ids) or (),
            ),
        )
        return Channel.from_domain(made)

    @strawberry.mutation
    async def set_members(
        self,
        info: Info[Any, Any],
        id: strawberry.ID,
        member_ids: list[strawberry.ID],
        idempotency_key: str | None = None,
    ) -> MembersChange:
        ctx = context(info)
        place, people = ctx.id(id), ctx.ids(member_ids) or ()

        async def work(cmd: Command) -> Kept:
            change = await members.set_members(cmd, place, people)
            return {"added": list(change.added), "removed": list(change.removed)}

        kept = await run_kept(info, idempotency_key, {"place": place, "members": sorted(people)}, work)
        return MembersChange(
            added=[ctx.out(one) for one in kept["added"]], removed=[ctx.out(one) for one in kept["removed"]]
        )

    @strawberry.mutation
    async def set_disabled(self, info: Info[Any, Any], principal_id: strawberry.ID, disabled: bool) -> Principal:
        ctx = context(info)
        made = await ctx.run(info, lambda cmd: provisioning.set_disabled(cmd, ctx.id(principal_id), disabled))
        return Principal.from_domain(made)


@strawberry.type
class RightMutations:
    """Rights, tokens and settings."""

    @strawberry.mutation
    async def grant_right(
        self, info: Info[Any, Any], principal_id: strawberry.ID, right: enums.Right, object_id: strawberry.ID
    ) -> bool:
        ctx = context(info)
        await ctx.run(info, lambda cmd: grants.grant(cmd, ctx.id(principal_id), right, ctx.id(object_id)))
        return True

    @strawberry.mutation(description="False if there was no such grant.")
    async def revoke_right(
        self, info: Info[Any, Any], principal_id: strawberry.ID, right: enums.Right, object_id: strawberry.ID
    ) -> bool:
        ctx = context(info)
        return await ctx.run(info, lambda cmd: grants.revoke(cmd, ctx.id(principal_id), right, ctx.id(object_id)))

    @strawberry.mutation
    async def create_token(
        self,
        info: Info[Any, Any],
        principal_id: strawberry.ID,
        expires_at: Millis,
        rights: list[enums.Right] | None = None,
        organization_id: strawberry.ID | None = None,
    ) -> NewToken:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: tokens.create_token(
                cmd,
                ctx.id(principal_id),
                expires_at=expires_at,
                rights=rights,
                organization=None if organization_id is None else ctx.id(organization_id),
            ),
        )
        return NewToken(text=made.text, info=TokenInfo.from_domain(tokens.info_of(made.token), ctx.caller.workspace))

    @strawberry.mutation
    async def revoke_token(self, info: Info[Any, Any], id: strawberry.ID) -> TokenInfo:
        ctx = context(info)
        found = await ctx.run(info, lambda cmd: tokens.revoke_token(cmd, ctx.id(id)))
        return TokenInfo.from_domain(found, ctx.caller.workspace)

    @strawberry.mutation
    async def set_setting(
        self,
        info: Info[Any, Any],
        name: str,
        value: JSON | None = strawberry.UNSET,
        agent_id: strawberry.ID | None = None,
        expected_version: int | None = None,
    ) -> Setting:
        if value is strawberry.UNSET:
            raise BadInput("send the value; resetSetting goes back to the default", field="value")
        ctx = context(info)
        agent = None if agent_id is None else ctx.id(agent_id)
        found = await ctx.run(
            info,
            lambda cmd: settings_write.set_setting(cmd, name, value, agent_id=agent, expected_version=expected_version),
        )
        return Setting.from_domain(found)

    @strawberry.mutation
    async def reset_setting(
        self,
        info: Info[Any, Any],
        name: str,
        agent_id: strawberry.ID | None = None,
        expected_version: int | None = None,
    ) -> Setting:
        ctx = context(info)
        agent = None if agent_id is None else ctx.id(agent_id)
        found = await ctx.run(
            info,
            lambda cmd: settings_write.reset_setting(cmd, name, agent_id=agent, expected_version=expected_version),
        )
        return Setting.from_domain(found)


def _object(value: JSON | None) -> Mapping[str, Any] | None:
    if value is None or isinstance(value, Mapping):
        return value
    raise BadInput("settings are an object", field="settings")
