"""What a transaction remembers of what it read: asked once, forgotten when it changes, and never very much."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from graph.model.ids import NodeId
from graph.store.embedded.remembered import Remembered

A, B, C = NodeId("ent_a"), NodeId("ent_b"), NodeId("ent_c")


class Shelf:
    """Things by id, and for which ids somebody came."""

    def __init__(self, **things: str) -> None:
        self.things = {NodeId(f"ent_{name}"): thing for name, thing in things.items()}
        self.asked: list[list[NodeId]] = []

    async def read(self, ids: Sequence[NodeId]) -> Mapping[NodeId, str]:
        self.asked.append(list(ids))
        return {id: self.things[id] for id in ids if id in self.things}


async def test_only_what_is_not_known_is_read() -> None:
    shelf, known = Shelf(a="1", b="2"), Remembered[str]()
    assert await known.of([A], shelf.read) == {A: "1"}
    assert list((await known.of([B, C, A, B], shelf.read)).items()) == [(B, "2"), (A, "1")]
    assert await known.of([C, B], shelf.read) == {B: "2"}
    assert shelf.asked == [[A], [B, C]]


async def test_what_is_forgotten_is_read_again() -> None:
    shelf, known = Shelf(a="1", b="2"), Remembered[str]()
    await known.of([A, B], shelf.read)
    shelf.things[A] = "3"
    known.forget([A, C])
    assert await known.of([A, B], shelf.read) == {A: "3", B: "2"}
    known.clear()
    assert await known.of([B], shelf.read) == {B: "2"}
    assert shelf.asked == [[A, B], [A], [B]]


async def test_very_much_is_not_kept() -> None:
    shelf, known = Shelf(a="1"), Remembered[str]()
    many = [NodeId(f"ent_{number}") for number in range(1_500)]
    shelf.things.update((id, "x") for id in many)
    await known.of([A], shelf.read)
    found = await known.of([*many, A], shelf.read)
    assert (len(found), found[A]) == (1_501, "1")
    await known.of([A, many[0]], shelf.read)
    assert shelf.asked[-1] == [A, many[0]]


async def test_what_was_changed_while_it_was_read_is_not_kept() -> None:
    shelf, known, change = Shelf(a="1", b="2"), Remembered[str](), asyncio.Event()

    async def slowly(ids: Sequence[NodeId]) -> Mapping[NodeId, str]:
        found = await shelf.read(ids)
        await change.wait()
        return found

    await known.of([B], shelf.read)
    reading = asyncio.create_task(known.of([B, A], slowly))
    await asyncio.sleep(0)
    shelf.things[A] = "3"
    known.forget([A])
    known.clear()
    change.set()
    assert await reading == {B: "2", A: "1"}
    assert await known.of([A], shelf.read) == {A: "3"}
