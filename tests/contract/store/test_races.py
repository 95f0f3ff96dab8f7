"""Two races that a naive store loses: audiences recomputed while others write (docs/design.md#consistency)."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.access import Need
from graph.store.port import Store
from tests.contract.store.lawful import Lawful, only
from tests.support.builders import World, clause, private, shared
from tests.support.profile import sized

pytestmark = pytest.mark.req("KN-12", "KN-116")

CHAT = private("chn_1")
ROUNDS = sized(small=6, full=500)


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def test_withdrawing_a_source_while_something_is_added_two_steps_above_it(store: Store) -> None:
    """Withdraw S1 while another transaction adds O2 on O1 that rests on S1: neither may stay readable."""
    for round in range(ROUNDS):
        world = World()
        law = Lawful(world, store)
        await law.add("s1", rule=shared(), pool="a")
        await law.add("o1", ["s1"], rule=shared(), pool="b")

        async def withdraw(law: Lawful = law, wait: int = round % 3) -> None:
            await turns(wait)
            await law.set_live("s1", False)

        async def add(law: Lawful = law, wait: int = round // 3 % 3) -> None:
            await turns(wait)
            await law.add("o2", ["o1"], rule=shared(), pool="c")

        await asyncio.gather(withdraw(), add())
        viewer = world.viewer(shared())
        assert await law.shown(viewer, ["s1", "o1", "o2"]) == set()
        assert await law.proved(viewer, ["s1", "o1", "o2"]) == set()
        await law.set_live("s1", True)
        assert await law.shown(viewer, ["s1", "o1", "o2"]) == {"s1", "o1", "o2"}


async def test_withdrawing_one_source_while_another_returns(store: Store) -> None:
    """Withdraw S1 while S2 returns, both under O: O rests on S2 alone, and its audience demands what S2 demands."""
    for round in range(ROUNDS):
        world = World()
        law = Lawful(world, store)
        await law.add("s1", rule=CHAT, pool="a")
        await law.add("s2", rule=shared(), pool="b", live=False)
        await law.add("o", ["s1", "s2"], rule=shared("prn_any"), need=Need.ANY, pool="c")
        assert await law.clauses("o") == {clause(CHAT, shared("prn_any"))}

        async def change(name: str, live: bool, wait: int, law: Lawful = law) -> None:
            await turns(wait)
            await law.set_live(name, live)

        await asyncio.gather(change("s1", False, round % 3), change("s2", True, round // 3 % 3))
        assert await law.clauses("o") == {clause(shared(), shared("prn_any"))}
        assert (await law.clauses("s1"), await law.clauses("s2")) == (set(), only(shared()))
        assert await law.shown(world.viewer(CHAT, shared("prn_any")), ["o"]) == set()
        assert await law.shown(world.viewer(shared(), shared("prn_any")), ["o"]) == {"o"}


async def test_both_sources_of_a_statement_withdrawn_at_once(store: Store) -> None:
    world = World()
    law = Lawful(world, store)
    for name in ("s1", "s2"):
        await law.add(name, rule=shared(), pool=name)
    await law.add("o", ["s1", "s2"], rule=shared(), need=Need.ANY)
    await asyncio.gather(law.set_live("s1", False), law.set_live("s2", False))
    assert await law.shown(world.viewer(shared()), ["s1", "s2", "o"]) == set()


async def test_statements_added_side_by_side_over_one_source(store: Store) -> None:
    world = World()
    law = Lawful(world, store)
    await law.add("s1", rule=shared())
    names = [f"o{number}" for number in range(8)]
    await asyncio.gather(*(law.add(name, ["s1"], rule=shared(), pool=name) for name in names))
    assert await law.shown(world.viewer(shared()), names) == set(names)
    await law.set_live("s1", False)
    assert await law.shown(world.viewer(shared()), names) == set()
