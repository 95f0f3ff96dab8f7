"""Blocks that a reviewer should look at (CO-61, CO-62)."""

from __future__ import annotations

import strawberry

from api.graphql.connection import Connection
from api.graphql.context import RequestContext
from api.graphql.types.knowledge import Entry
from api.graphql.types.statements import BlockVersion
from graph.services.knowledge.review import ReviewedBlock


@strawberry.type
class ReviewItem:
    """A current block with its entry."""

    entry: Entry
    block: BlockVersion

    @classmethod
    def from_domain(cls, ctx: RequestContext, found: ReviewedBlock) -> ReviewItem:
        return cls(entry=Entry.from_domain(ctx, found.entry), block=BlockVersion.from_domain(found.block))


@strawberry.type
class ReviewConnection(Connection[ReviewItem]):
    """A page of blocks, last written first."""
