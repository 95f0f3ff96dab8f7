"""Acceptance examples 1 to 12 of agent memory; Atlas is the agent, the host is driven in process (SM-125, AM-53).

People read and edit over HTTP, from a real server on both stores; the model is scripted and the worker a test's own.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from graph.model.nodes.people import Right
from graph.rules.agent_memory_text import MAX_LENGTH, PREFACE, PRIVACY
from graph.services.access.agents import set_agent
from graph.services.access.commands import command
from graph.services.access.members import set_members
from graph.services.access.serving import set_serving
from graph.services.sessions.changing import FactState
from tests.acceptance.learning import clock, http, ports, room, stand
from tests.api.conftest import ENGINES
from tests.support.agent_client import AgentClient
from tests.support.held_clock import HeldClock
from tests.support.learning_room import AGENT, SESSION, LearningRoom, change, names, says, shown
from tests.support.two_services import Meeting, MeetingModel
from tests.support.world import TeamWorld

__all__ = ["clock", "http", "ports", "room", "stand"]
pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]


@pytest.fixture
async def ana(http: httpx2.AsyncClient, room: LearningRoom, world: TeamWorld) -> AgentClient:
    """Who may write Atlas; its memory begins with version 6 and `changelog-first`."""
    await world.grant(world.ana, Right.WRITE, world.atlas)
    for _ in range(6):
        await room.teach("changelog-first", "Write the changelog before tagging a release.")
    room.model.on(SESSION, says())
    return AgentClient(http=http, token=await world.token(world.ana))


def at(item: str, session: str = "ses_41") -> dict[str, str]:
    return {"session": session, "item": item}


@pytest.mark.req("AM-7", "AM-22", "AM-23", "AM-24", "AM-31")
async def test_01_queue(room: LearningRoom, ana: AgentClient) -> None:
    heron = await room.teaching()
    for session in ("ses_41", "ses_42"):
        await room.make(session, organization_id=heron.id)
    room.model.on(AGENT, says(change("eu", "Jobs run in the EU region.", sources=[at("i-20")])))
    await room.begin("t-1")
    await room.say("i-20")
    await room.queue("t-2", local="ses_42", person=room.world.ben)
    await room.complete("t-1", "m-1")
    await room.work()
    assert room.model.asked_for(AGENT) == []
    await room.begin_for("t-2", room.world.ben, local="ses_42")
    await room.say("i-21", local="ses_42", person_id=room.world.ben)
    await room.complete("t-2", "m-1", local="ses_42")
    await room.work()
    [asked] = room.model.asked_for(AGENT)
    assert [(line["item"], line["with"]) for line in shown(asked)] == [("i-20", "Ana (ana)"), ("i-21", "Ben (ben)")]
    assert (await ana.memory())["version"] == 7
    [row] = await ana.log(limit=1)
    assert (row["version"], row["cause"], row["keys"]) == (7, "consolidation", ["eu"])


@pytest.mark.req("AM-20", "AM-24", "AM-25", "AM-26", "AM-27", "AM-40")
async def test_02_off_switches(room: LearningRoom, ana: AgentClient) -> None:
    off: list[dict[str, Any]] = [{"agentMemoryModel": None}, {"agentMemory": False}]
    made = [await room.teaching(**settings) for settings in off]
    on = await room.teaching()
    cases: list[dict[str, Any]] = [
        *({"organization_id": organization.id} for organization in made),
        {"organization_id": on.id, "review": True},
        {"organization_id": on.id},
    ]
    for number, fields in enumerate(cases):
        session = f"ses_{number}"
        await room.make(session, **fields)
        if number == 3:
            await room.configure(local=session, generate=False)
        await room.turn("t-1", "i-20", local=session)
        await room.work()
        assert room.model.asked_for(AGENT) == [], fields
        text = await room.begin("t-2", local=session)
        assert "- changelog-first (procedure): Write the changelog before tagging a release." in text
    assert (await ana.memory())["version"] == 6


@pytest.mark.req("AM-5", "AM-28", "AM-29")
async def test_03_app_results(room: LearningRoom, ana: AgentClient) -> None:
    heron = await room.teaching()
    await room.make(organization_id=heron.id)
    both = [at("i-30"), at("i-31")]
    room.model.on(AGENT, says(change("x", sources=[at("i-30")]), change("y", sources=both)))
    await room.begin("t-1")
    await room.say("i-30", type="app_result", person_id=None)
    await room.say("i-31")
    await room.complete("t-1", "m-1")
    await room.work()
    entries = (await ana.memory())["entries"]
    assert sorted(entries) == ["changelog-first", "y"]
    assert entries["y"]["sources"] == both


@pytest.mark.req("AM-10", "AM-11", "AM-12", "AM-13", "AM-14", "AM-18", "AM-19", "AM-32", "AM-6")
async def test_04_05_07_edits_stay_and_are_logged(room: LearningRoom, ana: AgentClient) -> None:
    state, body = await ana.try_(5, "Forget", key="changelog-first")
    assert (state, body["_tag"], body["reason"]) == (409, "AgentMemoryConflict", "stale")
    state, body = await ana.try_(6, "Forget", key="changelog-first")
    assert (state, body["version"], body["entries"]["changelog-first"]["status"]) == (200, 7, "retracted")
    state, body = await ana.try_(7, "Forget", key="nope")
    assert (state, body["_tag"], body["reason"]) == (409, "AgentMemoryConflict", "unknown_key")
    # 5: learning does not bring it back, a person does
    heron = await room.teaching()
    await room.make(organization_id=heron.id)
    room.model.on(AGENT, says(change("changelog-first", "Now.", kind="procedure", sources=[at("i-20")])))
    await room.learned("t-1", "i-20")
    assert len(room.model.asked_for(AGENT)) == 1
    assert "changelog-first" not in str(shown(room.model.asked_for(AGENT)[0], "Known"))
    before = await ana.memory()
    assert (before["version"], before["entries"]["changelog-first"]["status"]) == (7, "retracted")
    wanted = {"key": "changelog-first", "content": "Write it first.", "kind": "procedure"}
    state, body = await ana.try_(7, "Remember", **wanted)
    entry = body["entries"]["changelog-first"]
    assert (state, body["version"]) == (200, 8)
    assert {**entry, "updatedAt": 0} == {**wanted, "status": "active", "sources": [], "updatedAt": 0}
    assert await ana.memory() == body
    # 7: the log
    rows = await ana.log(limit=2)
    assert [(row["version"], row["cause"], row["keys"]) for row in rows] == [
        (8, "person", ["changelog-first"]),
        (7, "person", ["changelog-first"]),
    ]
    assert [row["version"] for row in await ana.log(before=7, limit=1)] == [6]


@pytest.mark.req("AM-35", "AM-38")
async def test_06_timeline(room: LearningRoom, ana: AgentClient) -> None:
    heron = await room.teaching()
    await room.make(organization_id=heron.id)
    await room.say("i-30")
    room.model.on(AGENT, says(change("y", sources=[at("i-31")])), says())
    await room.learned("t-1", "i-31")
    before = await ana.memory()
    assert before["entries"]["y"]["sources"] == [at("i-31")]
    await room.fork("ses_42")
    await room.restore(room.heads["i-30"])
    assert await ana.memory() == before
    await room.learned("t-2", "i-40", local="ses_42")
    assert names(room.model.asked_for(AGENT)[-1]) == ["i-40"]


@pytest.mark.req("AM-47", "AM-48", "AM-49", "AM-50", "AM-51", "AM-52")
async def test_08_promotion(room: LearningRoom, http: httpx2.AsyncClient) -> None:
    world = room.world
    await world.grant(world.ana, Right.READ, world.atlas)
    await room.make("ses_50")
    await room.say("i-02", local="ses_50")
    await room.say("i-03", local="ses_50", type="app_result", person_id=None)
    session = await room.learn(
        FactState(key="p", content="First the log.", kind="procedure", sources=("i-02",)),
        FactState(key="f", content="24 people.", kind="fact", sources=("i-02",)),
        FactState(key="q", content="ISO.", kind="preference", sources=("i-02",), status="retracted"),
        FactState(key="r", content="EU.", kind="decision", sources=("i-03",)),
        local="ses_50",
    )
    assert await room.promote("ses_50") == 1
    client = AgentClient(http=http, token=await world.token(world.ana))
    memory = await client.memory()
    assert memory["entries"] == {
        "p": {
            "key": "p",
            "content": "First the log.",
            "kind": "procedure",
            "sources": [at("i-02", "ses_50")],
            "updatedAt": session.updated_at,
            "status": "active",
        }
    }
    assert [row["cause"] for row in await client.log()] == ["promotion"]
    assert await room.promote("ses_50") == 1
    assert await client.memory() == memory
    assert room.model.asked == []


@pytest.mark.req("AM-30", "AM-44", "AM-45", "AM-46")
async def test_09_sharing(room: LearningRoom, http: httpx2.AsyncClient) -> None:
    world = room.world
    heron = await room.organization()
    dan = world.caller(world.dan)
    await command(world.deps, dan, lambda cmd: set_agent(cmd, world.atlas, shared=True))
    await command(world.deps, dan, lambda cmd: set_serving(cmd, world.atlas, heron.id, serves=True))
    await command(world.deps, dan, lambda cmd: set_members(cmd, heron.id, [world.ana, world.ben]))
    await room.make(organization_id=heron.id)
    for who, named in ((world.ana, "Ana (ana)"), (world.ben, "Ben (ben)")):
        text = await room.begin_for(f"t-{named[:3]}", who)
        assert PRIVACY in text
        assert named in text
        assert PREFACE not in text
    await world.grant(world.ana, Right.WRITE, world.atlas)
    await room.teach("changelog-first")
    ana, ben = [AgentClient(http=http, token=await world.token(who)) for who in (world.ana, world.ben)]
    assert await ana.memory() == await ben.memory()
    assert (await ben.memory())["version"] == 1
    eve = AgentClient(http=http, token=await world.token(world.eve))
    assert (await eve.get()).status_code == 404


@pytest.mark.req("AM-40", "AM-41", "AM-42", "AM-43")
async def test_10_limit(room: LearningRoom, clock: HeldClock) -> None:
    world = room.world
    await world.grant(world.ana, Right.WRITE, world.atlas)
    for key, length in (("oldest", 10), ("third", 3_000), ("second", 3_000), ("newest", 3_000)):
        clock.advance(timedelta(seconds=1))
        await room.teach(key, key[0] * length)
    await room.make()
    await room.configure(use=False)
    text = await room.begin("t-1")
    memory = text[text.index(PREFACE) :]
    assert memory == f"{PREFACE}\n- newest (procedure): {'n' * 3_000}\n- second (procedure): {'s' * 3_000}"
    assert len(memory) <= MAX_LENGTH


@pytest.mark.req("AM-33", "AM-34")
async def test_11_two_sessions_at_once(room: LearningRoom, ana: AgentClient) -> None:
    heron = await room.teaching()
    for session in ("ses_41", "ses_43"):
        await room.make(session, organization_id=heron.id)
    await room.turn("t-1", "i-20", model=None)
    await room.turn("t-1", "i-21", local="ses_43", model=None)
    room.model.on(
        lambda request: request.purpose == AGENT and names(request) == ["i-20"],
        says(change("one", sources=[at("i-20")])),
    )
    room.model.on(
        lambda request: request.purpose == AGENT and names(request) == ["i-21"],
        says(change("k", "Learned.", sources=[at("i-21", "ses_43")]), change("two", sources=[at("i-21", "ses_43")])),
    )
    asked, both = Meeting(3), Meeting(3)
    room.stand.inner = MeetingModel(MeetingModel(room.model, asked), both)
    steps = [asyncio.ensure_future(room.worker(name).step()) for name in ("w-1", "w-2")]
    await asked.come()
    assert (await ana.try_(6, "Remember", key="k", content="Mine.", kind="decision"))[0] == 200
    await both.come()
    assert await asyncio.gather(*steps) == [True, True]
    assert sorted(name for request in room.model.asked for name in names(request)) == ["i-20", "i-21"]
    memory = await ana.memory()
    assert memory["version"] == 9
    assert sorted(memory["entries"]) == ["changelog-first", "k", "one", "two"]
    assert memory["entries"]["k"]["content"] == "Mine."
    assert [row["cause"] for row in await ana.log(limit=3)] == ["consolidation", "consolidation", "person"]


@pytest.mark.req("AM-3", "AM-9", "AM-15", "AM-16", "AM-17")
async def test_12_kinds(ana: AgentClient, http: httpx2.AsyncClient, world: TeamWorld) -> None:
    state, body = await ana.try_(6, "Remember", key="k", content="Perhaps.", kind="hypothesis")
    assert (state, body["_tag"], body["path"]) == (400, "InvalidRequest", "command.kind")
    assert (await ana.memory())["version"] == 6
    state, body = await ana.try_(6, "Remember", key="k", content="Yes.", kind="decision")
    assert (state, body["version"]) == (200, 7)
    unknown = await AgentClient(http=http, token=ana.token, agent="agt_nope").get()
    assert (unknown.status_code, unknown.json()["_tag"]) == (404, "AgentNotFound")
    hidden = await AgentClient(http=http, token=await world.token(world.eve)).get()
    assert (hidden.status_code, hidden.json()) == (404, unknown.json())
    nobody = await AgentClient(http=http, token="").get()
    assert (nobody.status_code, nobody.headers["WWW-Authenticate"]) == (401, "Bearer")
