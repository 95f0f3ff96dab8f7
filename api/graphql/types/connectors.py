"""Systems that bring material by themselves: signal sources and connectors (MA-15 to MA-25)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.ids import outward, to_global
from api.graphql.scalars import JSON
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, base_of
from graph.model.ids import NodeId
from graph.model.nodes import learning
from graph.model.time import Millis
from graph.rules.connectors import ConnectorState
from graph.rules.rights import may_administer

strawberry.enum(ConnectorState)


@strawberry.type
class SignalSource(Node):
    """A system whose events reach an agent."""

    agent_id: strawberry.ID
    display_name: str
    volatile: bool = strawberry.field(description="Its events are not kept: ask the system when a task needs them.")
    pool: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, node: learning.SignalSource) -> SignalSource:
        return cls(
            id=to_global(node.id, node.workspace),
            agent_id=to_global(node.agent_id, node.workspace),
            display_name=node.display_name,
            volatile=node.volatile,
            pool=node.pool,
        )

    @strawberry.field(description="Where its events go from now on; null if the caller may not read it.")
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.pool)


@strawberry.type
class Connector(Node):
    """A synchronised place of documents."""

    kind: str
    owner_id: strawberry.ID
    display_name: str
    state: ConnectorState
    last_sync_at: Millis | None
    last_error: str | None = strawberry.field(description="Code of why the last sync, or a document in it, failed.")
    failures: int = strawberry.field(description="Failed syncs in a row.")
    domain: strawberry.Private[learning.Connector]

    @classmethod
    def from_domain(cls, node: learning.Connector) -> Connector:
        return cls(
            id=to_global(node.id, node.workspace),
            kind=node.kind,
            owner_id=to_global(node.owner_id, node.workspace),
            display_name=node.display_name,
            state=ConnectorState(node.state),
            last_sync_at=node.last_sync_at,
            last_error=node.last_error,
            failures=node.failures,
            domain=node,
        )

    @strawberry.field(description="Where the place is; null for all but admins.")
    async def options(self, info: Info[Any, Any]) -> JSON | None:
        ctx = context(info)
        shown = may_administer(ctx.session.facts)
        return JSON(outward(self.domain.options or {}, ctx.caller.workspace)) if shown else None

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.domain.pool)
