"""Refresh over HTTP where the model fails."""

from __future__ import annotations

import asyncio

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from dreaming.models.making import OneModel
from dreaming.models.port import ModelUnavailable
from dreaming.models.scripted import ScriptedModel
from graph.model.nodes.people import Right
from graph.services.sessions.deleting import delete_session
from graph.store.port import Store
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.learning_room import SESSION, LearningRoom, Stand, says
from tests.support.session_room import SessionClient
from tests.support.two_services import HeldModel
from tests.support.world import TeamWorld


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def stand(model: ScriptedModel) -> Stand:
    """The model of the server."""
    return Stand(model)


@pytest.fixture
def ports(store: Store, clock: FakeClock, stand: Stand) -> Ports:
    return Ports(
        clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring(), models=OneModel(model=stand)
    )


@pytest.fixture
def room(world: TeamWorld) -> LearningRoom:
    return LearningRoom(world)


@pytest.mark.req("SM-47", "SM-52")
@pytest.mark.parametrize("answer", [ModelUnavailable("http_429"), "No JSON.", '{"changes": 1}'])
async def test_model_that_fails_is_told_and_recorded_and_nothing_changes(
    room: LearningRoom, person: SessionClient, model: ScriptedModel, answer: str | ModelUnavailable
) -> None:
    await room.start(model="m-1")
    await room.say("i-20")
    before = (await person.view(), await person.memory())
    model.on(SESSION, answer, says())
    body = {"expected": "", "revision": -1, "command": {"_tag": "Refresh"}}
    failed = await person.send(body)
    assert (failed.status_code, failed.json()["_tag"]) == (502, "ModelFailed")
    assert (await person.view(), await person.memory()) == before
    [(outcome, error)] = await room.endings()
    assert outcome == "failed"
    assert error is not None
    assert (await person.send(body)).status_code == 200
    assert (await person.memory())["processed"][-1] == "i-20"


@pytest.mark.req("SM-47")
@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"revision": 1}, "expected"),
        ({"expected": "x"}, "revision"),
        ({"expected": 1, "revision": 1}, "expected"),
        ({"expected": "x", "revision": True}, "revision"),
        ({"expected": "x", "revision": "1"}, "revision"),
    ],
)
async def test_body_must_hold_both_and_they_must_be_of_their_type(
    room: LearningRoom, person: SessionClient, fields: dict[str, object], path: str
) -> None:
    await room.start(model="m-1")
    answer = await person.send({**fields, "command": {"_tag": "Refresh"}})
    assert (answer.status_code, answer.json()["path"]) == (400, path)


@pytest.mark.req("SM-61")
async def test_reader_may_not_refresh(room: LearningRoom, http: httpx2.AsyncClient, world: TeamWorld) -> None:
    await room.start(model="m-1")
    await world.grant(world.ben, Right.READ, room.id("ses_41"))
    ben = SessionClient(http=http, token=await world.token(world.ben))
    answer = await ben.send({"expected": "x", "revision": 0, "command": {"_tag": "Refresh"}})
    assert (answer.status_code, answer.json()["_tag"]) == (403, "Forbidden")


@pytest.mark.req("SM-60")
async def test_session_that_is_deleted_while_its_model_is_asked_is_not_found(
    room: LearningRoom, person: SessionClient, stand: Stand, model: ScriptedModel
) -> None:
    await room.start(model="m-1")
    await room.say("i-20")
    model.on(SESSION, says())
    held = HeldModel(model)
    stand.inner = held
    asked = asyncio.ensure_future(person.send({"expected": "x", "revision": 0, "command": {"_tag": "Refresh"}}))
    await held.asked.wait()
    await room.as_ana(lambda cmd: delete_session(cmd, room.id("ses_41")))
    held.go.set()
    answer = await asked
    assert (answer.status_code, answer.json()["_tag"]) == (404, "SessionNotFound")
