"""Changing knowledge: the list of operations, and erasing a source."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.ids import inward
from api.graphql.scalars import JSON
from api.graphql.types.audit import AuditRecord
from api.graphql.types.evidence import Source
from api.graphql.types.node import Node
from api.graphql.types.registry import show_all
from graph.model.errors import LimitExceeded
from graph.model.ids import NodeId
from graph.rules.operations.verdicts import Outcome, Verdict
from graph.services.knowledge.erasure import erase
from graph.services.knowledge.operations import ApplyResult, apply_operations

strawberry.enum(Outcome, name="OperationOutcome")
MAX_OPERATIONS = 1_000


@strawberry.type
class PartRejection:
    """A block or attribute of a `createEntry` that was left out while the entry was made."""

    part: str
    index: int
    code: str
    reason: str


@strawberry.type
class OperationVerdict:
    """What became of one operation."""

    index: int
    op: str
    outcome: Outcome
    code: str | None
    reason: str | None
    created_ids: list[strawberry.ID]
    left_out: list[PartRejection]
    ids: strawberry.Private[tuple[NodeId, ...]]

    @classmethod
    def from_domain(cls, ctx: RequestContext, verdict: Verdict, *, written: bool) -> OperationVerdict:
        made = verdict.created if written else ()
        return cls(
            index=verdict.index,
            op=verdict.op,
            outcome=verdict.outcome,
            code=verdict.code,
            reason=verdict.reason,
            created_ids=[ctx.out(id_) for id_ in made],
            left_out=[
                PartRejection(part=one.part, index=one.index, code=one.code, reason=one.reason)
                for one in verdict.left_out
            ],
            ids=made,
        )

    @strawberry.field(description="What it made or changed, its main object first.")
    async def created(self, info: Info[Any, Any]) -> list[Node]:
        return await show_all(context(info), self.ids)


@strawberry.type
class ApplyPayload:
    """What became of a list of operations."""

    applied: bool
    results: list[OperationVerdict]
    records: list[AuditRecord]
    tx_id: strawberry.ID

    @classmethod
    def from_domain(cls, ctx: RequestContext, result: ApplyResult, *, dry_run: bool) -> ApplyPayload:
        return cls(
            applied=not dry_run,
            results=[OperationVerdict.from_domain(ctx, one, written=not dry_run) for one in result.verdicts],
            records=[AuditRecord.from_domain(record) for record in result.records],
            tx_id=strawberry.ID(result.tx_id),
        )


@strawberry.type
class ChangeMutations:
    """Changing knowledge."""

    @strawberry.mutation
    async def apply_operations(
        self,
        info: Info[Any, Any],
        operations: list[JSON],
        reason: str,
        conversation_id: strawberry.ID | None = None,
        kb_id: strawberry.ID | None = None,
        dry_run: bool | None = False,
    ) -> ApplyPayload:
        ctx = context(info)
        if len(operations) > MAX_OPERATIONS:
            raise LimitExceeded(f"send at most {MAX_OPERATIONS} operations", field="operations", limit=MAX_OPERATIONS)
        inside = [inward(operation, ctx.caller.workspace) for operation in operations]
        conversation = None if conversation_id is None else ctx.id(conversation_id)
        result = await ctx.run(
            info,
            lambda cmd: apply_operations(
                cmd,
                operations=inside,
                reason=reason,
                conversation_id=conversation,
                kb_id=None if kb_id is None else ctx.id(kb_id),
                dry_run=bool(dry_run),
            ),
        )
        await ctx.speak_in(conversation)
        return ApplyPayload.from_domain(ctx, result, dry_run=bool(dry_run))

    @strawberry.mutation
    async def erase_source(self, info: Info[Any, Any], id: strawberry.ID, reason: str) -> Source:
        ctx = context(info)
        receipt = await ctx.once(info, lambda: erase(ctx.deps, ctx.caller, ctx.id(id), reason))
        return Source.from_domain(receipt.source, receipt.counts)
