"""Upkeep of the audience index: after any change of a flag, a rule or a link, every dependent is decided anew.

The pure law works the audiences out (`graph.rules.audience`); this shell reads what it needs and writes what
changed, inside the transaction of the change. Source: docs/design.md#the-audience-index.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from graph.model.access import Audience, Guard, LawEdge, Rule
from graph.model.edges import LAW_EDGES, LAW_ENDS, Edge
from graph.model.ids import NodeId
from graph.model.making import maker
from graph.model.time import Millis
from graph.rules import audience as law
from graph.rules.visibility import SourceGraph, source_graph
from graph.store.port import Reader, Writer
from graph.store.query import Direction

_LAW_EDGE = maker(LawEdge)


def law_edge(edge: Edge) -> LawEdge:
    """Return an edge as the law sees it."""
    record = edge.record
    decoded = tuple([Rule.decode(text) for text in record]) if record else record
    return _LAW_EDGE(edge.source, edge.target, edge.type in LAW_ENDS, decoded)


async def rests_on(reader: Reader, ids: Sequence[NodeId]) -> SourceGraph:
    """Return the graph of `ids` and of all they rest on, without any content; one round trip."""
    reached = await reader.closure(ids, LAW_EDGES, Direction.OUT, guarded=True)
    return source_graph(reached.guards.values(), map(law_edge, reached.edges))


async def dependents(reader: Reader, changed: Iterable[NodeId]) -> frozenset[NodeId]:
    """Return `changed` and all that rests on them, however far, live or not, over placeholders too."""
    reached = await reader.closure(sorted(set(changed)), LAW_EDGES, Direction.IN)
    return frozenset(reached.depths)


async def hold_dependents(writer: Writer, changed: Iterable[NodeId]) -> frozenset[NodeId]:
    """Lock `changed`, all that rests on them and the pools of both, in id order; return the nodes.

    Starts over while new dependents or pools appear, so that a writer who cites one of them either waits for this
    transaction or is seen by it. Call it before the change is read and decided.
    """
    held: set[NodeId] = set()
    while True:
        affected = await dependents(writer, changed)
        pools = {guard.pool for guard in (await writer.guards(sorted(affected))).values() if guard.pool}
        if affected | pools <= held:
            return affected
        held |= affected | pools
        await writer.lock(sorted(held))


async def recompute(writer: Writer, changed: Iterable[NodeId]) -> frozenset[NodeId]:
    """Decide anew who may see `changed` and everything that rests on them; return the ids whose audience moved.

    Call it after the change was written, in the same transaction, with guards set.
    """
    affected = await dependents(writer, changed)
    if not affected:
        return frozenset()
    reached = await writer.closure(sorted(affected), LAW_EDGES, Direction.OUT, depth=1)
    guards = await writer.guards(list(reached.depths))
    known = await writer.audiences(list(reached.depths))
    edges = [law_edge(edge) for edge in reached.edges if edge.source in affected]
    decided = law.audiences(source_graph(guards.values(), edges), set(affected), known)
    moved = [new for node, new in decided.items() if node in guards and _moved(known.get(node), new)]
    await writer.admit(moved)
    return frozenset(audience.node for audience in moved)


async def guard_and_decide(writer: Writer, guards: Sequence[Guard], also: Iterable[NodeId] = ()) -> frozenset[NodeId]:
    """Set guards and decide anew for their nodes, for `also`, and for what rests on those that moved.

    A popular entry is changed often and moves hardly ever: what rests on it is looked at only if it did. That is
    exact where no cycle runs through the changed nodes (then they depend on nothing that changes with them) and
    what moved was only widened (then the old audiences are a place from which the least fixpoint is reached by going
    up); in all other cases everything above is decided from the ground, as `recompute` does.

    Args:
        writer: inside the transaction of the change, with nodes and links written.
        guards: new or changed.
        also: further nodes whose links to what they rest on changed.
    """
    new = {guard.node: guard for guard in guards}
    before = await writer.guards(sorted(new))
    await writer.guard(guards)
    turned = {node for node, old in before.items() if _law_facts(old) != _law_facts(new[node])}
    changed = set(new) | set(also)
    if turned:
        moved = await recompute(writer, changed)
    else:
        moved = await _widen(writer, changed)
    await _file_again(writer, [node for node in before if before[node] != new[node] and node not in moved])
    return moved


async def decide_new(writer: Writer, guards: Sequence[Guard], links: Iterable[Edge]) -> None:
    """Set the guards of nodes that this transaction made, and decide who may see them.

    Nothing rests on such a node but others of them, and it rests on nothing but what its links say: so neither is
    read, and what `guard_and_decide` would find is found without a walk.

    Args:
        writer: inside the transaction, with nodes and links written.
        guards: of nodes under ids that the service made in this transaction (`graph.model.ids.is_made`).
        links: all links of these nodes.
    """
    new = {guard.node for guard in guards}
    edges = [law_edge(edge) for edge in links if edge.source in new and edge.type in LAW_EDGES]
    below = sorted({edge.target for edge in edges} - new)
    beneath, known = await writer.guards(below), await writer.audiences(below)
    decided = law.audiences(source_graph((*guards, *beneath.values()), edges), new, known)
    await writer.guard(guards)
    await writer.admit(list(decided.values()))


async def _widen(writer: Writer, changed: set[NodeId]) -> frozenset[NodeId]:
    """Decide `changed`, then what rests on them, layer by layer, as far as audiences grow."""
    below = await writer.closure(sorted(changed), LAW_EDGES, Direction.OUT)
    if _has_cycle(below.edges):
        return await recompute(writer, changed)
    every: set[NodeId] = set()
    layer, edges, done = changed, [e for e in below.edges if e.source in changed], changed
    while layer:
        moved, narrowed = await _decide(writer, layer, edges)
        every |= moved
        if narrowed:
            return frozenset(every) | await recompute(writer, moved | narrowed)
        above = await writer.closure(sorted(moved), LAW_EDGES, Direction.IN, depth=1) if moved else None
        layer = {edge.source for edge in above.edges} - done if above else set()
        done = set()
        reached = await writer.closure(sorted(layer), LAW_EDGES, Direction.OUT, depth=1) if layer else None
        edges = [edge for edge in reached.edges if edge.source in layer] if reached else []
    return frozenset(every)


async def _decide(
    writer: Writer, layer: set[NodeId], edges: Sequence[Edge]
) -> tuple[frozenset[NodeId], frozenset[NodeId]]:
    """Decide the nodes of one layer; return those that moved, and those that did not only grow."""
    needed = sorted(layer | {edge.target for edge in edges})
    guards = await writer.guards(needed)
    known = await writer.audiences(needed)
    decided = law.audiences(source_graph(guards.values(), map(law_edge, edges)), layer, known)
    moved = {node: new for node, new in decided.items() if node in guards and _moved(known.get(node), new)}
    await writer.admit(list(moved.values()))
    narrowed = {node for node, new in moved.items() if not _grew(known.get(node), new)}
    return frozenset(moved), frozenset(narrowed | (layer - guards.keys()))


async def _file_again(writer: Writer, nodes: Sequence[NodeId]) -> None:
    """Admit nodes whose tags or time changed to those who saw them before, so that lists follow."""
    if nodes:
        await writer.admit(list((await writer.audiences(nodes)).values()))


def _law_facts(guard: Guard) -> Guard:
    """Return a guard without what only lists look at."""
    return replace(guard, kind="", tags=(), sort_at=Millis(0))


def _has_cycle(edges: Iterable[Edge]) -> bool:
    sources: dict[NodeId, set[NodeId]] = {}
    for edge in edges:
        sources.setdefault(edge.source, set()).add(edge.target)
    try:
        TopologicalSorter(sources).prepare()
    except CycleError:
        return True
    return False


def _grew(before: Audience | None, after: Audience) -> bool:
    """True if everyone who passed before passes still."""
    if before is None or not before.clauses:
        return True
    kept = all(any(new <= old for new in after.clauses) for old in before.clauses)
    return kept and after.excluded <= before.excluded


def _moved(before: Audience | None, after: Audience) -> bool:
    return before is None or before != after
