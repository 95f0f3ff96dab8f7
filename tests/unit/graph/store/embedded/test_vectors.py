"""Nearest vectors by way of memory equal those that SQL compares, whatever was written in between."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from graph.model.access import Audience, Viewer
from graph.model.nodes.knowledge import BlockVersion
from graph.store.embedded import EmbeddedStore, vectors
from graph.store.embedded.vector_cache import Seen, VectorCache, levels, similarities
from graph.store.port import Writer
from graph.store.query import Neighbour
from tests.support.builders import World, channel, clause, private, shared, vector
from tests.support.clock import FakeClock

SIZE = 24
CLAUSES = (clause(shared()), clause(private("chn_1")), clause(channel("chn_2")))


def some(numbers: random.Random) -> list[float]:
    return [numbers.gauss(0, 1) for _ in range(SIZE)]


async def both(store: EmbeddedStore, viewer: Viewer, asked: Sequence[float], limit: int) -> list[list[Neighbour]]:
    """Ask a reader, who has memory, and a writer, who compares by SQL."""

    async def by_sql(writer: Writer) -> Sequence[Neighbour]:
        return await writer.nearest(viewer, BlockVersion, asked, model="m", limit=limit)

    async with store.reading() as reader:
        found = await reader.nearest(viewer, BlockVersion, asked, model="m", limit=limit)
    return [list(found), list(await store.transact(by_sql))]


@pytest.mark.req("RE-10")
async def test_memory_answers_as_sql_does_while_much_changes(store: EmbeddedStore, world: World) -> None:
    numbers = random.Random(11)
    viewers = [world.viewer(shared()), world.viewer(shared(), private("chn_1"), channel("chn_2"))]
    known: list[BlockVersion] = []
    for turn in range(6):
        for audience in CLAUSES:
            fresh = [world.make_block_version(embedding=vector(*some(numbers)), embedding_model="m") for _ in range(40)]
            await world.write(store, *fresh, clauses=[audience])
            known += fresh
        for viewer in viewers:
            for limit in (1, 7, 500):
                memory, sql = await both(store, viewer, some(numbers), limit)
                assert memory == sql
        await store.transact(partial(_disturb, numbers=numbers, known=known, turn=turn))


async def _disturb(writer: Writer, numbers: random.Random, known: list[BlockVersion], turn: int) -> None:
    """Delete some, change some, let others be seen by others or by several; leave most as they are."""
    chosen = numbers.sample(known, 40)
    await writer.delete([node.id for node in chosen[:8]])
    known[:] = [node for node in known if node not in chosen[:8]]
    await writer.patch_many({node.id: {"embedding": vector(*some(numbers))} for node in chosen[8:16]})
    await writer.patch_many({node.id: {"embedding_model": "m" if turn % 2 else "other"} for node in chosen[16:24]})
    await writer.admit(
        [
            Audience(node=node.id, clauses=frozenset(numbers.sample(CLAUSES, numbers.choice((0, 1, 2)))))
            for node in chosen[24:]
        ]
    )


async def test_too_much_for_memory_is_compared_by_sql(
    tmp_path: Path, clock: FakeClock, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(VectorCache.__init__, "__defaults__", (100,))
    numbers = random.Random(2)
    nodes = [world.make_block_version(embedding=vector(*some(numbers)), embedding_model="m") for _ in range(30)]
    store = EmbeddedStore(tmp_path / "small.db", clock=clock)
    await store.open()
    await world.write(store, *nodes, clauses=CLAUSES[:1])
    memory, sql = await both(store, world.viewer(shared()), some(numbers), 5)
    await store.close()
    assert memory == sql
    assert len(memory) == 5


async def test_without_the_libraries_sql_answers(
    store: EmbeddedStore, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "_can_compare", lambda: False)
    nodes = [world.make_block_version(embedding=vector(1, n), embedding_model="m") for n in range(5)]
    await world.write(store, *nodes, clauses=CLAUSES[:1])
    memory, sql = await both(store, world.viewer(shared()), [1.0, 0.0], 3)
    assert memory == sql
    assert [found.id for found in memory] == [node.id for node in nodes[:3]]


def test_rounding_stays_within_what_is_said() -> None:
    np = pytest.importorskip("numpy")
    numbers = np.random.default_rng(4)
    for size in (2, 8, 64, 384, 1_536):
        rows = numbers.standard_normal((500, size)).astype(np.float32)
        rows[0, 0] *= 50  # one number outweighs all others
        asked = numbers.standard_normal(size).astype(np.float32)
        rounded, level = levels(rows)
        near, off = similarities(asked.tolist(), [Seen(rounded, [str(n) for n in range(500)], level)])
        exact = rows @ asked / np.linalg.norm(rows, axis=1) / np.linalg.norm(asked)
        assert float(np.abs(near - exact).max()) <= off


def test_what_is_no_number_has_no_direction() -> None:
    np = pytest.importorskip("numpy")
    rows = np.array([[np.nan, 0], [np.inf, 0], [0, 0], [1, 0]], dtype=np.float32)
    rounded, _ = levels(rows)
    assert rounded.tolist() == [[0, 0], [0, 0], [0, 0], [127, 0]]
