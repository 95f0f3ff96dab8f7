"""Nearest vectors among what the viewer sees."""

from __future__ import annotations

import random

import pytest

from graph.model.access import Audience
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, MessageVector, WindowVector
from graph.model.nodes.knowledge import BlockVersion
from graph.model.time import Millis
from graph.store.port import Store
from graph.store.query import Eq
from tests.contract.store.asking import Ask
from tests.support.builders import World, clause, private, shared, vector

pytestmark = pytest.mark.req("KN-12")

CLOSE = pytest.approx


def block(world: World, *values: float, model: str = "m") -> BlockVersion:
    return world.make_block_version(embedding=vector(*values), embedding_model=model)


async def test_the_nearest_come_first_with_their_cosine(store: Store, ask: Ask, world: World) -> None:
    same, near, across, away = (block(world, *v) for v in ((2, 0), (1, 1), (0, 3), (-1, 0)))
    await world.write(store, away, across, near, same, clauses=[clause(shared())])
    found = await ask.nearest(world.viewer(shared()), BlockVersion, [1.0, 0.0])
    assert [neighbour.id for neighbour in found] == [same.id, near.id, across.id, away.id]
    assert [neighbour.similarity for neighbour in found] == CLOSE([1.0, 0.5**0.5, 0.0, -1.0], abs=1e-5)


async def test_ties_go_by_id_and_the_limit_cuts(store: Store, ask: Ask, world: World) -> None:
    blocks = [block(world, 1, 2) for _ in range(7)]
    await world.write(store, *reversed(blocks), clauses=[clause(shared())])
    for limit in (0, 1, 3, 7, 50):
        found = await ask.nearest(world.viewer(shared()), BlockVersion, [2.0, 1.0], limit=limit)
        assert [neighbour.id for neighbour in found] == [b.id for b in blocks[:limit]]


async def test_only_vectors_of_the_model_and_its_size_count(store: Store, ask: Ask, world: World) -> None:
    """A store in the middle of a change of models holds both (bug case 18)."""
    mine = block(world, 0.1, 1)
    others = [block(world, 1, 0, model="other"), block(world, 1, 0, 0), block(world, 1), block(world, 0, 0)]
    bare = world.make_block_version()
    await world.write(store, mine, *others, bare, clauses=[clause(shared())])
    found = await ask.nearest(world.viewer(shared()), BlockVersion, [1.0, 0.0])
    assert [neighbour.id for neighbour in found] == [mine.id]
    assert await ask.nearest(world.viewer(shared()), BlockVersion, [1.0, 0.0], model="none") == []


async def test_kinds_stay_apart(store: Store, ask: Ask, world: World) -> None:
    statement = block(world, 1, 0)
    episode = world.make_episode(embedding=vector(1, 0), embedding_model="m")
    await world.write(store, statement, episode, clauses=[clause(shared())])
    for kind, node in ((BlockVersion, statement), (Episode, episode)):
        found = await ask.nearest(world.viewer(shared()), kind, [1.0, 0.0])
        assert [neighbour.id for neighbour in found] == [node.id]


@pytest.mark.req("KN-61")
async def test_hidden_neighbours_take_no_place(store: Store, ask: Ask, world: World) -> None:
    hidden = [block(world, 1, 0.001 * number) for number in range(300)]
    shown = [block(world, 0.1 * number, 1) for number in range(5)]
    await world.write(store, *hidden, clauses=[clause(private("chn_1"))])
    await world.write(store, *shown, clauses=[clause(shared())])
    found = await ask.nearest(world.viewer(shared()), BlockVersion, [1.0, 0.0], limit=3)
    assert [neighbour.id for neighbour in found] == [shown[n].id for n in (4, 3, 2)]
    everything = await ask.nearest(world.system, BlockVersion, [1.0, 0.0], limit=1)
    assert [neighbour.id for neighbour in everything] == [hidden[0].id]
    assert await ask.nearest(world.viewer(), BlockVersion, [1.0, 0.0]) == []
    assert await ask.nearest(world.viewer(shared(), pools=[]), BlockVersion, [1.0, 0.0]) == []
    assert await ask.nearest(world.viewer(shared(), workspace=World().workspace), BlockVersion, [1.0, 0.0]) == []


async def test_vectors_follow_patches_and_deletes(store: Store, ask: Ask, world: World) -> None:
    one, two, three = block(world, 1, 0), block(world, 0, 1), block(world, 1, 1)
    await world.write(store, one, two, three, clauses=[clause(shared())])
    await store.transact(lambda writer: writer.patch(one.id, {"embedding": None, "embedding_model": ""}))
    await store.transact(lambda writer: writer.patch(two.id, {"embedding": vector(5, 0)}))
    await store.transact(lambda writer: writer.delete([three.id]))
    found = await ask.nearest(world.viewer(shared()), BlockVersion, [1.0, 0.0])
    assert [neighbour.id for neighbour in found] == [two.id]
    assert found[0].similarity == CLOSE(1.0, abs=1e-5)


