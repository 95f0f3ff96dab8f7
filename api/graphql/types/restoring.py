"""What a restore would do (KN-91 to KN-98)."""

from __future__ import annotations

import strawberry

from api.graphql.context import RequestContext
from api.graphql.ids import outward
from api.graphql.scalars import JSON
from api.graphql.types.audit import AuditRecord
from graph.model.ids import NodeId
from graph.rules.restore import RestorePlan
from graph.rules.restore import RestoreStep as Step


@strawberry.type
class RestoreStep:
    """What undoing one record does, after the newer ones of its batch."""

    record: AuditRecord
    current: JSON | None
    restored: JSON | None
    conflict: bool
    omitted_relations: list[strawberry.ID]
    name_taken_by: strawberry.ID | None

    @classmethod
    def from_domain(cls, ctx: RequestContext, step: Step) -> RestoreStep:
        workspace = ctx.caller.workspace
        return cls(
            record=AuditRecord.from_domain(step.record.to_node(workspace)),
            current=outward(step.current, workspace),
            restored=outward(step.restored, workspace),
            conflict=step.conflict,
            omitted_relations=[ctx.out(NodeId(id_)) for id_ in step.omitted_relations],
            name_taken_by=ctx.out(NodeId(step.name_taken_by)) if step.name_taken_by else None,
        )


@strawberry.type
class RestorePreview:
    """All steps in the order of execution."""

    steps: list[RestoreStep]
    restorable: bool
    preview_hash: str

    @classmethod
    def from_domain(cls, ctx: RequestContext, plan: RestorePlan) -> RestorePreview:
        return cls(
            steps=[RestoreStep.from_domain(ctx, step) for step in plan.steps],
            restorable=plan.restorable,
            preview_hash=plan.preview_hash,
        )
