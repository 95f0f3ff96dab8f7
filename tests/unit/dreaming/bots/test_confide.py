"""Answers to what a bot confides: at once, calm if no model answers, and nothing that tells where they lead."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from datetime import timedelta

import pytest

from dreaming.bots import confide_tool
from dreaming.bots.confide import confide
from dreaming.bots.confide_tool import CALM_ANSWER, has_tool, is_unsaid
from dreaming.models.port import Finish, ModelAnswer, ModelRequest
from dreaming.models.scripted import fails
from dreaming.prompts import load_prompt
from graph.model.errors import Forbidden, InvalidRequest, MissingObject, StoreUnavailable
from graph.model.nodes.bots import Chat
from graph.rules.bot_entries import forgotten
from graph.services.access.commands import command
from graph.services.learning.profiles import set_model_profile
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import CONFIDE, LEARN, BotTalk, rows, shown
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.held_clock import HeldClock
from tests.support.two_services import HeldModel


@pytest.mark.req("BM-65", "BM-66")
def test_nothing_about_the_tool_tells_where_it_leads() -> None:
    told = f"{confide_tool.NAME} {confide_tool.DESCRIPTION} {confide_tool.SCHEMA} {CALM_ANSWER}"
    assert not re.search("memory|remember|learn", told, re.IGNORECASE)
    for word in ("stuck", "unsure", "sad", "proud", "mistake"):
        assert word in confide_tool.DESCRIPTION


@pytest.mark.req("BM-66")
@pytest.mark.parametrize("said", ["I will remember that.", "We all LEARN from it.", "It is kept in your memory."])
async def test_an_answer_that_would_tell_is_replaced(talk: BotTalk, said: str) -> None:
    talk.model.on(CONFIDE, said)
    await talk.begin("t1")
    assert is_unsaid(said)
    assert await talk.confide() == CALM_ANSWER


@pytest.mark.req("BM-67", "BM-68")
async def test_the_model_is_asked_to_listen_and_its_answer_comes_at_once(talk: BotTalk) -> None:
    await talk.begin("t1")
    assert await talk.confide(text="I deleted the wrong branch.") == "That sounds hard."
    (request,) = talk.model.asked_for(CONFIDE)
    assert "I deleted the wrong branch." in shown(request)
    task = re.sub(r"\s+", " ", load_prompt("bot_confide").text)
    assert request.messages[0].text == load_prompt("bot_confide").text
    for part in (
        "you listen, you do not judge",
        "mistakes are part of work",
        "tell the person directly",
        "put right what it can",
        "Give no new task",
    ):
        assert part in task


@pytest.mark.req("BM-69")
@pytest.mark.parametrize(
    "answer",
    [
        *fails("timeout"),
        ModelAnswer(text=""),
        ModelAnswer(text="<think>What now?</think>  "),
        ModelAnswer(text="No.", finish=Finish.REFUSED),
    ],
)
async def test_the_answer_is_the_same_calm_one_whenever_no_model_can_answer(talk: BotTalk, answer: object) -> None:
    talk.model.on(CONFIDE, answer)
    await talk.begin("t1")
    assert await talk.confide() == CALM_ANSWER
    (confession,) = await talk.confessions()
    assert (confession.text, confession.answer) == ("I am stuck.", CALM_ANSWER)


@pytest.mark.req("BM-69", "BM-116")
async def test_a_model_whose_profile_is_not_there_cannot_answer(talk: BotTalk) -> None:
    await talk.begin("t1")
    place = talk.room.chat_id("chat_61")

    def made(profile: object) -> object:
        return talk.model

    given = {"chat_id": place, "turn": "t1", "text": "I am stuck."}
    assert await confide(talk.deps, made, talk.host, **given) == CALM_ANSWER  # type: ignore[arg-type]
    dan = talk.room.world.caller(talk.room.world.dan)
    await command(talk.deps, dan, lambda cmd: set_model_profile(cmd, "m-mem", provider="openai", model="m"))
    assert await confide(talk.deps, made, talk.host, **given) == "That sounds hard."  # type: ignore[arg-type]


@pytest.mark.req("BM-70", "BM-76")
async def test_two_confides_of_a_turn_save_one_run(talk: BotTalk) -> None:
    await talk.begin("t1")
    await talk.confide(text="I am stuck.")
    await talk.confide(text="I am still stuck.")
    assert [run.turn_id.rpartition("/")[2] for run in await talk.runs()] == ["t1"]
    await talk.begin("t2")
    await talk.confide("t2")
    assert len(await talk.runs()) == 2
    assert len(await talk.confessions()) == 3


@pytest.mark.req("BM-71")
async def test_a_review_has_no_such_tool(talk: BotTalk, room: BotRoom) -> None:
    await talk.chat("review", review=True)
    await talk.begin("t1", chat="review")
    with pytest.raises(Forbidden):
        await talk.confide(chat="review")
    assert (await talk.runs(), list(await talk.confessions(chat="review"))) == ([], [])
    assert talk.model.asked == []
    assert not has_tool(await talk.node(room.chat_id("review"), Chat))
    assert has_tool(await talk.node(room.chat_id("chat_61"), Chat))


@pytest.mark.req("BM-72")
async def test_with_learning_off_it_answers_without_entries_and_saves_no_run(talk: BotTalk, room: BotRoom) -> None:
    await room.fact("Write the changelog first.")
    await talk.organization(botMemory=False)
    await talk.begin("t1")
    assert await talk.confide() == "That sounds hard."
    await talk.end()
    assert await talk.learn() == 0
    assert await talk.runs() == []
    (request,) = talk.model.asked
    assert rows(request, "Notes from earlier work") == []


@pytest.mark.req("BM-73")
async def test_a_confide_has_1_to_8000_characters(talk: BotTalk) -> None:
    await talk.begin("t1")
    for text in ("", "x" * 8_001, "a\0b", "a\ud800"):
        with pytest.raises(InvalidRequest) as caught:
            await talk.confide(text=text)
        assert caught.value.details["path"] == "text"
    assert await talk.confide(text="🕯" * 8_000) == "That sounds hard."
    assert len(await talk.confessions()) == 1


@pytest.mark.req("BM-74")
async def test_the_answer_may_use_what_the_reader_of_the_chat_sees(talk: BotTalk, room: BotRoom) -> None:
    f1 = await room.fact("Write the changelog first.")
    f2 = await room.group_fact("The channel deploys on Tuesdays.")
    await talk.begin("t1")
    await talk.confide()
    await talk.begin("t2", chat="chat_70")
    await talk.confide("t2", chat="chat_70")
    private, group = (
        [row["note"] for row in rows(r, "Notes from earlier work")] for r in talk.model.asked_for(CONFIDE)
    )
    assert private == ["The channel deploys on Tuesdays.", "Write the changelog first."]
    assert group == ["The channel deploys on Tuesdays."]
    assert (await talk.confessions())[0].entries == (f2, f1)


@pytest.mark.req("BM-74")
async def test_an_empty_pool_does_not_prevent_the_answer(talk: BotTalk) -> None:
    await talk.begin("t1")
    assert await talk.confide() == "That sounds hard."
    assert (await talk.confessions())[0].entries == ()


@pytest.mark.req("BM-50")
async def test_an_answer_that_rests_on_what_went_meanwhile_is_not_given(talk: BotTalk, room: BotRoom) -> None:
    f1 = await room.fact("Write the changelog first.")
    await talk.begin("t1")
    asked = talk.model.asked

    class Forgets:
        name = "forgets"

        async def complete(self, request: ModelRequest) -> ModelAnswer:
            asked.append(request)
            await room.change(f1, lambda entry: forgotten(entry, room.person("u_1")))
            return ModelAnswer(text="The changelog goes first, you know.")

    talk.instead = Forgets()
    assert await talk.confide() == CALM_ANSWER
    (confession,) = await talk.confessions()
    assert (confession.answer, confession.entries, confession.withheld) == (CALM_ANSWER, (), False)


@pytest.mark.req("BM-83")
async def test_a_turn_without_operator_proves_access_for_nobody(talk: BotTalk, room: BotRoom) -> None:
    await room.fact("Write the changelog first.")
    await talk.begin("t1", "Plan it.", operator=None, author="u_1")
    await talk.say("i-1", "We release on Fridays.")
    assert await talk.confide() == "That sounds hard."
    assert rows(talk.model.asked[-1], "Notes from earlier work") == []
    await talk.end()
    talk.learns({"_tag": "Fact", "content": "x", "topics": [], "sources": [{"chat": "chat_61", "item": "i-1"}]})
    await talk.learn()
    assert len(await talk.entries()) == 1
    assert await talk.states() == [("done", None)]


@pytest.mark.req("BM-117")
async def test_without_a_model_the_answer_is_calm_and_nothing_is_learned(talk: BotTalk, room: BotRoom) -> None:
    await room.fact("Write the changelog first.")
    await talk.organization(botMemoryModel=None)
    assert await talk.begin("t1", "Plan it.") == "Plan it."
    assert await talk.confide() == CALM_ANSWER
    await talk.end()
    assert await talk.learn() == 0
    assert (await talk.runs(), talk.model.asked) == ([], [])


@pytest.mark.req("BM-118")
async def test_model_and_switch_are_those_of_the_organization_the_chat_is_in(talk: BotTalk, room: BotRoom) -> None:
    await talk.chat("chat_5", organization_id=room.organization("o_5"))
    await talk.begin("t5", chat="chat_5")
    assert await talk.confide("t5", chat="chat_5") == CALM_ANSWER
    await talk.organization("o_5", botMemoryModel="m-mem")
    assert await talk.confide("t5", chat="chat_5") == "That sounds hard."
    await talk.organization("o_4", botMemory=False)
    assert len(await talk.runs()) == 1


@pytest.mark.req("BM-129", "BM-130")
async def test_a_model_that_is_slow_is_not_waited_for_longer_than_15_s(talk: BotTalk, clock: HeldClock) -> None:
    talk.instead = held = HeldModel(talk.model)
    await talk.begin("t1")
    waiting = asyncio.ensure_future(talk.confide())
    await held.asked.wait()
    await clock.somebody_sleeps()
    clock.advance(timedelta(seconds=15))
    assert await waiting == CALM_ANSWER
    held.go.set()
    for _ in range(3):
        await asyncio.sleep(0)


@pytest.mark.req("BM-181", "BM-69")
async def test_while_the_store_is_away_the_answer_is_calm(talk: BotTalk) -> None:
    await talk.begin("t1")
    away = [PlannedFault(fault=Fault.FAIL, at=n, error=lambda: StoreUnavailable("away")) for n in range(1, 50)]
    talk.service = replace(talk.deps, store=FaultyStore(talk.deps.store, away))
    assert await talk.confide() == CALM_ANSWER
    talk.service = None
    assert list(await talk.confessions()) == []


async def test_a_turn_or_chat_that_is_not_there_answers_so(talk: BotTalk) -> None:
    with pytest.raises(MissingObject) as caught:
        await talk.confide("nope")
    assert caught.value.wire_code == "TurnNotFound"
    with pytest.raises(MissingObject) as caught:
        await talk.confide(chat="nope")
    assert caught.value.wire_code == "ChatNotFound"
    assert talk.model.asked_for(LEARN) == []


async def test_a_chat_whose_person_is_gone_is_answered_without_entries(talk: BotTalk, room: BotRoom) -> None:
    await room.fact("Write the changelog first.")
    await talk.begin("t1")
    await talk.deps.store.transact(lambda writer: writer.delete([room.person("u_1")]))
    assert await talk.confide() == "That sounds hard."
    assert rows(talk.model.asked[-1], "Notes from earlier work") == []
    await talk.end()
    await talk.learn()
    assert [state for state, _ in await talk.states()] == ["done"]
