"""Principals and knowledge bases: who, and where knowledge lives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection
from api.graphql.context import context
from api.graphql.ids import to_global, to_node
from api.graphql.types import enums
from api.graphql.types.node import Node
from graph.model.ids import NodeId
from graph.model.nodes import knowledge, people
from graph.model.time import Millis
from graph.rules.rights import rights_on
from graph.rules.scopes import KbScope, may_write

if TYPE_CHECKING:
    from api.graphql.types.evidence import Channel


@strawberry.type
class Principal(Node):
    """A person, an agent or a service."""

    kind: enums.PrincipalKind
    display_name: str
    shared: bool = strawberry.field(default=False, description="Of an agent: several members use it.")
    deleted_at: Millis | None = None
    home_id: strawberry.Private[NodeId | None] = None

    @classmethod
    def from_domain(cls, node: people.Principal) -> Principal:
        return cls(
            id=to_global(node.id, node.workspace),
            kind=people.PrincipalKind(node.kind),
            display_name=node.display_name,
            shared=node.shared,
            deleted_at=node.deleted_at,
            home_id=node.home_id,
        )

    @strawberry.field(description="What the caller may do on it, with all that these rights imply.")
    async def viewer_rights(self, info: Info[Any, Any]) -> list[enums.Right]:
        return rights_of(info, self.id)

    @strawberry.field(description="Of a linked bot: the bot whose memory it has.")
    async def home(self, info: Info[Any, Any]) -> Principal | None:
        return None if self.home_id is None else await principal_of(info, self.home_id)


@strawberry.type
class KnowledgeBase(Node):
    """A pool of knowledge of one agent."""

    kind: enums.KbKind
    version: int
    created_at: Millis
    owner_id: strawberry.Private[NodeId]
    channel_id: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, node: knowledge.KnowledgeBase) -> KnowledgeBase:
        return cls(
            id=to_global(node.id, node.workspace),
            kind=knowledge.KbKind(node.kind),
            version=node.version,
            created_at=node.created_at,
            owner_id=node.owner_id,
            channel_id=node.channel_id,
        )

    @strawberry.field
    async def owner(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.owner_id)

    @strawberry.field(description="Whether the caller may write there, outside of any conversation.")
    async def writable(self, info: Info[Any, Any]) -> bool:
        scope = KbScope(kind=knowledge.KbKind(self.kind), owner=self.owner_id, channel=self.channel_id)
        return may_write(context(info).session.facts, scope)

    @strawberry.field(description="Its channel or private chat; null for the wider ones, and for who does not see it.")
    async def channel(
        self, info: Info[Any, Any]
    ) -> Annotated[Channel, strawberry.lazy("api.graphql.types.evidence")] | None:
        from api.graphql.types.evidence import channel_of

        return await channel_of(info, self.channel_id)


@strawberry.type
class PrincipalConnection(Connection[Principal]):
    """A page of principals."""


@strawberry.type
class KnowledgeBaseConnection(Connection[KnowledgeBase]):
    """A page of knowledge bases."""


def rights_of(info: Info[Any, Any], object_id: strawberry.ID) -> list[enums.Right]:
    """Return the caller's rights on an object, in the order of their names."""
    ctx = context(info)
    return sorted(rights_on(ctx.session.facts, to_node(object_id, ctx.caller.workspace)))


async def principal_of(info: Info[Any, Any], id_: NodeId) -> Principal:
    """Return a principal; one that the store does not know (any more) has no name."""
    ctx = context(info)
    node = await ctx.loaders.nodes.load(id_)
    if isinstance(node, people.Principal):
        return Principal.from_domain(node)
    return Principal(id=ctx.out(id_), kind=people.PrincipalKind.SERVICE, display_name="")


async def base_of(info: Info[Any, Any], pool: NodeId | None) -> KnowledgeBase | None:
    """Return a knowledge base that the caller reads."""
    node = await context(info).loaders.nodes.load(pool) if pool else None
    return KnowledgeBase.from_domain(node) if isinstance(node, knowledge.KnowledgeBase) else None
