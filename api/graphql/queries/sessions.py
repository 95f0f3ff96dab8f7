"""Reads of session memory and agent memory (AD-22, KN-121)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.tagging import tagged
from api.graphql.types.agents import AgentMemory, AgentMemoryChange
from api.graphql.types.consolidations import Consolidation
from api.graphql.types.sessions import Session, SessionMemory
from graph.services.agents.memory import DEFAULT_LOG, agent_memory, agent_memory_log
from graph.services.agents.state import memory_id
from graph.services.sessions.consolidations import consolidations
from graph.services.sessions.memory import session_memory, session_view


@strawberry.type
class SessionQueries:
    """Sessions and their memory; the memory of an agent."""

    @strawberry.field
    async def session(self, info: Info[Any, Any], session_id: strawberry.ID) -> Session:
        ctx = context(info)
        with tagged():
            return Session.from_domain(await session_view(ctx.session, ctx.id(session_id)))

    @strawberry.field
    async def session_memory(self, info: Info[Any, Any], session_id: strawberry.ID) -> SessionMemory:
        ctx = context(info)
        with tagged():
            return SessionMemory.from_domain(await session_memory(ctx.session, ctx.id(session_id)))

    @strawberry.field(description="Newest first; first 1 to 500.")
    async def session_consolidations(
        self, info: Info[Any, Any], session_id: strawberry.ID, first: int = 100
    ) -> list[Consolidation]:
        ctx = context(info)
        with tagged():
            found = await consolidations(ctx.session, ctx.id(session_id), first)
        return [Consolidation.from_domain(record) for record in found]

    @strawberry.field
    async def agent_memory(self, info: Info[Any, Any], agent_id: strawberry.ID) -> AgentMemory:
        ctx = context(info)
        agent = ctx.id(agent_id)
        with tagged():
            return AgentMemory.of(memory_id(agent), agent, await agent_memory(ctx.session, agent))

    @strawberry.field(description="Newest version first, one row a version; limit 1 to 1000.")
    async def agent_memory_log(
        self, info: Info[Any, Any], agent_id: strawberry.ID, limit: int | None = DEFAULT_LOG, before: int | None = None
    ) -> list[AgentMemoryChange]:
        ctx = context(info)
        with tagged():
            found = await agent_memory_log(
                ctx.session, ctx.id(agent_id), DEFAULT_LOG if limit is None else limit, before
            )
        return [AgentMemoryChange.from_domain(change) for change in found]
