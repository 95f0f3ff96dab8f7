"""Why a viewer may or may not see a node: the proof as a graph of its source chain, never with content.

Only an auditor is shown the first failing link of a hidden node, and an ordinary viewer sees of a proof only the nodes
that he may read; `explain_own` makes that form. Source: KN-120, A8.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from graph.model.access import Guard, LawEdge, Need, Rule, Viewer
from graph.model.ids import NodeId
from graph.rules.visibility import SourceGraph, facts_hold, has_access_rule, link_holds, visible_to

if TYPE_CHECKING:
    import networkx as nx

PROOF_LIMIT = 500
"""Nodes of a chain that a proof lists; the decision itself has no limit."""


class Reason(StrEnum):
    """Why a link fails."""

    MISSING_SOURCE = "missing_source"
    CYCLE = "cycle"
    MISSING_PROOF = "missing_proof"
    RULE_NOT_PASSED = "rule_not_passed"
    WITHDRAWN = "withdrawn"
    RETRACTED = "retracted"
    EXCLUDED = "excluded"
    TOO_DEEP = "too_deep"


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofNode:
    """One node of the chain.

    Attributes:
        kind: "" for a node that is not there.
        rules: its own rules, sorted; None if it has no access rule.
        passed: whether the viewer may read it.
        depth: edges from the node in question.
    """

    node: NodeId
    kind: str
    rules: tuple[Rule, ...] | None
    passed: bool
    depth: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ProofLink:
    """One edge of the chain; `rules` is its own access record, `passed` whether it gives what is demanded."""

    source: NodeId
    target: NodeId
    ends: bool
    rules: tuple[Rule, ...] | None
    passed: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """The first failing link: `source` is None if the node in question itself fails."""

    reason: Reason
    source: NodeId | None
    target: NodeId


@dataclass(frozen=True, kw_only=True, slots=True)
class Proof:
    """The decision about one node for one viewer, and the chain it rests on, breadth first."""

    node: NodeId
    visible: bool
    chain: tuple[ProofNode, ...]
    links: tuple[ProofLink, ...]
    failure: Failure | None
    truncated: bool

    def without_hidden(self) -> Proof:
        """Return the proof without nodes that its viewer may not read; empty if the node itself is hidden.

        Distances and order are still those of the whole chain: to its own viewer give a proof of `explain_own`.
        """
        shown = {n.node for n in self.chain if n.passed} if self.visible else set()
        return replace(
            self,
            chain=tuple(n for n in self.chain if n.node in shown),
            links=tuple(e for e in self.links if e.source in shown and e.target in shown),
            failure=None,
        )

    def to_networkx(self) -> nx.MultiDiGraph[Any]:
        """Return the chain as a graph; nodes have kind, rules, passed, depth, edges ends, rules, passed."""
        import networkx as nx  # here: a server at rest does without its 11 MiB

        graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
        for n in self.chain:
            graph.add_node(n.node, kind=n.kind, rules=n.rules, passed=n.passed, depth=n.depth)
        for e in self.links:
            graph.add_edge(e.source, e.target, ends=e.ends, rules=e.rules, passed=e.passed)
        return graph


def explain(graph: SourceGraph, node: NodeId, viewer: Viewer, *, limit: int = PROOF_LIMIT) -> Proof:
    """Return whether `viewer` may read `node`, with the chain and, if not, the first failing link.

    The failing link is the nearest one that fails for a reason of its own; if there is none, the chain only goes
    round, and the failing link is the one that closes the cycle. Costs about two decisions.

    Args:
        graph: all that `node` rests on, as for `readable`.
        node: may be an id that is not there.
        viewer: whose view is explained; not always the caller.
        limit: most nodes in the chain.

    Source: KN-120.
    """
    return _Explanation(graph, viewer).explain(node, limit)


def explain_own(graph: SourceGraph, node: NodeId, viewer: Viewer, *, limit: int = PROOF_LIMIT) -> Proof:
    """Return the proof as `viewer` himself may see it: the same as if what he may not read had never been there.

    So hidden nodes have no part in distances, order or `truncated` either. Empty if `node` itself is hidden.
    """
    return _Explanation(graph, viewer, only_shown=True).explain(node, limit).without_hidden()


class _Explanation:
    def __init__(self, graph: SourceGraph, viewer: Viewer, *, only_shown: bool = False) -> None:
        self.graph = graph
        self.viewer = viewer
        self.only_shown = only_shown
        self.shown = visible_to(graph, viewer)

    def explain(self, node: NodeId, limit: int) -> Proof:
        depths, truncated = self._depths(node, limit)
        visible = node in self.shown
        return Proof(
            node=node,
            visible=visible,
            chain=tuple(self._proof_node(n, depth) for n, depth in depths.items()),
            links=tuple(self._links(depths)),
            failure=None if visible else self._first_failure(node),
            truncated=truncated,
        )

    def _depths(self, start: NodeId, limit: int) -> tuple[dict[NodeId, int], bool]:
        depths = {start: 0}
        queue = deque([start])
        while queue:
            node = queue.popleft()
            for edge in self._demands(node):
                if edge.target in depths or (self.only_shown and edge.target not in self.shown):
                    continue
                if len(depths) >= limit:
                    return depths, True
                depths[edge.target] = depths[node] + 1
                queue.append(edge.target)
        return depths, False

    def _demands(self, node: NodeId) -> Sequence[LawEdge]:
        """Return the edges of `node` that the law looks at."""
        guard = self.graph.guards.get(node)
        if guard is None or guard.need is Need.SOURCE:
            return ()
        edges = self.graph.sources.get(node, ())
        return [e for e in edges if e.ends] if guard.need is Need.NONE else edges

    def _proof_node(self, node: NodeId, depth: int) -> ProofNode:
        guard = self.graph.guards.get(node)
        rules = tuple(sorted(guard.rules)) if guard and guard.rules is not None else None
        kind = guard.kind if guard else ""
        return ProofNode(node=node, kind=kind, rules=rules, passed=node in self.shown, depth=depth)

    def _links(self, depths: dict[NodeId, int]) -> Iterator[ProofLink]:
        for node in depths:
            for e in self._demands(node):
                if e.target in depths:
                    passed = self._holds(e)
                    yield ProofLink(source=e.source, target=e.target, ends=e.ends, rules=e.record, passed=passed)

    def _holds(self, edge: LawEdge) -> bool:
        guard = self.graph.guards.get(edge.target)
        if guard is None or not facts_hold(guard, self.viewer.principal, self.viewer.workspace):
            return False
        return link_holds(edge, guard, edge.target in self.shown, self.viewer.passes_all)

    def _first_failure(self, start: NodeId) -> Failure:
        reason = self._reason_of_node(start)
        if reason:
            return Failure(reason=reason, source=None, target=start)
        seen = {start}
        queue = deque([start])
        while queue:
            for edge in self._blocking(queue.popleft()):
                reason = self._reason_of_link(edge)
                if reason:
                    return Failure(reason=reason, source=edge.source, target=edge.target)
                if edge.target not in seen:
                    seen.add(edge.target)
                    queue.append(edge.target)
        return self._closing_link(start)

    def _blocking(self, node: NodeId) -> list[LawEdge]:
        edges = self._demands(node)
        failing = [e for e in edges if not self._holds(e)]
        met_any = self.graph.guards[node].need is Need.ANY and any(not e.ends and self._holds(e) for e in edges)
        return [e for e in failing if e.ends] if met_any else failing

    def _reason_of_node(self, node: NodeId) -> Reason | None:
        guard = self.graph.guards.get(node)
        reason = self._reason_of_facts(node, guard)
        if reason or guard is None:
            return reason
        if guard.rules is None or not has_access_rule(guard):
            return Reason.MISSING_PROOF
        if not self.viewer.passes_all(guard.rules):
            return Reason.RULE_NOT_PASSED
        return self._reason_of_need(guard)

    def _reason_of_facts(self, node: NodeId, guard: Guard | None) -> Reason | None:
        if guard is None or guard.workspace != self.viewer.workspace:
            return Reason.TOO_DEEP if node in self.graph.cut else Reason.MISSING_SOURCE
        if not guard.live:
            return Reason.WITHDRAWN
        return Reason.EXCLUDED if self.viewer.principal in guard.excluded else None

    def _reason_of_need(self, guard: Guard) -> Reason | None:
        if guard.need is Need.SOURCE:
            return None
        if guard.node in self.graph.cut:
            return Reason.TOO_DEEP
        lacks = guard.need in (Need.ALL, Need.ANY) and all(e.ends for e in self._demands(guard.node))
        return Reason.MISSING_SOURCE if lacks else None

    def _reason_of_link(self, edge: LawEdge) -> Reason | None:
        if edge.record is None:
            return Reason.MISSING_PROOF
        if not self.viewer.passes_all(edge.record):
            return Reason.RULE_NOT_PASSED
        guard = self.graph.guards.get(edge.target)
        if guard and not guard.held and not edge.ends and edge.target in self.shown:
            return Reason.RETRACTED
        if guard and guard.need is Need.SOURCE and edge.record:
            return self._reason_of_facts(edge.target, guard) or Reason.RETRACTED
        return self._reason_of_node(edge.target)

    def _closing_link(self, start: NodeId) -> Failure:
        """Follow failing links that have no reason of their own until one leads back."""
        seen = {start}
        node = start
        while True:
            edge = self._blocking(node)[0]
            if edge.target in seen:
                return Failure(reason=Reason.CYCLE, source=edge.source, target=edge.target)
            seen.add(edge.target)
            node = edge.target
