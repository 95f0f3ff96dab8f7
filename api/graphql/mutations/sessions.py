"""Commands on session memory and agent memory, with what the caller last saw (AD-22, AD-23)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.tagging import tagged
from api.graphql.types.agents import AgentMemory
from api.graphql.types.sessions import Session
from dreaming.sessions.refresh import refresh_session
from graph.model.nodes import sessions
from graph.rules.session_memory import Seen
from graph.services.access.commands import Command
from graph.services.agents import commands as agent_commands
from graph.services.agents.memory import agent_memory
from graph.services.sessions import commands
from graph.services.sessions.memory import session_view


@strawberry.type
class SessionMutations:
    """What people do to the memory of a session or an agent."""

    @strawberry.mutation(description="Make a fact, or replace and revive the one under its key.")
    async def remember_session_fact(
        self,
        info: Info[Any, Any],
        session_id: strawberry.ID,
        expected_head: str,
        expected_revision: int,
        key: str,
        content: str,
        kind: str,
    ) -> Session:
        id_, seen = context(info).id(session_id), Seen(head=expected_head, revision=expected_revision)
        return await _edited(info, lambda cmd: commands.remember(cmd, id_, seen, key=key, content=content, kind=kind))

    @strawberry.mutation(description="Retract a fact; it stays, and only a person brings it back.")
    async def forget_session_fact(
        self, info: Info[Any, Any], session_id: strawberry.ID, expected_head: str, expected_revision: int, key: str
    ) -> Session:
        id_, seen = context(info).id(session_id), Seen(head=expected_head, revision=expected_revision)
        return await _edited(info, lambda cmd: commands.forget(cmd, id_, seen, key=key))

    @strawberry.mutation(description="True or false sets a switch, null follows the organization, left out stays.")
    async def configure_session_memory(
        self,
        info: Info[Any, Any],
        session_id: strawberry.ID,
        expected_head: str,
        expected_revision: int,
        use: bool | None = strawberry.UNSET,
        generate: bool | None = strawberry.UNSET,
    ) -> Session:
        id_, seen = context(info).id(session_id), Seen(head=expected_head, revision=expected_revision)
        given: Mapping[str, bool | None] = {"use": use, "generate": generate}
        switches = {name: value for name, value in given.items() if value is not strawberry.UNSET}
        return await _edited(info, lambda cmd: commands.configure(cmd, id_, seen, switches))

    @strawberry.mutation(description="Learn now, with the session's model; what was last seen does not matter.")
    async def refresh_session_memory(
        self, info: Info[Any, Any], session_id: strawberry.ID, expected_head: str, expected_revision: int
    ) -> Session:
        del expected_head, expected_revision  # required and ignored (SM-47)
        ctx = context(info)
        id_ = ctx.id(session_id)
        with tagged():
            await ctx.once(info, lambda: refresh_session(ctx.deps, ctx.models, ctx.caller, id_))
            return Session.from_domain(await session_view(ctx.session, id_))

    @strawberry.mutation(description="Create, replace or restore an entry.")
    async def remember_for_agent(
        self,
        info: Info[Any, Any],
        agent_id: strawberry.ID,
        expected_version: int,
        key: str,
        content: str,
        kind: str,
    ) -> AgentMemory:
        id_ = context(info).id(agent_id)
        return await _agent_edited(
            info,
            lambda cmd: agent_commands.remember(
                cmd, id_, expected_version=expected_version, key=key, content=content, kind=kind
            ),
        )

    @strawberry.mutation(description="Retract an entry.")
    async def forget_for_agent(
        self, info: Info[Any, Any], agent_id: strawberry.ID, expected_version: int, key: str
    ) -> AgentMemory:
        id_ = context(info).id(agent_id)
        return await _agent_edited(
            info, lambda cmd: agent_commands.forget(cmd, id_, expected_version=expected_version, key=key)
        )


async def _edited(info: Info[Any, Any], work: Callable[[Command], Awaitable[sessions.Session]]) -> Session:
    with tagged():
        return Session.from_domain(await context(info).run(info, work))


async def _agent_edited(
    info: Info[Any, Any], work: Callable[[Command], Awaitable[sessions.AgentMemory]]
) -> AgentMemory:
    ctx = context(info)
    with tagged():
        pool = await ctx.run(info, work)
        return AgentMemory.of(pool.id, pool.agent_id, await agent_memory(ctx.session, pool.agent_id))
