"""From a job to a provider and back: profile, credential, request, saved answer, cost."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from dreaming.asking import ask
from dreaming.jobs import WorkContext
from dreaming.light_model import light_model
from dreaming.models.making import ProfileModels
from dreaming.models.port import ChatMessage, ModelRequest, Role
from graph.model.access import SystemScope
from graph.model.nodes.learning import ModelCall, ModelSpending
from graph.rules.jobs import JobState
from graph.services.access.commands import command
from graph.services.deps import NoFigures
from graph.services.learning.profiles import set_model_profile
from graph.store.query import Find
from tests.support.held_clock import HeldClock
from tests.support.model_server import ModelServer, Reply
from tests.support.working import Workshop
from tests.support.world import TeamWorld


class Names(BaseModel):
    """The shape that is asked for."""

    names: list[str]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server


@pytest.fixture
def engine() -> str:
    return "memory"


async def _names(work: WorkContext) -> Any:
    request = ModelRequest(
        purpose="names",
        prompt="names@1",
        messages=(ChatMessage(role=Role.USER, text="who is there?"),),
        schema=Names.model_json_schema(),
    )
    return (await ask(work, await light_model(work), "names", request, Names)).names


@pytest.mark.req("AD-18", "DR-6", "DR-27")
async def test_slow_down_then_fenced_json(world: TeamWorld, server: ModelServer, clock: HeldClock) -> None:
    await command(
        world.deps,
        world.caller(world.dan),
        lambda cmd: set_model_profile(
            cmd,
            "light",
            provider="openai",
            model="small",
            base_url=f"{server.url}/v1",
            credential="env:TEST_API_KEY",
            prices={"input": 1, "output": 10},
        ),
    )
    server.replies = [
        Reply(status=429, headers={"retry-after": "400"}),
        Reply(text=f"<think>hm</think>\n```json\n{json.dumps({'names': ['Ana']})}\n```"),
    ]
    models = ProfileModels(credentials={"env:TEST_API_KEY": "key"}.get, figures=NoFigures())
    shop = Workshop(world, models=models)
    await shop.ask()
    worker = shop.worker(_names)
    await worker.step()
    waiting = await shop.job()
    assert (waiting.last_error, waiting.due_at) == ("MODEL_HTTP_429", clock.now() + 400_000)
    clock.advance(timedelta(seconds=400))
    await worker.step()
    done = await shop.job()
    assert (done.state, done.result) == (JobState.SUCCEEDED, ["Ana"])
    async with world.deps.store.reading() as reader:
        (call,) = (await reader.find(SystemScope(reason="test"), Find(kind=ModelCall))).nodes
        (spending,) = (await reader.find(SystemScope(reason="test"), Find(kind=ModelSpending))).nodes
    assert [attempt["outcome"] for attempt in call.attempts] == ["http_429", "stop"]
    assert (call.model, call.cost_micro_usd) == ("small-1", 11 + 30)
    assert (spending.calls, spending.failed_calls, spending.cost_micro_usd) == (2, 1, 41)
