"""The trap that was measured: a path that only goes round never meets a bad leaf, so cycles must be hidden by proof.

Every graph is written through the store, kept by the upkeep service, read back as a closure and judged by the law;
what the store shows, what the law proves and what is expected must be one.
"""

from __future__ import annotations

import random
from itertools import permutations

import pytest

from graph.model.access import Need
from graph.store.port import Store
from tests.contract.store.lawful import Lawful
from tests.support.builders import World, private, shared
from tests.support.profile import sized

pytestmark = pytest.mark.req("KN-12", "KN-62")

Graph = dict[str, str]

HOSTILE: list[tuple[str, Graph, Need, str]] = [
    ("a statement on itself", {"a": "a"}, Need.ALL, ""),
    ("a statement on itself and a source", {"a": "a s"}, Need.ALL, ""),
    ("two on each other", {"a": "b", "b": "a"}, Need.ALL, ""),
    ("three round, one more on them", {"a": "b", "b": "c", "c": "a", "d": "c"}, Need.ALL, ""),
    ("three round beside a healthy one", {"a": "b s", "b": "c", "c": "a", "d": "s"}, Need.ALL, "d"),
    ("a cycle with a source in it", {"a": "b s", "b": "a s"}, Need.ALL, ""),
    ("above a cycle and a source", {"a": "b", "b": "a", "c": "a s", "d": "c"}, Need.ALL, ""),
    ("a cycle that any source opens", {"a": "b s", "b": "a"}, Need.ANY, "ab"),
    ("a cycle without a source, any", {"a": "b", "b": "a", "c": "a"}, Need.ANY, ""),
    ("two cycles that touch", {"a": "b", "b": "a c", "c": "d", "d": "c", "e": "s"}, Need.ALL, "e"),
    ("nothing at all", {"a": ""}, Need.ALL, ""),
    ("nothing at all, any", {"a": ""}, Need.ANY, ""),
    ("a missing source", {"a": "s sx"}, Need.ALL, ""),
    ("a missing source, any", {"a": "s sx"}, Need.ANY, "a"),
    ("a missing statement far below", {"a": "b s", "b": "c", "c": "x"}, Need.ALL, ""),
    ("a diamond", {"a": "b c", "b": "d", "c": "d", "d": "s"}, Need.ALL, "abcd"),
    ("a diamond with a cut side", {"a": "b c", "b": "d", "c": "d x", "d": "s"}, Need.ALL, "bd"),
    ("six layers", {"a": "b", "b": "c", "c": "d", "d": "e", "e": "f", "f": "s"}, Need.ALL, "abcdef"),
]


async def build(law: Lawful, graph: Graph, need: Need, order: tuple[str, ...]) -> None:
    await law.add("s", rule=shared())
    for name in order:
        await law.add(name, graph[name].split(), rule=shared(), need=need)


@pytest.mark.parametrize(("graph", "need", "expected"), [case[1:] for case in HOSTILE], ids=[c[0] for c in HOSTILE])
async def test_store_law_and_expectation_agree(store: Store, graph: Graph, need: Need, expected: str) -> None:
    """Source: attack case 1; three orders of insertion each."""
    orders = list(permutations(graph))
    for order in {orders[0], orders[-1], orders[len(orders) // 2]}:
        world = World()
        law, viewer = Lawful(world, store), world.viewer(shared())
        await build(law, graph, need, order)
        assert await law.shown(viewer, graph) == set(expected)
        assert await law.proved(viewer, graph) == set(expected)
        await law.set_live("s", False)
        assert await law.shown(viewer, graph) == set()
        await law.set_live("s", True)
        assert await law.shown(viewer, graph) == set(expected)


@pytest.mark.parametrize("seed", range(sized(small=4, full=2_000)))
async def test_random_graphs_are_shown_as_the_law_proves(store: Store, seed: int) -> None:
    numbers = random.Random(seed)
    world = World()
    law = Lawful(world, store)
    rules = [shared(), private("chn_1"), private("chn_2")]
    sources = [f"s{number}" for number in range(5)]
    statements = [f"o{number}" for number in range(15)]
    for name in sources:
        await law.add(name, rule=numbers.choice(rules), live=numbers.random() < 0.85)
    for name in statements:
        below = numbers.sample([*sources, *statements, "sx"], numbers.randint(0, 3))
        need = numbers.choice([Need.ALL, Need.ALL, Need.ANY, Need.NONE])
        await law.add(name, below, rule=numbers.choice(rules), need=need)
    for name in numbers.choices(sources, k=3):
        await law.set_live(name, numbers.random() < 0.5)
    for held in ([], rules[:1], rules[:2], rules):
        viewer = world.viewer(*held)
        assert await law.shown(viewer, [*sources, *statements]) == await law.proved(viewer, [*sources, *statements])


async def test_sixty_statements_on_hostile_cycles_are_hidden(store: Store) -> None:
    """The measured set: every one was shown by a pattern of paths."""
    world = World()
    law, viewer = Lawful(world, store), world.viewer(shared())
    await law.add("s", rule=shared())
    names = [f"o{number:02}" for number in range(60)]
    for number, name in enumerate(names):
        ring = number // 6 * 6
        await law.add(name, [names[ring + (number + 1) % 6], "s"], rule=shared())
    await law.add("healthy", ["s"], rule=shared())
    assert await law.shown(viewer, [*names, "healthy"]) == {"healthy"}
    assert await law.proved(viewer, [*names, "healthy"]) == {"healthy"}
