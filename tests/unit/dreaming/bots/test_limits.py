"""What a Memory Bot may spend, how much it does at once, and what becomes of answers that come too late."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from dreaming.bots.confide_tool import CALM_ANSWER
from dreaming.models.port import ModelAnswer
from dreaming.models.scripted import fails
from dreaming.worker import IDLE_S, LOOK_EVERY_MS
from graph.model.time import parse
from graph.rules.bot_budget import LATE_S
from graph.services.bots.runs import BUDGET_SPENT
from graph.services.learning.jobs import find_job
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import CONFIDE, LEARN, BotTalk, costing, fact
from tests.support.held_clock import HeldClock
from tests.support.two_services import HeldModel

DAY = {"period": "day", "limitMicros": 1_000}


async def _settled() -> None:
    for _ in range(300):
        await asyncio.sleep(0)


@pytest.mark.req("BM-125", "BM-134")
async def test_the_budget_is_asked_about_before_each_call(talk: BotTalk) -> None:
    await talk.configure(budget=DAY)
    talk.model.on(CONFIDE, costing("One.", 999), costing("Two.", 5_000), costing("Three.", 1))
    await talk.begin("t1")
    assert [await talk.confide() for _ in range(3)] == ["One.", "Two.", CALM_ANSWER]
    assert await talk.spent() == [("2025-05-10", 5_999, 0)]


@pytest.mark.req("BM-125")
async def test_a_budget_of_0_is_used_up_at_once(talk: BotTalk) -> None:
    await talk.configure(budget={"period": "month", "limitMicros": 0})
    await talk.begin("t1")
    assert await talk.confide() == CALM_ANSWER
    assert talk.model.asked == []


@pytest.mark.req("BM-123", "BM-125")
async def test_a_budget_of_a_month_counts_all_its_days(talk: BotTalk, clock: HeldClock) -> None:
    await talk.configure(budget={"period": "month", "limitMicros": 1_000})
    talk.model.on(CONFIDE, costing("Yes.", 500))
    await talk.begin("t1")
    answers = []
    for day in ("2025-05-30", "2025-05-31", "2025-05-31", "2025-06-01"):
        clock.set(parse(f"{day}T12:00:00Z"))
        answers.append(await talk.confide())
    assert answers == ["Yes.", "Yes.", CALM_ANSWER, "Yes."]


@pytest.mark.req("BM-134", "BM-135")
@pytest.mark.parametrize("answer", [costing("Yes.", None), costing("Yes.", 700, reported=False), *fails("network")])
async def test_usage_that_nobody_confirmed_is_recorded_apart(talk: BotTalk, answer: ModelAnswer | Exception) -> None:
    await talk.configure(budget={"period": "day", "limitMicros": 1})
    talk.model.on(CONFIDE, answer)
    await talk.begin("t1")
    for _ in range(2):
        await talk.confide()
    assert await talk.spent() == [("2025-05-10", 0, 2)]
    assert len(talk.model.asked) == 2


@pytest.mark.req("BM-126")
async def test_a_waiting_run_starts_within_a_minute_of_the_new_period(talk: BotTalk, clock: HeldClock) -> None:
    await talk.configure(budget=DAY)
    talk.model.on(CONFIDE, costing("Yes.", 1_000))
    await talk.turn("t1", "We release on Fridays.")
    assert await talk.learn() == 1
    assert (await talk.states(), talk.outcomes) == ([("waiting", None)], ["put_off"])
    (run,) = await talk.runs()
    async with talk.deps.store.reading() as reader:
        job = await find_job(reader, f"learn_bot:{run.id}")
    assert job is not None
    assert (job.due_at, job.last_error) == (parse("2025-05-11T00:00:00Z"), BUDGET_SPENT)
    clock.set(parse("2025-05-11T00:00:00Z"))
    worker = talk.worker()
    await worker.look_out()
    assert await worker.step()
    assert await talk.states() == [("done", None)]


@pytest.mark.req("BM-126")
@pytest.mark.parametrize("budget", [None, {"period": "day", "limitMicros": 1_001}])
async def test_a_waiting_run_starts_within_a_minute_of_a_changed_cap(
    talk: BotTalk, clock: HeldClock, budget: object
) -> None:
    await talk.configure(budget=DAY)
    talk.model.on(CONFIDE, costing("Yes.", 1_000))
    await talk.turn("t1", "We release on Fridays.")
    worker = talk.worker()
    await worker.look_out()
    assert await worker.step()
    await talk.configure(budget=budget)
    assert LOOK_EVERY_MS / 1_000 + IDLE_S < 60
    clock.advance(timedelta(milliseconds=LOOK_EVERY_MS))
    await worker.look_out()
    assert await worker.step()
    assert await talk.states() == [("done", None)]


@pytest.mark.req("BM-126")
async def test_a_budget_used_up_between_two_tries_lets_the_run_wait(talk: BotTalk) -> None:
    await talk.turn("t1", "We release on Fridays.")
    await talk.configure(budget=DAY)
    talk.model.on(LEARN, costing("no JSON", 1_000), {"changes": [fact("Fridays.", "t1-1")]})
    await talk.learn()
    assert (await talk.states(), len(talk.model.asked_for(LEARN))) == ([("waiting", None)], 1)
    await talk.configure(budget=None)
    await talk.learn()
    assert (await talk.states(), len(talk.model.asked_for(LEARN))) == ([("done", None)], 2)
    assert set(await talk.contents()) == {"Fridays."}


@pytest.mark.req("BM-122", "BM-124")
async def test_confides_and_learning_share_the_tasks_of_a_server(talk: BotTalk, clock: HeldClock) -> None:
    await talk.configure(concurrency=1)
    await talk.turn("t1", "We release on Fridays.")
    await talk.begin("t2")
    talk.instead = held = HeldModel(talk.model)
    confide = asyncio.ensure_future(talk.confide("t2"))
    await held.asked.wait()
    step = asyncio.ensure_future(talk.worker().step())
    await _settled()
    assert [call.purpose for call in await talk.calls()] == [CONFIDE, CONFIDE], "the step has not begun"
    held.go.set()
    assert await confide == "That sounds hard."
    assert await step
    assert await talk.states() == [("done", None), ("waiting", None)]


@pytest.mark.req("BM-131")
async def test_waiting_for_a_free_task_does_not_count_for_a_step(talk: BotTalk, clock: HeldClock) -> None:
    await talk.configure(concurrency=1)
    await talk.turn("t1", "We release on Fridays.")
    ticket = await talk.deps.turnstile.enter(talk.room.agent("bot_9"), 1)
    step = asyncio.ensure_future(talk.worker().step())
    await clock.somebody_sleeps()
    for _ in range(9):
        clock.advance(timedelta(seconds=30))
        await _settled()
    assert not step.done()
    ticket.leave()
    await step
    assert await talk.states() == [("done", None)]


@pytest.mark.req("BM-130", "BM-134")
async def test_a_late_answer_is_charged_and_not_used(talk: BotTalk, clock: HeldClock) -> None:
    talk.model.on(CONFIDE, costing("Late.", 70))
    talk.instead = held = HeldModel(talk.model)
    await talk.begin("t1")
    confide = asyncio.ensure_future(talk.confide())
    await held.asked.wait()
    await _settled()
    clock.advance(timedelta(seconds=15))
    assert await confide == CALM_ANSWER
    assert await talk.spent() == []
    held.go.set()
    await _until(talk.spent)
    assert await talk.spent() == [("2025-05-10", 70, 0)]
    assert (await talk.confessions())[0].answer == CALM_ANSWER


@pytest.mark.req("BM-130", "BM-135")
async def test_a_model_that_never_answers_gives_its_task_back(talk: BotTalk, clock: HeldClock) -> None:
    await talk.configure(concurrency=1)
    talk.instead = held = HeldModel(talk.model)
    await talk.begin("t1")
    confide = asyncio.ensure_future(talk.confide())
    await held.asked.wait()
    await _settled()
    clock.advance(timedelta(seconds=15))
    assert await confide == CALM_ANSWER
    await _settled()
    clock.advance(timedelta(seconds=LATE_S - 15))
    await _until(talk.spent)
    assert await talk.spent() == [("2025-05-10", 0, 1)]
    talk.instead = None
    assert await talk.confide() == "That sounds hard."


@pytest.mark.req("BM-118", "BM-123")
async def test_a_linked_bot_spends_what_its_home_may_spend(talk: BotTalk, room: BotRoom) -> None:
    await talk.configure(budget=DAY)
    await talk.chat("linked", bot_id=room.agent("bot_link"))
    talk.model.on(CONFIDE, costing("Yes.", 1_000))
    await talk.begin("t1", chat="linked")
    await talk.begin("t2")
    assert await talk.confide(chat="linked") == "Yes."
    assert await talk.confide("t2") == CALM_ANSWER


@pytest.mark.req("BM-186")
async def test_each_call_is_saved_sealed_with_what_was_asked(talk: BotTalk, room: BotRoom) -> None:
    await room.fact("Write the changelog first.")
    await talk.turn("t1", "We release on Fridays.")
    await talk.learn()
    calls = await talk.calls()
    assert [call.purpose for call in calls] == ["bot.confide", "bot.learn"]
    for call in calls:
        assert (call.state, [one["outcome"] for one in call.attempts]) == ("answered", ["stop"])
        assert call.answer is not None
        assert b"Fridays" not in call.request.data


async def _until(there: Callable[[], Awaitable[object]]) -> None:
    """Let things happen until something is there, or until nothing is under way that could bring it."""
    beside = asyncio.all_tasks()
    while beside and not await there():
        await asyncio.sleep(0)
        beside = asyncio.all_tasks() - {asyncio.current_task()}
    assert await there(), "it never came"
