"""Calls that survive their worker, and the budget they are charged to. Bug case 20."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from dreaming.asking import ask
from dreaming.jobs import WorkContext
from dreaming.light_model import light_model
from dreaming.models.port import ChatMessage, Finish, ModelAnswer, ModelPort, ModelRequest, Role
from dreaming.models.scripted import ScriptedModel, cut, fails
from dreaming.saved_calls import saved_call
from graph.model.access import SystemScope
from graph.model.errors import ModelAnswerInvalid, ModelUnavailable, SealBroken, VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.learning import ModelCall, ModelSpending
from graph.rules.jobs import JobState
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.access.settings_write import set_setting
from graph.services.knowledge.erasure import erase
from graph.services.learning.operating import JobView, cancel_job, list_jobs, release_job
from graph.services.learning.profiles import delete_model_profile, set_model_profile
from graph.store.query import Find
from tests.support.held_clock import HeldClock
from tests.support.learning import episode
from tests.support.model_calls import answer_of, request_of
from tests.support.working import Workshop
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import ENGINES

SYSTEM = SystemScope(reason="test")


class Names(BaseModel):
    """The shape that these tests ask for."""

    names: list[str]


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
async def shop(world: TeamWorld, model: ScriptedModel) -> Workshop:
    shop = Workshop(world, models=lambda profile: model)
    await _profile(world)
    return shop


async def _profile(world: TeamWorld) -> None:
    await command(
        world.deps,
        world.caller(world.dan),
        lambda cmd: set_model_profile(cmd, "light", provider="openai", model="small", credential="env:OPENAI_API_KEY"),
    )


async def _set(world: TeamWorld, name: str, value: Any) -> None:
    await command(world.deps, world.caller(world.dan), lambda cmd: set_setting(cmd, name, value, agent_id=world.atlas))


def _request(text: str = "Who is there?", *sources: str) -> ModelRequest:
    return ModelRequest(
        purpose="test.names",
        prompt="test.names@1",
        messages=(ChatMessage(role=Role.USER, text=text),),
        schema=Names.model_json_schema(),
        source_ids=sources,
    )


async def _asks_once(work: WorkContext) -> Any:
    answer = await saved_call(work, await light_model(work), "names", _request())
    return {"text": answer.text}


async def _asks_for_names(work: WorkContext) -> Any:
    names = await ask(work, await light_model(work), "names", _request(), Names)
    return {"names": names.names}


async def _all(shop: Workshop, kind: type[Any]) -> tuple[Any, ...]:
    async with shop.world.deps.store.reading() as reader:
        return (await reader.find(SYSTEM, Find(kind=kind))).nodes


async def test_call_is_saved_with_its_attempt_before_the_model_is_asked(shop: Workshop, model: ScriptedModel) -> None:
    await shop.ask()
    begun, go = asyncio.Event(), asyncio.Event()

    class Waits:
        name = "waits"

        async def complete(self, request: ModelRequest) -> ModelAnswer:
            begun.set()
            await go.wait()
            return ModelAnswer(text="late", input_tokens=7, output_tokens=2, model="waits-1")

    waits: ModelPort = Waits()
    shop.models = lambda profile: waits
    step = asyncio.ensure_future(shop.worker(_asks_once).step())
    await begun.wait()
    (call,) = await _all(shop, ModelCall)
    assert (call.state, call.answer, [a["outcome"] for a in call.attempts]) == ("asked", None, ["asked"])
    go.set()
    await step
    (call,) = await _all(shop, ModelCall)
    assert (call.state, call.input_tokens, call.output_tokens) == ("answered", 7, 2)
    assert answer_of(shop.world.deps, call) == "late"
    assert [a["outcome"] for a in call.attempts] == ["stop"]


@pytest.mark.req("BM-186", "BM-187")
async def test_what_is_asked_and_answered_is_kept_sealed_and_for_its_call_alone(
    shop: Workshop, model: ScriptedModel
) -> None:
    model.on("test.names", "a canary")
    await shop.ask()
    await shop.worker(_asks_once).step()
    (call,) = await _all(shop, ModelCall)
    deps = shop.world.deps
    assert json.loads(str(request_of(deps, call))) == [["user", "Who is there?"]]
    assert answer_of(deps, call) == "a canary"
    kept = call.request.data + call.answer.data
    assert b"canary" not in kept
    assert b"Who is" not in kept
    with pytest.raises(SealBroken):
        answer_of(deps, replace(call, answer=call.request))


@pytest.mark.req("BM-186")
async def test_a_request_whose_words_were_erased_before_it_was_made_is_not_kept(shop: Workshop) -> None:
    world = shop.world
    told = await world.say(world.ops, "the canary sings")

    class Fails:
        name = "fails"

        async def complete(self, request: ModelRequest) -> ModelAnswer:
            raise ModelUnavailable("network")

    gone: ModelPort = Fails()
    shop.models = lambda profile: gone
    await shop.ask()

    async def asks(work: WorkContext) -> Any:
        light, since = await light_model(work), work.deps.now()
        await erase(world.deps, world.caller(world.dan), told, "asked to")
        await saved_call(work, light, "late", _request("the canary sings", told), since=since)

    await shop.worker(asks).step()
    (call,) = await _all(shop, ModelCall)
    assert (call.request, call.state) == (None, "failed")


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_restart_uses_the_saved_answer(shop: Workshop, model: ScriptedModel, clock: HeldClock) -> None:
    """The worker dies after the answer was saved and before it was used."""
    model.on("test.names", "first", "second")
    await shop.ask()
    used: list[str] = []

    async def dies_once(work: WorkContext) -> Any:
        answer = await saved_call(work, await light_model(work), "names", _request())
        if not used:
            used.append(answer.text)
            raise asyncio.CancelledError
        used.append(answer.text)

    with pytest.raises(asyncio.CancelledError):
        await shop.worker(dies_once).step()
    await shop.worker(dies_once).step()
    assert used == ["first", "first"]
    assert len(model.asked) == 1


async def test_other_request_under_the_same_key_asks_anew(shop: Workshop, model: ScriptedModel) -> None:
    model.on("test.names", "first", "second")
    await shop.ask()
    got: list[str] = []

    async def asks_twice(work: WorkContext) -> Any:
        light = await light_model(work)
        for text in ("state 1", "state 2", "state 1"):
            got.append((await saved_call(work, light, "names", _request(text))).text)

    await shop.worker(asks_twice).step()
    assert got == ["first", "second", "first"]


async def test_restart_judges_a_bad_answer_again_without_asking_again(
    shop: Workshop, model: ScriptedModel, clock: HeldClock
) -> None:
    """The worker dies between saving a bad answer and asking again."""
    model.on("test.names", "prose", {"names": ["Ana"]})
    await shop.ask()

    async def dies(work: WorkContext) -> Any:
        await saved_call(work, await light_model(work), "names/1", _request())
        raise asyncio.CancelledError

    with pytest.raises(asyncio.CancelledError):
        await shop.worker(dies).step()
    await shop.worker(_asks_for_names).step()
    assert (await shop.job()).result == {"names": ["Ana"]}
    assert len(model.asked) == 2


async def test_nobody_gets_the_saved_answer_of_another_agent_or_workspace(shop: Workshop, model: ScriptedModel) -> None:
    model.on("test.names", "for us", "for them")
    other = Workshop(await TeamWorld(deps=shop.world.deps).make(), models=shop.models)
    await _profile(other.world)
    for one in (shop, other):
        await one.ask()
        await one.worker(_asks_once).step()
    assert ((await shop.job()).result, (await other.job()).result) == ({"text": "for us"}, {"text": "for them"})


async def test_failed_attempts_stay_with_the_call_and_count(
    shop: Workshop, model: ScriptedModel, clock: HeldClock
) -> None:
    model.on("test.names", *fails("http_5xx"), "there")
    await shop.ask()
    await shop.worker(_asks_once).step()
    assert (await shop.job()).last_error == "MODEL_HTTP_5XX"
    clock.advance(timedelta(minutes=1))
    await shop.worker(_asks_once).step()
    (call,) = await _all(shop, ModelCall)
    assert [a["outcome"] for a in call.attempts] == ["http_5xx", "stop"]
    (spending,) = await _all(shop, ModelSpending)
    assert (spending.calls, spending.failed_calls, spending.kind) == (2, 1, "stage_b")


async def test_erasing_a_source_blanks_the_answers_that_had_it(shop: Workshop, model: ScriptedModel) -> None:
    world = shop.world
    told = await world.say(world.ops, "the canary sings")
    other = await world.say(world.ops, "nothing")
    model.on("test.names", "canary")
    await shop.ask()

    async def asks(work: WorkContext) -> Any:
        light = await light_model(work)
        await saved_call(work, light, "with", _request("with", told))
        await saved_call(work, light, "without", _request("without", other))

    await shop.worker(asks).step()
    receipt = await erase(world.deps, world.caller(world.dan), told, "asked to")
    assert receipt.counts["model_calls"] == 1
    calls = {call.source_ids: call for call in await _all(shop, ModelCall)}
    gone, stays = calls[(told,)], calls[(other,)]
    assert (gone.answer, gone.request, gone.state) == (None, None, "erased")
    assert answer_of(world.deps, stays) == "canary"
    assert "without" in str(request_of(world.deps, stays))


async def test_answer_that_comes_after_the_erasure_is_not_kept(shop: Workshop) -> None:
    world = shop.world
    told = await world.say(world.ops, "the canary sings")

    class ErasedMeanwhile:
        name = "slow"

        async def complete(self, request: ModelRequest) -> ModelAnswer:
            await erase(world.deps, world.caller(world.dan), NodeId(request.source_ids[0]), "asked to")
            return ModelAnswer(text="canary", finish=Finish.STOP)

    slow: ModelPort = ErasedMeanwhile()
    shop.models = lambda profile: slow
    await shop.ask()

    async def asks(work: WorkContext) -> Any:
        await saved_call(work, await light_model(work), "with", _request("with", told))

    await shop.worker(asks).step()
    (call,) = await _all(shop, ModelCall)
    assert (call.answer, call.request, call.state) == (None, None, "erased")


@pytest.mark.req("KN-81")
@pytest.mark.parametrize("at", [1, 2])
async def test_answer_about_an_episode_is_not_kept_if_its_message_was_erased_meanwhile(shop: Workshop, at: int) -> None:
    world = shop.world
    told = await world.say(world.ops, "the canary sings")
    shown = await episode(world, "The canary", told)
    answers = iter(['{"names": "canary"}', '{"names": ["canary"]}'])

    class ErasedMeanwhile:
        name = "slow"
        asked = 0

        async def complete(self, request: ModelRequest) -> ModelAnswer:
            self.asked += 1
            if self.asked == at:
                await erase(world.deps, world.caller(world.dan), told, "asked to")
            return ModelAnswer(text=next(answers), finish=Finish.STOP)

    slow: ModelPort = ErasedMeanwhile()
    shop.models = lambda profile: slow
    await shop.ask()

    async def asks(work: WorkContext) -> Any:
        await ask(work, await light_model(work), "names", _request("about it", shown), Names)

    await shop.worker(asks).step()
    calls = await _all(shop, ModelCall)
    assert [(call.answer, call.request, call.state) for call in calls] == [(None, None, "erased")] * 2


@pytest.mark.req("DR-27")
async def test_invalid_answer_is_asked_for_again_once_with_the_errors(shop: Workshop, model: ScriptedModel) -> None:
    model.on("test.names", {"names": "Ana"}, {"names": ["Ana"]})
    await shop.ask()
    await shop.worker(_asks_for_names).step()
    assert (await shop.job()).result == {"names": ["Ana"]}
    first, second = model.asked
    assert second.messages[:1] == first.messages
    assert [message.role for message in second.messages] == [Role.USER, Role.ASSISTANT, Role.USER]
    assert "names: " in second.messages[-1].text


@pytest.mark.req("DR-27")
@pytest.mark.parametrize(("retries", "calls"), [(0, 1), (1, 2), (3, 4)])
async def test_answer_that_stays_invalid_fails_after_as_many_retries_as_set(
    shop: Workshop, model: ScriptedModel, clock: HeldClock, retries: int, calls: int
) -> None:
    await _set(shop.world, "dream.output_retries", retries)
    model.on("test.names", "prose")
    await shop.ask()
    await shop.worker(_asks_for_names).step()
    assert len(model.asked) == calls
    job = await shop.job()
    assert (job.last_error, job.due_at) == ("MODEL_ANSWER_NO_JSON", clock.now() + 60_000)


async def test_cut_answer_is_not_asked_for_again_but_says_to_ask_for_less(shop: Workshop, model: ScriptedModel) -> None:
    model.on("test.names", cut('{"names": ["An'))
    await shop.ask()
    told: list[bool] = []

    async def asks(work: WorkContext) -> Any:
        try:
            await ask(work, await light_model(work), "names", _request(), Names)
        except ModelAnswerInvalid as error:
            told.append(error.was_cut)
            raise

    await shop.worker(asks).step()
    assert (told, len(model.asked), (await shop.job()).last_error) == ([True], 1, "MODEL_ANSWER_CUT")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (Names.model_json_schema(), "MODEL_ANSWER_SCHEMA_ECHO"),
        ('{"names": ["An', "MODEL_ANSWER_CUT"),
        ("", "MODEL_ANSWER_EMPTY"),
        ("no names here", "MODEL_ANSWER_NO_JSON"),
    ],
    ids=["the schema", "half an object", "nothing", "prose"],
)
async def test_work_with_an_unusable_model_fails_with_a_reason_and_is_done_once_it_behaves(
    shop: Workshop, model: ScriptedModel, clock: HeldClock, bad: Any, reason: str
) -> None:
    """Bug case 17: nothing counts as done, and trying again does it once."""
    model.on("test.names", bad)
    await shop.ask()
    worker = shop.worker(_asks_for_names)
    await worker.step()
    job = await shop.job()
    assert (job.state, job.last_error) == (JobState.QUEUED, reason)
    model.on("test.names", f"```json\n{json.dumps({'names': ['Ana']})}\n```")
    clock.advance(timedelta(minutes=1))
    await worker.step()
    assert (await shop.job()).result == {"names": ["Ana"]}
    assert not await worker.step()


@pytest.mark.req("DR-27")
async def test_call_over_its_time_is_a_failure(shop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hangs:
        name = "hangs"

        async def complete(self, request: ModelRequest) -> ModelAnswer:
            await asyncio.Event().wait()
            raise AssertionError

    hangs: ModelPort = Hangs()
    shop.models = lambda profile: hangs
    await shop.ask()

    async def asks(work: WorkContext) -> Any:
        light = await light_model(work)
        light.settings.values["dream.model_timeout_seconds"] = 0.01  # type: ignore[index]  # below what is allowed
        await saved_call(work, light, "names", _request())

    await shop.worker(asks).step()
    assert (await shop.job()).last_error == "MODEL_TIMEOUT"


@pytest.mark.req("DR-6")
async def test_without_the_light_profile_no_run_starts_and_the_job_waits(
    shop: Workshop, model: ScriptedModel, clock: HeldClock
) -> None:
    world = shop.world
    await command(world.deps, world.caller(world.dan), lambda cmd: delete_model_profile(cmd, "light"))
    await shop.ask()
    worker = shop.worker(_asks_once)
    await worker.step()
    job = await shop.job()
    assert (job.state, job.last_error, job.attempts) == (JobState.QUEUED, "light_profile_unavailable", 0)
    assert not model.asked
    assert not await worker.step(), "it waits"
    await _profile(world)
    model.on("test.names", "there")
    assert await worker.step(), "setting the profile wakes it"
    assert (await shop.job()).result == {"text": "there"}


@pytest.mark.req("DR-6")
async def test_profile_that_cannot_be_used_is_reported_like_a_missing_one(shop: Workshop) -> None:
    from dreaming.jobs import no_models

    shop.models = no_models
    await shop.ask()
    await shop.worker(_asks_once).step()
    assert (await shop.job()).last_error == "light_profile_unavailable"


@pytest.mark.req("DR-7")
async def test_disabled_dreaming_asks_nobody_until_it_is_enabled(
    shop: Workshop, model: ScriptedModel, clock: HeldClock
) -> None:
    model.on("test.names", "there")
    await _set(shop.world, "dream.enabled", False)
    await shop.ask()
    worker = shop.worker(_asks_once)
    await worker.step()
    assert ((await shop.job()).last_error, model.asked) == ("DREAMING_DISABLED", [])
    await _set(shop.world, "dream.enabled", True)
    clock.advance(timedelta(minutes=15))
    await worker.step()
    assert len(model.asked) == 1


async def test_used_up_budget_puts_work_off_to_the_next_day(
    shop: Workshop, model: ScriptedModel, clock: HeldClock
) -> None:
    model.on("test.names", "there")
    await _set(shop.world, "dream.daily_tokens", 1)
    await shop.ask()
    await shop.worker(_asks_once).step()
    await shop.ask()
    await _asks_another(shop)
    job = await shop.job()
    assert (job.last_error, job.attempts, len(model.asked)) == ("MODEL_BUDGET_SPENT", 0, 1)
    assert job.due_at == _midnight(clock)
    clock.set(job.due_at)
    await _asks_another(shop)
    assert len(model.asked) == 2


def _midnight(clock: HeldClock) -> int:
    day = 86_400_000
    return (clock.now() // day + 1) * day


async def _asks_another(shop: Workshop) -> None:
    async def asks(work: WorkContext) -> Any:
        await saved_call(work, await light_model(work), "names", _request("something else"))

    await shop.worker(asks).step()


async def _a_day(shop: Workshop, clock: HeldClock, handler: Any) -> None:
    """Let a day go by in which a pass is due every five minutes."""
    worker = shop.worker(handler)
    for _ in range(24 * 12):
        await shop.ask()
        while await worker.step():
            pass
        clock.advance(timedelta(minutes=5))


async def _parked(shop: Workshop) -> tuple[JobView, ...]:
    world = shop.world
    shown, _ = await read(world.deps, world.caller(world.ana), lambda session: list_jobs(session, states=["parked"]))
    return shown


async def test_model_that_always_times_out_costs_little_and_is_seen_and_can_be_cancelled(
    shop: Workshop, model: ScriptedModel, clock: HeldClock
) -> None:
    """Bug case 20 B."""
    model.on("test.names", *fails("timeout"))
    clock.set("2025-05-10T00:00:00Z")
    await _a_day(shop, clock, _asks_once)
    assert len(model.asked) <= 16, "back-off, whatever becomes due"
    (spending,) = await _all(shop, ModelSpending)
    assert (spending.calls, spending.failed_calls) == (len(model.asked), len(model.asked))
    (seen,) = await _parked(shop)
    assert (seen.kind, seen.state, seen.reason) == ("stage_b", "parked", "MODEL_TIMEOUT")
    world = shop.world
    gone = await command(world.deps, world.caller(world.ana), lambda cmd: cancel_job(cmd, seen.id, "wait_for_provider"))
    assert (gone.state, gone.reason) == ("cancelled", "wait_for_provider")
    asked = len(model.asked)
    clock.advance(timedelta(days=1))
    assert not await shop.worker(_asks_once).step()
    assert len(model.asked) == asked


async def test_answers_that_are_always_stale_stay_within_the_cap(
    shop: Workshop, model: ScriptedModel, clock: HeldClock
) -> None:
    """Bug case 20 C."""
    await _set(shop.world, "dream.daily_calls", 5)
    model.on("test.names", "there")
    clock.set("2025-05-10T00:00:00Z")

    async def stale(work: WorkContext) -> Any:
        light = await light_model(work)
        for number in range(3):
            await saved_call(work, light, "names", _request(f"state {work.deps.now()} {number}"))
        raise VersionConflict("it has changed", current=None)

    await _a_day(shop, clock, stale)
    assert len(model.asked) == 5
    assert (await _all(shop, ModelSpending))[0].calls == 5


async def test_released_work_begins_afresh(shop: Workshop, model: ScriptedModel, clock: HeldClock) -> None:
    await shop.ask("close_sandbox")
    model.on("test.names", *fails("timeout"))
    worker = shop.worker(_asks_once, "close_sandbox")
    for _ in range(3):
        await worker.step()
        clock.advance(timedelta(hours=2))
    (seen,) = await _parked(shop)
    assert (seen.reason, seen.next_try_at) == ("MODEL_TIMEOUT", None)
    world = shop.world
    await command(world.deps, world.caller(world.ana), lambda cmd: release_job(cmd, seen.id))
    model.on("test.names", "there")
    assert await worker.step()
    assert (await shop.job("close_sandbox")).state == JobState.SUCCEEDED
