"""Upkeep of the audience index: after any change of a flag, a rule or a link, every dependent is decided anew.

The pure law works the audiences out (`graph.rules.audience`); this shell reads what it needs and writes what
changed, inside the transaction of the change. Source: design section 2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from graph.model.access import Audience, Guard, LawEdge, Rule
from graph.model.edges import LAW_EDGES, LAW_ENDS, Edge
from graph.model.ids import NodeId
from graph.rules import audience as law
from graph.rules.visibility import source_graph
from graph.store.port import Reader, Writer
from graph.store.query import Direction


def law_edge(edge: Edge) -> LawEdge:
    """Return an edge as the law sees it."""
    record = None if edge.record is None else tuple(Rule.decode(text) for text in edge.record)
    return LawEdge(source=edge.source, target=edge.target, ends=edge.type in LAW_ENDS, record=record)


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
    """Set guards and decide anew for their nodes, for `also`, and for all that rests on either."""
    await writer.guard(guards)
    return await recompute(writer, {guard.node for guard in guards} | set(also))


def _moved(before: Audience | None, after: Audience) -> bool:
    return before is None or before != after
