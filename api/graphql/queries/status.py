"""The state of an agent's memory, and what the lint finds in it."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.types import enums
from api.graphql.types.lint import LintConnection, LintFinding
from api.graphql.types.review import ReviewConnection, ReviewItem
from api.graphql.types.status import Status
from graph.services.knowledge.lint import lint_findings
from graph.services.knowledge.review import review
from graph.services.learning.status import status_of


@strawberry.type
class StatusQueries:
    """Reports; nothing here changes anything."""

    @strawberry.field(description="Alerts, vectors, Stage A and B, memos, stuck tasks and lint of one agent.")
    async def status(self, info: Info[Any, Any], owner_id: strawberry.ID) -> Status:
        ctx = context(info)
        return Status.from_domain(await status_of(ctx.session, ctx.id(owner_id)))

    @strawberry.field(description="Current blocks that a reviewer should look at, last written first.")
    async def review(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        view: enums.ReviewView,
        first: int | None = 20,
        after: str | None = None,
    ) -> ReviewConnection:
        ctx = context(info)
        cursors = Cursors.of("review", {"owner": owner_id, "view": view, "caller": ctx.caller.principal})
        listing = await review(
            ctx.session, ctx.id(owner_id), view, first=check_first(first), after=cursors.decode(after)
        )
        return connection_of(ReviewConnection, listing, lambda one: ReviewItem.from_domain(ctx, one), cursors, after)

    @strawberry.field(description="Dated names, near names, over-long entries and entries without body.")
    async def lint(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        rules: list[enums.LintRule] | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> LintConnection:
        ctx = context(info)
        cursors = Cursors.of("lint", {"owner": owner_id, "rules": rules, "caller": ctx.caller.principal})
        listing = await lint_findings(
            ctx.session, ctx.id(owner_id), rules=rules, first=check_first(first), after=cursors.decode(after)
        )
        return connection_of(LintConnection, listing, lambda view: LintFinding.from_domain(ctx, view), cursors, after)
