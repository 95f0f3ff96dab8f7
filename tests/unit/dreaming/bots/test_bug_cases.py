"""Cases 13 to 15 from public bug reports, as far as they go for bots."""

from __future__ import annotations

import asyncio

from dreaming.models.port import ModelRequest
from graph.model.fields import Json
from graph.model.nodes.sessions import ItemType
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import LEARN, REWRITE, BotTalk, fact, observe, rewriting, rows
from tests.support.two_services import Meeting, MeetingModel, two_services


async def test_13_neither_person_is_shown_or_changes_what_the_other_said(talk: BotTalk, room: BotRoom) -> None:
    """Both speak about one Dr Chen in chats of their own; the second changes his preference."""
    await talk.chat("chat_62", person_id=room.person("u_2"))
    await talk.turn("a", "Dr Chen is my oncologist. I like concise answers.")
    await talk.turn("b", "Dr Chen plays tennis with me. I like concise answers.", chat="chat_62", operator="u_2")
    private = fact("Dr Chen is u_1's oncologist.", "a-1", topics=["chen"])
    concise = [fact("Likes concise answers.", "a-1"), fact("Likes concise answers.", "b-1", chat="chat_62")]
    talk.learns(private, *concise)
    await talk.learn()
    first, second = await _seen(room, "u_1"), await _seen(room, "u_2")
    assert first == {"Dr Chen is u_1's oncologist.", "Likes concise answers."}
    assert second == {"Likes concise answers."}
    assert not {row["content"] for r in talk.model.asked_for(LEARN)[1:] for row in rows(r, "Entries")} & {
        "Dr Chen is u_1's oncologist."
    }

    await talk.turn("c", "Detailed answers, please.", chat="chat_62", operator="u_2")

    def replaces(request: ModelRequest) -> Json:
        (old,) = [row["entry"] for row in rows(request, "Entries")]
        theirs = [entry for entry in known if entry != old]
        gone = [{"_tag": "Invalidate", "id": id_} for id_ in (old, *theirs)]
        return {"changes": [*gone, fact("Likes detailed answers.", "c-1", chat="chat_62"), observe("x", *theirs)]}

    known = [entry.id for entry in await talk.entries()]
    talk.model.on(LEARN, replaces)
    await talk.learn()
    assert await _seen(room, "u_2") == {"Likes detailed answers."}
    assert await _seen(room, "u_1") == first


async def test_14_the_recall_loop_adds_nothing(talk: BotTalk, room: BotRoom) -> None:
    """What was recalled and put into the input never becomes evidence; a guess of the bot is no fact about a person."""
    f1 = await room.fact("u_1 prefers Vim.")
    sources = (await room.entry(f1)).sources
    talk.model.on(REWRITE, rewriting("Thanks! As you know, I prefer Vim."))

    def echoes(request: ModelRequest) -> Json:
        """Write down again whatever looks as if it was said."""
        seen = [row for row in rows(request, "New items") if "Vim" in row["text"] or "Google" in row["text"]]
        return {"changes": [fact(f"Again: {row['text']}", row["item"]) for row in seen]}

    talk.model.on(LEARN, echoes)
    for number in range(12):
        turn = f"t{number}"
        assert "Vim" in await talk.begin(turn, "Thanks!")
        if number == 10:
            await talk.say("guess", "You work at Google.", turn=turn, type=ItemType.AGENT_MESSAGE)
        await talk.confide(turn)
        await talk.end(turn)
        await talk.learn()
    (entry,) = await talk.entries()
    assert (entry.id, entry.sources) == (f1, sources)
    assert await talk.version() == 1


async def test_15_the_same_item_learned_at_the_same_time_makes_one_entry(talk: BotTalk, room: BotRoom) -> None:
    """Twenty runs over one item, on two services, and the fact twice in each answer."""
    await talk.begin("t0", "Invoice 17 was paid on 3 May.")
    said = (await talk.items())[0].id.rpartition("/")[2]
    turns = [f"t{number}" for number in range(20)]
    for turn in turns:
        if turn != "t0":
            await talk.begin(turn, "And?")
        await talk.confide(turn)
    for turn in turns:
        await talk.end(turn)
    paid = fact("Invoice 17 was paid on 3 May.", said)
    talk.learns(paid, paid)
    async with two_services(room.deps) as services:
        together = Meeting(2)
        each = [talk.elsewhere(one, MeetingModel(talk.model, together, when=LEARN)) for one in services]
        await asyncio.gather(*(one.learn() for one in each))
    assert list(await talk.contents()) == ["Invoice 17 was paid on 3 May."]
    assert len(await talk.entries()) == 1
    assert {state for state, _ in await talk.states()} == {"done"}


async def _seen(room: BotRoom, who: str) -> set[str]:
    async with room.reads(who) as reads:
        return {reads.open(entry) async for entry in reads.active()}
