"""Bots and their chats through the library's client."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.bootstrap import Ports
from dreaming.models.making import OneModel
from dreaming.models.scripted import ScriptedModel
from rootward.service import Conflict, Forbidden, InvalidRequest, NewItem, NotFound, TurnPart
from rootward.service.bots import BotBudget, BotItemSource
from tests.client.conftest import As, Gid
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import BotTalk, calm_model, fact
from tests.support.world import TeamWorld


@pytest.fixture
def model() -> ScriptedModel:
    return calm_model()


@pytest.fixture
def ports(ports: Ports, model: ScriptedModel) -> Ports:
    return replace(ports, models=OneModel(model=model))


@pytest.fixture
async def room(world: TeamWorld) -> BotRoom:
    return await BotRoom(world=world).make()


async def test_a_person_keeps_finds_and_takes_back_what_a_bot_remembers(room: BotRoom, as_: As) -> None:
    u_1, u_2 = as_(await room.token("u_1")), as_(await room.token("u_2"))
    kept = await u_1(u_1.bots.remember, "bot_9", content="Off on Fridays.", tags=["time"])
    assert (kept.entry.content, kept.entry.confidence) == ("Off on Fridays.", None)
    await u_1(u_1.bots.remember, "bot_9", content="Likes tea.")
    memory = await u_1(u_1.bots.memory, "bot_9")
    assert {entry.content for entry in memory.entries} == {"Likes tea.", "Off on Fridays."}
    found = await u_1(u_1.bots.memory, "bot_9", tags=["time", "from:u_1"])
    assert [entry.id for entry in found.entries] == [kept.entry.id]
    assert (await u_2(u_2.bots.memory, "bot_9")).entries == ()
    gone = await u_1(u_1.bots.forget, "bot_9", entry_id=kept.entry.id)
    assert gone.version == memory.version + 1
    newest, *_ = await u_1(u_1.bots.log, "bot_9", limit=1)
    assert (newest.version, newest.by, newest.entries) == (gone.version, "person", (kept.entry.id,))
    with pytest.raises(Conflict) as foreign:
        await u_2(u_2.bots.forget, "bot_9", entry_id=kept.entry.id)
    assert foreign.value.code == "BotMemoryConflict"
    with pytest.raises(NotFound):
        await u_2(u_2.bots.memory, "bot_8")
    with pytest.raises(InvalidRequest) as wrong:
        await u_1(u_1.bots.remember, "bot_9", content="")
    assert wrong.value.path == "command.content"


async def test_the_owner_of_a_bot_sets_it_up_and_purges(room: BotRoom, as_: As) -> None:
    u_1, u_9 = as_(await room.token("u_1")), as_(await room.token("u_9"))
    settings = await u_9(u_9.bots.settings, "bot_9")
    budget = BotBudget(period="day", limit_micros=5_000)
    changed = await u_9(
        u_9.bots.set_settings, "bot_9", expected_version=settings.version, instructions="Be brief.", budget=budget
    )
    assert (changed.instructions, changed.concurrency, changed.budget) == ("Be brief.", None, budget)
    lifted = await u_9(u_9.bots.set_settings, "bot_9", expected_version=changed.version, budget=None)
    assert (lifted.instructions, lifted.budget) == ("Be brief.", None)
    with pytest.raises(Conflict):
        await u_9(u_9.bots.set_settings, "bot_9", expected_version=changed.version, budget=None)
    with pytest.raises(Forbidden):
        await u_1(u_1.bots.settings, "bot_9")
    await u_1(u_1.bots.remember, "bot_9", content="Off on Fridays.")
    assert await u_9(u_9.bots.purge, "bot_9", tag="from:u_1") == 1


@pytest.mark.req("AD-17", "BM-189")
async def test_a_host_drives_a_chat_and_its_person_reads_what_came_of_it(
    room: BotRoom, model: ScriptedModel, world: TeamWorld, as_: As, gid: Gid
) -> None:
    talk = await BotTalk(room=room, model=model).make()
    host, u_1 = as_(await world.token(world.host)), as_(await room.token("u_1"))
    chat = await host(
        host.host.create_chat,
        gid(room.agent("bot_9")),
        organization_id=gid(room.organization()),
        person_id=gid(room.person("u_1")),
        local_id="c1",
    )
    who = gid(room.person("u_1"))
    parts = [TurnPart(kind="person", text="Plan release 4.2")]
    start = await host(host.host.begin_turn, "t1", chat_id=chat.id, operator_id=who, author="u_1", parts=parts)
    assert (start.local_id, start.instructions) == ("t1", None)
    assert "Plan release 4.2" in start.input
    said = NewItem(type="person_message", text="I am off on Fridays.", local_id="i-1", turn="t1")
    assert (await host(host.host.append_item, said, chat_id=chat.id)).head is None
    assert await host(host.host.confide, chat.id, "t1", "I am stuck.") == "That sounds hard."
    assert (await host(host.host.complete_turn, "t1", chat_id=chat.id)).state == "completed"
    talk.learns(fact("Off on Fridays.", "i-1", chat="c1"))
    assert await talk.learn() == 1
    [entry] = (await u_1(u_1.bots.memory, "bot_9")).entries
    assert entry.sources == (BotItemSource(chat="c1", item="i-1"),)
    [confession] = await u_1(u_1.chats.confessions, "c1")
    assert (confession.text, confession.answer, confession.turn) == ("I am stuck.", "That sounds hard.", "t1")
    assert await u_1(u_1.chats.enrichments, "c1") == ()
    assert (await host(host.host.delete_chat_history, chat.id)).items == 2
    assert await u_1(u_1.chats.confessions, "c1") == ()
