"""The sample dreams: once, with recorded answers that say so, and with a real model if the environment names one."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports, make_deps
from api.cli.model_choice import ModelChoice, light_name, real_models, set_light
from api.sample.dreaming import KINDS, NIGHT, NightClock, dream, what_was_dreamed
from api.sample.load import SampleLoader
from api.sample.recording import RECORDED, Recording, SampleModel, known_of, load_recordings, names_in, sample_model
from api.sample.story import load_story
from api.settings import Settings
from dreaming.models.making import OneModel
from dreaming.models.port import ModelAnswer, ModelPort, ModelRequest
from dreaming.prompts import load_prompt
from dreaming.worker import LOOKOUTS
from graph.model.access import SystemScope
from graph.model.nodes.knowledge import BlockVersion, Entry, ModifierKind
from graph.model.nodes.learning import DreamBatch, DreamRun, Lesson, MemoLine, ModelCall, ModelSpending
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.services.access.workspaces import NewWorkspace, init_workspace
from graph.services.deps import Deps
from graph.store.query import Find
from tests.support.model_server import ModelServer, Reply

RECORDINGS = load_recordings()
LOOK = SystemScope(reason="test")
RE_RECORD = (
    "the prompt {now} is not the one that {file} answers: read what it asks now, write the answers anew where they no "
    "longer fit, and note the new version there"
)


@dataclass(kw_only=True)
class Counted:
    """Passes on and counts."""

    inner: ModelPort
    calls: int = 0

    @property
    def name(self) -> str:
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.calls += 1
        return await self.inner.complete(request)


@dataclass(kw_only=True)
class Told:
    """The sample in a store, before or after its night."""

    deps: Deps
    made: NewWorkspace
    loader: SampleLoader

    def model(self, recordings: tuple[Recording, ...] = RECORDINGS) -> Counted:
        return Counted(inner=sample_model(self.loader.story, recordings))

    async def all(self, kind: type[Any]) -> list[Any]:
        async with self.deps.store.reading() as reader:
            return list((await reader.find(LOOK, Find(kind=kind))).nodes)


@pytest.fixture
async def told(tmp_path: Path) -> Told:
    settings = Settings.model_validate({"data_dir": tmp_path, "store": {"url": "memory:"}})
    deps = make_deps(settings, Ports(blobs=open_blobs("memory:///")))
    await deps.store.open()
    made = await init_workspace(deps, "main")
    loader = SampleLoader(deps=deps, made=made)
    await loader.load()
    return Told(deps=deps, made=made, loader=loader)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda r: str(r.prompt))
def test_recorded_answers_are_those_of_the_prompts_in_use(recording: Recording) -> None:
    parts = [part.partition("@")[0] for part in recording.prompt.split("+")]
    now = "+".join(load_prompt(name).id for name in parts)
    assert recording.prompt == now, RE_RECORD.format(now=now, file=f"api/sample/dreams/{parts[0]}.json")


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda r: str(r.prompt))
def test_recorded_answers_speak_of_their_own_knowledge_base(recording: Recording) -> None:
    pools = known_of(load_story()).pools
    for one in recording.answers:
        named = [name for name in names_in(one.answer) if name.startswith("message:")]
        assert {pools.get(name, name) for name in named} <= {one.pool, "shared"}


@pytest.mark.req("AD-43", "DR-22")
def test_the_recorded_diary_puts_every_message_of_the_story_in_its_place_once() -> None:
    pools = {name: pool for name, pool in known_of(load_story()).pools.items() if name.startswith("message:")}
    (diary,) = (r for r in RECORDINGS if r.purpose == "stage_a.split")
    for one in diary.answers:
        placed = [name for part in one.answer["episodes"] for name in names_in(part["messageIds"])]
        placed += [*names_in(one.answer["skipped"]), *names_in(one.answer["open"])]
        assert sorted(placed) == sorted(name for name, pool in pools.items() if pool == one.pool)


@pytest.mark.req("AD-43")
async def test_the_sample_dreams_with_recorded_answers_that_are_marked_as_such(told: Told) -> None:
    model = told.model()
    assert await dream(told.deps, OneModel(model=model)) == ()
    agent = told.loader.principal("kettle")
    dreamed = await what_was_dreamed(told.deps, agent, model.name)
    assert (dreamed.model, dreamed.episodes, dreamed.operations) == (RECORDED, 25, 18)
    assert (dreamed.skill_updates, dreamed.rejected) == (1, 1)
    runs = await told.all(DreamRun)
    assert {(run.model, run.state) for run in runs} == {(RECORDED, "succeeded")}
    assert {run.started_at for run in runs} == {NIGHT}
    (rejected,) = [one for batch in await told.all(DreamBatch) for one in batch.rejections or ()]
    assert (rejected["op"], rejected["code"]) == ("addRelation", "QUOTE_NOT_VERBATIM")
    calls = await told.all(ModelCall)
    assert {call.model for call in calls} == {RECORDED}
    assert sum(spending.cost_micro_usd for spending in await told.all(ModelSpending)) == 0


@pytest.mark.req("AD-43")
async def test_the_night_brings_every_kind_of_change(told: Told) -> None:
    await dream(told.deps, OneModel(model=told.model()))
    dreamed = [v for v in await told.all(BlockVersion) if v.modifier_kind == ModifierKind.DREAMING]
    assert {version.standing for version in dreamed} == {"settled", "corrected", "inferred"}
    old = [v for v in await told.all(BlockVersion) if v.text.startswith("Tea importer with three people")]
    assert any(version.valid_to is not None for version in old), "what evolves ends, and stays told as the past"
    (lesson,) = await told.all(Lesson)
    assert lesson.origin == "human_correction"
    assert len(await told.all(MemoLine)) == 3
    assert "Emre Yilmaz" in {entry.name for entry in await told.all(Entry)}


@pytest.mark.req("AD-43", "DR-4")
async def test_a_second_night_asks_nobody_and_changes_nothing(told: Told) -> None:
    await dream(told.deps, OneModel(model=told.model()))
    before = [await told.all(kind) for kind in (DreamRun, ModelCall, Job)]
    again = told.model()
    assert await dream(told.deps, OneModel(model=again)) == ()
    assert again.calls == 0
    assert [await told.all(kind) for kind in (DreamRun, ModelCall, Job)] == before


@pytest.mark.req("AD-43", "DR-4")
async def test_a_server_that_starts_later_finds_nothing_to_dream_about(told: Told) -> None:
    await dream(told.deps, OneModel(model=told.model()))

    class MuchLater(NightClock):
        def now(self) -> Millis:
            return Millis(NIGHT + 100 * 86_400_000)

    before = await told.all(Job)
    for kind in KINDS:
        if kind in LOOKOUTS:
            await LOOKOUTS[kind](replace(told.deps, clock=MuchLater()))
    assert await told.all(Job) == before


async def test_an_answer_to_another_version_of_a_prompt_is_never_given(told: Told) -> None:
    older = tuple(r.model_copy(update={"prompt": f"{r.prompt}0"}) for r in RECORDINGS)
    unfinished = await dream(told.deps, OneModel(model=told.model(older)))
    assert unfinished == ("MODEL_NOT_RECORDED",) * 6, "three channels and three documents"
    failed = [job for job in await told.all(Job) if job.kind == "stage_a"]
    assert {job.last_error for job in failed} == {"MODEL_NOT_RECORDED"}
    assert (await what_was_dreamed(told.deps, told.loader.principal("kettle"), "x")).episodes == 0


async def test_an_answer_that_speaks_of_what_is_not_shown_is_never_given(told: Told) -> None:
    other = told.model()
    assert isinstance(other.inner, SampleModel)
    texts = {**other.inner.known.texts, "message:t054": "something else"}
    other.inner = replace(other.inner, known=replace(other.inner.known, texts=texts))
    assert "MODEL_NOT_RECORDED" in await dream(told.deps, OneModel(model=other))


async def test_a_model_that_never_answers_does_not_hold_up_the_start(told: Told) -> None:
    async with ModelServer(replies=[Reply(hangs=True)]) as server:
        choice = ModelChoice(provider="openai", model="small", base_url=f"{server.url}/v1")
        await set_light(told.deps, told.made.caller, choice)
        unfinished = await dream(told.deps, real_models(told.deps, {}), limit_s=0.5)
    assert set(unfinished) == {"queued"}, "handed back, and nothing counts as failed"
    assert all(job.lease_until is None for job in await told.all(Job))


def one_episode_of_all(body: Any) -> str:
    """Answer like a model that makes one episode of whatever it is shown."""
    asked = str(body["messages"][-1]["content"])
    shown = [json.loads(line)["id"] for line in asked.splitlines() if line.startswith("{")]
    episode = {"topic": "t", "summary": "s", "questions": ["q"], "conclusions": [], "systems": [], "sideTopic": False}
    return json.dumps({"episodes": [{**episode, "messageIds": shown}], "skipped": [], "open": []})


@pytest.mark.req("AD-43", "AD-45")
@pytest.mark.parametrize(
    ("says", "episodes", "unfinished"),
    [(one_episode_of_all, 3, set()), ("no", 0, {"MODEL_ANSWER_NO_JSON"})],
    ids=["good", "bad"],
)
async def test_with_a_model_in_the_environment_the_sample_dreams_with_it(
    told: Told, says: str | Callable[[Any], str], episodes: int, unfinished: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("api.sample.dreaming.KINDS", ("stage_a",))
    async with ModelServer(replies=[Reply(text=says)]) as server:
        choice = ModelChoice(
            provider="openai", model="small", base_url=f"{server.url}/v1", credential="env:ROOTWARD_MODEL_OPENAI_KEY"
        )
        await set_light(told.deps, told.made.caller, choice)
        assert await light_name(told.deps) == "openai:small"
        models = real_models(told.deps, {"ROOTWARD_MODEL_OPENAI_KEY": "key-canary"})
        assert set(await dream(told.deps, models)) == unfinished
        assert {headers["authorization"] for _, headers, _ in server.asked} == {"Bearer key-canary"}
    dreamed = await what_was_dreamed(told.deps, told.loader.principal("kettle"), choice.name)
    assert dreamed.episodes == episodes
    assert {run.model for run in await told.all(DreamRun)} == {"openai:small"}
