"""What is believed, version by version, each with the words it rests on (KN-23, KN-32, KN-69)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection
from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.dreaming import DreamRun, run_of
from api.graphql.types.evidence import Source
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.operations.evidence import distinct_evidence
from graph.services.knowledge import views


@strawberry.type
class Citation:
    """Words of a source that a statement rests on, with who said them and when (KN-69)."""

    source: Source
    quote: str
    start: int
    end: int
    role: enums.CitationRole
    said_at: Millis | None
    speaker_id: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, view: views.CitationView) -> Citation:
        return cls(
            source=Source.from_domain(view.source),
            quote=view.quote,
            start=view.start,
            end=view.end,
            role=enums.CitationRole(view.role),
            said_at=view.said_at,
            speaker_id=view.speaker_id,
        )

    @strawberry.field
    async def speaker(self, info: Info[Any, Any]) -> Principal | None:
        return await principal_of(info, self.speaker_id) if self.speaker_id else None


@strawberry.type
class BlockVersion(Node):
    """One version of a block's text; immutable (KN-23)."""

    version: int
    text: str
    basis: enums.Basis
    standing: enums.Standing
    authority: str | None
    condition: str | None
    conclusion: str | None
    inferred_at: Millis | None
    evidence_count: int = strawberry.field(description="Distinct sources among its citations that the caller sees.")
    valid_from: Millis | None
    valid_to: Millis | None
    from_precision: enums.Precision | None
    to_precision: enums.Precision | None
    recorded_at: Millis
    invalidated_at: Millis | None
    reason: str | None
    stale: bool
    citations: list[Citation]
    modifier_kind: enums.ActorKind
    modifier_id: strawberry.Private[NodeId]
    run_id: strawberry.Private[NodeId | None]
    bases: strawberry.Private[tuple[NodeId, ...]]

    @classmethod
    def from_domain(cls, view: views.BlockVersionView) -> BlockVersion:
        node = view.node
        return cls(
            id=to_global(node.id, node.workspace),
            version=node.version,
            text=node.text,
            basis=enums.Basis(node.basis),
            standing=enums.Standing(node.standing),
            authority=node.authority,
            condition=node.condition,
            conclusion=node.conclusion,
            inferred_at=node.inferred_at,
            evidence_count=distinct_evidence(citation.source for citation in view.support.citations),
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            from_precision=precision_of(node.from_precision),
            to_precision=precision_of(node.to_precision),
            recorded_at=node.recorded_at,
            invalidated_at=node.invalidated_at,
            reason=node.reason,
            stale=view.stale,
            citations=citations_of(view.support),
            modifier_kind=enums.ActorKind(node.modifier_kind),
            modifier_id=node.modifier_id,
            run_id=node.dream_run_id,
            bases=view.support.derived_from,
        )

    @strawberry.field
    async def modifier(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.modifier_id)

    @strawberry.field
    async def derived_from(self, info: Info[Any, Any]) -> list[Node]:
        from api.graphql.types.registry import show_all

        return await show_all(context(info), self.bases)

    @strawberry.field(description="The run of Dreaming that wrote it; null for who does not see the run.")
    async def dream_run(self, info: Info[Any, Any]) -> DreamRun | None:
        return await run_of(info, self.run_id)


@strawberry.type
class BlockVersionConnection(Connection[BlockVersion]):
    """A page of versions."""


@strawberry.type
class Attribute(Node):
    """One version of one attribute value (KN-32)."""

    key: str
    value: JSON
    version: int
    valid_from: Millis | None
    valid_to: Millis | None
    from_precision: enums.Precision | None
    to_precision: enums.Precision | None
    recorded_at: Millis
    invalidated_at: Millis | None
    stale: bool
    citations: list[Citation]

    @classmethod
    def from_domain(cls, view: views.AttributeView) -> Attribute:
        node = view.node
        return cls(
            id=to_global(node.id, node.workspace),
            key=node.key,
            value=node.value,
            version=node.version,
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            from_precision=precision_of(node.from_precision),
            to_precision=precision_of(node.to_precision),
            recorded_at=node.recorded_at,
            invalidated_at=node.invalidated_at,
            stale=view.support.stale,
            citations=citations_of(view.support),
        )


def citations_of(support: views.SupportView) -> list[Citation]:
    """Return what a statement cites, in the order it was given."""
    return [Citation.from_domain(view) for view in support.citations]


def precision_of(value: str | None) -> enums.Precision | None:
    """Return how exact a moment of validity is; None for a moment that nobody gave."""
    return None if value is None else enums.Precision(value)
