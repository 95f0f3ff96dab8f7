"""Wrappers, recordings and prices."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dreaming.models.making import ProfileModels
from dreaming.models.port import ChatMessage, Finish, ModelAnswer, ModelRequest, Role
from dreaming.models.prices import priced_by
from dreaming.models.recorded import RecordedModel, RecordingModel, load_recordings
from dreaming.models.scripted import NothingScripted, ScriptedModel, cut, fails
from dreaming.models.wrappers import LimitedModel, MeteredModel
from graph.model.errors import ModelUnavailable, ProfileUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import ModelProfile
from graph.model.time import Millis
from graph.services.deps import NoFigures


class Counting(NoFigures):
    """Keeps what is counted."""

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, str]] = Counter()

    def count(self, name: str, value: int = 1, **labels: str) -> None:
        self.counts[name, ",".join(labels.values())] += value


def _request(text: str = "canary", purpose: str = "test") -> ModelRequest:
    return ModelRequest(purpose=purpose, prompt="test@1", messages=(ChatMessage(role=Role.USER, text=text),))


def _profile(**values: Any) -> ModelProfile:
    defaults: dict[str, Any] = {"name": "light", "provider": "openai", "model": "gpt-4o-mini"}
    return ModelProfile(id=NodeId("mpr_1"), workspace=WorkspaceId("w"), created_at=Millis(0), **{**defaults, **values})


async def test_only_so_many_calls_run_at_once() -> None:
    running, most = 0, 0

    class Watches:
        name = "watches"

        async def complete(self, request: ModelRequest) -> ModelAnswer:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0)
            running -= 1
            return ModelAnswer(text="")

    model = LimitedModel(inner=Watches(), turns=asyncio.Semaphore(2))
    await asyncio.gather(*(model.complete(_request()) for _ in range(9)))
    assert most == 2


@pytest.mark.req("BM-134", "BM-135")
async def test_usage_that_was_not_reported_has_no_price() -> None:
    told, untold = ModelAnswer(text="a"), ModelAnswer(text="b", usage_reported=False)
    inner = ScriptedModel().on("test", told, untold)
    model = MeteredModel(inner=inner, figures=NoFigures(), priced=lambda _: 7)
    assert [(await model.complete(_request())).cost_micro_usd for _ in range(2)] == [7, None]


async def test_calls_failures_tokens_and_cost_are_counted_without_content() -> None:
    answer = ModelAnswer(text="canary", input_tokens=10, output_tokens=5)
    figures = Counting()
    model = MeteredModel(
        inner=ScriptedModel().on("test", *fails("timeout"), answer), figures=figures, priced=lambda _: 7
    )
    with pytest.raises(ModelUnavailable):
        await model.complete(_request())
    assert (await model.complete(_request())).cost_micro_usd == 7
    assert figures.counts == {
        ("model_calls", "test,timeout"): 1,
        ("model_calls", "test,stop"): 1,
        ("model_input_tokens", "test"): 10,
        ("model_output_tokens", "test"): 5,
        ("model_cost_micro_usd", "test"): 7,
    }


@pytest.mark.parametrize(
    ("profile", "cost"),
    [
        (_profile(prices={"input": 0.15, "output": 0.6}), 1_000 * 0.15 + 100 * 0.6),
        (_profile(), 210),
        (_profile(model="nonesuch"), None),
        (_profile(base_url="http://127.0.0.1:1/v1"), None),
    ],
    ids=["own", "listed", "unknown", "elsewhere"],
)
def test_cost_is_known_by_profile_or_list_or_not_at_all(profile: ModelProfile, cost: float | None) -> None:
    assert priced_by(profile)(ModelAnswer(text="", input_tokens=1_000, output_tokens=100)) == cost


async def test_recording_is_played_back_for_the_same_request_alone(tmp_path: Path) -> None:
    told = cut("half", model="m")
    recorder = RecordingModel(inner=ScriptedModel().on("test", told))
    await recorder.complete(_request("a"))
    recorder.save(tmp_path / "answers.json")
    model = RecordedModel(answers=load_recordings((tmp_path / "answers.json").read_text(encoding="utf-8")))
    assert await model.complete(_request("a", purpose="another name for it")) == told
    with pytest.raises(ModelUnavailable) as caught:
        await model.complete(_request("b"))
    assert caught.value.reason == "not_recorded"


async def test_script_is_followed_line_by_line() -> None:
    model = ScriptedModel().on("test", "one", {"two": 2}).on(lambda r: "b" in r.messages[0].text, "other")
    said = [(await model.complete(_request(text))).text for text in ("a", "b", "a", "a")]
    assert said == ["one", "other", '{"two": 2}', '{"two": 2}']
    assert len(model.asked_for("te*")) == 4
    with pytest.raises(NothingScripted):
        await model.complete(_request(purpose="unheard of"))


@pytest.mark.req("DR-9")
async def test_scripted_model_can_do_whatever_a_provider_can() -> None:
    model = ScriptedModel().on(
        "test", "text", cut("ha"), ModelAnswer(text="", finish=Finish.REFUSED), *fails("http_429")
    )
    finishes = [(await model.complete(_request())).finish for _ in range(3)]
    assert finishes == [Finish.STOP, Finish.LENGTH, Finish.REFUSED]
    with pytest.raises(ModelUnavailable):
        await model.complete(_request())


def test_model_is_made_once_a_version_of_its_profile() -> None:
    models = ProfileModels(credentials=lambda name: "key", figures=NoFigures())
    first = models(_profile(credential="env:X_API_KEY"))
    assert models(_profile(credential="env:X_API_KEY")) is first
    assert models(_profile(credential="env:X_API_KEY", version=2)) is not first


def test_unusable_profile_is_looked_at_again() -> None:
    keys: dict[str, str] = {}
    models = ProfileModels(credentials=keys.get, figures=NoFigures())
    profile = _profile(credential="env:X_API_KEY")
    with pytest.raises(ProfileUnavailable):
        models(profile)
    keys["env:X_API_KEY"] = "key"
    assert models(profile).name == "openai:gpt-4o-mini"


def test_fingerprint_sees_what_the_model_sees() -> None:
    assert _request("a").fingerprint != _request("b").fingerprint
    assert _request("a", purpose="x").fingerprint == _request("a", purpose="y").fingerprint
