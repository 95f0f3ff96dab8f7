"""What the bot's model gets in place of the person's words, and what the chat keeps."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from dreaming.models.scripted import fails
from graph.model.errors import BadState, InvalidRequest, MissingObject, NotFound, StoreUnavailable
from graph.model.fields import Json
from graph.model.nodes.bots import Chat
from graph.model.nodes.sessions import Turn
from graph.rules.bot_entries import forgotten
from graph.rules.bot_rewrite import PartKind, TurnInput, TurnPart
from graph.services.bots.chat_access import turn_id
from graph.services.bots.turns import opened_input
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import REWRITE, BotTalk, notification, rewriting, rows, shown
from tests.support.faults import Fault, FaultyStore, PlannedFault
from tests.support.held_clock import HeldClock
from tests.support.two_services import HeldModel

NEW = "Plan release 4.2 and write the changelog first."


@pytest.fixture
async def f1(talk: BotTalk, room: BotRoom) -> str:
    talk.model.on(REWRITE, rewriting(NEW))
    return await room.fact("Write the changelog before tagging a release.")


async def _turn(talk: BotTalk, local: str = "t1") -> Turn:
    chat = await talk.node(talk.room.chat_id("chat_61"), Chat)
    found = await talk.node(turn_id(chat, local), Turn)
    assert isinstance(found, Turn)
    return found


@pytest.mark.req("BM-99", "BM-100", "BM-104", "BM-189")
async def test_the_rewrite_goes_to_the_model_and_the_original_to_the_history(talk: BotTalk, f1: str) -> None:
    assert await talk.begin("t1", "Plan release 4.2") == NEW
    assert await talk.history() == ["Plan release 4.2"]
    turn = await _turn(talk)
    assert opened_input(talk.deps, turn) == TurnInput.of("Plan release 4.2")
    assert turn.entries == (f1,)
    (record,) = await talk.enrichments()
    assert (record.turn, record.text, record.original, record.entries) == ("t1", NEW, "Plan release 4.2", (f1,))


@pytest.mark.req("BM-99")
@pytest.mark.usefixtures("f1")
async def test_an_input_without_words_of_a_person_is_not_rewritten(talk: BotTalk) -> None:
    assert await talk.begin("t1", notification("The build is green.")) == "The build is green."
    assert talk.model.asked == []


@pytest.mark.req("BM-99", "BM-100")
@pytest.mark.usefixtures("f1")
async def test_notifications_stay_as_and_where_they_are(talk: BotTalk) -> None:
    kinds = [(PartKind.NOTIFICATION, "One."), (PartKind.PERSON, "Plan release"), (PartKind.PERSON, "4.2"),
             (PartKind.NOTIFICATION, "Two.")]  # fmt: skip
    given = TurnInput(parts=tuple(TurnPart(kind=kind, text=text) for kind, text in kinds))
    assert await talk.begin("t1", given) == f"One.\n\n{NEW}\n\nTwo."
    assert "One." not in shown(talk.model.asked[0])
    assert await talk.history() == ["One.", "Plan release", "4.2", "Two."]
    assert (await talk.enrichments())[0].original == "Plan release\n\n4.2"


@pytest.mark.req("BM-100", "BM-101", "BM-102", "BM-105")
@pytest.mark.parametrize(
    "answer",
    [
        {"text": None, "entries": []},
        {"text": NEW, "entries": []},
        {"text": "", "entries": ["F1"]},
        {"text": "   ", "entries": ["F1"]},
        {"text": "Plan the release.", "entries": ["F1"]},
        {"text": NEW, "entries": ["F1", "mem_other"]},
        {"text": f"{NEW} (F1)", "entries": ["F1"]},
        {"text": NEW},
        {"text": 4.2, "entries": ["F1"]},
        "no JSON",
    ],
)
async def test_a_rewrite_that_breaks_a_rule_is_no_rewrite(talk: BotTalk, f1: str, answer: Json) -> None:
    def said(_: object) -> Json:
        text = answer if isinstance(answer, str) else None
        return text or {
            key: [f1 if one == "F1" else one for one in value]
            if isinstance(value, list)
            else value.replace("F1", f1)
            if isinstance(value, str)
            else value
            for key, value in answer.items()
        }

    talk.model.on(REWRITE, said)
    assert await talk.begin("t1", "Plan release 4.2") == "Plan release 4.2"
    assert list(await talk.enrichments()) == []
    assert len(talk.model.asked) == 1


@pytest.mark.req("BM-102")
async def test_a_rewrite_with_an_entry_that_went_meanwhile_is_rejected(talk: BotTalk, room: BotRoom, f1: str) -> None:
    talk.instead = held = HeldModel(talk.model)
    begin = asyncio.ensure_future(talk.begin("t1", "Plan release 4.2"))
    await held.asked.wait()
    await room.change(f1, lambda entry: forgotten(entry, room.person("u_1")))
    held.go.set()
    assert await begin == "Plan release 4.2"
    assert list(await talk.enrichments()) == []


@pytest.mark.req("BM-102", "BM-103")
async def test_only_what_the_readers_of_the_answer_see_is_offered(talk: BotTalk, room: BotRoom, f1: str) -> None:
    f2 = await room.group_fact("The channel deploys on Tuesdays.")
    await talk.begin("t1", "Plan release 4.2")
    await talk.begin("t2", "Plan release 4.2", chat="chat_70")
    await talk.begin("t3", "Plan release 4.2", operator="u_2")
    await talk.begin("t4", "Plan release 4.2", operator=None)
    offered = [{row["id"] for row in rows(request, "Notes")} for request in talk.model.asked_for(REWRITE)]
    assert offered == [{f1, f2}, {f2}], "nothing in another person's turn of a chat, nothing without an operator"


@pytest.mark.req("BM-105")
async def test_what_the_model_gets_has_no_mark_of_a_rewrite(talk: BotTalk, f1: str) -> None:
    given = await talk.begin("t1", "Plan release 4.2")
    assert f1 not in given
    assert given == NEW, "nothing is put before or behind it, and the original is not there beside it"


@pytest.mark.req("BM-106")
@pytest.mark.usefixtures("f1")
async def test_a_review_sees_only_what_was_proposed(talk: BotTalk) -> None:
    await talk.chat("review", review=True)
    assert await talk.begin("t1", "Deploy release 4.2?", chat="review") == "Deploy release 4.2?"
    assert talk.model.asked == []


@pytest.mark.req("BM-107")
@pytest.mark.usefixtures("f1")
async def test_with_learning_off_the_input_is_unchanged_and_nothing_asked(talk: BotTalk) -> None:
    await talk.organization(botMemory=False)
    assert await talk.begin("t1", "Plan release 4.2") == "Plan release 4.2"
    assert talk.model.asked == []


@pytest.mark.req("BM-108")
async def test_without_an_entry_that_fits_nothing_is_asked(talk: BotTalk, room: BotRoom) -> None:
    assert await talk.begin("t1", "Plan release 4.2") == "Plan release 4.2"
    assert talk.model.asked == []
    for number in range(3):
        await room.fact("x" * 3_999 + str(number))
    await talk.begin("t2", "Plan release 4.2")
    (request,) = talk.model.asked
    assert [row["note"][-1] for row in rows(request, "Notes")] == ["2"], "two of 4000 and a line break pass 8000"


@pytest.mark.req("BM-115")
async def test_a_saved_rewrite_is_used_again_when_a_turn_is_resumed(talk: BotTalk, room: BotRoom, f1: str) -> None:
    await talk.begin("t1", "Plan release 4.2")
    for number in range(3):
        await room.fact(f"Something newer {number}.")
    assert await talk.begin("t1", "Plan release 4.2") == NEW
    assert len(talk.model.asked) == 1
    assert await talk.history() == ["Plan release 4.2"], "no item twice"

    await room.change(f1, lambda entry: forgotten(entry, room.person("u_1")))
    other = "Plan release 4.2, newly."
    talk.model.on(REWRITE, rewriting(other))
    assert await talk.begin("t1", "Plan release 4.2") == other
    assert len(talk.model.asked) == 2
    (record,) = await talk.enrichments()
    assert record.text == other
    talk.model.on(REWRITE, {"text": None, "entries": []})
    for entry in await talk.entries():
        await room.change(entry.id, lambda found: forgotten(found, room.person("u_1"))) if entry.id != f1 else None
    assert await talk.begin("t1", "Plan release 4.2") == "Plan release 4.2"
    assert list(await talk.enrichments()) == []


@pytest.mark.usefixtures("f1")
@pytest.mark.parametrize("answer", fails("http_5xx"))
async def test_if_the_model_fails_the_input_stays(talk: BotTalk, answer: Exception) -> None:
    talk.model.on(REWRITE, answer)
    assert await talk.begin("t1", "Plan release 4.2") == "Plan release 4.2"


@pytest.mark.req("BM-129", "BM-130")
@pytest.mark.usefixtures("f1")
async def test_an_input_waits_for_15_s(talk: BotTalk, clock: HeldClock) -> None:
    talk.instead = held = HeldModel(talk.model)
    begin = asyncio.ensure_future(talk.begin("t1", "Plan release 4.2"))
    await held.asked.wait()
    await clock.somebody_sleeps()
    clock.advance(timedelta(seconds=15))
    assert await begin == "Plan release 4.2"
    assert list(await talk.enrichments()) == []
    held.go.set()


@pytest.mark.req("BM-181")
@pytest.mark.usefixtures("f1")
@pytest.mark.parametrize("first", [1, 8, 25, 40])
async def test_while_the_store_is_away_the_original_comes_back(talk: BotTalk, first: int) -> None:
    away = [
        PlannedFault(fault=Fault.FAIL, at=n, error=lambda: StoreUnavailable("away")) for n in range(first, first + 500)
    ]
    talk.service = replace(talk.deps, store=FaultyStore(talk.deps.store, away))
    assert await talk.begin("t1", "Plan release 4.2") == "Plan release 4.2"


@pytest.mark.req("BM-82")
async def test_the_operator_is_saved_with_the_turn_and_the_author_never_read(talk: BotTalk, room: BotRoom) -> None:
    await talk.begin("t1", "Hello.", operator="u_1", author="u_2")
    turn = await _turn(talk)
    assert (turn.person_id, turn.author) == (room.person("u_1"), "u_2")


async def test_what_cannot_begin_is_refused(talk: BotTalk, room: BotRoom) -> None:
    with pytest.raises(NotFound):
        await talk.begin("t1", operator="u_404")
    with pytest.raises(MissingObject):
        await talk.begin("t1", chat="chat_404")
    for wrong in (TurnInput(parts=()), "a\0b", "\ud800"):
        with pytest.raises(InvalidRequest):
            await talk.begin("t1", wrong)
    with pytest.raises(InvalidRequest):
        await talk.begin("t1", author="x" * 201)
    assert await talk.history() == []
    await talk.begin("t1")
    await talk.end("t1")
    with pytest.raises(BadState):
        await talk.begin("t1")
