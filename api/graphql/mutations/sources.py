"""Withdrawing sources and taking them back: what rests on them vanishes and reappears (KN-67, AD-19)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.types.audit import ChangePayload
from graph.model.ids import NodeId
from graph.model.nodes.work import AuditRecord
from graph.services.access.commands import Command
from graph.services.knowledge.withdrawal import message_of, return_source, withdraw_source


@strawberry.type
class SourceMutations:
    """Withdrawing sources and taking them back."""

    @strawberry.mutation
    async def withdraw_source(
        self, info: Info[Any, Any], id: strawberry.ID, reason: str | None = None
    ) -> ChangePayload:
        ctx = context(info)
        return await _changed(ctx, info, ctx.id(id), reason, back=False)

    @strawberry.mutation
    async def return_source(self, info: Info[Any, Any], id: strawberry.ID, reason: str | None = None) -> ChangePayload:
        ctx = context(info)
        return await _changed(ctx, info, ctx.id(id), reason, back=True)

    @strawberry.mutation
    async def withdraw_message(
        self, info: Info[Any, Any], channel_id: strawberry.ID, external_id: str, reason: str | None = None
    ) -> ChangePayload:
        ctx = context(info)

        async def work(cmd: Command) -> tuple[AuditRecord | None, str]:
            source = await message_of(cmd, ctx.id(channel_id), external_id)
            return await withdraw_source(cmd, source, reason), cmd.tx_id

        return _payload(*await ctx.run(info, work))


async def _changed(
    ctx: RequestContext, info: Info[Any, Any], source: NodeId, reason: str | None, *, back: bool
) -> ChangePayload:
    async def work(cmd: Command) -> tuple[AuditRecord | None, str]:
        return await (return_source if back else withdraw_source)(cmd, source, reason), cmd.tx_id

    return _payload(*await ctx.run(info, work))


def _payload(record: AuditRecord | None, tx_id: str) -> ChangePayload:
    """Return the payload; without a record nothing was to be done."""
    return ChangePayload.from_domain(() if record is None else (record,), tx_id)
