"""Many visible vectors on Neo4j: the engine's index finds them, and what it misses is compared (RE-10)."""

from __future__ import annotations

import random

import pytest

from graph.model.nodes.knowledge import BlockVersion
from graph.store.memory import MemoryStore
from graph.store.neo4j import Neo4jStore, vectors
from graph.store.port import Store
from graph.store.query import Neighbour
from tests.support.builders import World, clause, private, shared, vector
from tests.support.clock import FakeClock

SIZE, SHOWN, HIDDEN, LIMIT = 32, 300, 900, 10


async def nearest(store: Store, world: World, asked: list[float]) -> list[Neighbour]:
    async with store.reading() as reader:
        viewer = world.viewer(shared())
        return list(await reader.nearest(viewer, BlockVersion, asked, model="m", limit=LIMIT))


@pytest.mark.req("RE-10", "KN-12")
async def test_the_index_gives_what_comparing_all_gives(
    store: Neo4jStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = random.Random(3)

    def blocks(count: int) -> list[BlockVersion]:
        made = [vector(*(numbers.gauss(0, 1) for _ in range(SIZE))) for _ in range(count)]
        return [world.make_block_version(embedding=one, embedding_model="m") for one in made]

    plain = MemoryStore(clock=FakeClock())
    await plain.open()
    seen, hidden = blocks(SHOWN), blocks(HIDDEN)
    for one in (store, plain):
        await world.write(one, *seen, clauses=[clause(shared())])
        await world.write(one, *hidden, clauses=[clause(private("chn_1"))])
    monkeypatch.setattr(vectors, "EXACT_UP_TO", SHOWN // 2)
    found = wanted = 0
    for _ in range(20):
        asked = [numbers.gauss(0, 1) for _ in range(SIZE)]
        exact = [neighbour.id for neighbour in await nearest(plain, world, asked)]
        given = [neighbour.id for neighbour in await nearest(store, world, asked)]
        assert len(given) == LIMIT  # what is hidden takes no place
        found += len(set(exact) & set(given))
        wanted += LIMIT
    assert found / wanted >= 0.99
