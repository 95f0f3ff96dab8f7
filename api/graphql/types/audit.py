"""The audit: what was changed, by whom, why, and what a restore would do (KN-82 to KN-103)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection
from api.graphql.context import context
from api.graphql.ids import outward, to_global
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.dreaming import DreamRun, run_of
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal, base_of, principal_of
from graph.model.ids import NodeId
from graph.model.nodes import work
from graph.model.time import Millis
from graph.rules.audit_chain import SealedAudit
from graph.rules.restore import may_be_undone


@strawberry.type
class AuditRecord(Node):
    """One audited step in the chain of its pool."""

    seq: int
    tx_id: strawberry.ID
    recorded_at: Millis
    actor_kind: enums.ActorKind
    operation: str
    target_id: strawberry.ID
    before: JSON | None
    after: JSON | None
    reason: str | None
    hash: str
    prev_hash: str
    record: strawberry.Private[work.AuditRecord]

    @classmethod
    def from_domain(cls, node: work.AuditRecord) -> AuditRecord:
        return cls(
            id=to_global(node.id, node.workspace),
            seq=node.seq,
            tx_id=strawberry.ID(node.tx_id),
            recorded_at=node.recorded_at,
            actor_kind=enums.ActorKind(node.actor_kind),
            operation=node.operation,
            target_id=to_global(node.target_id, node.workspace),
            before=outward(node.before, node.workspace),
            after=outward(node.after, node.workspace),
            reason=node.reason,
            hash=node.hash,
            prev_hash=node.prev_hash,
            record=node,
        )

    @strawberry.field
    async def actor(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.record.actor_id)

    @strawberry.field
    async def on_behalf_of(self, info: Info[Any, Any]) -> Principal | None:
        named = self.record.on_behalf_of
        return await principal_of(info, named) if named else None

    @strawberry.field
    async def target(self, info: Info[Any, Any]) -> Node | None:
        from api.graphql.types.registry import show

        return await show(context(info), self.record.target_id)

    @strawberry.field(description="The knowledge base, session, agent memory or bot pool whose chain it is in.")
    def pool_id(self) -> strawberry.ID:
        return to_global(self.record.pool or self.record.id, self.record.workspace)

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.record.pool)

    @strawberry.field(description="The run of Dreaming that did it; null for who does not see the run.")
    async def dream_run(self, info: Info[Any, Any]) -> DreamRun | None:
        return await run_of(info, self.record.dream_run_id)

    @strawberry.field(description="Whether it can be undone at all, whatever the present may say against it.")
    def restorable(self) -> bool:
        return may_be_undone(SealedAudit.from_node(self.record))

    @strawberry.field
    async def restores(self, info: Info[Any, Any]) -> AuditRecord | None:
        return await record_of(info, self.record.restores_id)

    @strawberry.field
    async def restored_by(self, info: Info[Any, Any]) -> list[AuditRecord]:
        found = await context(info).loaders.restored_by.load(self.record.id)
        return [AuditRecord.from_domain(node) for node in found]


@strawberry.type
class AuditConnection(Connection[AuditRecord]):
    """A page of the audit, newest first."""


@strawberry.type
class ChangePayload:
    """The records of one change."""

    records: list[AuditRecord]
    tx_id: strawberry.ID

    @classmethod
    def from_domain(cls, records: Iterable[work.AuditRecord], tx_id: str) -> ChangePayload:
        return cls(records=[AuditRecord.from_domain(record) for record in records], tx_id=strawberry.ID(tx_id))


async def record_of(info: Info[Any, Any], id_: NodeId | None) -> AuditRecord | None:
    """Return a record that the caller may see."""
    node = await context(info).loaders.nodes.load(id_) if id_ else None
    return AuditRecord.from_domain(node) if isinstance(node, work.AuditRecord) else None
