"""What the lint of knowledge finds (CO-70 to CO-75)."""

from __future__ import annotations

import strawberry

from api.graphql.connection import Connection
from api.graphql.context import RequestContext
from api.graphql.types import enums
from api.graphql.types.knowledge import Entry
from graph.services.knowledge import lint


@strawberry.type
class LintFinding:
    """One finding, about one entry or a pair of them."""

    rule: enums.LintRule
    entries: list[Entry]
    detail: str
    measure: float | None = strawberry.field(description="Similarity, tokens or blocks, by the rule.")

    @classmethod
    def from_domain(cls, ctx: RequestContext, view: lint.LintFindingView) -> LintFinding:
        return cls(
            rule=view.rule,
            entries=[Entry.from_domain(ctx, entry) for entry in view.entries],
            detail=view.detail,
            measure=view.measure,
        )


@strawberry.type
class LintConnection(Connection[LintFinding]):
    """A page of findings, by rule, then by ids."""
