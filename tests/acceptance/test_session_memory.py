"""Acceptance examples of session memory: 1, 2, 5, 7, 10, 12, 13 and 14; the host is driven in process (SM-125)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import httpx2
import pytest

from graph.model.nodes.people import Right
from graph.rules.session_memory_text import SESSION_PREFACE, MemoryRules, memory_text
from graph.services.sessions.changing import FactState
from graph.services.sessions.state import current_facts
from tests.api.conftest import ENGINES
from tests.support.clock import FakeClock
from tests.support.session_room import SessionClient, SessionRoom
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)


@pytest.fixture
async def room(world: TeamWorld) -> SessionRoom:
    return SessionRoom(world)


@pytest.fixture
async def ana(http: httpx2.AsyncClient, world: TeamWorld) -> SessionClient:
    return SessionClient(http=http, token=await world.token(world.ana))


@pytest.mark.req("SM-20", "SM-21", "SM-22", "SM-23", "SM-31", "SM-37", "SM-40", "SM-54", "SM-56")
async def test_01_and_02_edit_conflict_forget(room: SessionRoom, ana: SessionClient) -> None:
    await room.start()
    start = await ana.view()
    assert start["revision"] == 11
    command = {"_tag": "Remember", "key": "venue", "content": "Porto.", "kind": "decision"}
    body = {"expected": start["head"], "revision": 11, "command": command}
    answer = await ana.send(body)
    assert answer.status_code == 200
    after = answer.json()["session"]
    assert after["revision"] == 12
    assert after["head"] != start["head"]
    memory = await ana.memory()
    [edit] = memory["entries"]["venue"]["sources"]
    assert memory["entries"]["venue"] == {
        "key": "venue",
        "content": "Porto.",
        "kind": "decision",
        "sources": [edit],
        "updatedAt": after["updatedAt"],
        "status": "active",
    }
    assert memory["processed"] == [*(f"i-{n:02}" for n in range(1, 11)), edit]
    # The same body again
    refused = await ana.send(body)
    assert refused.status_code == 409
    assert (refused.json()["_tag"], refused.json()["reason"]) == ("SessionConflict", "stale")
    assert await ana.memory() == memory
    # 2: forget, twice, and a key that is not there
    await _check_forgetting(ana)


async def _check_forgetting(ana: SessionClient) -> None:
    assert (await ana.edit("Forget", key="venue"))["revision"] == 13
    first = (await ana.memory())["entries"]["venue"]
    again = await ana.edit("Forget", key="venue")
    assert again["revision"] == 14
    memory = await ana.memory()
    second = memory["entries"]["venue"]
    assert (first["status"], second["status"]) == ("retracted", "retracted")
    assert first["sources"] != second["sources"]
    unknown = await ana.try_("Forget", key="hotel")
    assert (unknown.status_code, unknown.json()["reason"]) == (409, "unknown_key")
    assert await ana.view() == again
    assert await ana.memory() == memory


@pytest.mark.req("SM-12", "SM-41", "SM-42", "SM-43", "SM-44", "SM-82")
async def test_05_null_override(room: SessionRoom, ana: SessionClient) -> None:
    organization = await room.organization(memory={"generate": False})
    await room.start(organization_id=organization.id)
    head = (await ana.view())["head"]
    assert (await ana.edit("Configure", generate=True))["revision"] == 12
    assert (await ana.memory())["settings"]["generate"] is True
    assert (await ana.edit("Configure", use=False))["revision"] == 13
    assert (await ana.memory())["overrides"] == {"generate": True, "use": False}
    last = await ana.edit("Configure", generate=None)
    memory = await ana.memory()
    assert memory["settings"] == {"use": False, "generate": False}
    assert memory["overrides"] == {"use": False}
    assert (last["revision"], last["head"]) == (14, head)


@pytest.mark.req("SM-83", "SM-86", "SM-87", "SM-88", "SM-89", "SM-92")
async def test_07_limit_never_cuts(room: SessionRoom, clock: FakeClock) -> None:
    await room.start()
    for key, length in (("oldest", 10), ("third", 3_000), ("second", 3_000), ("newest", 3_000)):
        clock.advance(timedelta(seconds=1))
        await room.learn(FactState(key=key, content=key[0] * length, kind="fact", sources=("i-01",)))
    text = await room.begin("t-1")
    assert f"- newest (fact): {'n' * 3_000}\n- second (fact): {'s' * 3_000}" in text
    assert "third" not in text
    assert "oldest" not in text
    memory = text[text.index(SESSION_PREFACE) :]
    assert len(memory) <= 8_000
    async with room.world.deps.store.reading() as reader:
        facts = (await current_facts(reader, room.id("ses_41"))).values()
    assert memory_text(SESSION_PREFACE, facts, MemoryRules.make(maxLength=1_000).max_length) == ""


@pytest.mark.req("SM-68", "SM-70", "SM-71", "SM-72")
async def test_10_fork(room: SessionRoom, ana: SessionClient, http: httpx2.AsyncClient) -> None:
    await room.start()
    await ana.edit("Remember", key="venue", content="Porto.", kind="decision")
    await ana.edit("Configure", use=False)
    memory = await ana.memory()
    await room.fork("ses_42")
    fork = SessionClient(http=http, token=ana.token, session="ses_42")
    assert await fork.memory() == memory
    await fork.edit("Forget", key="venue")
    assert await ana.memory() == memory
    assert (await fork.memory())["entries"]["venue"]["status"] == "retracted"
    await room.make("ses_43")
    other = SessionClient(http=http, token=ana.token, session="ses_43")
    assert (await other.memory())["entries"] == {}


@pytest.mark.req("SM-73")
async def test_12_back_to_an_older_version(room: SessionRoom, ana: SessionClient) -> None:
    await room.start()
    older, before = (await ana.view())["head"], await ana.memory()
    await ana.edit("Remember", key="venue", content="Porto.", kind="decision")
    newer = (await ana.view())["head"]
    await ana.edit("Configure", use=False)
    remembered = await ana.memory()
    await room.restore(older)
    memory = await ana.memory()
    assert memory == {**before, "settings": {"use": False, "generate": True}, "overrides": {"use": False}}
    assert (await ana.view())["head"] == older
    # and forth again
    await room.restore(newer)
    assert await ana.memory() == remembered


@pytest.mark.req("SM-16", "SM-17", "SM-18", "SM-63", "SM-64", "SM-65")
async def test_13_odd_input(room: SessionRoom, ana: SessionClient) -> None:
    await room.start()
    good: dict[str, Any] = {"content": "Porto.", "kind": "decision"}
    for key in ("__proto__", "地点/🚀"):
        await ana.edit("Remember", key=key, **good)
    await ana.edit("Remember", key="long", content="🚀" * 4_000, kind="fact")
    memory = await ana.memory()
    assert set(memory["entries"]) == {"__proto__", "地点/🚀", "long"}
    assert memory["entries"]["long"]["content"] == "🚀" * 4_000
    revision = (await ana.view())["revision"]
    bad: list[tuple[dict[str, Any], str]] = [
        ({**good, "key": "a", "content": "🚀" * 4_001}, "command.content"),
        ({**good, "key": "a\0"}, "command.key"),
        ({**good, "key": ""}, "command.key"),
        ({**good, "key": " a"}, "command.key"),
        ({**good, "key": "a", "kind": "note"}, "command.kind"),
        ({**good, "key": "a", "sources": []}, "command.sources"),
    ]
    for fields, path in bad:
        answer = await ana.try_("Remember", **fields)
        assert answer.status_code == 400, fields
        assert (answer.json()["_tag"], answer.json()["path"]) == ("InvalidRequest", path)
    large = await ana.try_("Remember", key="a", content="x" * 70_000, kind="fact")
    assert (large.status_code, large.json()["_tag"]) == (413, "PayloadTooLarge")
    assert (await ana.view())["revision"] == revision
    assert await ana.memory() == memory


@pytest.mark.req("SM-29", "SM-59", "SM-60", "SM-61")
async def test_14_access(room: SessionRoom, ana: SessionClient, http: httpx2.AsyncClient) -> None:
    world = room.world
    await room.start()
    nobody = await http.get("/v1/sessions/ses_41/memory")
    assert (nobody.status_code, nobody.json()["_tag"]) == (401, "Unauthorized")
    assert nobody.headers["WWW-Authenticate"] == "Bearer"
    ben = SessionClient(http=http, token=await world.token(world.ben))
    hidden = await http.get("/v1/sessions/ses_41/memory", headers=ben.headers)
    unknown = await http.get("/v1/sessions/ses_nope/memory", headers=ana.headers)
    assert hidden.status_code == unknown.status_code == 404
    assert hidden.content == unknown.content
    # An id with a slash in it is an unknown one, and never another route
    for path in ("/v1/sessions/ses_41%2Fmemory", "/v1/sessions/ses_41%2Fmemory/memory"):
        odd = await http.get(httpx2.URL(str(http.base_url)).copy_with(raw_path=path.encode()), headers=ana.headers)
        assert (odd.status_code, odd.content) == (404, unknown.content)
    # A grant of read lets him read and no more
    await world.grant(world.ben, Right.READ, room.id("ses_41"))
    assert await ben.memory() == await ana.memory()
    for tag in ("Refresh", "Configure"):
        answer = await ben.try_(tag)
        assert (answer.status_code, answer.json()["_tag"]) == (403, "Forbidden")
