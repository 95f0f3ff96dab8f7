"""The audit: its records, and the verification of its chains."""

from __future__ import annotations

import asyncio
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import RequestContext, context
from api.graphql.types.audit import AuditConnection, AuditRecord
from api.graphql.types.inputs import AuditFilter, audit_filter_of
from api.graphql.types.people import Principal, principal_of
from api.graphql.types.restoring import RestorePreview
from graph.rules.audit_following import ChainReport
from graph.services.knowledge.audit_log import audit_actors, audit_log
from graph.services.knowledge.audit_verify import AuditVerification as Verification
from graph.services.knowledge.audit_verify import PoolReport, verify_audit
from graph.services.knowledge.chain_checks import note_verification
from graph.services.knowledge.restore import restore_preview


@strawberry.type
class ChainVerification:
    """What became of the chain of one pool: a knowledge base, a session, the memory of an agent or of a bot."""

    pool_id: strawberry.ID
    knowledge_base_id: strawberry.ID = strawberry.field(
        description="The same as `poolId`, from before other pools had chains."
    )
    ok: bool
    broken_at_seq: int | None
    reason: str | None
    head_seq: int
    head_hash: str

    @classmethod
    def from_domain(cls, ctx: RequestContext, found: PoolReport) -> ChainVerification:
        report = found.report
        return cls(
            pool_id=ctx.out(found.pool),
            knowledge_base_id=ctx.out(found.pool),
            ok=report.ok,
            broken_at_seq=report.first_broken_seq,
            reason=None if report.reason is None else str(report.reason),
            head_seq=report.head.seq,
            head_hash=report.head.hash,
        )


@strawberry.type
class WorkspaceChainVerification:
    """What became of a chain of the whole workspace."""

    ok: bool
    broken_at_seq: int | None
    reason: str | None
    head_seq: int
    head_hash: str

    @classmethod
    def from_domain(cls, report: ChainReport | None) -> WorkspaceChainVerification | None:
        if report is None:
            return None
        return cls(
            ok=report.ok,
            broken_at_seq=report.first_broken_seq,
            reason=None if report.reason is None else str(report.reason),
            head_seq=report.head.seq,
            head_hash=report.head.hash,
        )


@strawberry.type
class AuditVerification:
    """Whether the chains that the caller reads hold (KN-85); those of the workspace are null for who reads neither."""

    ok: bool
    broken_at_seq: int | None
    chains: list[ChainVerification]
    administration: WorkspaceChainVerification | None
    anchors: WorkspaceChainVerification | None

    @classmethod
    def from_domain(cls, ctx: RequestContext, found: Verification) -> AuditVerification:
        return cls(
            ok=found.ok,
            broken_at_seq=found.first_broken_seq,
            chains=[ChainVerification.from_domain(ctx, one) for one in found.pools],
            administration=WorkspaceChainVerification.from_domain(found.administration),
            anchors=WorkspaceChainVerification.from_domain(found.anchors),
        )


@strawberry.type
class AuditQueries:
    """The audit."""

    @strawberry.field
    async def audit_log(
        self, info: Info[Any, Any], filter: AuditFilter, first: int | None = 20, after: str | None = None
    ) -> AuditConnection:
        ctx = context(info)
        wanted = audit_filter_of(ctx, filter)
        cursors = Cursors.of("auditLog", {"filter": repr(wanted), "caller": ctx.caller.principal})
        listing = await audit_log(ctx.session, wanted, first=check_first(first), after=cursors.decode(after))
        return connection_of(AuditConnection, listing, AuditRecord.from_domain, cursors, after)

    @strawberry.field(description="Who did what the audit of an agent's knowledge tells, by id.")
    async def audit_actors(self, info: Info[Any, Any], owner_id: strawberry.ID) -> list[Principal]:
        ctx = context(info)
        found = await audit_actors(ctx.session, ctx.id(owner_id))
        return list(await asyncio.gather(*(principal_of(info, actor) for actor in found)))

    @strawberry.field
    async def verify_audit(self, info: Info[Any, Any], from_seq: int | None = 1) -> AuditVerification:
        ctx = context(info)
        begin = 1 if from_seq is None else from_seq
        found = await verify_audit(ctx.session, begin)
        ctx.afterwards.append(lambda: note_verification(ctx.deps, ctx.caller.workspace, found, begin))
        return AuditVerification.from_domain(ctx, found)

    @strawberry.field
    async def restore_preview(self, info: Info[Any, Any], audit_ids: list[strawberry.ID]) -> RestorePreview:
        ctx = context(info)
        plan = await restore_preview(ctx.session, [ctx.id(id_) for id_ in audit_ids])
        return RestorePreview.from_domain(ctx, plan)
