"""Turns of chats that were begun before: resumed, and begun again under an idempotency key."""

from __future__ import annotations

from dataclasses import replace

import pytest

from dreaming.bots.again import begin_once, resume_turn
from graph.model.errors import BadState, MissingObject, StoreUnavailable
from graph.model.nodes.bots import Chat
from graph.model.nodes.sessions import Turn
from graph.rules.bot_entries import forgotten
from graph.services.access.commands import command
from graph.services.bots.chat_access import turn_id
from graph.services.bots.chats import delete_chat_history
from graph.services.deps import Deps
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import REWRITE, BotTalk, rewriting
from tests.support.faults import Fault, FaultyStore, PlannedFault

NEW = "Plan release 4.2 and write the changelog first."


async def _resumed(talk: BotTalk, turn: str = "t1", chat: str = "chat_61") -> str:
    return await resume_turn(talk.deps, talk.models, talk.host, chat_id=talk.room.chat_id(chat), turn=turn)


def _away(talk: BotTalk, first: int) -> Deps:
    """Return the service with a store that goes away at its n-th call."""
    faults = [
        PlannedFault(fault=Fault.FAIL, at=n, error=lambda: StoreUnavailable("away")) for n in range(first, first + 500)
    ]
    return replace(talk.deps, store=FaultyStore(talk.deps.store, faults))


@pytest.mark.req("BM-115", "BM-189")
async def test_a_resumed_turn_gets_the_input_it_began_with(talk: BotTalk, room: BotRoom) -> None:
    f1 = await room.fact("Write the changelog before tagging a release.")
    talk.model.on(REWRITE, rewriting(NEW))
    assert await talk.begin("t1", "Plan release 4.2", author="Ann") == NEW
    chat = await talk.node(room.chat_id("chat_61"), Chat)
    began = await talk.node(turn_id(chat, "t1"), Turn)

    assert await _resumed(talk) == NEW
    assert len(talk.model.asked) == 1
    assert await talk.node(turn_id(chat, "t1"), Turn) == began
    assert await talk.history() == ["Plan release 4.2"]

    await room.change(f1, lambda entry: forgotten(entry, room.person("u_1")))
    assert await _resumed(talk) == "Plan release 4.2"


async def test_only_a_turn_that_began_and_is_not_over_is_resumed(talk: BotTalk, room: BotRoom) -> None:
    await talk.begin("t1", "Plan release 4.2")
    for turn, chat, code in (("t2", "chat_61", "TurnNotFound"), ("t1", "chat_404", "ChatNotFound")):
        with pytest.raises(MissingObject) as caught:
            await _resumed(talk, turn, chat)
        assert caught.value.wire_code == code
    await command(talk.deps, talk.host, lambda cmd: delete_chat_history(cmd, room.chat_id("chat_61")))
    assert await _resumed(talk) == "", "with the history its input went"
    await talk.end("t1")
    with pytest.raises(BadState):
        await _resumed(talk)


@pytest.mark.req("BM-181")
@pytest.mark.parametrize("first", [1, 5])
async def test_without_the_store_a_turn_is_not_resumed_with_an_input_that_nobody_said(
    talk: BotTalk, first: int
) -> None:
    await talk.begin("t1", "Plan release 4.2")
    talk.service = _away(talk, first)
    with pytest.raises(StoreUnavailable):
        await _resumed(talk)


@pytest.mark.req("BM-181", "AD-17")
@pytest.mark.parametrize("first", [1, 5, 12])
@pytest.mark.parametrize("key", [None, "begin t1"])
async def test_a_turn_that_cannot_be_noted_begins_with_its_original_input(
    talk: BotTalk, first: int, key: str | None
) -> None:
    begun = await begin_once(
        _away(talk, first),
        talk.models,
        talk.host,
        key=key,
        chat_id=talk.room.chat_id("chat_61"),
        turn="t1",
        operator=talk.room.person("u_1"),
        author="",
        input="Plan release 4.2",
    )
    assert begun == "Plan release 4.2"
