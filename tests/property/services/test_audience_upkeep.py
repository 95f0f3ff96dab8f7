"""The upkeep of stored audiences, which looks no farther than it must, against the law worked out from the ground."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import pytest

from graph.model.access import Audience, Guard, LawEdge, Need
from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.rules.audience import audiences
from graph.rules.visibility import source_graph
from graph.services.audience import decide_new, guard_and_decide, law_edge
from graph.store.memory import MemoryStore
from graph.store.port import Writer
from tests.support.clock import FakeClock
from tests.support.graphs import Flavour, law_graphs, random_case, random_edge, random_guard, random_rules

pytestmark = pytest.mark.req("KN-61", "KN-62")
STEPS = 12


class Kept:
    """A store with guards and links, and beside it the same as plain values."""

    def __init__(self) -> None:
        self.store = MemoryStore(clock=FakeClock())
        self.guards: dict[NodeId, Guard] = {}
        self.edges: list[Edge] = []
        self._keys = count()

    def edge(self, given: LawEdge) -> Edge:
        record = None if given.record is None else tuple(rule.encode() for rule in given.record)
        type_ = EdgeType.SUBJECT if given.ends else EdgeType.CITES
        return Edge(type=type_, source=given.source, target=given.target, key=str(next(self._keys)), record=record)

    async def change(
        self, guards: Sequence[Guard] = (), links: Sequence[Edge] = (), unlinks: Sequence[Edge] = ()
    ) -> None:
        """Write a change and keep up the audiences, as a commit does."""
        gone = {edge.identity for edge in unlinks}
        self.guards |= {guard.node: guard for guard in guards}
        self.edges = [edge for edge in self.edges if edge.identity not in gone] + list(links)

        async def work(writer: Writer) -> None:
            await writer.unlink(unlinks)
            await writer.link(links)
            await guard_and_decide(writer, guards, {edge.source for edge in (*links, *unlinks)})

        await self.store.transact(work)

    async def add(self, guards: Sequence[Guard], links: Sequence[Edge]) -> None:
        """Write new nodes with all their links, as a commit of nothing else does."""
        self.guards |= {guard.node: guard for guard in guards}
        self.edges += links

        async def work(writer: Writer) -> None:
            await writer.link(links)
            await decide_new(writer, guards, links)

        await self.store.transact(work)

    async def stored(self) -> dict[NodeId, Audience]:
        async with self.store.reading() as reader:
            return dict(await reader.audiences(sorted(self.guards)))

    def lawful(self) -> dict[NodeId, Audience]:
        graph = source_graph(self.guards.values(), map(law_edge, self.edges))
        return audiences(graph, self.guards.keys() | {e.target for e in self.edges}, {})


async def random_step(kept: Kept, rng: random.Random, flavour: Flavour) -> None:
    """Change a flag, a rule, a tag or a link, or let something arrive."""
    node = rng.choice(sorted(kept.guards))
    guard = kept.guards[node]
    kind = rng.randrange(8)
    if kind == 0:
        await kept.change([replace(guard, live=not guard.live or guard.need is not Need.SOURCE)])
    elif kind == 1:
        await kept.change([replace(guard, rules=random_rules(rng, flavour))])
    elif kind == 2:
        held = flavour is Flavour.KNOWLEDGE or not guard.held
        await kept.change([replace(guard, held=held, tags=("x",))])
    elif kind == 3 and kept.edges:
        await kept.change(unlinks=[rng.choice(kept.edges)])
    elif kind == 4:
        missing = sorted({edge.target for edge in kept.edges} - kept.guards.keys())
        if missing:
            found = rng.choice(missing)
            need = Need.SOURCE if found.startswith("src") else Need.ALL
            await kept.change([replace(random_guard(rng, flavour, 0), node=found, need=need)])
    else:
        targets = sorted({*kept.guards, NodeId("src_gone"), NodeId("blv_gone")})
        links = [kept.edge(random_edge(rng, flavour, node, rng.choice(targets)))]
        regarded = [replace(kept.guards[node], tags=("y",))] if kind == 5 else []
        await kept.change(regarded, links)


@pytest.mark.parametrize("flavour", [Flavour.KNOWLEDGE, Flavour.BOT])
async def test_stored_audiences_are_those_of_the_law_after_every_change(flavour: Flavour) -> None:
    for seed in range(law_graphs() // 3):
        rng = random.Random(seed)
        case = random_case(rng, flavour)
        kept = Kept()
        for guard in case.guards:
            own = [kept.edge(edge) for edge in case.edges if edge.source == guard.node]
            await kept.change([guard], own)
        for _ in range(STEPS):
            await random_step(kept, rng, flavour)
            lawful = kept.lawful()
            assert await kept.stored() == {node: lawful[node] for node in kept.guards}, seed


@pytest.mark.parametrize("flavour", [Flavour.KNOWLEDGE, Flavour.BOT])
async def test_new_nodes_are_decided_without_a_walk_as_the_law_decides_them(flavour: Flavour) -> None:
    for seed in range(law_graphs() // 3):
        rng = random.Random(seed)
        case = random_case(rng, flavour)
        kept = Kept()
        await kept.change(case.guards, [kept.edge(edge) for edge in case.edges])
        for round_ in range(3):
            fresh = [random_guard(rng, flavour, number) for number in range(rng.randint(1, 6))]
            made = [replace(guard, node=NodeId(f"{guard.node}_{round_}")) for guard in fresh]
            targets = sorted({*kept.guards, *(guard.node for guard in made), NodeId("src_gone")})
            links = [
                kept.edge(random_edge(rng, flavour, guard.node, rng.choice(targets)))
                for guard in made
                for _ in range(rng.randint(0, 3))
            ]
            await kept.add(made, links)
            lawful = kept.lawful()
            assert await kept.stored() == {node: lawful[node] for node in kept.guards}, seed
