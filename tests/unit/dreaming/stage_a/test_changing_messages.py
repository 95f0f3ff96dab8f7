"""What Stage A makes of messages that are edited, deleted, returned or erased before, while or after it reads them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial

import pytest

from dreaming.models.port import ModelAnswer, ModelRequest
from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.erasure import erase
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.services.learning.pending import pending_items, release_parked
from tests.support.channel_room import PURPOSE, Room, answer, episode, everything, shown


async def withdraw(room: Room, source: NodeId) -> None:
    host = room.world.caller(room.world.host)
    await command(room.world.deps, host, lambda cmd: withdraw_source(cmd, source, "deleted"))


async def give_back(room: Room, source: NodeId) -> None:
    host = room.world.caller(room.world.host)
    await command(room.world.deps, host, lambda cmd: return_source(cmd, source, "it is back"))


async def visible(room: Room) -> list[list[NodeId]]:
    """Return the messages of each episode that Ana sees."""
    made = [episode.id for episode in await room.episodes()]
    seen, _ = await read(room.world.deps, room.world.caller(room.world.ana), lambda s: s.open(made))
    return [await room.targets(id_, EdgeType.SUMMARIZES) for id_ in made if id_ in seen]


def texts(room: Room, number: int) -> list[str]:
    return [line["text"] for line in shown(room.model.asked[number])]


@pytest.mark.req("KN-67")
async def test_companions_of_a_deleted_message_return_to_stage_a(room: Room) -> None:
    one, two, three = await room.talk(["one", "two", "three"])
    await room.quiet()
    await withdraw(room, two)
    assert await visible(room) == []
    assert await room.dream() == ["done"], "they arrived long ago, so they are due at once"
    assert texts(room, 1) == ["one", "three"]
    assert await visible(room) == [[one, three]]
    row = await room.progress()
    assert row is not None
    assert (row.cursor, row.returned) == (3, ())
    assert await room.quiet() == []


@pytest.mark.req("KN-67")
async def test_companions_that_stand_in_another_episode_stay_where_they_are(room: Room) -> None:
    one, two = await room.talk(["one", "two"])
    await room.quiet()
    await withdraw(room, one)
    await room.dream()
    await give_back(room, one)
    await withdraw(room, one)
    assert await room.quiet() == []
    assert await visible(room) == [[two]]


@pytest.mark.req("KN-67")
async def test_message_deleted_before_it_was_read_is_read_when_it_returns(room: Room) -> None:
    one, _ = await room.talk(["one", "two"])
    await withdraw(room, one)
    await room.quiet()
    assert texts(room, 0) == ["two"]
    await give_back(room, one)
    await room.quiet()
    assert texts(room, 1) == ["one"]


@pytest.mark.req("KN-81")
async def test_companions_of_an_erased_message_return_to_stage_a(room: Room) -> None:
    secret, _ = await room.talk(["secret", "harmless"])
    await room.quiet()
    await erase(room.world.deps, room.world.caller(room.world.dan), secret, "asked for")
    await room.dream()
    assert texts(room, 1) == ["harmless"]
    assert "[erased]" in {e.summary for e in await room.episodes()}


@pytest.mark.req("DR-4", "KN-64", "DR-29")
async def test_edited_message_is_read_once_more_and_its_episode_stays(room: Room) -> None:
    [old] = await room.talk(["Launch on 1 June"], ids=["a"])
    await room.quiet()
    [before] = await room.episodes()
    [new] = await room.talk(["Launch on 15 June"], ids=["a"])
    assert new != old
    assert await room.quiet() == ["done"]
    assert texts(room, 1) == ["Launch on 15 June"]
    assert (await room.episodes())[0] == before
    assert await room.quiet() == []


async def test_edit_of_a_message_that_waits_is_read_instead_of_it(room: Room) -> None:
    await room.talk(["draft", "other"], ids=["a", "b"])
    await room.talk(["final"], ids=["a"])
    await room.quiet()
    assert sorted(texts(room, 0)) == ["final", "other"]
    assert await room.quiet() == []


@pytest.mark.req("DR-18")
async def test_edit_of_a_carried_message_takes_its_place(room: Room) -> None:
    await room.talk(["draft", "done"], ids=["a", "b"])
    room.model.on(PURPOSE, answer(episode(["m2"]), open=["m1"]), everything)
    await room.quiet()
    [new] = await room.talk(["final"], ids=["a"])
    row = await room.progress()
    assert row is not None
    assert (row.carried, row.returned) == ((new,), ())


@pytest.mark.req("DR-78")
async def test_message_deleted_while_the_model_reads_is_in_no_episode(room: Room) -> None:
    one, two = await room.talk(["one", "two"])
    room.clock.advance(timedelta(hours=1))

    async def meddle() -> None:
        await withdraw(room, one)

    room.instead = Meddling(room, [meddle])
    await room.dream()
    assert await visible(room) == [[two]]
    assert [len(shown(request)) for request in room.model.asked] == [2, 1]
    assert [run.state for run in await room.runs()] == ["succeeded"]


@pytest.mark.req("DR-78")
async def test_message_edited_while_the_model_reads_is_read_as_it_is_now(room: Room) -> None:
    await room.talk(["draft"], ids=["a"])
    room.clock.advance(timedelta(hours=1))
    new: list[NodeId] = []

    async def meddle() -> None:
        room.clock.advance(timedelta(milliseconds=1))
        new.extend(await room.talk(["final"], ids=["a"]))

    room.instead = Meddling(room, [meddle])
    await room.dream()
    assert await visible(room) == [new]
    assert await room.quiet() == []


@pytest.mark.req("DR-78")
async def test_message_that_returns_before_the_place_reached_is_not_missed(room: Room) -> None:
    one, two = await room.talk(["one", "two"])
    await withdraw(room, one)
    room.clock.advance(timedelta(hours=1))

    async def meddle() -> None:
        await give_back(room, one)

    room.instead = Meddling(room, [meddle])
    await room.dream()
    assert await visible(room) == [[one, two]]


@pytest.mark.req("DR-78", "DR-26")
async def test_batch_whose_messages_change_three_times_fails_and_loses_nothing(room: Room) -> None:
    said = await room.talk(5)
    room.clock.advance(timedelta(hours=1))
    room.instead = Meddling(room, [partial(withdraw, room, id_) for id_ in said[:3]])
    assert await room.dream() == ["failed"]
    assert [run.state for run in await room.runs()] == ["failed"]
    assert await room.episodes() == []
    room.clock.advance(timedelta(seconds=60))
    assert await room.dream() == ["done"]
    assert await visible(room) == [said[3:]]


async def test_nobody_is_asked_about_a_batch_that_vanished(room: Room) -> None:
    [one] = await room.talk(["one"])
    room.clock.advance(timedelta(hours=1))

    async def meddle() -> None:
        await withdraw(room, one)

    room.instead = Meddling(room, [meddle])
    assert await room.dream() == ["done"]
    assert len(room.model.asked) == 1
    assert [(run.state, run.materials_processed) for run in await room.runs()] == [("succeeded", 0)]
    await give_back(room, one)
    assert await room.quiet() == ["done"]
    assert await visible(room) == [[one]]


@pytest.mark.req("DR-79")
async def test_parked_message_that_a_person_releases_is_read_by_stage_a(room: Room) -> None:
    [bad] = await room.talk(["poison"])
    room.model.on(PURPOSE, "no JSON", "no JSON", "no JSON", "no JSON", "no JSON", "no JSON", everything)
    await room.quiet()
    for wait in (60, 300):
        room.clock.advance(timedelta(seconds=wait))
        await room.dream()
    ana = room.world.caller(room.world.ana)
    assert await command(room.world.deps, ana, lambda cmd: release_parked(cmd, bad))
    room.clock.advance(timedelta(hours=1))
    assert await room.dream() == ["done"]
    assert await visible(room) == [[bad]]
    async with room.world.deps.store.reading() as reader:
        waits = [item.item_kind for item in await pending_items(reader, room.world.atlas)]
    assert waits == ["episode"]


class Meddling:
    """A model during whose first answers something else happens."""

    name = "meddling"

    def __init__(self, room: Room, meddle: list[Callable[[], Awaitable[None]]]) -> None:
        self.inner = room.model
        self.meddle = meddle

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if self.meddle:
            await self.meddle.pop(0)()
        return await self.inner.complete(request)
