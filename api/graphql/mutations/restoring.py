"""Undoing audited changes, and what only admins do."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types.audit import ChangePayload
from api.graphql.types.people import KnowledgeBase
from graph.model.ids import NodeId
from graph.services.access.grants import grant_shared
from graph.services.knowledge.restore import restore


@strawberry.type
class RestoreMutations:
    """Undoing audited changes."""

    @strawberry.mutation
    async def restore(
        self, info: Info[Any, Any], audit_id: strawberry.ID, reason: str, preview_hash: str | None = None
    ) -> ChangePayload:
        return await _restored(info, [context(info).id(audit_id)], reason, preview_hash)

    @strawberry.mutation
    async def restore_batch(
        self, info: Info[Any, Any], audit_ids: list[strawberry.ID], reason: str, preview_hash: str | None = None
    ) -> ChangePayload:
        ctx = context(info)
        return await _restored(info, [ctx.id(id_) for id_ in audit_ids], reason, preview_hash)


@strawberry.type
class AdminMutations:
    """What only admins do."""

    @strawberry.mutation
    async def grant_shared(
        self, info: Info[Any, Any], kb_id: strawberry.ID, agent_id: strawberry.ID, granted: bool
    ) -> KnowledgeBase:
        ctx = context(info)
        base = await ctx.run(info, lambda cmd: grant_shared(cmd, ctx.id(kb_id), ctx.id(agent_id), granted))
        return KnowledgeBase.from_domain(base)


async def _restored(
    info: Info[Any, Any], audit_ids: list[NodeId], reason: str, preview_hash: str | None
) -> ChangePayload:
    result = await context(info).run(
        info, lambda cmd: restore(cmd, audit_ids, reason=reason, preview_hash=preview_hash)
    )
    return ChangePayload.from_domain(result.records, result.tx_id)
