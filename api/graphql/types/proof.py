"""Provenance and visibility as graphs."""

from __future__ import annotations

import strawberry

from api.graphql.context import RequestContext
from api.graphql.types import enums
from api.graphql.types.node import Node
from graph.model.access import Rule, RuleKind
from graph.model.ids import NodeId
from graph.rules import proof as law
from graph.rules.provenance import ProvenanceEdge as WalkedEdge


@strawberry.type
class ProvenanceEdge:
    """An edge between two nodes of the graph."""

    from_: strawberry.ID = strawberry.field(name="from")
    to: strawberry.ID
    type: str
    quote: str | None
    depth: int

    @classmethod
    def from_domain(cls, ctx: RequestContext, walked: WalkedEdge) -> ProvenanceEdge:
        edge = walked.edge
        return cls(
            from_=ctx.out(edge.source),
            to=ctx.out(edge.target),
            type=str(edge.type),
            quote=edge.props.get("quote"),
            depth=walked.depth,
        )


@strawberry.type
class ProvenanceGraph:
    """What a walk of provenance found, nearest first."""

    root: Node
    nodes: list[Node]
    edges: list[ProvenanceEdge]
    truncated: bool


@strawberry.type(description="One demand on a viewer, such as: may read this private chat.")
class AccessRule:
    """One demand on a viewer."""

    kind: str
    object_id: strawberry.ID = strawberry.field(
        description="Of a FOR rule its alternatives, each with its kind and a blank between: any one admits."
    )
    agent_id: strawberry.ID | None

    @classmethod
    def from_domain(cls, ctx: RequestContext, rule: Rule) -> AccessRule:
        return cls(
            kind=rule.kind.name,
            object_id=_outward(ctx, rule),
            agent_id=ctx.out(rule.agent) if rule.agent else None,  # type: ignore[arg-type]
        )


@strawberry.type
class ProofNode:
    """One node of the chain, without content."""

    id: strawberry.ID
    kind: str
    rules: list[AccessRule] | None
    passed: bool
    depth: int


@strawberry.type
class ProofLink:
    """One link of the chain."""

    from_: strawberry.ID = strawberry.field(name="from")
    to: strawberry.ID
    passed: bool


@strawberry.type
class ProofFailure:
    """The first failing link; `from` is null if the node itself fails."""

    reason: enums.ProofReason
    from_: strawberry.ID | None = strawberry.field(name="from")
    to: strawberry.ID


@strawberry.type
class VisibilityProof:
    """Whether a viewer may see a node, and why (KN-120)."""

    node_id: strawberry.ID
    visible: bool
    nodes: list[ProofNode]
    links: list[ProofLink]
    failure: ProofFailure | None
    truncated: bool

    @classmethod
    def from_domain(cls, ctx: RequestContext, proof: law.Proof) -> VisibilityProof:
        return cls(
            node_id=ctx.out(proof.node),
            visible=proof.visible,
            nodes=[_node(ctx, one) for one in proof.chain],
            links=[ProofLink(from_=ctx.out(e.source), to=ctx.out(e.target), passed=e.passed) for e in proof.links],
            failure=_failure(ctx, proof.failure),
            truncated=proof.truncated,
        )


def _outward(ctx: RequestContext, rule: Rule) -> strawberry.ID:
    """Return what a rule is about; a rule with alternatives names each by its kind, as ``person:<id> channel:<id>``."""
    if rule.kind is not RuleKind.FOR:
        return ctx.out(NodeId(rule.object_id))
    each = (one.object_id.partition(":") for one in rule.alternatives())
    return strawberry.ID(" ".join(f"{kind}:{ctx.out(NodeId(named))}" for kind, _, named in each))


def _node(ctx: RequestContext, node: law.ProofNode) -> ProofNode:
    rules = None if node.rules is None else [AccessRule.from_domain(ctx, rule) for rule in node.rules]
    return ProofNode(id=ctx.out(node.node), kind=node.kind, rules=rules, passed=node.passed, depth=node.depth)


def _failure(ctx: RequestContext, failure: law.Failure | None) -> ProofFailure | None:
    if failure is None:
        return None
    return ProofFailure(
        reason=failure.reason,
        from_=ctx.out(failure.source) if failure.source else None,
        to=ctx.out(failure.target),
    )
