"""Planned faults strike where they were planned."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.errors import StoreUnavailable
from graph.model.nodes.knowledge import Entry
from graph.store.memory import MemoryStore
from graph.store.port import Store
from tests.support.builders import World
from tests.support.clock import FakeClock
from tests.support.faults import FaultyStore, PlannedFault, cut_at, delay_at, fail_at


async def count(store: Store, world: World) -> int:
    async with store.reading() as reader:
        return (await reader.aggregate(world.system, Entry))[None]


def stores(*faults: PlannedFault) -> tuple[MemoryStore, FaultyStore, World]:
    inner = MemoryStore(clock=FakeClock())
    return inner, FaultyStore(inner, faults), World()


async def test_a_failed_commit_leaves_nothing() -> None:
    inner, store, world = stores(fail_at(1, "commit"))
    with pytest.raises(StoreUnavailable):
        await world.write(store, world.make_entry())
    assert await count(inner, world) == 0
    await world.write(store, world.make_entry())
    assert await count(inner, world) == 1


async def test_a_cut_transaction_was_applied() -> None:
    inner, store, world = stores(cut_at(1, "transact"))
    with pytest.raises(StoreUnavailable):
        await world.write(store, world.make_entry())
    assert await count(inner, world) == 1


@pytest.mark.parametrize("at", range(1, 8))
async def test_a_failure_at_any_call_of_a_transaction_leaves_nothing(at: int) -> None:
    inner, store, world = stores(fail_at(at))
    with pytest.raises(StoreUnavailable):
        await world.write(store, world.make_entry())
    assert await count(inner, world) == 0
    assert store.calls == ("transact", "put", "link", "guard", "admit", "index", "commit")[:at]


async def test_the_nth_call_of_one_operation_fails() -> None:
    _, store, world = stores(fail_at(2, "put"))
    await world.write(store, world.make_entry())
    with pytest.raises(StoreUnavailable):
        await world.write(store, world.make_entry())
    await world.write(store, world.make_entry())
    assert await count(store, world) == 2


async def test_a_delayed_call_waits_for_its_release() -> None:
    delay = delay_at(1, "commit")
    inner, store, world = stores(delay)
    task = asyncio.create_task(world.write(store, world.make_entry()))
    await delay.reached.wait()
    assert await count(inner, world) == 0
    delay.release.set()
    await task
    assert await count(inner, world) == 1
