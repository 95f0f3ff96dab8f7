"""Confessions and enrichments over REST: exactly the contract's bodies, for the person of the chat alone."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from graph.model.errors import MissingObject
from graph.model.fields import Node
from graph.model.nodes.bots import BotEntry, Chat, ChatItem
from graph.model.nodes.people import Right
from graph.rules.bot_entries import forgotten
from graph.services.access.deleting import delete_agent
from graph.store.query import Find
from tests.support.bot_room import ALL, BotRoom, Rest
from tests.support.bot_talk import REWRITE, BotTalk, fact, rewriting

NEW = "Plan release 4.2, changelog first."


@pytest.fixture
async def talk(room: BotRoom) -> BotTalk:
    return await BotTalk(room=room).make()


async def _get(http: httpx2.AsyncClient, token: str, what: str, chat: str = "chat_61") -> httpx2.Response:
    return await http.get(f"/v1/chats/{chat}/{what}", headers={"Authorization": f"Bearer {token}"} if token else {})


@pytest.mark.req("BM-168", "BM-188")
async def test_confessions_are_listed_oldest_first(talk: BotTalk, http: httpx2.AsyncClient, u_1: Rest) -> None:
    await talk.begin("t1", "Hello.")
    for text in ("I am stuck.", "I am proud."):
        await talk.confide(text=text)
        talk.room.tick()
    answer = await _get(http, u_1.token, "confessions")
    assert answer.headers["cache-control"] == "no-store"
    first, second = answer.json()["confessions"]
    assert first == {
        "id": first["id"],
        "turn": "t1",
        "text": "I am stuck.",
        "answer": "That sounds hard.",
        "createdAt": first["createdAt"],
    }
    assert (second["text"], second["createdAt"] - first["createdAt"]) == ("I am proud.", 1_000)


@pytest.mark.req("BM-169", "BM-170", "BM-173")
async def test_enrichments_tell_original_and_rewrite_while_the_entries_may_be_used(
    talk: BotTalk, room: BotRoom, http: httpx2.AsyncClient, u_1: Rest
) -> None:
    f1 = await room.fact("Write the changelog first.")
    talk.model.on(REWRITE, rewriting(NEW))
    await talk.begin("t1", "Plan release 4.2")
    await talk.confide("t1")
    talk.model.on(REWRITE, {"text": None, "entries": []})
    await talk.begin("t2", "Not rewritten.")
    (record,) = (await _get(http, u_1.token, "enrichments")).json()["enrichments"]
    common: dict[str, Any] = {"id": record["id"], "turn": "t1", "createdAt": record["createdAt"]}
    assert record == {**common, "text": NEW, "original": "Plan release 4.2", "entries": [f1]}
    (confession,) = (await _get(http, u_1.token, "confessions")).json()["confessions"]
    assert confession["entries"] == [f1]

    opened = room.deps.vault.openings
    await room.change(f1, lambda entry: forgotten(entry, room.person("u_1")))
    (record,) = (await _get(http, u_1.token, "enrichments")).json()["enrichments"]
    assert record == {**common, "text": None, "original": "Plan release 4.2", "entries": [], "withheld": True}
    assert room.deps.vault.openings == opened + 1, "the original alone is opened"
    (confession,) = (await _get(http, u_1.token, "confessions")).json()["confessions"]
    assert (confession["answer"], confession["entries"], confession["withheld"]) == (None, [], True)
    assert confession["text"] == "I am stuck."


@pytest.mark.req("BM-171", "BM-175", "BM-176", "BM-183")
async def test_everybody_else_gets_404(
    talk: BotTalk, room: BotRoom, http: httpx2.AsyncClient, u_1: Rest, u_2: Rest, u_9: Rest
) -> None:
    await talk.begin("t1", "Hello.")
    await talk.confide()
    dan = await room.world.token(room.world.dan)
    host = await room.world.token(room.world.host)
    for what in ("confessions", "enrichments"):
        assert (await _get(http, u_1.token, what)).status_code == 200
        bodies = {(await _get(http, token, what)).text for token in (u_2.token, u_9.token, dan, host)}
        bodies |= {(await _get(http, u_1.token, what, chat)).text for chat in ("chat_404", "chat_70", "%00", "a%2Fb")}
        assert len(bodies) == 1
        missing = await _get(http, u_2.token, what)
        assert (missing.status_code, missing.json()["_tag"]) == (404, "ChatNotFound")
        assert (await _get(http, "", what)).status_code == 401
        posted = await http.post(f"/v1/chats/chat_61/{what}", headers={"Authorization": f"Bearer {u_1.token}"})
        assert (posted.status_code, posted.headers["allow"]) == (405, "GET")


@pytest.mark.req("BM-8", "BM-57", "BM-176")
async def test_a_chat_of_a_deleted_link_answers_like_an_unknown_one(
    talk: BotTalk, room: BotRoom, http: httpx2.AsyncClient, u_1: Rest
) -> None:
    await talk.chat("linked", bot_id=room.agent("bot_link"))
    await talk.turn("t1", "We release on Fridays.", chat="linked")
    talk.learns(fact("Releases on Fridays.", "t1-1", chat="linked"))
    await talk.learn()
    assert (await _get(http, u_1.token, "confessions", "linked")).status_code == 200

    await room.as_admin(lambda cmd: delete_agent(cmd, room.agent("bot_link")))

    assert [entry["content"] for entry in await u_1.memory()] == ["Releases on Fridays."]
    for what in ("confessions", "enrichments"):
        gone, unknown = [await _get(http, u_1.token, what, chat) for chat in ("linked", "chat_404")]
        assert (gone.status_code, gone.json()) == (404, unknown.json())
    with pytest.raises(MissingObject) as caught:
        await talk.begin("t2", chat="linked")
    assert caught.value.wire_code == "ChatNotFound"

    await room.as_admin(lambda cmd: delete_agent(cmd, room.agent("bot_9")))
    kinds: tuple[type[Node], ...] = (Chat, ChatItem, BotEntry)
    async with room.deps.store.reading() as reader:
        left = [(await reader.find(ALL, Find(kind=kind))).nodes for kind in kinds]
    assert left == [(), (), ()], "what stayed for the home goes with it"


@pytest.mark.req("BM-50", "BM-171")
async def test_a_grant_on_the_chat_shows_what_its_holder_may_see_too(
    talk: BotTalk, room: BotRoom, http: httpx2.AsyncClient, u_2: Rest
) -> None:
    await talk.begin("t1", "Hello.")
    await talk.confide(text="Without entries.")
    talk.room.tick()
    await room.fact("Write the changelog first.")
    await talk.confide(text="With u_1's own.")
    talk.room.tick()
    await room.world.grant(room.person("u_2"), Right.READ, room.chat_id("chat_61"))
    plain, private = (await _get(http, u_2.token, "confessions")).json()["confessions"]
    assert plain["answer"] == "That sounds hard."
    assert (private["answer"], private["withheld"]) == (None, True)


@pytest.mark.req("BM-41", "BM-173")
async def test_leaving_a_channel_withholds_what_rests_on_it(
    talk: BotTalk, room: BotRoom, http: httpx2.AsyncClient, u_1: Rest
) -> None:
    await room.group_fact("The channel deploys on Tuesdays.")
    await talk.begin("t1", "Hello.")
    await talk.confide()
    answers = []
    for members in (("u_1", "u_2"), ("u_2",), ("u_1",)):
        await room.members(*members)
        (record,) = (await _get(http, u_1.token, "confessions")).json()["confessions"]
        answers.append(record["answer"])
    assert answers == ["That sounds hard.", None, "That sounds hard."]
