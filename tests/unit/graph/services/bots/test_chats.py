"""Chats, items and turns as hosts report them, and deleting the history of a chat."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from graph.model.access import Viewer
from graph.model.errors import AlreadyExists, BadInput, Forbidden, InvalidRequest, MissingObject, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.bots import Chat, ChatItem
from graph.model.nodes.people import Right
from graph.model.nodes.sessions import ItemType, Turn, TurnState
from graph.model.nodes.work import AuditRecord
from graph.rules.bot_learning import read_item
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.bots.chat_access import turn_id
from graph.services.bots.chats import NewChatItem, append_item, create_chat, delete_chat_history
from graph.services.bots.turns import complete_turn
from graph.store.query import By, Find, Range
from tests.support.bot_room import ALL, BotRoom
from tests.support.bot_talk import REWRITE, BotTalk, fact, rewriting
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld


@pytest.fixture
async def room(world: TeamWorld, clock: FakeClock) -> BotRoom:
    return await BotRoom(world=world, tick=lambda: _tick(clock)).make()


@pytest.fixture
async def talk(room: BotRoom) -> BotTalk:
    return await BotTalk(room=room).make()


def _tick(clock: FakeClock) -> None:
    clock.advance(timedelta(seconds=1))


async def _host(talk: BotTalk, organization: str) -> Caller:
    """Return a host of one organization, who hosts nothing else."""
    world = talk.room.world
    await world.grant(world.eve, Right.HOST, talk.room.organization(organization))
    return world.caller(world.eve)


async def test_items_follow_each_other_and_a_repeated_one_is_there_once(talk: BotTalk) -> None:
    await talk.begin("t1", "Hello.")
    first = await talk.say("i-1", "Write the changelog.")
    again = await talk.say("i-1", "Write the changelog.")
    assert first == again
    await talk.say("i-2", "And tag.", turn=None)
    assert [(item.seq, item.chars) for item in await talk.items()] == [(1, 6), (2, 20), (3, 8)]
    assert await talk.history() == ["Hello.", "Write the changelog.", "And tag."]


@pytest.mark.req("AD-15", "AD-2")
async def test_another_item_under_an_id_that_is_taken_is_refused_and_not_lost_unsaid(talk: BotTalk) -> None:
    place = talk.room.chat_id("chat_61")
    await talk.begin("t1", "Hello.")
    said = NewChatItem(local_id="i-1", type=ItemType.APP_RESULT, text="Ten.", tool="till", turn="t1")
    first = await command(talk.deps, talk.host, lambda cmd: append_item(cmd, place, said))
    for other in (
        replace(said, text="Six."),
        replace(said, text="Eleven."),
        replace(said, tool="calendar"),
        replace(said, turn=None),
        replace(said, type=ItemType.TOOL_RESULT),
    ):
        with pytest.raises(AlreadyExists):
            await command(talk.deps, talk.host, partial(_append, item=other, place=place))
    assert await talk.history() == ["Hello.", "Ten."]
    await command(talk.deps, talk.host, lambda cmd: delete_chat_history(cmd, place))
    again = await command(talk.deps, talk.host, partial(_append, item=said, place=place))
    assert (again.id, again.text) == (first.id, None)


async def _append(cmd: Command, *, item: NewChatItem, place: NodeId) -> ChatItem:
    return await append_item(cmd, place, item)


@pytest.mark.req("BM-184")
async def test_texts_are_sealed_before_they_reach_the_store(talk: BotTalk) -> None:
    await talk.begin("t1", "Hello there.")
    (item,) = await talk.items()
    assert item.text is not None
    assert b"Hello" not in item.text.data


@pytest.mark.req("BM-40", "BM-83")
async def test_an_item_admits_whom_its_turn_ran_for(talk: BotTalk, room: BotRoom) -> None:
    async def rule(chat: str, turn: str | None, **turn_fields: object) -> str | None:
        if turn is not None:
            await talk.begin(turn, "x", chat=chat, **turn_fields)  # type: ignore[arg-type]
        item = await talk.say(f"i-{turn}-{chat}", "x", turn=turn, chat=chat)
        place = await talk.node(room.chat_id(chat), Chat)
        of = None if turn is None else await talk.node(turn_id(place, turn), Turn)
        found = read_item(item, place, of, room.agent("bot_9")).source.rule
        return None if found is None else found.encode()

    assert await rule("chat_61", "t1") == f"1|{room.person('u_1')}|"
    assert await rule("chat_70", "t1", operator="u_2") == f"3|{room.group()}|"
    assert await rule("chat_70", "t2", open_to_all=True) == f"7|{room.agent('bot_9')}|"
    assert await rule("chat_61", "t3", operator=None) is None
    assert await rule("chat_61", None) is None


@pytest.mark.req("AD-15", "BM-189")
async def test_a_host_names_only_what_is_inside_his_organization(talk: BotTalk, room: BotRoom) -> None:
    outside = await _host(talk, "o_5")
    item = NewChatItem(local_id="x", type=ItemType.PERSON_MESSAGE, text="x")
    for chat in (room.chat_id("chat_61"), room.chat_id("chat_404")):
        with pytest.raises(MissingObject) as caught:
            await command(talk.deps, outside, partial(append_item, chat_id=chat, item=item))
        assert caught.value.wire_code == "ChatNotFound"
    with pytest.raises(Forbidden):
        await command(
            talk.deps, room.world.caller(room.world.ben), lambda cmd: append_item(cmd, room.chat_id("chat_61"), item)
        )
    with pytest.raises(NotFound):
        await command(talk.deps, outside, lambda cmd: _create(cmd, room, "o_4"))
    with pytest.raises(MissingObject):
        await command(talk.deps, outside, lambda cmd: _create(cmd, room, "o_5"))


async def _create(cmd: Command, room: BotRoom, organization: str) -> Chat:
    place = room.organization(organization)
    return await create_chat(cmd, bot_id=room.agent("bot_9"), organization_id=place, person_id=room.person("u_1"))


async def test_a_chat_needs_one_reader_a_bot_and_a_free_id(talk: BotTalk, room: BotRoom) -> None:
    both = {"person_id": room.person("u_1"), "group_id": room.group()}
    for wrong in (both, {"person_id": None}):
        with pytest.raises(InvalidRequest):
            await talk.chat("c", **wrong)
    with pytest.raises(AlreadyExists):
        await talk.chat("chat_61")
    with pytest.raises(BadInput):
        await talk.chat("no blanks")
    for missing in ({"person_id": room.person("u_404")}, {"organization_id": room.organization("o_404")}):
        with pytest.raises(NotFound):
            await talk.chat("c", **missing)
    with pytest.raises(MissingObject):
        await talk.chat("c", bot_id=room.person("u_1"))
    made = await talk.chat("group", group_id=room.group())
    assert (made.person_id, made.group_id, made.pool) == (None, room.group(), room.bot.pool)


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": ItemType.MEMORY_EDIT},
        {"type": ItemType.APP_RESULT},
        {"type": ItemType.APP_RESULT, "tool": "a, b"},
        {"text": "a\0b"},
        {"text": "x" * 200_001},
    ],
)
async def test_an_item_that_cannot_be_kept_is_refused(talk: BotTalk, wrong: dict[str, object]) -> None:
    await talk.begin("t1", "Hello.")
    with pytest.raises(InvalidRequest):
        await talk.say("i-1", **wrong)  # type: ignore[arg-type]
    with pytest.raises(MissingObject):
        await talk.say("i-1", turn="t404")
    assert len(await talk.items()) == 1


async def test_a_turn_ends_once(talk: BotTalk, room: BotRoom) -> None:
    await talk.begin("t1", "Hello.")
    place = room.chat_id("chat_61")
    ended = await command(talk.deps, talk.host, lambda cmd: complete_turn(cmd, place, "t1", True))
    again = await command(talk.deps, talk.host, lambda cmd: complete_turn(cmd, place, "t1"))
    assert (ended.state, again.state) == (TurnState.CANCELLED, TurnState.CANCELLED)
    with pytest.raises(MissingObject):
        await talk.end("t404")


@pytest.mark.req("AD-16", "AD-26")
async def test_the_chain_of_the_pool_names_host_and_person_and_no_text(talk: BotTalk, room: BotRoom) -> None:
    await talk.turn("t1", "We release on Fridays.")
    async with talk.deps.store.reading() as reader:
        where = Range("seq", 1, None)
        query = Find(kind=AuditRecord, where=where, order=By("seq"))
        records = [r for r in (await reader.find(ALL, query)).nodes if r.pool == room.bot.pool]
        seen = await reader.find(await _viewer(talk, "u_2"), query)
    assert [record.operation for record in records] == ["bot.turn_begin", "bot.confide", "bot.turn_end"]
    assert {(record.actor_id, record.on_behalf_of) for record in records} == {(talk.host.principal, room.person("u_1"))}
    assert "Fridays" not in str(records)
    assert [record for record in seen.nodes if record.pool == room.bot.pool] == [], "others are not told of the chat"


async def _viewer(talk: BotTalk, who: str) -> Viewer:
    async with talk.room.reads(who) as reads:
        return reads.viewer


@pytest.mark.req("BM-57", "BM-161", "AD-19", "BM-42")
async def test_deleting_a_history_takes_texts_away_and_no_entry(talk: BotTalk, room: BotRoom) -> None:
    old = await room.fact("Write the changelog first.")
    talk.model.on(REWRITE, rewriting("We release on Fridays, changelog first."))
    await talk.begin("t1", "We release on Fridays.")
    await talk.say("i-1", "Always.")
    await talk.confide()
    await talk.end()
    talk.learns(fact("Releases are on Fridays.", "i-1"))
    await talk.learn()
    before = await talk.entries()
    count = await command(talk.deps, talk.host, lambda cmd: delete_chat_history(cmd, room.chat_id("chat_61")))
    assert count == 2
    assert await talk.history() == []
    assert [item.chars for item in await talk.items()] == [0] * len(await talk.items())
    assert [list(await talk.confessions()), list(await talk.enrichments()), await talk.calls()] == [[], [], []]
    chat = await talk.node(room.chat_id("chat_61"), Chat)
    turn = await talk.node(turn_id(chat, "t1"), Turn)
    assert (turn.text, turn.rewrite, chat.deleted_at) == (None, None, talk.deps.now())
    assert await talk.entries() == before
    async with room.reads("u_1") as reads:
        assert {entry.id for entry in await reads.entries()} == {old, before[-1].id}, "the saved rules still count"
    async with room.reads("u_2") as reads:
        assert await reads.entries() == ()
    await talk.begin("t2", "Hello again.")
    assert await talk.history() == ["Hello again."]
