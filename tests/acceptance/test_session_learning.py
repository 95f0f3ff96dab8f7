"""Acceptance examples of session memory that learn: 3, 4, 6, 8, 9, 11 and 15; the host is driven in process (SM-125).

People read and edit over HTTP, from a real server on both stores; the model is scripted and the worker a test's own.
"""

from __future__ import annotations

from datetime import timedelta

import httpx2
import pytest

from dreaming.models.port import ModelUnavailable
from tests.acceptance.learning import clock, http, ports, room, stand
from tests.api.conftest import ENGINES
from tests.support.held_clock import HeldClock
from tests.support.learning_room import SESSION, LearningRoom, change, names, says
from tests.support.session_room import SessionClient
from tests.support.world import TeamWorld

__all__ = ["clock", "http", "ports", "room", "stand"]
pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]


@pytest.fixture
async def ana(http: httpx2.AsyncClient, world: TeamWorld) -> SessionClient:
    return SessionClient(http=http, token=await world.token(world.ana))


@pytest.mark.req("SM-32", "SM-95", "SM-96", "SM-102", "SM-113")
async def test_03_retracted_stays_retracted(room: LearningRoom, ana: SessionClient) -> None:
    await room.start()
    await ana.edit("Remember", key="venue", content="Porto.", kind="decision")
    await ana.edit("Forget", key="venue")
    before = (await ana.memory())["entries"]["venue"]
    room.model.on(SESSION, says(change("venue", "Lisbon.", sources=["i-20"])))
    assert await room.learned("t-1", "i-20") == ["learn_session done"]
    memory = await ana.memory()
    assert memory["entries"]["venue"] == before
    assert memory["entries"]["venue"]["status"] == "retracted"
    assert "i-20" in memory["processed"]
    await ana.edit("Remember", key="venue", content="Porto.", kind="decision")
    assert (await ana.memory())["entries"]["venue"]["status"] == "active"


@pytest.mark.req("SM-53", "SM-77", "SM-103", "SM-104", "SM-120", "SM-125")
async def test_04_edit_during_learning(room: LearningRoom, ana: SessionClient) -> None:
    await room.start()
    room.model.on(SESSION, says(change("venue", "Lisbon.", sources=["i-20"]), change("date", "May.", sources=["i-20"])))
    await room.turn("t-1", "i-20")
    async with room.held():
        await ana.edit("Remember", key="venue", content="Braga.", kind="decision")
        await ana.edit("Remember", key="food", content="Vegan.", kind="preference")
    memory = await ana.memory()
    assert {key: entry["content"] for key, entry in memory["entries"].items()} == {
        "venue": "Braga.",
        "food": "Vegan.",
        "date": "May.",
    }
    assert memory["entries"]["date"]["sources"] == ["i-20"]
    assert "i-20" in memory["processed"]


@pytest.mark.req("SM-46", "SM-47", "SM-48", "SM-49", "SM-50", "SM-51")
async def test_06_refresh(room: LearningRoom, ana: SessionClient) -> None:
    await room.start()
    await ana.edit("Configure", generate=False)
    start = await ana.view()
    body = {"expected": "x", "revision": 0, "command": {"_tag": "Refresh"}}
    assert (await ana.send(body)).json()["session"] == start
    await ana.edit("Configure", generate=True)
    refused = await ana.send(body)
    assert (refused.status_code, refused.json()["_tag"], refused.json()["reason"]) == (
        409,
        "SessionConflict",
        "no_model",
    )
    assert room.model.asked == []
    # With a model and something unread
    await room.make("ses_42", model="m-1")
    ana.session = "ses_42"
    await room.say("i-20", local="ses_42")
    room.model.on(SESSION, says(change("venue", sources=["i-20"])))
    before = await ana.view()
    answer = await ana.send(body)
    assert answer.status_code == 200, answer.text
    after = answer.json()["session"]
    assert (after["head"], after["revision"]) == (before["head"], before["revision"] + 1)
    memory = await ana.memory()
    assert (memory["processed"], memory["entries"]["venue"]["sources"]) == (["i-20"], ["i-20"])
    # With nothing unread nobody is asked
    assert (await ana.send(body)).json()["session"] == after
    assert len(room.model.asked) == 1
    assert (await ana.send({"expected": "x", "command": {"_tag": "Refresh"}})).status_code == 400


