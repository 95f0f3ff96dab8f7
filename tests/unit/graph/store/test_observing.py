"""Round trips are counted and measured by name, without content."""

from __future__ import annotations

import asyncio
from itertools import count

import pytest

from graph.model.nodes.knowledge import Entry
from graph.store.memory import MemoryStore
from graph.store.observing import ObservingStore, counting_round_trips
from graph.store.port import Writer
from graph.store.query import Find
from tests.support.builders import World
from tests.support.clock import FakeClock


class Noted:
    """Keeps what was measured."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str, float, bool]] = []

    def store_call(self, *, engine: str, operation: str, seconds: float, failed: bool) -> None:
        self.calls.append((engine, operation, seconds, failed))


@pytest.fixture
def noted() -> Noted:
    return Noted()


@pytest.fixture
def store(noted: Noted) -> ObservingStore:
    """A store whose timer moves by a second each time it is read."""
    seconds = count()
    return ObservingStore(MemoryStore(clock=FakeClock()), noted, timer=lambda: float(next(seconds)))


async def test_reads_are_counted_by_operation(store: ObservingStore) -> None:
    world = World()
    with counting_round_trips() as trips:
        async with store.reading() as reader:
            await reader.get(world.system, [])
            await reader.get(world.system, [])
            await reader.find(world.system, Find(kind=Entry))
    assert trips == {"get": 2, "find": 1}


async def test_a_commit_is_a_round_trip_and_a_transaction_is_not(store: ObservingStore) -> None:
    with counting_round_trips() as trips:
        await store.transact(lambda writer: writer.put([World().make_entry()]))
    assert trips == {"put": 1, "commit": 1}


async def test_tasks_started_within_are_counted_and_others_are_not(store: ObservingStore) -> None:
    world = World()

    async def read() -> None:
        async with store.reading() as reader:
            await reader.get(world.system, [])

    async def counted() -> int:
        with counting_round_trips() as trips:
            await asyncio.gather(read(), read())
        await read()
        return trips.total()

    one, _, two = await asyncio.gather(counted(), read(), counted())
    assert (one, two) == (2, 2)


async def test_durations_and_failures_go_to_the_metrics(store: ObservingStore, noted: Noted) -> None:
    async def fail(writer: Writer) -> None:
        await writer.lock([])
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        await store.transact(fail)
    assert noted.calls == [("memory", "lock", 1.0, False), ("memory", "transact", 3.0, True)]


async def test_answers_are_those_of_the_inner_store(store: ObservingStore) -> None:
    world = World()
    entry = world.make_entry()
    await store.transact(lambda writer: writer.put([entry]))
    async with store.reading() as reader:
        assert await reader.get(world.system, [entry.id]) == {entry.id: entry}
    assert (store.engine, (await store.health()).ready) == ("memory", True)
