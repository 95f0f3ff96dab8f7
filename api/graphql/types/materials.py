"""Material: what people hand in for an agent to learn from (MA-1 to MA-10)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection
from api.graphql.ids import to_global
from api.graphql.scalars import Long
from api.graphql.types import enums
from api.graphql.types.evidence import Source
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal, base_of, principal_of
from graph.model.nodes import evidence
from graph.model.time import Millis
from graph.rules.unreadable import unreadable, why


@strawberry.type
class Material(Node):
    """A material; its id is that of its source, which `node` returns."""

    title: str | None
    kind: enums.SourceKind
    state: enums.LearningState
    code: str | None
    state_at: Millis | None
    version: int
    media_type: str | None
    size_bytes: Long | None
    content_hash: str
    submitted_at: Millis
    source: Source
    domain: strawberry.Private[evidence.Source]

    @classmethod
    def from_domain(cls, node: evidence.Source) -> Material:
        return cls(
            id=to_global(node.id, node.workspace),
            title=node.title,
            kind=enums.SourceKind(node.kind),
            state=enums.LearningState(node.learning_state or enums.LearningState.SUCCEEDED),
            code=node.learning_code,
            state_at=node.learning_at,
            version=node.version,
            media_type=node.media_type,
            size_bytes=None if node.size_bytes is None else Long(node.size_bytes),
            content_hash=node.content_hash,
            submitted_at=node.recorded_at,
            source=Source.from_domain(node),
            domain=node,
        )

    @strawberry.field(description="Why no text could be read from it, and what to do; null if it could.")
    def reason(self) -> str | None:
        return why(unreadable(self.domain.meta))

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.domain.pool)

    @strawberry.field
    async def submitter(self, info: Info[Any, Any]) -> Principal | None:
        return await principal_of(info, self.domain.author_id) if self.domain.author_id else None


@strawberry.type
class MaterialConnection(Connection[Material]):
    """A page of materials."""
