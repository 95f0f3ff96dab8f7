"""A first start dreams and says so; with a model in the environment it asks that one; runs can be looked at."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from api.bootstrap import Ports, make_deps, running
from api.cli.first_start import FirstStart, prepare
from api.cli.model_choice import light_name
from api.cli.places import read_sample
from api.cli.welcome import welcome
from api.settings import Settings
from graph.model.access import SystemScope
from graph.model.errors import BadInput
from graph.model.nodes.learning import DreamRun, ModelCall
from graph.store.query import Find
from tests.api.cli.support import Cli, Server
from tests.support.model_server import ModelServer, Reply

LOOK = SystemScope(reason="test")


@pytest.mark.req("AD-43", "AD-44")
def test_a_start_says_what_was_dreamed_and_that_no_model_was_asked(sample: Server) -> None:
    assert "25 episodes of talk, 18 statements written or changed, 1 lesson learned" in sample.said
    assert "1 proposal of the model rejected" in sample.said
    assert "recorded beforehand (written by hand); no model was asked" in sample.said
    assert "some was learned while dreaming" in sample.said


@pytest.mark.req("DR-54", "DR-80", "AD-43")
def test_the_runs_are_shown_with_what_was_refused_and_why(sample: Server) -> None:
    shown = sample.cli.ok("dreams", "--as", "jonas")
    assert "stage B, scheduled, succeeded" in shown
    assert "stage A of tea-room, scheduled, succeeded" in shown
    assert shown.count("stage B, material, succeeded") == 3
    assert "asked recorded:sample" in shown
    assert "refused addRelation [QUOTE_NOT_VERBATIM]: quote 4 to 500 characters exactly" in shown
    assert "mei-private" not in shown


@pytest.mark.req("DR-6", "DR-32")
def test_a_run_that_is_asked_for_with_nothing_new_asks_no_model(sample: Server) -> None:
    before = sample.cli.ok("dreams", "--as", "mei").count("recorded:sample")
    shown = sample.cli.ok("dreams", "--as", "jonas", "--run")
    assert "A run of Stage B is asked for" in shown
    assert sample.cli.ok("dreams", "--as", "mei").count("recorded:sample") == before


def answers(body: Any) -> str:
    """Answer like a model that makes one episode of everything, and then finds nothing worth keeping."""
    asked = str(body["messages"][-1]["content"])
    rows = [json.loads(line) for line in asked.splitlines() if line.startswith("{")]
    if "## Items" in asked:
        return json.dumps({"expand": [], "entries": [], "skills": [], "skip": []})
    if "## Evidence" in asked:
        return json.dumps({"operations": []})
    episode = {"topic": "t", "summary": "s", "questions": ["q"], "conclusions": [], "systems": [], "sideTopic": False}
    return json.dumps({"episodes": [{**episode, "messageIds": [row["id"] for row in rows]}], "skipped": [], "open": []})


async def started(data_dir: Path, **environ: str) -> tuple[Settings, str | None, list[Any], list[Any]]:
    """Make a first start and return settings, the model of `light`, the runs and the calls of models."""
    settings = Settings.model_validate({"data_dir": data_dir})
    assert await prepare(settings, FirstStart(sample=True, environ=environ))
    deps = make_deps(settings, Ports())
    async with running(deps):
        light = await light_name(deps)
        async with deps.store.reading() as reader:
            runs = (await reader.find(LOOK, Find(kind=DreamRun))).nodes
            calls = (await reader.find(LOOK, Find(kind=ModelCall))).nodes
    return settings, light, list(runs), list(calls)


@pytest.mark.req("AD-43", "AD-45")
async def test_with_a_model_in_the_environment_the_first_start_dreams_with_it(tmp_path: Path) -> None:
    async with ModelServer(replies=[Reply(text=answers)]) as server:
        named = {"ROOTWARD_MODEL_URL": f"{server.url}/v1", "ROOTWARD_MODEL_NAME": "small"}
        settings, light, runs, calls = await started(tmp_path / "data", **named)
        assert len(server.asked) == len(calls)
    assert light == "openai:small"
    assert {run.model for run in runs} == {"openai:small"}
    assert {run.state for run in runs} == {"succeeded"}
    said = "\n".join(welcome(settings, "http://x", environ={}, light=light).lines())
    assert "The model that was asked is openai:small." in said
    assert "Learning from your own text is on: profile `light`, openai:small." in said
    assert "recorded" not in said


@pytest.mark.req("AD-43", "DR-6", "DR-26")
async def test_a_model_that_fails_does_not_stop_the_first_start(tmp_path: Path) -> None:
    async with ModelServer(replies=[Reply(status=401)]) as server:
        named = {"ROOTWARD_MODEL_URL": f"{server.url}/v1", "ROOTWARD_MODEL_OPENAI_KEY": "key-canary"}
        settings, light, runs, _ = await started(tmp_path / "data", **named)
    assert {(run.state, run.error) for run in runs} == {("failed", "MODEL_HTTP_401")}
    assert read_sample(settings.data_dir)["dreamed"]["unfinished"]
    said = "\n".join(welcome(settings, "http://x", environ={}, light=light).lines())
    assert "Not all of it came to an end; the rest is tried again in the background:" in said
    assert "MODEL_HTTP_401: the model's provider does not accept the credential: check the model profile" in said
    shown = await asyncio.to_thread(Cli(data_dir=settings.data_dir).ok, "dreams", "--as", "jonas")
    assert "MODEL_HTTP_401: the model's provider does not accept the credential" in shown
    kept = b"".join(file.read_bytes() for file in settings.data_dir.rglob("*") if file.is_file())
    assert b"key-canary" not in kept


async def test_a_model_that_no_profile_takes_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    settings = Settings.model_validate({"data_dir": tmp_path / "data"})
    with pytest.raises(BadInput) as refused:
        await prepare(settings, FirstStart(sample=True, environ={"ROOTWARD_MODEL_URL": "not an address"}))
    assert refused.value.details["field"] == "baseUrl"
    assert not (settings.data_dir / "rootward.db").exists()


@pytest.mark.req("AD-45")
async def test_the_key_of_another_program_is_not_used(tmp_path: Path) -> None:
    _, light, runs, _ = await started(tmp_path / "data", OPENAI_API_KEY="not for us")
    assert light is None
    assert {run.model for run in runs} == {"recorded:sample"}


def test_the_counts_of_a_start_are_words(sample: Server) -> None:
    assert not re.search(r"\b1 (?:episodes|statements|lessons|proposals)\b", sample.said)


def test_the_counts_of_a_run_are_words(sample: Server) -> None:
    shown = sample.cli.ok("dreams", "--as", "jonas")
    assert "1 operation, 0 lessons" in shown
    assert not re.search(r"\b1 (?:operations|lessons)\b", shown)