@pytest.mark.req("SM-109", "SM-110", "SM-119", "SM-122")
async def test_08_model_failure_and_retry(room: LearningRoom, ana: SessionClient) -> None:
    await room.start()
    before = await ana.memory()
    room.model.on(SESSION, ModelUnavailable("http_5xx"), says())
    assert await room.learned("t-1", "i-20") == ["learn_session failed"]
    assert await ana.memory() == before
    assert await room.endings() == [("failed", "MODEL_HTTP_5XX")]
    assert await room.learned("t-2", "i-21") == ["learn_session done"]
    assert names(room.model.asked[-1]) == ["i-20", "i-21"]
    assert (await ana.memory())["processed"][-2:] == ["i-20", "i-21"]
    assert [outcome for outcome, _ in await room.endings()] == ["failed", "nothing"]


@pytest.mark.req("SM-110", "SM-115")
async def test_08_stop_before_the_answer_and_retry(room: LearningRoom, ana: SessionClient, clock: HeldClock) -> None:
    await room.start()
    before = await ana.memory()
    room.model.on(SESSION, says())
    await room.turn("t-1", "i-20")
    await room.die()
    clock.advance(timedelta(minutes=10))
    assert await room.work() == ["learn_session dropped"]
    assert await ana.memory() == before
    assert [outcome for outcome, _ in await room.endings()] == ["failed"]
    assert await room.learned("t-2", "i-21") == ["learn_session done"]
    assert names(room.model.asked[-1]) == ["i-20", "i-21"]
    assert (await ana.memory())["processed"][-2:] == ["i-20", "i-21"]


@pytest.mark.req("SM-98", "SM-99", "SM-100", "SM-101", "SM-112")
async def test_09_evidence_rules(room: LearningRoom, ana: SessionClient) -> None:
    await room.start()
    room.model.on(
        SESSION,
        says(
            change("a", sources=["i-03"]),
            change("b", sources=["i-20", "i-99"]),
            change("c", "1", sources=["i-20"]),
            change("c", "2", sources=["i-20"]),
            change("d", sources=["i-20", "i-03", "i-20"]),
        ),
    )
    await room.learned("t-1", "i-20")
    entries = (await ana.memory())["entries"]
    assert sorted(entries) == ["c", "d"]
    assert entries["c"]["content"] == "1"
    assert entries["d"]["sources"] == ["i-03", "i-20"]


@pytest.mark.req("SM-95", "SM-97", "SM-119")
async def test_11_app_only_approval_cancel(room: LearningRoom, ana: SessionClient) -> None:
    await room.start()
    before = await ana.memory()
    await room.turn("t-1", "i-20", model=None, type="app_result", person_id=None)
    assert await room.work() == []
    assert await ana.memory() == before
    # Approval: nothing while it waits, one consolidation once it completed
    room.model.on(SESSION, says())
    await room.begin("t-2")
    await room.say("i-21")
    await room.suspend("t-2")
    assert await room.work() == []
    await room.resume("t-2")
    assert await room.work() == []
    await room.complete("t-2", "m-1")
    assert await room.work() == ["learn_session done"]
    assert names(room.model.asked[-1]) == ["i-20", "i-21"]
    # Cancelled
    await room.begin("t-3")
    await room.say("i-22")
    await room.cancel("t-3")
    assert await room.work() == []
    assert "i-22" not in (await ana.memory())["processed"]
    assert len(room.model.asked) == 1


@pytest.mark.req("SM-78", "SM-117", "SM-122")
async def test_15_learning_off_meanwhile(room: LearningRoom, ana: SessionClient) -> None:
    await room.start()
    room.model.on(SESSION, says(change("venue", sources=["i-20"])))
    await room.turn("t-1", "i-20")
    async with room.held():
        await ana.edit("Configure", generate=False)
        before = await ana.view()
    memory = await ana.memory()
    assert (memory["entries"], "i-20" in memory["processed"]) == ({}, False)
    assert await ana.view() == before
    assert await room.endings() == [("discarded", None)]
