"""What an agent remembers through all its sessions (agent memory)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from api.graphql.types.sessions import SessionItem, items_of
from graph.model.ids import NodeId, WorkspaceId, hosted_id
from graph.model.nodes import sessions
from graph.model.time import Millis
from graph.services.agents.memory import AgentEntryView, AgentMemoryView, agent_memory


@strawberry.type
class AgentSource:
    """An item behind an entry, by local ids, shown to who may see the item."""

    session: str
    item: str


@strawberry.type
class AgentEntry(Node):
    """One entry of an agent's memory, by its key."""

    key: str
    content: str
    kind: str
    status: str
    sources: list[AgentSource]
    updated_at: Millis
    agent_id: strawberry.Private[NodeId]

    @classmethod
    def from_domain(cls, view: AgentEntryView) -> AgentEntry:
        return cls(
            id=to_global(view.id, _workspace(view.agent_id)),
            key=view.key,
            content=view.content,
            kind=view.kind,
            status=view.status,
            sources=[AgentSource(session=one.session, item=one.item) for one in view.sources],
            updated_at=view.updated_at,
            agent_id=view.agent_id,
        )

    @strawberry.field
    async def agent(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.agent_id)

    @strawberry.field(description="Those of the items behind it that the caller may see.")
    async def items(self, info: Info[Any, Any]) -> list[SessionItem]:
        workspace, prefix = _workspace(self.agent_id), sessions.SessionItem.PREFIX
        ids = [hosted_id(prefix, workspace, one.item, container=one.session) for one in self.sources]
        return await items_of(info, ids)


@strawberry.type
class AgentMemory(Node):
    """The memory of an agent; entries by key, retracted ones included."""

    version: int
    agent_id: strawberry.Private[NodeId]
    view: strawberry.Private[AgentMemoryView | None] = None

    @classmethod
    def from_domain(cls, node: sessions.AgentMemory) -> AgentMemory:
        return cls(id=to_global(node.id, node.workspace), version=node.version, agent_id=node.agent_id)

    @classmethod
    def of(cls, pool: NodeId, agent: NodeId, view: AgentMemoryView) -> AgentMemory:
        """Return the memory of an agent as it was read, which may have no pool yet."""
        return cls(id=to_global(pool, _workspace(agent)), version=view.version, agent_id=agent, view=view)

    @strawberry.field
    async def agent(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.agent_id)

    @strawberry.field
    async def entries(self, info: Info[Any, Any]) -> list[AgentEntry]:
        view = self.view or await agent_memory(context(info).session, self.agent_id)
        return [AgentEntry.from_domain(entry) for entry in view.entries]


@strawberry.type
class AgentMemoryChange:
    """One version of an agent's memory: when, why (consolidation, person or promotion) and which keys."""

    version: int
    at: Millis
    cause: str
    keys: list[str]

    @classmethod
    def from_domain(cls, node: sessions.AgentChange) -> AgentMemoryChange:
        return cls(version=node.version, at=node.at, cause=node.cause, keys=sorted(node.keys))


def _workspace(agent: NodeId) -> WorkspaceId:
    return WorkspaceId(agent.partition("_")[2].partition("/")[0])
