"""Edges, placeholders and closures: cycles, diamonds, depth and limits."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.ids import NodeId
from graph.store.port import Reader, Store, Writer
from graph.store.query import Direction, Reached
from tests.contract.store.asking import Ask
from tests.support.builders import World, private, shared

pytestmark = pytest.mark.req("KN-12")


def identities(edges: object) -> list[tuple[str, NodeId, NodeId, str]]:
    assert isinstance(edges, list | tuple)
    return [edge.identity for edge in edges]


def links(world: World, *pairs: str) -> list[Edge]:
    """Return CITES edges from pairs of letters, such as ``ab``."""
    return [world.cites(world.id("src", pair[0]), world.id("src", pair[1])) for pair in pairs]


def named(world: World, reached: Reached) -> dict[str, int]:
    """Return depths by the last letter of the ids."""
    return {id.rpartition("/")[2]: depth for id, depth in reached.depths.items()}


async def test_an_edge_comes_back_as_it_was_linked(store: Store, ask: Ask, world: World) -> None:
    statement, source = world.make_block_version(), world.make_source()
    edge = world.cites(
        statement,
        source,
        key="q1",
        props={"quote": "wörtlich \U0001f56f", "start": 0, "end": 2**40, "role": None, "exact": True, "w": 0.5},
        record=("1|prn_ana|", "6|prn_agent|prn_agent"),
    )
    await world.write(store, statement, source, edges=[edge])
    assert await ask.edges(world.system, [statement.id]) == [edge]
    assert await ask.edges(world.system, [source.id], direction=Direction.IN) == [edge]


@pytest.mark.parametrize("record", [(), None, ("1|prn_a,b|",)])
async def test_a_missing_record_is_not_an_empty_one(
    store: Store, ask: Ask, world: World, record: tuple[str, ...] | None
) -> None:
    one, two = world.make_source(), world.make_source()
    await world.write(store, one, two, edges=[world.cites(one, two, record=record)])
    (edge,) = await ask.edges(world.system, [one.id])
    (walked,) = (await ask.closure(one.id)).edges
    assert edge.record == walked.record == record


@pytest.mark.parametrize("props", [{}, {"__entity": 1, "id": "x", "key": "y", "type": "z", "record": "r"}, {"a": ""}])
async def test_names_of_props_are_free(store: Store, ask: Ask, world: World, props: dict[str, object]) -> None:
    one, two = world.make_source(), world.make_source()
    await world.write(store, one, two, edges=[world.cites(one, two, props=props)])
    (edge,) = await ask.edges(world.system, [one.id])
    assert (edge.props, edge.key, edge.type, edge.record) == (props, "", EdgeType.CITES, ())


async def test_linking_again_replaces(store: Store, ask: Ask, world: World) -> None:
    one, two = world.make_source(), world.make_source()
    await world.write(store, one, two, edges=[world.cites(one, two, props={"a": 1, "b": 2}, record=None)])
    again = world.cites(one, two, props={"b": 3})
    await world.write(store, edges=[again])
    assert await ask.edges(world.system, [one.id]) == [again]


async def test_the_last_of_equal_edges_in_one_call_counts(store: Store, ask: Ask, world: World) -> None:
    one, two = world.make_source(), world.make_source()
    last = world.cites(one, two, props={"n": 2})
    await world.write(store, one, two, edges=[world.cites(one, two, props={"n": 1}), last])
    assert await ask.edges(world.system, [one.id]) == [last]


async def test_edges_are_told_apart_by_type_direction_and_key(store: Store, ask: Ask, world: World) -> None:
    one, two = world.make_source(id=world.id("src", "1")), world.make_source(id=world.id("src", "2"))
    keys = ["", " ", "A", "a", "a\x00", "a ", "a,b", "e\u0301", "\u00e9"]
    edges = [world.cites(one, two, key=key) for key in keys]
    edges += [world.cites(two, one), world.cites(one, two, type=EdgeType.SUPERSEDES)]
    await world.write(store, one, two, edges=edges[::-1])
    found = await ask.edges(world.system, [one.id, two.id], EdgeType.SUPERSEDES, EdgeType.CITES)
    expected = sorted(identities(edges), key=lambda identity: [str(part).encode() for part in identity])
    assert identities(found) == expected


async def test_only_the_asked_types_and_direction_are_given(store: Store, ask: Ask, world: World) -> None:
    one, two = world.make_source(), world.make_source()
    edge = world.cites(one, two)
    await world.write(store, one, two, edges=[edge, world.cites(one, two, type=EdgeType.SUPERSEDES)])
    assert await ask.edges(world.system, [one.id], EdgeType.CITES) == [edge]
    assert await ask.edges(world.system, [two.id], EdgeType.CITES) == []
    assert await ask.edges(world.system, [one.id], EdgeType.CITES, direction=Direction.IN) == []
    assert await ask.edges(world.system, [two.id], EdgeType.CITES, direction=Direction.IN) == [edge]
    assert await ask.edges(world.system, [one.id], EdgeType.OWNS) == []
    assert await ask.edges(world.system, []) == []


async def test_an_edge_between_two_asked_nodes_is_given_once(store: Store, ask: Ask, world: World) -> None:
    one = world.make_source()
    loop = world.cites(one, one)
    await world.write(store, one, edges=[loop])
    for direction in Direction:
        assert await ask.edges(world.system, [one.id, one.id], direction=direction) == [loop]


async def test_unlink_removes_by_identity(store: Store, ask: Ask, world: World) -> None:
    one, two = world.make_source(), world.make_source()
    kept, gone = world.cites(one, two, key="a"), world.cites(one, two, key="b", props={"quote": "x"})
    await world.write(store, one, two, edges=[kept, gone])
    absent = [world.cites(one, two, key="c"), world.cites(two, one, key="b"), world.cites(one, world.id("src"))]
    await store.transact(lambda writer: writer.unlink([world.cites(one, two, key="b"), *absent]))
    assert await ask.edges(world.system, [one.id]) == [kept]
    assert (await ask.closure(two.id, direction=Direction.IN)).depths == {two.id: 0, one.id: 1}


async def test_a_link_may_come_before_its_ends(store: Store, ask: Ask, world: World) -> None:
    statement, source = world.make_block_version(), world.make_source()
    edge = world.cites(statement, source, props={"quote": "x"})
    await world.write(store, edges=[edge])
    assert await ask.get(world.system, statement.id, source.id) == {}
    assert await ask.count(world.system, type(source)) == 0
    assert (await ask.closure(statement.id)).depths == {statement.id: 0, source.id: 1}
    await world.write(store, source)
    await world.write(store, statement)
    assert await ask.get(world.system, source.id) == {source.id: source}
    assert await ask.edges(world.system, [statement.id]) == [edge]


async def test_delete_leaves_a_placeholder_while_others_link(store: Store, ask: Ask, world: World) -> None:
    statement, source, deeper = world.make_block_version(), world.make_source(), world.make_source()
    up, down = world.cites(statement, source), world.cites(source, deeper)
    await world.write(store, statement, source, deeper, edges=[up, down])
    await store.transact(lambda writer: writer.delete([source.id]))
    reached = await ask.closure(statement.id)
    assert reached.depths == {statement.id: 0, source.id: 1}
    assert identities(reached.edges) == [up.identity]
    assert await ask.get(world.system, source.id) == {}
    await world.write(store, source)
    assert await ask.edges(world.system, [source.id], direction=Direction.IN) == [up]
    assert await ask.edges(world.system, [source.id]) == []


async def test_deleting_both_ends_leaves_no_link(store: Store, ask: Ask, world: World) -> None:
    one, two = world.make_source(), world.make_source()
    await world.write(store, one, two, edges=[world.cites(one, two), world.cites(two, one)])
    await store.transact(lambda writer: writer.delete([one.id, two.id]))
    assert (await ask.closure(one.id)).depths == {one.id: 0}
    assert (await ask.closure(one.id, direction=Direction.IN)).depths == {one.id: 0}
    await world.write(store, one, two)
    assert await ask.edges(world.system, [one.id, two.id]) == []


async def test_a_closure_counts_steps_from_the_nearest_start(store: Store, ask: Ask, world: World) -> None:
    await world.write(store, edges=links(world, "ab", "bc", "cd", "xc", "de"))
    reached = await ask.closure(world.id("src", "a"), world.id("src", "x"))
    assert named(world, reached) == {"a": 0, "x": 0, "b": 1, "c": 1, "d": 2, "e": 3}
    assert sorted(identities(reached.edges)) == sorted(identities(links(world, "ab", "bc", "cd", "xc", "de")))
    assert not reached.truncated


async def test_a_closure_against_the_edges(store: Store, ask: Ask, world: World) -> None:
    await world.write(store, edges=links(world, "ab", "cb", "bd", "be"))
    reached = await ask.closure(world.id("src", "d"), direction=Direction.IN)
    assert named(world, reached) == {"d": 0, "b": 1, "a": 2, "c": 2}
    assert sorted(identities(reached.edges)) == sorted(identities(links(world, "ab", "cb", "bd")))


async def test_a_closure_of_nothing_and_of_the_unknown(ask: Ask, world: World) -> None:
    assert await ask.closure() == Reached(depths={}, edges=(), truncated=False)
    nowhere = world.id("src")
    assert await ask.closure(nowhere) == Reached(depths={nowhere: 0}, edges=(), truncated=False)
    assert await ask.closure(nowhere, nowhere, types=()) == Reached(depths={nowhere: 0}, edges=(), truncated=False)


@pytest.mark.parametrize("asked", [{}, {"depth": 1}, {"limit": 2}, {"types": ()}], ids=repr)
async def test_a_closure_tells_the_guards_of_what_it_reached(
    store: Store, ask: Ask, world: World, asked: dict[str, Any]
) -> None:
    nodes = [world.make_source(id=world.id("src", name)) for name in "abc"]
    guards = [world.guard_for(node, shared()) for node in nodes[:2]]  # the third has none, the fourth is not there
    await world.write(store, *nodes, guards=guards, edges=links(world, "ab", "bc", "cd"))
    reached = await ask.closure(nodes[0].id, guarded=True, **asked)
    assert reached.guards == await ask.guards(*reached.depths)
    assert nodes[0].id in reached.guards
    assert replace(reached, guards={}) == await ask.closure(nodes[0].id, **asked)


async def test_a_closure_tells_the_guards_that_its_own_transaction_set(store: Store, world: World) -> None:
    one, two = world.make_source(), world.make_source()
    await world.write(store, one, two, edges=[world.cites(one, two)], guards=[world.guard_for(two, shared())])
    new = world.guard_for(two, private("chn_1"))

    async def work(writer: Writer) -> Reached:
        await writer.guard([new])
        return await writer.closure([one.id], [EdgeType.CITES], Direction.OUT, guarded=True)

    assert (await store.transact(work)).guards == {two.id: new}


async def test_a_closure_walks_the_asked_types_only(store: Store, ask: Ask, world: World) -> None:
    a, b, c = (world.id("src", name) for name in "abc")
    await world.write(store, edges=[world.cites(a, b), world.cites(b, c, type=EdgeType.SUPERSEDES)])
    assert (await ask.closure(a, types=[EdgeType.CITES])).depths == {a: 0, b: 1}
    assert (await ask.closure(a, types=[EdgeType.SUPERSEDES])).depths == {a: 0}
    assert (await ask.closure(a, types=[EdgeType.SUPERSEDES, EdgeType.CITES])).depths == {a: 0, b: 1, c: 2}


async def test_parallel_edges_are_all_walked(store: Store, ask: Ask, world: World) -> None:
    a, b = world.id("src", "a"), world.id("src", "b")
    edges = [world.cites(a, b, key=str(number), record=(f"1|prn_{number}|",)) for number in range(3)]
    edges.append(world.cites(a, b, type=EdgeType.DERIVED_FROM))
    await world.write(store, edges=edges)
    reached = await ask.closure(a)
    assert sorted(identities(reached.edges)) == sorted(identities(edges))
    assert {edge.record for edge in reached.edges} == {edge.record for edge in edges}


async def test_a_diamond_is_reached_once_by_both_ways(store: Store, ask: Ask, world: World) -> None:
    """Source: attack case 2."""
    diamond = links(world, "ab", "ac", "bd", "cd", "de", "ce")
    await world.write(store, edges=diamond)
    reached = await ask.closure(world.id("src", "a"))
    assert named(world, reached) == {"a": 0, "b": 1, "c": 1, "d": 2, "e": 2}
    assert sorted(identities(reached.edges)) == sorted(identities(diamond))


async def test_many_diamonds_in_a_row_do_not_multiply(store: Store, ask: Ask, world: World) -> None:
    """There are 2**60 paths; each node and edge must be visited once."""
    edges = []
    for number in range(60):
        top, bottom = world.id("src", f"t{number}"), world.id("src", f"t{number + 1}")
        for side in "lr":
            middle = world.id("src", f"{side}{number}")
            edges += [world.cites(top, middle), world.cites(middle, bottom)]
    await world.write(store, edges=edges)
    reached = await ask.closure(world.id("src", "t0"))
    assert (len(reached.depths), len(reached.edges)) == (181, 240)
    assert reached.depths[world.id("src", "t60")] == 120


@pytest.mark.parametrize("length", [1, 2, 3, 50, 10_000])
async def test_a_cycle_ends(store: Store, ask: Ask, world: World, length: int) -> None:
    """Source: goal A4."""
    ids = [world.id("src", f"{number:05}") for number in range(length)]
    cycle = [world.cites(one, two) for one, two in zip(ids, ids[1:] + ids[:1], strict=True)]
    await world.write(store, edges=cycle)
    for direction in Direction:
        reached = await ask.closure(ids[0], direction=direction)
        assert len(reached.depths) == len(reached.edges) == length
        assert max(reached.depths.values()) == length - 1
        assert not reached.truncated


async def test_a_chain_of_ten_thousand_is_walked_to_its_end(store: Store, ask: Ask, world: World) -> None:
    """Source: attack case 3."""
    ids = [world.id("src", f"{number:05}") for number in range(10_001)]
    await world.write(store, edges=[world.cites(one, two) for one, two in pairwise(ids)])
    reached = await ask.closure(ids[0])
    assert reached.depths[ids[-1]] == 10_000


async def test_a_node_with_very_many_sources(store: Store, ask: Ask, world: World) -> None:
    """Source: attack case 3; no figure of 16 bits may overflow."""
    statement = world.id("blv")
    sources = [world.id("src", f"{number:05}") for number in range(65_537)]
    await world.write(store, edges=[world.cites(statement, source) for source in sources])
    reached = await ask.closure(statement)
    assert (len(reached.depths), len(reached.edges)) == (65_538, 65_537)


@pytest.mark.parametrize(
    ("depth", "expected", "truncated"),
    [
        (0, {"a": 0}, True),
        (1, {"a": 0, "b": 1}, True),
        (2, {"a": 0, "b": 1, "c": 2}, True),
        (3, {"a": 0, "b": 1, "c": 2, "d": 3}, False),
        (9, {"a": 0, "b": 1, "c": 2, "d": 3}, False),
    ],
)
async def test_depth_cuts_after_so_many_steps(
    store: Store, ask: Ask, world: World, depth: int, expected: dict[str, int], truncated: bool
) -> None:
    await world.write(store, edges=links(world, "ab", "bc", "cd"))
    reached = await ask.closure(world.id("src", "a"), depth=depth)
    assert named(world, reached) == expected
    assert reached.truncated is truncated
    assert len(reached.edges) == len(expected) - 1


async def test_one_step_gives_all_edges_of_the_starts(store: Store, ask: Ask, world: World) -> None:
    """What the upkeep of audiences asks for: every source of each start, starts among them included."""
    await world.write(store, edges=links(world, "ab", "ba", "bc", "ac", "cd", "aa"))
    reached = await ask.closure(world.id("src", "a"), world.id("src", "b"), depth=1)
    assert named(world, reached) == {"a": 0, "b": 0, "c": 1}
    assert sorted(identities(reached.edges)) == sorted(identities(links(world, "ab", "ba", "bc", "ac", "aa")))
    assert reached.truncated


@pytest.mark.parametrize(("limit", "expected"), [(1, "a"), (2, "ab"), (4, "abcd"), (5, "abcde"), (6, "abcdef")])
async def test_limit_keeps_the_nearest_in_id_order(
    store: Store, ask: Ask, world: World, limit: int, expected: str
) -> None:
    await world.write(store, edges=links(world, "ad", "ac", "ab", "be", "df"))
    reached = await ask.closure(world.id("src", "a"), limit=limit)
    assert "".join(sorted(named(world, reached))) == expected
    assert reached.truncated is (limit < 6)
    assert all(edge.source in reached.depths and edge.target in reached.depths for edge in reached.edges)


async def test_a_closure_crosses_kinds_and_placeholders(store: Store, ask: Ask, world: World) -> None:
    block, entry, source = world.make_block_version(), world.make_entry(), world.make_source()
    missing = world.id("eps", "missing")
    edges = [
        world.cites(block, missing, type=EdgeType.DERIVED_FROM),
        world.cites(missing, source, type=EdgeType.SUMMARIZES),
        world.cites(world.id("rel"), entry, type=EdgeType.SUBJECT),
        world.cites(block, entry, type=EdgeType.SHOWN_BY),
    ]
    await world.write(store, block, entry, source, edges=edges)
    assert (await ask.closure(block.id)).depths == {block.id: 0, missing: 1, entry.id: 1, source.id: 2}
    assert len((await ask.closure(entry.id, direction=Direction.IN, types=LAW_EDGES)).depths) == 3


async def test_types_are_asked_for_one_by_one(store: Store, world: World) -> None:
    """An iterator can be read once, and a store that begins a long read anew must not find it empty."""
    source = world.make_source()
    await world.write(store, source, edges=[world.cites(source, world.id("src", str(n))) for n in range(600)])

    async def count(reader: Reader) -> tuple[int, int]:
        edges = await reader.edges(world.system, [source.id], iter([EdgeType.CITES]), Direction.OUT)
        reached = await reader.closure([source.id], iter([EdgeType.CITES]), Direction.OUT)
        return len(edges), len(reached.edges)

    async with store.reading() as reader:
        assert await count(reader) == (600, 600)
    assert await store.transact(count) == (600, 600)
