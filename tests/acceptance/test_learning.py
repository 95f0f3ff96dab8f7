"""Acceptance example 18 with a worker: a task that failed is tried again without a new upload, and is learned."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import pytest

from dreaming.models.port import ModelRequest
from dreaming.models.scripted import fails
from graph.model.nodes.knowledge import KbKind
from graph.services.learning.profiles import set_model_profile
from tests.acceptance.stage import Stage
from tests.api.adapters.files import pdf
from tests.api.conftest import ENGINES
from tests.support.held_clock import HeldClock
from tests.support.operations import block, cite, create
from tests.support.study import CREDENTIAL, Study, lines, name_of
from tests.unit.graph.services.asking import run

pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]

SUBMIT = """
mutation($owner: ID!, $kb: ID!, $file: Upload!) {
  submitFile(ownerId: $owner, kbId: $kb, file: $file) { id state source { id downloadPath } }
}
"""
MATERIALS = "query($owner: ID!) { materials(ownerId: $owner) { edges { node { id state code } } } }"
RETRY = "mutation($id: ID!) { retryLearning(materialId: $id) { state } }"
REPLACE = "mutation($id: ID!, $file: Upload!) { replaceMaterial(id: $id, file: $file) { id state source { id } } }"
ENTRY = """
query($owner: ID!) {
  entries(ownerId: $owner, filter: {text: "Orion"}) { edges { node { id name
    blocks { id current { id text stale modifier { displayName } citations { quote source { id } } } } } } }
}
"""
PDF = pdf("Orion ships in May.")


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


def orion(request: ModelRequest) -> dict[str, Any]:
    content = block("Orion ships in May.", cite(name_of(request, kind="file"), "Orion ships in May"))
    return {"operations": [create("Orion", content, type="project")]}


def orion_in_june(request: ModelRequest) -> dict[str, Any]:
    (entry,) = [line for line in lines(request) if line.get("name") == "Orion"]
    (old,) = entry["blocks"]
    assert old["stale"] is True
    again = [cite(one["source"], one["quote"]) for one in old["sources"]]
    new = cite(name_of(request, kind="file"), "Orion ships in June")
    content = block("Orion ships in June.", new, *again, change="evolution", validFrom="2025-05-10")
    edited = {"op": "editBlock", "block": old["id"], "expectedVersion": old["version"], **content}
    return {"operations": [{**edited, "fromPrecision": "day"}]}


async def state_of(stage: Stage, material: str) -> tuple[str, str | None]:
    found = await stage.ana.ok(MATERIALS, owner=stage.gid(stage.world.atlas))
    node = next(edge["node"] for edge in found["materials"]["edges"] if edge["node"]["id"] == material)
    return node["state"], node["code"]


@pytest.mark.req("MA-3", "MA-6", "MA-7", "MA-8", "MA-9", "MA-10")
async def test_18_file_survives_a_failed_task_and_is_learned(stage: Stage, clock: HeldClock) -> None:
    study = Study(stage.world, clock)
    world = stage.world
    await stage.say("hello")
    where = {"owner": stage.gid(world.atlas), "kb": stage.kb(KbKind.CHANNEL, world.ops)}
    # Given no worker; when a PDF is submitted, its state is queued
    material = (await stage.ana.upload(SUBMIT, "plan.pdf", PDF, **where)).data["submitFile"]
    assert material["state"] == "QUEUED"
    # after a failed task
    await run(
        world,
        world.dan,
        lambda cmd: set_model_profile(cmd, "light", provider="openai", model="small", credential=CREDENTIAL),
    )
    study.on(*fails("timeout", 3), orion)
    for _ in range(3):
        await study.learn()
        clock.advance(timedelta(hours=3))
    assert await state_of(stage, material["id"]) == ("FAILED", "MODEL_TIMEOUT")
    path = material["source"]["downloadPath"]
    got = await stage.ana.http.get(path, headers={"Authorization": f"Bearer {stage.ana.token}"})
    assert hashlib.sha256(got.content).digest() == hashlib.sha256(PDF).digest()
    # retryLearning needs no new upload
    assert (await stage.ana.ok(RETRY, id=material["id"]))["retryLearning"]["state"] == "QUEUED"
    assert await study.learn() == ["done"]
    assert await state_of(stage, material["id"]) == ("SUCCEEDED", None)
    # (and its topic stands in an entry that cites it, written by the agent)
    (edge,) = (await stage.ben.ok(ENTRY, owner=where["owner"]))["entries"]["edges"]
    (shown,) = edge["node"]["blocks"]
    current = shown["current"]
    assert (current["text"], current["stale"], current["modifier"]["displayName"]) == (
        "Orion ships in May.",
        False,
        "Atlas",
    )
    assert [one["source"]["id"] for one in current["citations"]] == [material["source"]["id"]]
    # (a changed original makes it stale until it is learned again)
    answer = await stage.ana.upload(REPLACE, "plan.pdf", pdf("Orion ships in June."), id=material["id"])
    newer = answer.data["replaceMaterial"]
    (edge,) = (await stage.ben.ok(ENTRY, owner=where["owner"]))["entries"]["edges"]
    assert edge["node"]["blocks"][0]["current"]["stale"] is True
    study.on(orion_in_june)
    assert await study.learn() == ["done"]
    (edge,) = (await stage.ben.ok(ENTRY, owner=where["owner"]))["entries"]["edges"]
    (shown,) = edge["node"]["blocks"]
    assert (shown["current"]["text"], shown["current"]["stale"]) == ("Orion ships in June.", False)
    cited = {one["source"]["id"] for one in shown["current"]["citations"]}
    assert cited == {material["source"]["id"], newer["source"]["id"]}
