"""The one law of visibility: which nodes of a source graph a viewer may read.

The answer is the least fixpoint: nothing is readable until it is proved, layer by layer from the leaves. A missing
source, a cycle that rests on itself and a missing proof are therefore one case (never proved), and neither order nor
depth matters. Plain adjacency is used here because building a networkx graph costs more than the law itself;
`graph.rules.proof` and `graph.rules.provenance` give networkx graphs of their answers. Source: KN-62,
docs/design.md#the-law-of-visibility.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graph.model.access import Clause, Guard, LawEdge, Need, Rule, Viewer
from graph.model.ids import NodeId, WorkspaceId

Passes = Callable[[Rule], bool]
"""Whether the viewer meets the demand of a rule."""

_SOURCE, _ALL, _ANY = Need.SOURCE, Need.ALL, Need.ANY


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceGraph:
    """The statements in question and everything they rest on, as far as it was read.

    Attributes:
        guards: the law's facts about each node; a node that is only named by an edge is missing.
        sources: edges by the node they start from. Parallel edges stay apart: each is a demand of its own.
        dependents: the same edges by the node they point to.
        cut: nodes whose own edges were not read, because the reading stopped there; they prove nothing.
    """

    guards: Mapping[NodeId, Guard]
    sources: Mapping[NodeId, Sequence[LawEdge]]
    dependents: Mapping[NodeId, Sequence[LawEdge]]
    cut: frozenset[NodeId] = frozenset()


def source_graph(guards: Iterable[Guard], edges: Iterable[LawEdge], *, cut: Iterable[NodeId] = ()) -> SourceGraph:
    """Return the graph of `guards` and `edges`; linear in both.

    Args:
        guards: at most one per node; of several the last counts.
        edges: in any order; parallel ones are kept.
        cut: nodes whose edges were not read (a limit was reached there).
    """
    sources: defaultdict[NodeId, list[LawEdge]] = defaultdict(list)
    dependents: defaultdict[NodeId, list[LawEdge]] = defaultdict(list)
    for edge in edges:
        sources[edge.source].append(edge)
        dependents[edge.target].append(edge)
    by_node = {guard.node: guard for guard in guards}
    return SourceGraph(guards=by_node, sources=dict(sources), dependents=dict(dependents), cut=frozenset(cut))


@dataclass(kw_only=True, slots=True)
class Decided:
    """What the law said to one viewer on one state so far; it grows, and is thrown away with that state.

    Attributes:
        guards: of every node that was decided.
        shown: those of them that are readable.
    """

    guards: dict[NodeId, Guard] = field(default_factory=dict)
    shown: set[NodeId] = field(default_factory=set)

    def add(self, graph: SourceGraph, shown: Iterable[NodeId]) -> None:
        """Take in an answer about a graph that held all that its nodes rest on."""
        self.guards.update(graph.guards)
        self.shown.update(shown)


def readable(
    graph: SourceGraph,
    passes: Passes,
    principal: str,
    *,
    workspace: WorkspaceId | None = None,
    decided: Decided | None = None,
) -> frozenset[NodeId]:
    """Return the nodes of `graph` that may be shown, also as history.

    A node is readable if it is live, its own rules pass, the principal is not excluded, every end is readable, and
    its need is met: ALL has at least one source and every one supports, ANY has one that supports, SOURCE and NONE
    need nothing more. A source supports if it is readable and still held. Linear in nodes and edges; no recursion.

    Args:
        graph: must hold all that the nodes in question rest on; what is left out counts as missing.
        passes: asked once for each set of rules.
        principal: compared with the excluded; "" for a reader whom no exclusion concerns.
        workspace: if given, nodes of other workspaces are treated as missing (KN-57).
        decided: answers to the same viewer on the same state; what these nodes rest on may be left out.

    Source: KN-62, KN-125; docs/design.md#the-law-of-visibility.
    """
    return _Fixpoint(graph, passes, principal, workspace, decided or Decided()).run()


def visible_to(graph: SourceGraph, viewer: Viewer, decided: Decided | None = None) -> frozenset[NodeId]:
    """Return the nodes of `graph` that `viewer` may read; `viewer.pools` is a filter of queries, not of the law."""
    return readable(graph, viewer.passes, viewer.principal, workspace=viewer.workspace, decided=decided)


def supporting(graph: SourceGraph, shown: Iterable[NodeId]) -> frozenset[NodeId]:
    """Return which of the readable nodes also support what rests on them (KN-125)."""
    return frozenset(node for node in shown if graph.guards[node].held)


def has_access_rule(guard: Guard) -> bool:
    """False if the access proof of the node itself is missing.

    A leaf without any rule would be open to everyone, so an empty set of rules is a missing proof there; above
    leaves the rules of the chain still apply. That is why no stored clause is ever empty.
    """
    if guard.rules is None:
        return False
    return bool(guard.rules) or guard.need is _ALL or guard.need is _ANY


def facts_hold(guard: Guard, principal: str, workspace: WorkspaceId | None) -> bool:
    """True if nothing but rules and sources can still hide the node from `principal`."""
    if not guard.live or (workspace is not None and guard.workspace != workspace):
        return False
    return principal not in guard.excluded


def link_holds(edge: LawEdge, target: Guard, own: bool, passes_all: Callable[[Iterable[Rule]], bool]) -> bool:
    """True if `edge` gives its dependent what it demands, once its target is proved apart from its own rules.

    Args:
        edge: its record, if any, replaces the own rules of a leaf and is added to those of a statement.
        target: the guard of the edge's target.
        own: whether the own rules of the target pass.
        passes_all: whether the viewer passes every rule of a record.
    """
    record = edge.record
    if record is None or not (target.held or edge.ends):
        return False
    if not record:
        return own
    return (own or target.need is _SOURCE) and passes_all(record)


class _Fixpoint:
    """One run of the law: counts the unmet demands of each node down to none."""

    def __init__(
        self, graph: SourceGraph, passes: Passes, principal: str, workspace: WorkspaceId | None, before: Decided
    ) -> None:
        self.graph = graph
        self.passes = passes
        self.principal = principal
        self.workspace = workspace
        self.before = before
        self.decided: dict[Clause, bool] = {}
        self.unmet: dict[NodeId, int] = {}
        self.met_any: set[NodeId] = set()
        self.proved: list[NodeId] = []
        self.shown: set[NodeId] = set()

    def run(self) -> frozenset[NodeId]:
        known = self.before.guards
        for guard in self.graph.guards.values():
            if known and guard.need is not _SOURCE and guard.node in known:  # a leaf may still count by a link's record
                if guard.node in self.before.shown:
                    self.proved.append(guard.node)
            elif self._may_be_shown(guard):
                demands = self._demands(guard)
                if demands:
                    self.unmet[guard.node] = demands
                else:
                    self.proved.append(guard.node)
        while self.proved:
            self._climb(self.proved.pop())
        return frozenset(self.shown)

    def _may_be_shown(self, guard: Guard) -> bool:
        if not facts_hold(guard, self.principal, self.workspace):
            return False
        if guard.need is _SOURCE:
            return True  # a link may bring the access record that the leaf itself lacks
        return guard.node not in self.graph.cut and self._own_rules_pass(guard)

    def _own_rules_pass(self, guard: Guard) -> bool:
        rules = guard.rules
        if not rules:
            return has_access_rule(guard)
        known = self.decided.get(rules)
        return self._pass_all(rules) if known is None else known

    def _pass_all(self, rules: Iterable[Rule]) -> bool:
        clause = frozenset(rules)
        known = self.decided.get(clause)
        if known is None:
            known = self.decided[clause] = all(map(self.passes, clause))
        return known

    def _demands(self, guard: Guard) -> int:
        need = guard.need
        if need is _SOURCE:
            return 0
        edges = self.graph.sources.get(guard.node, ())
        ends = [edge.ends for edge in edges].count(True)
        if need is _ALL:
            return ends + (len(edges) - ends or 1)  # without any source the one demand is never met
        return ends + (need is _ANY)

    def _climb(self, node: NodeId) -> None:
        guard = self.graph.guards[node]
        own = guard.need is not _SOURCE or self._own_rules_pass(guard)  # others were asked when opened
        if own:
            self.shown.add(node)
        unmet = self.unmet
        for edge in self.graph.dependents.get(node, ()):
            dependent = edge.source
            left = unmet.get(dependent)
            if left is None or not link_holds(edge, guard, own, self._pass_all) or not self._counts(edge):
                continue
            if left > 1:
                unmet[dependent] = left - 1
            else:
                del unmet[dependent]
                self.proved.append(dependent)

    def _counts(self, edge: LawEdge) -> bool:
        """True if a demand of the dependent is met by an edge that holds: ANY is met once."""
        if edge.ends:
            return True
        dependent = edge.source
        need = self.graph.guards[dependent].need
        if need is _ANY and dependent not in self.met_any:
            self.met_any.add(dependent)
            return True
        return need is _ALL
