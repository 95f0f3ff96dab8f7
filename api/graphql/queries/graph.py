"""Reads that take any node: node, provenance, provenanceExport, explainVisibility."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types import enums
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from api.graphql.types.proof import ProvenanceEdge, ProvenanceGraph, VisibilityProof
from api.graphql.types.registry import show, show_all
from graph.model.errors import NotFound
from graph.rules.provenance import DEFAULT_DEPTH, Direction
from graph.services.knowledge.explain import explain_visibility
from graph.services.knowledge.provenance import provenance
from graph.services.knowledge.provenance_export import provenance_export


@strawberry.type
class GraphQueries:
    """Reads that take any node."""

    @strawberry.field(description="Who asks: the principal that the credential names.")
    async def viewer(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, context(info).caller.principal)

    @strawberry.field
    async def node(self, info: Info[Any, Any], id: strawberry.ID) -> Node | None:
        ctx = context(info)
        return await show(ctx, ctx.id(id))

    @strawberry.field
    async def provenance(
        self,
        info: Info[Any, Any],
        id: strawberry.ID,
        depth: int | None = DEFAULT_DEPTH,
        direction: enums.ProvenanceDirection | None = Direction.UPSTREAM,
    ) -> ProvenanceGraph:
        ctx = context(info)
        found = await provenance(
            ctx.session,
            ctx.id(id),
            depth=DEFAULT_DEPTH if depth is None else depth,
            direction=direction or Direction.UPSTREAM,
        )
        root = await show(ctx, found.root.id)
        if root is None:
            raise NotFound
        return ProvenanceGraph(
            root=root,
            nodes=await show_all(ctx, (node.id for node in found.nodes)),
            edges=[ProvenanceEdge.from_domain(ctx, edge) for edge in found.edges],
            truncated=found.truncated,
        )

    @strawberry.field
    async def provenance_export(
        self,
        info: Info[Any, Any],
        id: strawberry.ID,
        format: enums.ProvenanceFormat,
        direction: enums.ProvenanceDirection | None = Direction.UPSTREAM,
    ) -> str:
        ctx = context(info)
        return await provenance_export(
            ctx.session, ctx.id(id), direction=direction or Direction.UPSTREAM, format=format, named=ctx.out
        )

    @strawberry.field
    async def explain_visibility(
        self, info: Info[Any, Any], id: strawberry.ID, viewer_id: strawberry.ID | None = None
    ) -> VisibilityProof | None:
        ctx = context(info)
        viewer = None if viewer_id is None else ctx.id(viewer_id)
        proof = await explain_visibility(ctx.session, ctx.id(id), viewer)
        return None if proof is None else VisibilityProof.from_domain(ctx, proof)