async def test_large_vectors_are_ordered_by_exact_cosine(store: Store, ask: Ask, world: World) -> None:
    numbers = random.Random(7)
    values = [[numbers.gauss(0, 1) for _ in range(384)] for _ in range(120)]
    blocks = [block(world, *value) for value in values]
    await world.write(store, *blocks, clauses=[clause(shared())])
    asked = [numbers.gauss(0, 1) for _ in range(384)]

    def cosine(value: list[float]) -> float:
        dot = sum(a * b for a, b in zip(asked, value, strict=True))
        return float(dot / (sum(a * a for a in asked) ** 0.5 * sum(b * b for b in value) ** 0.5))

    expected = sorted(zip(blocks, map(cosine, values), strict=True), key=lambda pair: -pair[1])[:20]
    found = await ask.nearest(world.viewer(shared()), BlockVersion, asked, limit=20)
    assert [neighbour.id for neighbour in found] == [node.id for node, _ in expected]
    assert [neighbour.similarity for neighbour in found] == CLOSE([cosine for _, cosine in expected], abs=1e-4)


async def test_only_what_fits_a_condition_is_near(store: Store, ask: Ask, world: World) -> None:
    """A superseded version keeps its vector and takes no place among the current ones (RE-11)."""
    past = [
        world.make_block_version(embedding=vector(1, 0.01 * n), embedding_model="m", invalidated_at=5)
        for n in range(40)
    ]
    now = [block(world, 0.1 * number, 1) for number in range(5)]
    await world.write(store, *past, *now, clauses=[clause(shared())])
    found = await ask.nearest(
        world.viewer(shared()), BlockVersion, [1.0, 0.0], limit=3, where=Eq("invalidated_at", None)
    )
    assert [neighbour.id for neighbour in found] == [now[n].id for n in (4, 3, 2)]


async def test_later_vectors_are_found_and_gone_ones_are_not(store: Store, ask: Ask, world: World) -> None:
    first = [block(world, 1, n) for n in range(3)]
    await world.write(store, *first, clauses=[clause(shared())])
    viewer = world.viewer(shared())
    assert [n.id for n in await ask.nearest(viewer, BlockVersion, [1.0, 0.0])] == [b.id for b in first]
    later = block(world, 5, 0.1)
    await world.write(store, later, clauses=[clause(shared())])
    await store.transact(lambda writer: writer.delete([first[0].id]))
    await store.transact(lambda writer: writer.patch(first[1].id, {"embedding_model": ""}))
    assert [n.id for n in await ask.nearest(viewer, BlockVersion, [1.0, 0.0])] == [later.id, first[2].id]


@pytest.mark.req("KN-61")
async def test_a_moved_audience_moves_the_vector(store: Store, ask: Ask, world: World) -> None:
    one, two = block(world, 1, 0), block(world, 0, 1)
    await world.write(store, one, two, clauses=[clause(shared())])
    viewer, partner = world.viewer(shared()), world.viewer(private("chn_1"))
    assert [n.id for n in await ask.nearest(viewer, BlockVersion, [1.0, 0.0])] == [one.id, two.id]
    assert await ask.nearest(partner, BlockVersion, [1.0, 0.0]) == []
    only = Audience(node=one.id, clauses=frozenset({clause(private("chn_1"))}))
    either = Audience(node=two.id, clauses=frozenset({clause(private("chn_1")), clause(shared())}))
    await store.transact(lambda writer: writer.admit([only, either]))
    assert [n.id for n in await ask.nearest(viewer, BlockVersion, [1.0, 0.0])] == [two.id]
    assert [n.id for n in await ask.nearest(partner, BlockVersion, [1.0, 0.0])] == [one.id, two.id]
    both = world.viewer(shared(), private("chn_1"))
    assert [n.id for n in await ask.nearest(both, BlockVersion, [1.0, 0.0])] == [one.id, two.id]


async def test_many_equal_vectors_go_by_id(store: Store, ask: Ask, world: World) -> None:
    blocks = [block(world, *([1.0] * 64)) for _ in range(300)]
    others = [block(world, *([1.0] * 32 + [-1.0] * 32)) for _ in range(100)]
    await world.write(store, *others, *reversed(blocks), clauses=[clause(shared())])
    found = await ask.nearest(world.viewer(shared()), BlockVersion, [1.0] * 64, limit=9)
    assert [neighbour.id for neighbour in found] == [b.id for b in blocks[:9]]


async def test_vectors_of_messages_are_nodes_that_are_near(store: Store, ask: Ask, world: World) -> None:
    alone = MessageVector(
        id=NodeId("mvc_1"), workspace=world.workspace, created_at=Millis(1), embedding=vector(1, 0), embedding_model="m"
    )
    window = WindowVector(
        id=NodeId("wvc_1"), workspace=world.workspace, created_at=Millis(1), embedding=vector(0, 1), embedding_model="m"
    )
    await world.write(store, alone, window, clauses=[clause(shared())])
    for kind, node in ((MessageVector, alone), (WindowVector, window)):
        found = await ask.nearest(world.viewer(shared()), kind, [1.0, 1.0])
        assert [neighbour.id for neighbour in found] == [node.id]
