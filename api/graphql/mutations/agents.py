"""Agents and bots: making, changing and deleting them, and whom they serve (AD-6, AD-18, AD-19)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.types.people import Principal
from graph.services.access import agents, deleting, serving


@strawberry.type
class DeletedAgent:
    """What went with an agent: conversations and remembered entries, of every status."""

    id: strawberry.ID
    sessions: int
    chats: int
    agent_entries: int
    bot_entries: int

    @classmethod
    def from_domain(cls, ctx: RequestContext, gone: deleting.AgentDeletion) -> DeletedAgent:
        return cls(
            id=ctx.out(gone.agent),
            sessions=gone.sessions,
            chats=gone.chats,
            agent_entries=gone.agent_entries,
            bot_entries=gone.bot_entries,
        )


@strawberry.type
class AgentMutations:
    """Agents and bots; only admins."""

    @strawberry.mutation(
        description="Members of the organizations may read its memory at once; a linked bot has that of its home."
    )
    async def create_agent(
        self,
        info: Info[Any, Any],
        display_name: str,
        local_id: str | None = None,
        shared: bool | None = False,
        organization_ids: list[strawberry.ID] | None = None,
        home_bot_id: strawberry.ID | None = None,
    ) -> Principal:
        ctx = context(info)
        made = await ctx.run(
            info,
            lambda cmd: agents.create_agent(
                cmd,
                display_name,
                local_id=local_id,
                shared=bool(shared),
                organizations=ctx.ids(organization_ids) or (),
                home_id=None if home_bot_id is None else ctx.id(home_bot_id),
            ),
        )
        return Principal.from_domain(made)

    @strawberry.mutation
    async def set_agent(
        self, info: Info[Any, Any], id: strawberry.ID, display_name: str | None = None, shared: bool | None = None
    ) -> Principal:
        ctx = context(info)
        made = await ctx.run(
            info, lambda cmd: agents.set_agent(cmd, ctx.id(id), display_name=display_name, shared=shared)
        )
        return Principal.from_domain(made)

    @strawberry.mutation(description="Let members of an organization read the memory of an agent, or no more.")
    async def set_serving(
        self, info: Info[Any, Any], agent_id: strawberry.ID, organization_id: strawberry.ID, serves: bool
    ) -> bool:
        ctx = context(info)
        await ctx.run(
            info, lambda cmd: serving.set_serving(cmd, ctx.id(agent_id), ctx.id(organization_id), serves=serves)
        )
        return serves

    @strawberry.mutation(
        description="Its sessions, chats and memories go for good; its knowledge stays for admins and auditors."
    )
    async def delete_agent(self, info: Info[Any, Any], id: strawberry.ID) -> DeletedAgent:
        ctx = context(info)
        return DeletedAgent.from_domain(ctx, await ctx.run(info, lambda cmd: deleting.delete_agent(cmd, ctx.id(id))))
