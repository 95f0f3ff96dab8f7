"""Commands of people on entries and guides."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types.audit import ChangePayload
from api.graphql.types.guide import CurationGuide
from api.graphql.types.knowledge import Entry, entry_at
from graph.services.knowledge.entries_write import delete_entry, mark_distinct, merge_entries
from graph.services.knowledge.guide import set_curation_guide


@strawberry.type
class EntryMutations:
    """Commands of people on entries and guides."""

    @strawberry.mutation
    async def delete_entry(
        self, info: Info[Any, Any], id: strawberry.ID, expected_version: int, reason: str
    ) -> ChangePayload:
        ctx = context(info)
        result = await ctx.run(
            info, lambda cmd: delete_entry(cmd, ctx.id(id), expected_version=expected_version, reason=reason)
        )
        return ChangePayload.from_domain(result.records, result.tx_id)

    @strawberry.mutation
    async def merge_entries(
        self, info: Info[Any, Any], keep_id: strawberry.ID, other_id: strawberry.ID, reason: str
    ) -> Entry:
        ctx = context(info)
        keep, other = ctx.id(keep_id), ctx.id(other_id)
        await ctx.run(info, lambda cmd: merge_entries(cmd, keep, other, reason=reason))
        return await entry_at(ctx, keep)

    @strawberry.mutation
    async def mark_distinct(self, info: Info[Any, Any], a: strawberry.ID, b: strawberry.ID) -> bool:
        ctx = context(info)
        await ctx.run(info, lambda cmd: mark_distinct(cmd, ctx.id(a), ctx.id(b)))
        return True

    @strawberry.mutation
    async def set_curation_guide(
        self, info: Info[Any, Any], principal_id: strawberry.ID, text: str, expected_version: int
    ) -> CurationGuide:
        ctx = context(info)
        principal = ctx.id(principal_id)
        result = await ctx.run(
            info, lambda cmd: set_curation_guide(cmd, principal, text, expected_version=expected_version)
        )
        return CurationGuide.from_domain(result.guide)
