"""Entries and what they consist of."""

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
class Entry(Node):
    """A stable topic."""

    name: str
    type: str
    read_only: bool
    version: int
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None
    owner_id: strawberry.Private[NodeId]

    @classmethod
    def from_domain(cls, node: knowledge.Entry) -> Entry:
        return cls(
            id=to_global(node.id, node.workspace),
            name=node.name,
            type=node.type,
            read_only=node.read_only,
            version=node.current_version,
            created_at=node.created_at,
            updated_at=node.updated_at,
            deleted_at=node.deleted_at,
            owner_id=node.owner_id,
        )

    @strawberry.field
    async def owner(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.owner_id)
