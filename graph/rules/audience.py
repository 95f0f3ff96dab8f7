"""The audience of a node: what its whole chain demands, as clauses that an index can filter by.

A viewer may read a node exactly if he passes every rule of one of its clauses and is not excluded. Need ANY is the
union of the sources' clauses, need ALL their product, ends multiply, a node's own rules are added to each clause, and
a clause that contains another is absorbed. After a change all transitive dependents are set to "none" and computed
upward again, so cycles and missing sources end at none. Source: docs/design.md#the-audience-index.

Two things the clauses cannot say exactly; both only ever hide:

- Excluded viewers are one set per node, the union over its sources. Under need ALL that is exact. Under need ANY it
  also hides a node whose other source excludes nobody; only bot memory has exclusions, and every need there is ALL.
- A node has at most `MAX_CLAUSES` clauses, the shortest ones. The product over many ANY sources doubles with each;
  knowledge stays far below, because a base cites at most itself and its agent's two wider ones (KN-53).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from graph.model.access import Audience, Clause, Clauses, Guard, LawEdge, Need, Rule
from graph.model.ids import NodeId
from graph.model.making import maker
from graph.rules.visibility import SourceGraph, has_access_rule

MAX_CLAUSES = 32
"""Most clauses of one node."""

_AUDIENCE = maker(Audience)
_NOBODY: Clauses = frozenset()
_NO_ONE: frozenset[NodeId] = frozenset()
_DEMANDS_NOTHING: Clauses = frozenset({frozenset()})


def dependents(graph: SourceGraph, changed: Iterable[NodeId]) -> frozenset[NodeId]:
    """Return `changed` and all that rests on it at any distance, over all kinds of edges.

    Nodes that are not live are walked through, and a changed id may be one that only edges name.
    """
    found = set(changed)
    queue = list(found)
    while queue:
        for edge in graph.dependents.get(queue.pop(), ()):
            if edge.source not in found:
                found.add(edge.source)
                queue.append(edge.source)
    return frozenset(found)


def audiences(
    graph: SourceGraph, affected: Iterable[NodeId], known: Mapping[NodeId, Audience]
) -> dict[NodeId, Audience]:
    """Return the audience of every affected node, computed anew.

    Args:
        graph: the guards and all edges of the affected nodes, and the guards of the nodes these edges point to.
        affected: closed under `dependents`; of nodes that are missing the audience is nobody.
        known: stored audiences of the other nodes that affected ones point to; a missing one is nobody.

    Each affected node that is on no cycle and above none is computed once.
    """
    return _Upward(graph, frozenset(affected), known).run()


def absorb(clauses: Iterable[Clause]) -> Clauses:
    """Return the clauses without those that contain another, at most `MAX_CLAUSES`, the shortest first.

    >>> sorted(map(sorted, absorb([frozenset("ab"), frozenset("a"), frozenset("bc")])))
    [['a'], ['b', 'c']]
    """
    distinct = set(clauses)
    if len(distinct) < 2:
        return frozenset(distinct)
    kept: list[Clause] = []
    for clause in sorted(distinct, key=lambda c: (len(c), sorted(c))):
        if not any(smaller <= clause for smaller in kept):
            kept.append(clause)
            if len(kept) == MAX_CLAUSES:
                break
    return frozenset(kept)


def spelled_out(rules: Iterable[Rule]) -> list[Clauses]:
    """Return what a conjunction of rules demands, as operands of `multiply`: stored clauses name one alternative each.

    >>> [sorted(len(clause) for clause in clauses) for clauses in spelled_out([Rule.decode("4|a b|")])]
    [[0], [1, 1]]
    """
    given = list(rules)
    plain = frozenset(rule for rule in given if len(rule.alternatives()) == 1)
    several = [rule for rule in given if rule not in plain]
    own: Clauses = frozenset({plain})
    return [own, *(frozenset(frozenset({one}) for one in rule.alternatives()) for rule in several)]


def multiply(operands: Iterable[Clauses]) -> Clauses:
    """Return the clauses of "one of each operand"; without operands the one that demands nothing.

    Operands of a single clause, by far the most, are joined in one pass. The operands of nodes of one pool are the same
    again and again.
    """
    return _product(frozenset(operands))


@lru_cache(maxsize=10_000)
def _product(operands: frozenset[Clauses]) -> Clauses:
    several: list[Clauses] = []
    common: set[Clause] = set()
    for clauses in operands:
        if not clauses:
            return _NOBODY
        if len(clauses) > 1:
            several.append(clauses)
        else:
            common |= clauses
    product: Clauses = frozenset({frozenset().union(*common)})
    for clauses in sorted(several, key=_order):
        product = absorb(left | right for left in product for right in clauses)
    return product


def _order(clauses: Clauses) -> tuple[int, list[list[Rule]]]:
    return len(clauses), sorted(sorted(clause) for clause in clauses)


class _Upward:
    """One recomputation: everything affected starts at nobody and only grows."""

    def __init__(self, graph: SourceGraph, affected: frozenset[NodeId], known: Mapping[NodeId, Audience]) -> None:
        self.graph = graph
        self.affected = affected
        self.known = known
        self.found: dict[NodeId, Audience] = {node: _AUDIENCE(node, _NOBODY, _NO_ONE) for node in affected}
        self._edges = {node: self._demands(node) for node in affected}
        self._spelled: dict[Clause, Sequence[Clauses]] = {}
        self._excludes = any(guard.excluded for guard in graph.guards.values()) or any(
            audience.excluded for audience in known.values()
        )

    def run(self) -> dict[NodeId, Audience]:
        ordered, circular = self._leaves_first()
        for node in ordered:
            self._update(node)
        self._settle(circular)
        return self.found

    def _leaves_first(self) -> tuple[list[NodeId], list[NodeId]]:
        """Return the affected nodes so that each follows its sources, and those on or above a cycle."""
        waiting = {node: sum(e.target in self.affected for e in edges) for node, edges in self._edges.items()}
        ordered = [node for node, count in waiting.items() if not count]
        for node in ordered:
            for edge in self._dependent_edges(node):
                waiting[edge.source] -= 1
                if not waiting[edge.source]:
                    ordered.append(edge.source)
        return ordered, [node for node, count in waiting.items() if count]

    def _settle(self, circular: list[NodeId]) -> None:
        queue = deque(circular)
        queued = set(circular)
        while queue:
            node = queue.popleft()
            queued.discard(node)
            if self._update(node):
                fresh = [e.source for e in self._dependent_edges(node) if e.source not in queued]
                queue.extend(dict.fromkeys(fresh))
                queued.update(fresh)

    def _demands(self, node: NodeId) -> Sequence[LawEdge]:
        """Return the edges of `node` that its audience depends on."""
        guard = self.graph.guards.get(node)
        if guard is None or guard.need is Need.SOURCE:
            return ()
        edges = self.graph.sources.get(node, ())
        return edges if guard.need is not Need.NONE else [edge for edge in edges if edge.ends]

    def _dependent_edges(self, node: NodeId) -> Iterator[LawEdge]:
        for edge in self.graph.dependents.get(node, ()):
            guard = self.graph.guards.get(edge.source)
            if edge.source not in self.affected or guard is None or guard.need is Need.SOURCE:
                continue
            if edge.ends or guard.need is not Need.NONE:
                yield edge

    def _update(self, node: NodeId) -> bool:
        """Compute `node` from its sources as they are now; true if it grew."""
        guard = self.graph.guards.get(node)
        if guard is None or not guard.live or not has_access_rule(guard):
            return False
        if node in self.graph.cut and guard.need is not Need.SOURCE:
            return False
        before = self.found[node]
        clauses = self._clauses(guard)
        if before.clauses:
            clauses = absorb(before.clauses | clauses)
        excluded = self._excluded(guard) if clauses and self._excludes else _NO_ONE
        after: Audience = _AUDIENCE(node, clauses, excluded)
        self.found[node] = after
        return after != before

    def _clauses(self, guard: Guard) -> Clauses:
        ends: list[Clauses] = []
        sources: list[Clauses] = []
        for edge in self._edges[guard.node]:
            (ends if edge.ends else sources).append(self._given(edge))
        return multiply([*self._own(guard.rules or frozenset()), *ends, _needed(guard.need, sources)])

    def _own(self, rules: Clause) -> Sequence[Clauses]:
        """Return what the rules of a node demand; many nodes have the same ones."""
        if rules not in self._spelled:
            self._spelled[rules] = spelled_out(rules)
        return self._spelled[rules]

    def _given(self, edge: LawEdge) -> Clauses:
        """Return what the target of `edge` demands of a viewer, through this link."""
        target = self.graph.guards.get(edge.target)
        if target is None or edge.record is None:
            return _NOBODY
        if not (edge.ends or target.held):
            return _NOBODY
        if not edge.record:
            return self._audience(edge.target).clauses
        record = spelled_out(edge.record)
        if target.need is Need.SOURCE:
            return multiply(record) if target.live else _NOBODY
        return multiply([self._audience(edge.target).clauses, *record])

    def _audience(self, node: NodeId) -> Audience:
        found = self.found.get(node) or self.known.get(node)
        return found or Audience(node=node, clauses=_NOBODY)

    def _excluded(self, guard: Guard) -> frozenset[NodeId]:
        excluded = set(guard.excluded)
        for edge in self._edges[guard.node]:
            more = self._excluded_by(edge.target)
            if more and self._given(edge):
                excluded |= more
        return frozenset(excluded)

    def _excluded_by(self, node: NodeId) -> frozenset[NodeId]:
        target = self.graph.guards.get(node)
        if target is None:
            return frozenset()
        return target.excluded if target.need is Need.SOURCE else self._audience(node).excluded


def _needed(need: Need, sources: list[Clauses]) -> Clauses:
    """Return what a node with this need demands because of its sources."""
    if need is Need.ANY:
        return absorb(clause for clauses in sources for clause in clauses)
    if need is Need.ALL:
        return multiply(sources) if sources else _NOBODY
    return _DEMANDS_NOTHING
