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
from api.graphql.types.registry import as_node
from graph.model.errors import NotFound
from graph.rules.provenance import DEFAULT_DEPTH, Direction
from graph.services.knowledge.explain import explain_visibility
from graph.services.knowledge.provenance import provenance


@strawberry.type
class GraphQueries:
    """Reads that take any node."""

    @strawberry.field(description="Who asks: the principal that the credential names.")
    async def viewer(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, context(info).caller.principal)

    @strawberry.field
    async def node(self, info: Info[Any, Any], id: strawberry.ID) -> Node | None:
        ctx = context(info)
        return as_node(await ctx.loaders.nodes.load(ctx.id(id)))

    @strawberry.field
    async def provenance(
        self,
        info: Info[Any, Any],
        id: strawberry.ID,
        depth: int = DEFAULT_DEPTH,
        direction: enums.ProvenanceDirection = Direction.UPSTREAM,
    ) -> ProvenanceGraph:
        ctx = context(info)
        found = await provenance(ctx.session, ctx.id(id), depth=depth, direction=direction)
        root = as_node(found.root)
        if root is None:
            raise NotFound
        return ProvenanceGraph(
            root=root,
            nodes=[shown for node in found.nodes if (shown := as_node(node)) is not None],
            edges=[ProvenanceEdge.from_domain(ctx, edge) for edge in found.edges],
            truncated=found.truncated,
        )

    @strawberry.field
    async def explain_visibility(
        self, info: Info[Any, Any], id: strawberry.ID, viewer_id: strawberry.ID | None = None
    ) -> VisibilityProof | None:
        ctx = context(info)
        viewer = None if viewer_id is None else ctx.id(viewer_id)
        proof = await explain_visibility(ctx.session, ctx.id(id), viewer)
        return None if proof is None else VisibilityProof.from_domain(ctx, proof)
