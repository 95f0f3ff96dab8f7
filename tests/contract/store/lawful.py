"""Small graphs of statements and sources, kept by the upkeep service and judged by the law itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from graph.model.access import Guard, Need, Rule, SystemScope, Viewer
from graph.model.edges import LAW_EDGES
from graph.model.ids import NodeId
from graph.rules.visibility import source_graph, visible_to
from graph.services.audience import guard_and_decide, hold_dependents, law_edge
from graph.store.port import Store, Writer
from graph.store.query import Direction
from tests.support.builders import World, clause

LAW = SystemScope(reason="the law in a test")


class Lawful:
    """Sources ``s…`` and statements of one world, named by short names."""

    def __init__(self, world: World, store: Store) -> None:
        self.world = world
        self.store = store

    def id(self, name: str) -> NodeId:
        return self.world.id("src" if name.startswith("s") else "blv", name)

    async def add(
        self,
        name: str,
        rests_on: Iterable[str] = (),
        *,
        rule: Rule,
        need: Need | None = None,
        pool: str = "pool",
        live: bool = True,
        held: Iterable[str] = (),
    ) -> None:
        """Write a node with its links under locks of its pool, of `held` and of what it rests on."""
        id, pool_id, sources = self.id(name), self.world.id("knb", pool), [self.id(other) for other in rests_on]
        make = self.world.make_source if name.startswith("s") else self.world.make_block_version
        node = make(id=id, pool=pool_id)
        default = Need.SOURCE if name.startswith("s") else Need.ALL
        guard = self.world.guard_for(node, rule, need=need or default, live=live)

        async def work(writer: Writer) -> None:
            await writer.lock([pool_id, *sources, *map(self.id, held)])
            await writer.put([node])
            await writer.link([self.world.cites(id, source) for source in sources])
            await guard_and_decide(writer, [guard])

        await self.store.transact(work)

    async def set_live(self, name: str, live: bool) -> None:
        """Withdraw a source or let it return, as the services do: hold what rests on it, change, decide anew."""
        id = self.id(name)

        async def work(writer: Writer) -> None:
            await hold_dependents(writer, [id])
            (guard,) = (await writer.guards([id])).values()
            await guard_and_decide(writer, [replace(guard, live=live)])

        await self.store.transact(work)

    async def shown(self, viewer: Viewer, names: Iterable[str]) -> set[str]:
        """Return the names of the nodes that the store shows, by its audiences."""
        by_id = {self.id(name): name for name in names}
        async with self.store.reading() as reader:
            return {by_id[id] for id in await reader.get(viewer, list(by_id))}

    async def proved(self, viewer: Viewer, names: Iterable[str]) -> set[str]:
        """Return the names that the law proves from a closure read off the store."""
        by_id = {self.id(name): name for name in names}
        async with self.store.reading() as reader:
            reached = await reader.closure(list(by_id), LAW_EDGES, Direction.OUT)
            guards = await reader.guards(list(reached.depths))
            nodes = await reader.get(LAW, list(reached.depths))
        present: list[Guard] = [guard for id, guard in guards.items() if id in nodes]
        readable = visible_to(source_graph(present, map(law_edge, reached.edges)), viewer)
        return {name for id, name in by_id.items() if id in readable}

    async def clauses(self, name: str) -> set[frozenset[Rule]]:
        """Return the stored clauses of a node."""
        async with self.store.reading() as reader:
            found = await reader.audiences([self.id(name)])
        return set(found[self.id(name)].clauses) if found else set()


def only(rule: Rule) -> set[frozenset[Rule]]:
    """Return the clauses that demand one rule."""
    return {clause(rule)}
