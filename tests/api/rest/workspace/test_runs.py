"""Agents, runs and their attempts through the routes (MT-19 to MT-34)."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx2
import pytest

from graph.model.nodes.people import Right
from tests.support.memory_client import MemoryClient, key
from tests.support.run_client import Runtime
from tests.support.world import TeamWorld


@pytest.fixture
async def writer(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Who holds write on the workspace."""
    return await key(http, world, Right.WRITE)


@pytest.fixture
async def team(writer: MemoryClient) -> MemoryClient:
    """The same, in a new file memory."""
    return await writer.make()


@pytest.fixture
async def thread(writer: MemoryClient) -> Runtime:
    """An empty thread."""
    return await Runtime(writer).start()


def mount_of(memory: str, name: str = "team", **fields: Any) -> dict[str, Any]:
    return {"name": name, "memory_id": memory, **fields}


@pytest.mark.req("MT-27", "MT-28", "MT-29", "MT-11")
async def test_a_run_freezes_the_mounts_of_its_thread(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    agent = await thread.new_agent()
    body = {"agent_id": agent, "input": "Go on."}
    run = await thread.client.ok("POST", thread.path("/runs"), body)
    mounted = {"name": "team", "memory_id": team.memory, "access": "write", "recall": True}
    assert run["id"].startswith("run_")
    assert (run["thread_id"], run["agent_id"], run["status"]) == (thread.thread, agent, "accepted")
    assert run["memory_mounts"] == [mounted]
    _, code, details = await thread.client.refused("POST", thread.path("/runs"), body)
    assert (code, details["reason"]) == ("conflict", "run_active")
    tag = await thread.client.tag("PATCH", thread.path("/memories/team"), {"access": "read"}, tag=thread.tag)
    await thread.client.ok("DELETE", thread.path("/memories/team"), tag=tag)
    assert (await thread.client.ok("GET", f"//runs/{run['id']}"))["memory_mounts"] == [mounted]
    await thread.complete(run["id"])
    later = await thread.client.ok("POST", thread.path("/runs"), body)
    assert later["memory_mounts"] == []


@pytest.mark.req("MT-29", "MT-32", "MT-34")
async def test_a_run_ends_once_and_an_archived_thread_takes_none(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    run = await thread.accept()
    await thread.call(run, "memory_file_create", memory="team", path="a.md", content="kept")
    _, code, details = await thread.client.refused("POST", f"//runs/{run}/complete", {"status": "done"})
    assert (code, details["field"]) == ("invalid_argument", "status")
    await thread.complete(run, "failed")
    assert (await thread.client.ok("GET", f"//runs/{run}"))["status"] == "failed"
    assert (await team.ok("GET", "/files/a.md"))["content"] == "kept"
    for path, body in (("complete", {"status": "completed"}), ("checkpoint", {}), ("attempts", {})):
        _, code, details = await thread.client.refused("POST", f"//runs/{run}/{path}", body)
        assert (code, details["reason"]) == ("conflict", "run_ended")
    await thread.client.ok("POST", thread.path("/archive"))
    body = {"agent_id": thread.agent, "input": "Go on."}
    _, code, details = await thread.client.refused("POST", thread.path("/runs"), body)
    assert (code, details["reason"]) == ("conflict", "archived")


@pytest.mark.req("MT-19", "MT-49", "MT-52", "MT-18")
async def test_an_agent_keeps_default_mounts_and_toolsets(thread: Runtime, team: MemoryClient) -> None:
    other, client = await team.make(), thread.client
    made = await client.send("POST", "//agents", {"name": "Scout", "memory_mounts": [mount_of(team.memory)]})
    agent = made.json()
    assert agent["id"].startswith("ap_")
    assert agent["memory_mounts"] == [mount_of(team.memory, access="read", recall=True)]
    assert agent["toolsets"] == {"memory": {"enabled": True, "disabled_tools": []}}
    for mounts, field in (
        ([mount_of(team.memory), mount_of(other.memory)], "memory_mounts.1.name"),
        ([mount_of(team.memory), mount_of(team.memory, "more")], "memory_mounts.1.memory_id"),
        ([mount_of(team.memory, "Team")], "memory_mounts.0.name"),
        ([mount_of(team.memory)] * 33, "memory_mounts"),
    ):
        status, _, details = await client.refused("POST", "//agents", {"name": "Scout", "memory_mounts": mounts})
        assert (status, details["field"]) == (400, field)
    for toolsets, field in (
        ({"memory": {"disabled_tools": ["file_rename"]}}, "toolsets.memory.disabled_tools.0"),
        ({"memory": {"enabled": 1}}, "toolsets.memory.enabled"),
        ({"web": {}}, "toolsets.web"),
    ):
        _, _, details = await client.refused("POST", "//agents", {"name": "Scout", "toolsets": toolsets})
        assert details["field"] == field
    path, tag = f"//agents/{agent['id']}", made.headers["etag"]
    assert await client.tag("PATCH", path, {"name": "Scout"}, tag=tag) == tag
    changed = await client.send("PATCH", path, {"toolsets": {"memory": {"enabled": False}}}, tag=tag)
    assert changed.json()["toolsets"] == {"memory": {"enabled": False, "disabled_tools": []}}
    assert (await client.refused("PATCH", path, {"name": "Other"}, tag=tag))[0] == 412
    assert (await client.refused("PATCH", path, {"name": "Other"}))[0] == 428


@pytest.mark.req("MT-28", "FM-3")
async def test_agents_and_runs_need_their_verbs(
    thread: Runtime, team: MemoryClient, http: httpx2.AsyncClient, world: TeamWorld
) -> None:
    runner, reader = await key(http, world, Right.RUN), await key(http, world, Right.READ)
    agent = await Runtime(runner).new_agent()
    tag = await runner.tag("GET", f"//agents/{agent}")
    assert (await runner.refused("PATCH", f"//agents/{agent}", {"name": "x"}, tag=tag))[::2] == (403, {"verb": "write"})
    assert (await reader.refused("POST", "//agents", {"name": "x"}))[::2] == (403, {"verb": "run"})
    body = {"agent_id": agent, "input": "Go on."}
    assert (await reader.refused("POST", thread.path("/runs"), body))[0] == 403
    run = (await runner.ok("POST", thread.path("/runs"), body))["id"]
    for path in ("attempts", "checkpoint", "complete", "fork", "tools/memory_file_view"):
        assert (await reader.refused("POST", f"//runs/{run}/{path}", {}))[::2] == (403, {"verb": "run"})
        assert (await runner.refused("POST", f"//runs/run_none/{path}", {}))[2]["kind"] == "run"
    foreign = await key(http, await TeamWorld(deps=world.deps).make(), Right.WRITE)
    for path in ("attempts", "checkpoint", "complete", "fork", "tools/memory_file_view"):
        assert (await foreign.refused("POST", f"//runs/{run}/{path}", {}))[::2] == (404, {"kind": "run", "id": run})
    assert (await foreign.refused("PATCH", f"//agents/{agent}", {"name": "x"}, tag=tag))[0] == 404
    theirs = await Runtime(foreign).start()
    assert (await foreign.refused("POST", theirs.path("/runs"), body))[2] == {"kind": "agent", "id": agent}
    assert (await foreign.refused("POST", "//threads", {"parent_run_id": run}))[2] == {"kind": "run", "id": run}
    missing = {"agent_id": "ap_none", "input": ""}
    other = await Runtime(runner).start()
    assert (await runner.refused("POST", other.path("/runs"), missing))[2] == {"kind": "agent", "id": "ap_none"}


@pytest.mark.req("MT-20", "MT-21")
async def test_defaults_join_at_the_first_run_alone(thread: Runtime, team: MemoryClient) -> None:
    facts = await team.make()
    await thread.mount("mine", facts.memory)
    defaults = [mount_of(team.memory), mount_of(facts.memory, "facts")]
    agent = await thread.new_agent(memory_mounts=defaults)
    before = thread.tag
    await thread.complete(await thread.accept())
    assert await thread.mounts() == ["mine", "team"]
    assert thread.tag != before
    await thread.client.ok("DELETE", thread.path("/memories/team"), tag=thread.tag)
    more = [*defaults, mount_of((await team.make()).memory, "later")]
    tag = await thread.client.tag("GET", f"//agents/{agent}")
    await thread.client.ok("PATCH", f"//agents/{agent}", {"memory_mounts": more}, tag=tag)
    await thread.complete(await thread.accept())
    assert await thread.mounts() == ["mine"]


@pytest.mark.req("MT-22", "MT-23", "MT-24")
async def test_a_broken_default_fails_the_first_run_and_leaves_it_first(thread: Runtime, team: MemoryClient) -> None:
    gone = await team.make()
    agent = await thread.new_agent(memory_mounts=[mount_of(gone.memory, "gone"), mount_of(team.memory)])
    await gone.ok("DELETE", "", tag=f'"{gone.memory}:1"')
    body = {"agent_id": agent, "input": "Go on."}
    status, code, details = await thread.client.refused("POST", thread.path("/runs"), body)
    assert (status, code, details["field"]) == (400, "invalid_argument", "memory_mounts.0.memory_id")
    assert await thread.mounts() == []
    tag = await thread.client.tag("GET", f"//agents/{agent}")
    await thread.client.ok("PATCH", f"//agents/{agent}", {"memory_mounts": [mount_of(team.memory)]}, tag=tag)
    full = await Runtime(thread.client, agent=agent).start()
    for place in range(8):
        await full.mount(f"m{place}", (await team.make()).memory)
    _, code, details = await full.client.refused("POST", full.path("/runs"), body)
    assert (code, details["reason"], details["limit"]) == ("conflict", "memory_mount_limit", 8)
    assert len(await full.mounts()) == 8
    await thread.accept()
    assert await thread.mounts() == ["team"]


@pytest.mark.req("MT-16", "MT-33")
async def test_a_fork_has_the_mounts_of_its_thread_and_more(thread: Runtime, team: MemoryClient) -> None:
    facts, client = await team.make(), thread.client
    await thread.mount("team", team.memory)
    run = await thread.accept()
    plain = await client.ok("POST", f"//runs/{run}/fork")
    assert [mount["name"] for mount in plain["memories"]] == ["team"]
    made = await client.ok("POST", f"//runs/{run}/fork", {"memories": [mount_of(facts.memory, "facts")]})
    assert [mount["name"] for mount in made["memories"]] == ["facts", "team"]
    assert made["id"] != thread.thread
    for mount, code in ((mount_of(facts.memory), "already_exists"), (mount_of(team.memory, "again"), "conflict")):
        assert (await client.refused("POST", f"//runs/{run}/fork", {"memories": [mount]}))[:2] == (409, code)
    many = [mount_of((await team.make()).memory, f"m{place}") for place in range(8)]
    assert (await client.refused("POST", f"//runs/{run}/fork", {"memories": many}))[2]["reason"] == "memory_mount_limit"


@pytest.mark.req("MT-25")
async def test_a_subagent_begins_with_the_mounts_of_its_parent_run(thread: Runtime, team: MemoryClient) -> None:
    facts, gone = await team.make(), await team.make()
    for name, memory in (("team", team), ("gone", gone)):
        await thread.mount(name, memory.memory, "read")
    run = await thread.accept()
    await thread.mounts()
    await thread.client.ok("DELETE", thread.path("/memories/team"), tag=thread.tag)
    await gone.ok("DELETE", "", tag=f'"{gone.memory}:1"')
    child = await Runtime(thread.client).start(parent_run_id=run)
    assert await child.mounts() == ["team"]
    await child.new_agent(memory_mounts=[mount_of(facts.memory, "facts")])
    await child.accept()
    assert await child.mounts() == ["facts", "team"]
    status, _, details = await thread.client.refused("POST", "//threads", {"parent_run_id": "run_none"})
    assert (status, details["kind"]) == (404, "run")


@pytest.mark.req("MT-30", "MT-48", "FM-32", "FM-45")
async def test_an_attempt_has_number_instructions_and_tools(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory, "read")
    run = await thread.accept()
    first = await thread.attempt(run)
    assert set(first) == {"number", "instructions", "preamble", "tools", "reports", "unknown_calls"}
    assert (first["number"], first["unknown_calls"]) == (1, [])
    for said in ("team", "kind: file", "access: read", "Never store secrets."):
        assert said in first["instructions"]
    await team.ok("PATCH", "", {"guide": ""}, tag=f'"{team.memory}:1"')
    second = await thread.attempt(run)
    assert second["number"] == 2
    assert "Never store secrets." not in second["instructions"]
    assert "## team" in second["instructions"]


@pytest.mark.req("MT-26")
async def test_only_an_accepted_run_is_given_context_and_tools(http: httpx2.AsyncClient, thread: Runtime) -> None:
    """An inline subagent has no run of its own, and a call cannot be made in its name."""
    document = (await http.get("/openapi.json")).json()
    shapes = document["components"]["schemas"].items()
    giving = {name for name, shape in shapes if "preamble" in shape.get("properties", ())}
    asked = [path for path, methods in document["paths"].items() if any(name in str(methods) for name in giving)]
    assert (len(giving), asked) == (1, ["/api/v1/runs/{run_id}/attempts"])
    calling = [path for path in document["paths"] if "/tools/" in path]
    assert calling == ["/api/v1/runs/{run_id}/tools/{tool_name}"]
    run = await thread.accept()
    body = {"tool_call_id": "c", "arguments": {}, "subagent": "inline"}
    _, _, details = await thread.client.refused("POST", f"//runs/{run}/tools/memory_file_view", body)
    assert details["field"] == "subagent"


@pytest.mark.req("MT-29")
async def test_of_runs_accepted_at_once_one_wins(thread: Runtime) -> None:
    body = {"agent_id": await thread.new_agent(), "input": "Go on."}
    sent = [thread.client.send("POST", thread.path("/runs"), body) for _ in range(5)]
    answers = await asyncio.gather(*sent)
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]
