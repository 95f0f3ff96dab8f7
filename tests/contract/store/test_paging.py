"""Order, ties and keyset pages, forward and backward, while others insert and remove (KN-113)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from graph.model.access import Scope
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry
from graph.model.time import Millis
from graph.store.port import Store
from graph.store.query import After, By, Eq, Find, Newest, Order, Range, Tagged, Where
from tests.contract.store.asking import Ask
from tests.support.builders import NOW, World, clause, private, shared

pytestmark = pytest.mark.req("KN-12", "KN-113")

ORDERS: list[Order] = [
    By("id"),
    By("id", descending=True),
    By("name"),
    By("name", descending=True),
    By("deleted_at"),
    By("deleted_at", descending=True),
    By("updated_at", descending=True),
    Newest(),
]


async def turn_pages(
    ask: Ask,
    scope: Scope,
    order: Order,
    size: int,
    *,
    where: Where | None = None,
    after: After | None = None,
    backward: bool = False,
) -> list[list[NodeId]]:
    """Return the ids of page after page."""
    pages = []
    while True:
        page = await ask.page(scope, Entry, where, order=order, first=size, after=after, backward=backward)
        pages.append([node.id for node in page.nodes])
        assert len(page.places) == len(page.nodes)
        if not page.more:
            return pages
        assert len(page.nodes) == size
        after = page.places[-1]


def joined(pages: Sequence[Sequence[NodeId]]) -> list[NodeId]:
    return [id for page in pages for id in page]


async def remove(store: Store, *ids: NodeId) -> None:
    await store.transact(lambda writer: writer.delete(ids))


@pytest.fixture
async def entries(store: Store, world: World) -> list[Entry]:
    """Twelve guarded entries with many ties and unset values in every order."""
    entries = [
        world.make_entry(
            name=("b", "a", "ä", "B")[number % 4],
            deleted_at=None if number % 3 == 0 else Millis(number % 2),
            updated_at=Millis(number // 4),
            created_at=Millis(NOW + number % 3),
        )
        for number in range(12)
    ]
    await world.write(store, *entries, clauses=[clause(shared())])
    return entries


def in_order(entries: Sequence[Entry], order: Order) -> list[NodeId]:
    """Return the ids in the order that the port demands."""

    def value(entry: Entry) -> Any:
        return getattr(entry, order.field) if isinstance(order, By) else entry.created_at

    by_id = sorted(entries, key=lambda entry: entry.id.encode())
    descending = not isinstance(order, By) or order.descending
    of_value = [entry for entry in by_id if value(entry) is not None]
    of_value.sort(key=lambda entry: _bytes(value(entry)), reverse=descending)
    groups: dict[Any, list[NodeId]] = {}
    for entry in of_value:
        groups.setdefault(value(entry), []).append(entry.id)
    ordered = [id for group in groups.values() for id in sorted(group)]
    return ordered + [entry.id for entry in by_id if value(entry) is None]


def _bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value


async def test_a_text_that_nobody_looks_at_may_be_left_out_and_all_else_is_there(
    store: Store, ask: Ask, world: World, entries: list[Entry]
) -> None:
    whole = await ask.page(world.system, Entry, order=By("type"))
    async with store.reading() as reader:
        page = await reader.find(world.system, Find(kind=Entry, order=By("type"), without=("name", "origin")))
    assert page.places in ((), whole.places)
    assert [node.id for node in page.nodes] == [node.id for node in whole.nodes]
    for found, known in zip(page.nodes, whole.nodes, strict=True):
        assert found.name in ("", known.name)
        assert replace(found, name=known.name, origin=known.origin) == known


@pytest.mark.parametrize("order", ORDERS, ids=repr)
async def test_the_whole_list_is_in_order(ask: Ask, world: World, entries: list[Entry], order: Order) -> None:
    for scope in (world.system, world.viewer(shared())):
        assert await ask.ids(scope, Entry, order=order) == in_order(entries, order)


@pytest.mark.parametrize("order", ORDERS, ids=repr)
async def test_backward_is_the_list_from_its_end(ask: Ask, world: World, entries: list[Entry], order: Order) -> None:
    scope = world.viewer(shared())
    assert await ask.ids(scope, Entry, order=order, backward=True) == in_order(entries, order)[::-1]


@pytest.mark.parametrize("size", [1, 2, 5, 53, 100])
@pytest.mark.parametrize("order", ORDERS, ids=repr)
async def test_pages_of_any_size_make_up_the_list(
    ask: Ask, world: World, entries: list[Entry], order: Order, size: int
) -> None:
    """Source: goal A3."""
    expected = in_order(entries, order)
    for scope in (world.system, world.viewer(shared())):
        pages = await turn_pages(ask, scope, order, size)
        assert joined(pages) == expected
        backward = await turn_pages(ask, scope, order, size, backward=True)
        assert joined(backward) == expected[::-1]


@pytest.mark.parametrize("order", ORDERS, ids=repr)
async def test_a_place_leads_both_ways(ask: Ask, world: World, entries: list[Entry], order: Order) -> None:
    expected = in_order(entries, order)
    page = await ask.page(world.viewer(shared()), Entry, order=order)
    for number, place in enumerate(page.places):
        after = await ask.ids(world.viewer(shared()), Entry, order=order, after=place)
        before = await ask.ids(world.viewer(shared()), Entry, order=order, after=place, backward=True)
        assert after == expected[number + 1 :]
        assert before == expected[:number][::-1]


async def test_more_is_true_only_if_others_follow(ask: Ask, world: World, entries: list[Entry]) -> None:
    scope = world.viewer(shared())
    assert not (await ask.page(scope, Entry, first=12)).more
    assert (await ask.page(scope, Entry, first=11)).more
    assert not (await ask.page(scope, Entry, first=13)).more
    assert not (await ask.page(scope, Entry)).more
    last = (await ask.page(scope, Entry)).places[-1]
    assert (await ask.page(scope, Entry, first=5, after=last)).nodes == ()
    assert not (await ask.page(scope, Entry, first=5, after=last)).more
    assert not (await ask.page(scope, Entry, first=5, after=last, where=Eq("name", "none"))).more


@pytest.mark.parametrize("order", [By("name"), By("name", descending=True), Newest(), By("deleted_at")], ids=repr)
@pytest.mark.parametrize("backward", [False, True])
async def test_inserts_and_removals_between_pages_cause_no_repeat_and_no_gap(
    store: Store, ask: Ask, world: World, entries: list[Entry], order: Order, backward: bool
) -> None:
    scope, place = world.viewer(shared()), None
    expected = in_order(entries, order)[:: -1 if backward else 1]
    removed: set[NodeId] = set()
    seen: list[NodeId] = []
    for number in range(100):
        page = await ask.page(scope, Entry, order=order, first=2, after=place, backward=backward)
        seen += [node.id for node in page.nodes]
        if not page.more:
            break
        place = page.places[-1]
        if number < 5:
            ahead = [id for id in expected if id not in seen and id not in removed]
            gone = [page.nodes[-1].id, *ahead[-1:]]
            removed.update(gone)
            await remove(store, *gone)
            new = world.make_entry(name="a", deleted_at=None, created_at=Millis(NOW + number % 3))
            await world.write(store, new, clauses=[clause(shared())])
    old = [id for id in seen if id in expected]
    kept = [id for id in expected if id not in removed]
    assert len(seen) == len(set(seen))
    assert [id for id in old if id in kept] == kept


async def test_a_place_works_after_its_node_is_gone(store: Store, ask: Ask, world: World, entries: list[Entry]) -> None:
    expected = in_order(entries, Newest())
    place = (await ask.page(world.viewer(shared()), Entry, order=Newest(), first=4)).places[-1]
    await remove(store, place.id)
    assert await ask.ids(world.viewer(shared()), Entry, order=Newest(), after=place) == expected[4:]
    assert await ask.ids(world.viewer(shared()), Entry, order=Newest(), after=place, backward=True) == expected[2::-1]


async def test_a_place_works_after_its_node_was_hidden(
    store: Store, ask: Ask, world: World, entries: list[Entry]
) -> None:
    expected = in_order(entries, Newest())
    place = (await ask.page(world.viewer(shared()), Entry, order=Newest(), first=4)).places[-1]
    await world.write(store, audiences=[world.audience_for(place.id, clause(private("chn_x")))])
    assert await ask.ids(world.viewer(shared()), Entry, order=Newest(), after=place) == expected[4:]


async def test_conditions_hold_on_every_page(ask: Ask, world: World, entries: list[Entry]) -> None:
    where = Range("updated_at", 1, None)
    expected = in_order([entry for entry in entries if entry.updated_at >= 1], Newest())
    assert joined(await turn_pages(ask, world.viewer(shared()), Newest(), 3, where=where)) == expected


async def test_tagged_lists_are_paged_newest_first(store: Store, ask: Ask, world: World) -> None:
    entries = [world.make_entry() for _ in range(9)]
    guards = [
        world.guard_for(entry, tags=(("x", "y") if number % 2 else ("x",)), sort_at=Millis(number // 3))
        for number, entry in enumerate(entries)
    ]
    await world.write(store, *entries, guards=guards, audiences=[world.audience_for(entry) for entry in entries])
    scope = world.viewer(shared())
    expected = [entries[number].id for number in (6, 7, 8, 3, 4, 5, 0, 1, 2)]
    assert joined(await turn_pages(ask, scope, Newest(), 2, where=Tagged(("x",)))) == expected
    assert joined(await turn_pages(ask, scope, Newest(), 2, where=Tagged(("x", "y")))) == expected
    odd = [entries[number].id for number in (7, 3, 5, 1)]
    assert joined(await turn_pages(ask, scope, Newest(), 2, where=Tagged(("y",)))) == odd


async def test_newest_follows_the_guard_not_the_node(store: Store, ask: Ask, world: World) -> None:
    old, new = world.make_entry(created_at=1), world.make_entry(created_at=2)
    guards = [world.guard_for(old, sort_at=Millis(9)), world.guard_for(new, sort_at=Millis(-9))]
    await world.write(store, old, new, guards=guards, audiences=[world.audience_for(old), world.audience_for(new)])
    for scope in (world.system, world.viewer(shared())):
        page = await ask.page(scope, Entry, order=Newest())
        assert page.places == (After(9, old.id), After(-9, new.id))
    await world.write(store, guards=[world.guard_for(old, sort_at=Millis(-10))], audiences=[world.audience_for(old)])
    assert await ask.ids(world.viewer(shared()), Entry, order=Newest()) == [new.id, old.id]


async def test_texts_are_ordered_by_their_bytes(store: Store, ask: Ask, world: World) -> None:
    names = ["", " ", "A", "Z", "a", "a\x00", "a b", "ab", "e\u0301", "z", "\u00e9", "ß", "中", "\uff5e", "\U0001f56f"]
    await world.write(store, *(world.make_entry(name=name) for name in reversed(names)))
    page = await ask.page(world.system, Entry, order=By("name"))
    expected = sorted(names, key=str.encode)
    assert [entry.name for entry in page.nodes] == expected
    falling = await ask.page(world.system, Entry, order=By("name", descending=True))
    assert [entry.name for entry in falling.nodes] == expected[::-1]


async def test_ids_are_ordered_by_their_bytes(store: Store, ask: Ask, world: World) -> None:
    bodies = ["a", "B", "b", "é", "\uff5e", "\U0001f56f", "a.b", "a-b", "a:b", "a_b", "A"]
    entries = [world.make_entry(id=world.id("ent", body), name="same") for body in bodies]
    await world.write(store, *entries, clauses=[clause(shared())])
    expected = sorted((entry.id for entry in entries), key=str.encode)
    for order in (By("id"), By("name"), By("name", descending=True), Newest()):
        assert await ask.ids(world.viewer(shared()), Entry, order=order) == expected


async def test_a_viewer_with_several_clauses_gets_each_node_once(store: Store, ask: Ask, world: World) -> None:
    rules = [private("chn_1"), private("chn_2"), shared()]
    both = [clause(rules[0]), clause(rules[1]), clause(rules[2])]
    entries = [world.make_entry(created_at=Millis(NOW + number // 2)) for number in range(10)]
    audiences = [
        world.audience_for(entry, *(both if number % 2 else both[number % 3 : number % 3 + 1]))
        for number, entry in enumerate(entries)
    ]
    guards = [world.guard_for(entry) for entry in entries]
    await world.write(store, *entries, guards=guards, audiences=audiences)
    for order in (Newest(), By("id"), By("created_at")):
        for size in (1, 3, 100):
            pages = await turn_pages(ask, world.viewer(*rules), order, size)
            assert joined(pages) == in_order(entries, order)
