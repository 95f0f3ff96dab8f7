"""A restore that fails at any call of the store writes nothing, and goes through afterwards (goal C3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.work import AuditRecord
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.port import Store
from graph.store.query import Eq, Find
from tests.fault.driver import ENTRIES, TickingClock, prepare, world_on
from tests.support.faults import FaultyStore, PlannedFault, cut_at, fail_at
from tests.support.history import SYSTEM
from tests.support.ids import SequentialIds
from tests.support.profile import sized
from tests.support.restoring import undo
from tests.support.row_state import check_invariants, row_hash
from tests.support.world import TeamWorld

POINTS = sized(small=25, full=10_000)


@pytest.fixture(params=["memory", "embedded"])
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[TeamWorld]:
    """A world whose twenty entries were deleted."""
    clock = TickingClock()
    store: Store = MemoryStore(clock=clock) if request.param == "memory" else EmbeddedStore(tmp_path / "s", clock=clock)
    await store.open()
    try:
        made = world_on(store, clock, SequentialIds(), 1)
        await prepare(made, deleted=True)
        yield made
    finally:
        await store.close()


async def deletions(world: TeamWorld) -> list[NodeId]:
    async with world.deps.store.reading() as reader:
        page = await reader.find(SYSTEM, Find(kind=AuditRecord, where=Eq("operation", "entry.delete")))
    return [record.id for record in page.nodes]


def through(world: TeamWorld, *faults: PlannedFault) -> tuple[TeamWorld, FaultyStore]:
    """Return the same world on a store with faults."""
    store = FaultyStore(world.deps.store, faults)
    return TeamWorld(deps=replace(world.deps, store=store), name=world.name), store


def chosen(count: int) -> list[int]:
    """Return the calls that fail, evenly over all, the last one among them."""
    return sorted({max(1, round((place + 1) * count / POINTS)) for place in range(POINTS)})


async def calls_of(world: TeamWorld, records: list[NodeId]) -> int:
    """Return how many calls a restore makes, by one that fails at its commit."""
    failing, store = through(world, fail_at(1, "commit"))
    with pytest.raises(StoreUnavailable):
        await undo(failing, *records)
    return len(store.calls)


@pytest.mark.req("KN-97", "KN-82")
@pytest.mark.soak
@pytest.mark.parametrize("error", [lambda: StoreUnavailable("away"), asyncio.CancelledError], ids=["fails", "stops"])
async def test_a_restore_that_stops_at_any_call_leaves_nothing(
    world: TeamWorld, error: Callable[[], BaseException]
) -> None:
    records = await deletions(world)
    assert len(records) == ENTRIES
    before = await row_hash(world.deps.store)
    for at in chosen(await calls_of(world, records)):
        failing, _ = through(world, replace(fail_at(at), error=error))
        with pytest.raises(type(error())):
            await undo(failing, *records)
        assert await row_hash(world.deps.store) == before, at
    await undo(world, *records)
    await check_invariants(world.deps.store)
    assert await row_hash(world.deps.store) != before


@pytest.mark.req("KN-97")
async def test_a_restore_whose_answer_is_lost_is_there_once(world: TeamWorld) -> None:
    records = await deletions(world)
    failing, _ = through(world, cut_at(1, "transact"))
    with pytest.raises(StoreUnavailable):
        await undo(failing, *records)
    await check_invariants(world.deps.store)
    async with world.deps.store.reading() as reader:
        page = await reader.find(SYSTEM, Find(kind=AuditRecord, where=Eq("operation", "restore")))
    assert len(page.nodes) == ENTRIES
