"""The Curation Guide: how people steer Dreaming (KN-104 to KN-108)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.ids import to_global
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from graph.model.ids import NodeId
from graph.model.nodes import knowledge
from graph.model.time import Millis


@strawberry.type
class CurationGuide(Node):
    """The text by which people steer Dreaming (KN-104 to KN-108)."""

    text: str
    version: int
    updated_at: Millis
    modifier_id: strawberry.Private[NodeId]
    principal_id: strawberry.Private[NodeId]

    @classmethod
    def from_domain(cls, node: knowledge.CurationGuide) -> CurationGuide:
        return cls(
            id=to_global(node.id, node.workspace),
            text=node.text,
            version=node.version,
            updated_at=node.updated_at,
            modifier_id=node.modifier_id,
            principal_id=node.principal_id,
        )

    @strawberry.field
    async def principal(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.principal_id)

    @strawberry.field
    async def modifier(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.modifier_id)
