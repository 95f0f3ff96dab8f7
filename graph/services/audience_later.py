"""What rests on a change is too much for one transaction: the change is committed, a job settles the rest.

The transaction sets the flag and decides what changed; the job `recompute_audience` decides the dependents, layer by
layer in steps of their own, and looks over all of them once more under the locks of their pools before it ends. Until
then their pools are read by proof (`graph.services.access.by_proof`), so that no step can show anything too early or
too late, whatever else is written meanwhile and wherever the job is killed. Source: KN-114, ADR 0026.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from graph.model.access import Guard
from graph.model.edges import LAW_EDGES
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules import audience as law
from graph.rules.jobs import RECOMPUTE_AUDIENCE
from graph.rules.visibility import source_graph
from graph.services.audience import dependents, guard_and_decide, law_edge, recompute
from graph.services.learning.jobs import enqueue
from graph.store.port import Reader, Writer
from graph.store.query import Direction

STEP = 2_000
"""So many audiences are settled in one transaction of the job."""

Commit = Callable[[Callable[[Writer], Awaitable[int]]], Awaitable[int]]
"""Runs a write in a transaction of its own that counts only while the job is the caller's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """Whose change it is that is decided, and when.

    Attributes:
        moved: nodes that were there before and whose guards changed.
        at_once: so many dependents are settled now.
    """

    workspace: WorkspaceId
    tx_id: str
    at: Millis
    moved: Collection[NodeId]
    at_once: int


async def decide_change(writer: Writer, change: Change, guards: Sequence[Guard], also: Iterable[NodeId]) -> None:
    """Set guards and decide anew for all that rests on them: at once, or by a job where that is too much.

    Args:
        writer: inside the transaction of the change, with nodes and links written.
        change: what is behind it.
        guards: new or changed.
        also: further nodes whose links to what they rest on changed.
    """
    turned = await _turned(writer, change, guards)
    if not turned or not await _is_too_much(writer, turned, change.at_once):
        await guard_and_decide(writer, guards, also)
        return
    affected = await dependents(writer, turned)
    pools = {guard.pool for guard in (await writer.guards(sorted(affected))).values() if guard.pool}
    await writer.guard(guards)
    await _decide(writer, {guard.node for guard in guards} | set(also))
    await enqueue(
        writer,
        RECOMPUTE_AUDIENCE,
        workspace=change.workspace,
        unique_key=f"{RECOMPUTE_AUDIENCE}:{change.tx_id}",
        due_at=change.at,
        now=change.at,
        subject=min(turned),
        arguments={"changed": sorted(turned), "pools": sorted(pools)},
    )


async def _turned(reader: Reader, change: Change, guards: Iterable[Guard]) -> Collection[NodeId]:
    """Return the nodes of which something turned that the law looks at, not lists alone."""
    before = await reader.guards(sorted(change.moved)) if change.moved else {}
    return {new.node for new in guards if new.node in before and _law_facts(before[new.node]) != _law_facts(new)}


async def _is_too_much(reader: Reader, turned: Collection[NodeId], most: int) -> bool:
    """True if more than `most` nodes rest on these."""
    reached = await reader.closure(sorted(turned), LAW_EDGES, Direction.IN, limit=most + len(turned) + 1)
    return len(reached.depths) > most + len(turned)


def _law_facts(guard: Guard) -> tuple[object, ...]:
    return guard.live, guard.held, guard.rules, guard.need, guard.pool, guard.workspace, guard.excluded


def changed_by(job: Job) -> list[NodeId]:
    """Return the nodes whose change a job `recompute_audience` works in."""
    return [NodeId(id_) for id_ in job.arguments["changed"]]


async def steps_of(reader: Reader, changed: Sequence[NodeId], *, size: int = STEP) -> list[list[NodeId]]:
    """Return all that rests on `changed`, so that each step rests on earlier ones alone; a cycle stays in one step."""
    import networkx as nx  # here: a server at rest does without its 11 MiB

    affected = await dependents(reader, changed)
    reached = await reader.closure(sorted(affected), LAW_EDGES, Direction.OUT, depth=1)
    graph: nx.DiGraph[NodeId] = nx.DiGraph()
    graph.add_nodes_from(sorted(affected))
    graph.add_edges_from((e.source, e.target) for e in reached.edges if e.source in affected and e.target in affected)
    # Components come in reverse topological order: what others rest on is first.
    return list(_filled((sorted(part) for part in nx.strongly_connected_components(graph)), size))


async def settle(changed: Sequence[NodeId], steps: Iterable[Sequence[NodeId]], commit: Commit) -> int:
    """Decide step by step, each of which may be repeated, then look over all of it; return how many audiences moved.

    Args:
        changed: what everything rests on.
        steps: see `steps_of`.
        commit: runs each transaction.
    """
    moved = 0
    for nodes in steps:
        moved += await commit(_deciding(nodes))
    return moved + await commit(_looking_over(changed))


def _filled(parts: Iterable[Sequence[NodeId]], size: int) -> Iterator[list[NodeId]]:
    """Yield the parts in order, joined to lists that reach `size`."""
    filled: list[NodeId] = []
    for part in parts:
        filled += part
        if len(filled) >= size:
            yield filled
            filled = []
    if filled:
        yield filled


def _deciding(nodes: Sequence[NodeId]) -> Callable[[Writer], Awaitable[int]]:
    async def work(writer: Writer) -> int:
        pools = {guard.pool for guard in (await writer.guards(nodes)).values() if guard.pool}
        await writer.lock(sorted(pools))
        return await _decide(writer, set(nodes))

    return work


def _looking_over(changed: Sequence[NodeId]) -> Callable[[Writer], Awaitable[int]]:
    """Decide everything once more while nobody can write in these pools: what the steps settled only needs a look."""

    async def work(writer: Writer) -> int:
        held: set[NodeId] = set()
        while True:
            affected = await dependents(writer, changed)
            pools = {guard.pool for guard in (await writer.guards(sorted(affected))).values() if guard.pool}
            if pools <= held:
                return len(await recompute(writer, changed))
            held |= pools
            await writer.lock(sorted(held))

    return work


async def _decide(writer: Writer, nodes: set[NodeId]) -> int:
    """Decide some nodes out of what is known about all others; return how many audiences there are now."""
    reached = await writer.closure(sorted(nodes), LAW_EDGES, Direction.OUT, depth=1)
    edges = [law_edge(edge) for edge in reached.edges if edge.source in nodes]
    guards = await writer.guards(list(reached.depths))
    known = await writer.audiences(list(reached.depths))
    decided = law.audiences(source_graph(guards.values(), edges), nodes, known)
    moved = [audience for node, audience in decided.items() if node in guards and known.get(node) != audience]
    same = [known[node] for node in nodes & known.keys() & guards.keys() if known[node] == decided.get(node)]
    await writer.admit([*moved, *same])  # the same once more where tags or times changed, so that lists follow
    return len(moved)
