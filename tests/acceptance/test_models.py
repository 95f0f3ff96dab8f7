"""A real llama.cpp server with a small model: the wire, the JSON schema and the failures, and Stage A over it.

What the model says is of no interest; whether it has the form that was asked for, and what happens if it has not, is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dreaming.models.answers import Good, Problem, Unusable, read_answer
from dreaming.models.port import ChatMessage, Finish, ModelAnswer, ModelPort, ModelRequest, Role
from dreaming.models.provider import provider_model
from dreaming.models.wrappers import TimedModel
from dreaming.stage_a.answer import SplitShape
from graph.model.errors import ModelUnavailable
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.learning import ModelCall, ModelProfile, ModelSpending
from graph.model.time import Millis
from tests.support.channel_room import Room, names, shown
from tests.support.held_clock import HeldClock
from tests.support.llama_server import LlamaServer, llama_server, packages_or_skip
from tests.support.world import TeamWorld

LINES = ["The release goes out on Friday.", "Ana tests it on Thursday.", "Good."]


@pytest.fixture(scope="module")
def llama() -> Iterator[LlamaServer]:
    with llama_server(packages_or_skip()) as server:
        yield server


@pytest.fixture(params=["embedded"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


def model_of(server: LlamaServer, path: str = "") -> ModelPort:
    profile = ModelProfile(
        id=NodeId("mpr_light"),
        workspace=WorkspaceId("w"),
        created_at=Millis(0),
        name="light",
        provider="openai",
        model="small",
        base_url=f"{server.base_url}{path}",
    )
    return provider_model(profile, lambda credential: None)


def question(text: str, **values: Any) -> ModelRequest:
    return ModelRequest(
        **{"purpose": "test", "prompt": "test@1", "messages": (ChatMessage(role=Role.USER, text=text),), **values}
    )


def split_of(ids: list[str]) -> dict[str, Any]:
    """Return the schema of one short episode of just these messages: what is left to say is its text."""
    text = {"type": "string", "minLength": 1, "maxLength": 30}
    fields: dict[str, Any] = {
        "topic": text,
        "summary": text,
        "questions": {"type": "array", "items": text, "minItems": 1, "maxItems": 1},
        "conclusions": {"type": "array", "items": text, "maxItems": 0},
        "systems": {"type": "array", "items": text, "maxItems": 0},
        "sideTopic": {"type": "boolean"},
        "messageIds": {"const": ids},
    }
    episode = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    parts = {
        "episodes": {"type": "array", "items": episode, "minItems": 1, "maxItems": 1},
        "skipped": {"const": []},
        "open": {"const": []},
    }
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}


@dataclass(kw_only=True)
class Narrowed:
    """Asks for the form of an answer more closely than Stage A does, so that a very small model can fill it.

    Attributes:
        tokens: so many the answer may have; one for each try, the last for all others.
    """

    inner: ModelPort
    tokens: list[int]
    asked: list[ModelRequest]
    name: str = "openai:small"

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        self.asked.append(request)
        most = self.tokens.pop(0) if len(self.tokens) > 1 else self.tokens[0]
        ids = [message["id"] for message in shown(request)]
        return await self.inner.complete(replace(request, schema=split_of(ids), max_output_tokens=most))


async def test_an_answer_comes_over_the_wire_with_its_usage(llama: LlamaServer) -> None:
    answer = await model_of(llama).complete(question("Say hello.", max_output_tokens=4))
    assert answer.text
    assert (answer.finish, answer.output_tokens) == (Finish.LENGTH, 4)
    assert answer.input_tokens > 4


async def test_the_server_holds_the_model_to_the_schema(llama: LlamaServer) -> None:
    request = question("m1: Ana met Ben. m2: They had tea.", schema=split_of(["m1", "m2"]), max_output_tokens=300)
    read = read_answer(await model_of(llama).complete(request), SplitShape)
    assert isinstance(read, Good)
    assert read.value.episodes[0].message_ids == ["m1", "m2"]


async def test_an_answer_cut_by_its_limit_is_recognised(llama: LlamaServer) -> None:
    request = question("m1: Ana met Ben.", schema=split_of(["m1"]), max_output_tokens=12)
    assert read_answer(await model_of(llama).complete(request), SplitShape) == Unusable(
        problem=Problem.CUT, errors=("the answer ended before it was complete",)
    )


@pytest.mark.parametrize(
    ("path", "text", "reason"),
    [("/elsewhere", "Say hello.", "http_404"), ("", "tea " * 6_000, "http_4xx")],
    ids=["wrong address", "longer than it reads"],
)
async def test_a_question_that_the_server_refuses_has_a_reason(
    llama: LlamaServer, path: str, text: str, reason: str
) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        await model_of(llama, path).complete(question(text))
    assert caught.value.reason == reason


@pytest.mark.req("DR-11", "DR-22", "DR-25")
async def test_stage_a_writes_episodes_with_a_real_model(
    llama: LlamaServer, world: TeamWorld, clock: HeldClock
) -> None:
    room = await Room(world, clock).make()
    room.instead = model = Narrowed(inner=model_of(llama), tokens=[200], asked=[])
    said = await room.talk(LINES)
    assert await room.quiet() == ["done"]
    (episode,) = await room.episodes()
    assert episode.topic
    assert len(episode.summary) <= 30
    progress = await room.progress()
    assert progress is not None
    assert progress.cursor == len(said)
    (call,) = await room.all(ModelCall)
    assert (call.state, call.finish) == ("answered", "stop")
    assert call.input_tokens > 500
    assert len(model.asked) == 1
    assert await room.quiet() == []


@pytest.mark.req("DR-79")
async def test_after_a_cut_answer_a_real_model_is_asked_for_less(
    llama: LlamaServer, world: TeamWorld, clock: HeldClock
) -> None:
    room = await Room(world, clock).make()
    room.instead = model = Narrowed(inner=model_of(llama), tokens=[12, 200], asked=[])
    await room.talk(LINES[:2])
    assert await room.quiet() == ["done"]
    assert [[line["id"] for line in shown(request)] for request in model.asked] == [names(1, 2), ["m1"], ["m1"]]
    assert [line["text"] for line in shown(model.asked[-1])] == LINES[1:2]
    assert len(await room.episodes()) == 2


@pytest.mark.req("DR-26", "DR-27")
async def test_a_server_that_dies_in_its_answer_loses_nothing(world: TeamWorld, clock: HeldClock) -> None:
    room = await Room(world, clock).make()
    with llama_server(packages_or_skip()) as server:
        room.instead = model_of(server)
        await room.talk(LINES)
        dreaming = asyncio.create_task(room.quiet())
        await server.begins_to_answer()
        server.kill()
        assert await dreaming == ["failed"]
    assert (await room.job()).last_error == "MODEL_NETWORK"
    (call,) = await room.all(ModelCall)
    assert (call.state, [attempt["outcome"] for attempt in call.attempts]) == ("failed", ["network"])
    (spending,) = await room.all(ModelSpending)
    assert (spending.calls, spending.failed_calls) == (1, 1)
    assert await room.episodes() == []
    assert (await room.progress()).cursor == 0  # type: ignore[union-attr]


async def test_a_server_that_is_too_slow_is_given_up(llama: LlamaServer) -> None:
    slow = TimedModel(inner=model_of(llama), seconds=0.05)
    with pytest.raises(ModelUnavailable) as caught:
        await slow.complete(question("Tell a very long story.", max_output_tokens=400))
    assert caught.value.reason == "timeout"
    assert (await model_of(llama).complete(question("Say hello.", max_output_tokens=2))).output_tokens == 2
