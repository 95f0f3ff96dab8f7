"""The routes of agent memory over HTTP in this process: shapes, limits, the order of checks, and what is never told."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from api.bootstrap import Service
from api.settings import Settings
from graph.model.nodes.people import Right
from graph.model.nodes.sessions import ChangeCause
from graph.rules.agent_memory import EntryState
from graph.services.access.commands import Command, command
from graph.services.agents.state import VersionStep, hold_memory, write_version
from tests.api.rest.failing import failing_service
from tests.support.agent_client import AgentClient
from tests.support.clock import FakeClock
from tests.support.logs import everything_logged
from tests.support.world import TeamWorld

LESSON: Mapping[str, Any] = {"key": "k", "content": "Write it.", "kind": "procedure"}


@pytest.fixture
async def ana(http: httpx2.AsyncClient, world: TeamWorld) -> AgentClient:
    """Who may write Atlas."""
    await world.grant(world.ana, Right.WRITE, world.atlas)
    return AgentClient(http=http, token=await world.token(world.ana))


@pytest.mark.req("AM-1", "AM-2", "AM-9", "AM-11", "AM-6")
async def test_memory_begins_empty_and_holds_entries_by_key(ana: AgentClient, clock: FakeClock) -> None:
    assert await ana.memory() == {"entries": {}, "version": 0}
    assert await ana.log() == []
    clock.advance(timedelta(seconds=3))
    state, body = await ana.try_(0, "Remember", **LESSON)
    entry = {**LESSON, "sources": [], "updatedAt": clock.now(), "status": "active"}
    assert (state, body) == (200, {"entries": {"k": entry}, "version": 1})
    assert await ana.memory() == body
    assert await ana.log() == [{"version": 1, "at": clock.now(), "cause": "person", "keys": ["k"]}]


@pytest.mark.req("AM-13", "AM-14", "AM-8")
async def test_forget_retracts_twice_and_remember_restores(ana: AgentClient) -> None:
    await ana.try_(0, "Remember", **LESSON)
    for expected in (1, 2):
        state, body = await ana.try_(expected, "Forget", key="k")
        assert (state, body["version"]) == (200, expected + 1)
        assert (body["entries"]["k"]["status"], body["entries"]["k"]["content"]) == ("retracted", "Write it.")
    state, body = await ana.try_(3, "Remember", **{**LESSON, "kind": "decision"})
    assert (body["entries"]["k"]["status"], body["entries"]["k"]["kind"]) == ("active", "decision")


@pytest.mark.req("AM-8")
@pytest.mark.parametrize("key", ["__proto__", "constructor", "a/b", "地点/🚀", "k" * 128])
async def test_odd_keys_are_ordinary(ana: AgentClient, key: str) -> None:
    state, body = await ana.try_(0, "Remember", key=key, content="😀" * 4_000, kind="decision")
    assert state == 200
    assert list(body["entries"]) == [key]


@pytest.mark.req("AM-15", "AM-16")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"expected": 0, "command": {"_tag": "Configure", "use": True}}, "command"),
        ({"expected": 0, "command": {"_tag": "Refresh"}}, "command"),
        ({"expected": 0, "command": {"_tag": "Remember", **LESSON, "kind": "fact"}}, "command.kind"),
        ({"expected": 0, "command": {"_tag": "Remember", **LESSON, "kind": "hypothesis"}}, "command.kind"),
        ({"expected": 0, "command": {"_tag": "Remember", **LESSON, "key": " a"}}, "command.key"),
        ({"expected": 0, "command": {"_tag": "Remember", **LESSON, "content": ""}}, "command.content"),
        ({"expected": 0, "command": {"_tag": "Remember", **LESSON, "sources": []}}, "command.sources"),
        ({"expected": True, "command": {"_tag": "Forget", "key": "k"}}, "expected"),
        ({"command": {"_tag": "Forget", "key": "k"}}, "expected"),
        ({"expected": 0, "revision": 1, "command": {"_tag": "Forget", "key": "k"}}, "revision"),
        ([], "body"),
    ],
)
async def test_body_that_does_not_fit_names_the_field(ana: AgentClient, body: Any, path: str) -> None:
    answer = await ana.send(body)
    assert (answer.status_code, answer.json()["_tag"]) == (400, "InvalidRequest")
    assert answer.json()["path"].startswith(path)
    assert await ana.memory() == {"entries": {}, "version": 0}


@pytest.mark.req("AM-19")
async def test_log_pages_and_knows_its_limits(ana: AgentClient) -> None:
    for version in range(5):
        await ana.try_(version, "Remember", **{**LESSON, "key": f"k{version}"})
    assert [row["version"] for row in await ana.log()] == [5, 4, 3, 2, 1]
    assert [row["version"] for row in await ana.log(limit=2, before=4)] == [3, 2]
    assert await ana.log(before=1) == []
    for query in ({"limit": 0}, {"limit": 1_001}, {"limit": "x"}, {"before": "1.5"}, {"before": "-1"}):
        answer = await ana.get("/log", **query)
        assert (answer.status_code, answer.json()["path"]) == (400, next(iter(query)))
    assert (await ana.get("/log", limit=1_000)).status_code == 200


@pytest.mark.req("AM-19")
async def test_log_tells_of_the_newest_hundred_versions_unless_more_are_asked_for(
    ana: AgentClient, world: TeamWorld
) -> None:
    for _ in range(101):
        await fill(world, "b", "a")
    assert [row["version"] for row in await ana.log()] == list(range(101, 1, -1))
    rows = await ana.log(limit=1_000)
    assert [row["version"] for row in rows] == list(range(101, 0, -1))
    assert rows[0]["keys"] == ["a", "b"]


@pytest.mark.req("AM-8", "SM-58")
async def test_the_1001st_active_entry_does_not_fit_until_one_is_forgotten(ana: AgentClient, world: TeamWorld) -> None:
    await fill(world, *(f"k{number}" for number in range(1_000)))
    state, body = await ana.try_(1, "Remember", **LESSON)
    assert (state, body["_tag"], body["reason"]) == (409, "AgentMemoryConflict", "memory_full")
    assert (await ana.memory())["version"] == 1
    replaced = {**LESSON, "key": "k1"}
    assert (await ana.try_(1, "Remember", **replaced))[0] == 200, "an active one is replaced"
    assert (await ana.try_(2, "Forget", key="k1"))[0] == 200
    assert (await ana.try_(3, "Remember", **LESSON))[0] == 200
    state, body = await ana.try_(4, "Remember", **replaced)
    assert (state, body["reason"]) == (409, "memory_full"), "a retracted one would count again"


async def fill(world: TeamWorld, *keys: str) -> None:
    """Write one version with active entries under these keys."""

    async def work(cmd: Command) -> None:
        entries = [
            EntryState(key=key, content="c", kind="decision", status="active", updated_at=cmd.at, people={})
            for key in keys
        ]
        step = VersionStep(
            cause=ChangeCause.PROMOTION,
            operation="agent.promote",
            actor=world.ana,
            actor_kind=cmd.actor_kind,
            entries=entries,
        )
        await write_version(cmd, await hold_memory(cmd, world.atlas), step)

    await command(world.deps, world.caller(world.ana), work)


@pytest.mark.req("AM-16", "AM-17")
async def test_order_of_checks(ana: AgentClient, http: httpx2.AsyncClient, world: TeamWorld) -> None:
    path = "/v1/agents/atlas/memory"
    plain = {"Content-Type": "text/plain"}
    nobody = await http.post("/v1/agents/agt_nope/memory", content=b"x" * 70_000, headers=plain)
    assert (nobody.status_code, nobody.json()["_tag"]) == (401, "Unauthorized")
    reader = {"Authorization": f"Bearer {await world.token(world.ben)}"}
    hidden = await http.post(path, content=b"x", headers={**reader, **plain})
    assert (hidden.status_code, hidden.json()["_tag"]) == (404, "AgentNotFound"), (
        "a reader of knowledge reads no memory"
    )
    await world.grant(world.ben, Right.READ, world.atlas)
    assert (await http.get(path, headers=reader)).status_code == 200
    assert (await http.get(f"{path}/log", headers=reader)).status_code == 200
    refused = await http.post(path, content=b"x", headers={**reader, **plain})
    assert (refused.status_code, refused.json()["_tag"]) == (403, "Forbidden")
    writer = {"Authorization": f"Bearer {ana.token}"}
    assert (await http.post(path, content=b"x", headers={**writer, **plain})).status_code == 415
    large = json.dumps({"expected": 9, "command": {"_tag": "Remember", **LESSON, "content": "x" * 70_000}})
    sent = {**writer, "Content-Type": "application/json"}
    assert (await http.post(path, content=large.encode(), headers=sent)).status_code == 413
    assert (await http.post(path, content=b"{", headers=sent)).status_code == 400
    assert (await ana.try_(9, "Forget", key="nope"))[1]["reason"] == "stale"
    assert (await ana.try_(9, "Remember", **{**LESSON, "kind": "note"}))[0] == 400, "400 before 409"
    wrong = await http.delete(path, headers=writer)
    assert (wrong.status_code, wrong.json()["_tag"], wrong.headers["Allow"]) == (405, "MethodNotAllowed", "GET, POST")


@pytest.mark.req("AM-16", "AM-17")
@pytest.mark.parametrize("agent", ["agt_nope", "a%2Fb", "%20", "..", "ana", "%E5%9C%B0"])
async def test_id_that_names_no_agent_is_missing(ana: AgentClient, agent: str) -> None:
    ana.agent = agent
    answer = await ana.get()
    assert answer.status_code == 404
    assert agent == ".." or answer.json()["_tag"] == "AgentNotFound"


@pytest.mark.req("AM-16")
async def test_responses_are_kept_by_nobody(ana: AgentClient) -> None:
    answer = await ana.get()
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"


@pytest.mark.req("AM-16", "SM-66")
async def test_a_store_that_is_away_answers_503_and_nothing_is_half_written(
    settings: Settings, clock: FakeClock
) -> None:
    async with failing_service(settings, clock) as failing:
        world = await TeamWorld(deps=failing.service.deps).make()
        await world.grant(world.ana, Right.WRITE, world.atlas)
        ana = AgentClient(http=failing.http, token=await world.token(world.ana))

        async def refused(ask: Callable[[], Awaitable[httpx2.Response]]) -> int:
            return (await failing.refusals(ask, ana.memory))[0]

        assert await refused(ana.get) > 3
        assert await refused(lambda: ana.get("/log")) > 3
        assert await refused(lambda: ana.send({"expected": 0, "command": {"_tag": "Remember", **LESSON}})) > 10
        assert (await ana.memory())["version"] == 1


@pytest.mark.req("AM-53", "SM-127")
async def test_no_key_or_content_is_logged_or_told_in_errors(
    ana: AgentClient, service: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = {"key": "marmalade-key", "content": "marmalade content", "kind": "procedure"}
    with everything_logged():
        state, _ = await ana.try_(0, "Remember", **secret)
        assert state == 200
        errors = [
            await ana.try_(0, "Remember", **secret),
            await ana.try_(1, "Forget", key="marmalade-none"),
            await ana.try_(1, "Remember", **{**secret, "kind": "marmalade"}),
            await ana.try_(1, "Remember", **{**secret, "marmalade": 1}),
        ]
    assert [state for state, _ in errors] == [409, 409, 400, 400]
    # The name of a field that nobody knows is no content: its path says what to take out.
    told = [{name: value for name, value in body.items() if name != "path"} for _, body in errors]
    assert "marmalade" not in json.dumps(told)
    logged = capsys.readouterr()
    assert "marmalade" not in logged.out + logged.err
    assert "marmalade" not in service.figures.render().decode()
