"""Acceptance examples 1 to 15 of mounts, context and tools, from a real server; 3 and 7 on both stores.

Paths, tags and bodies are those of the contract; defaults are in force.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import httpx2
import pytest

from graph.model.nodes.people import Right
from graph.services.access.commands import command
from graph.services.access.grants import revoke
from tests.support.memory_client import MemoryClient, allow, key
from tests.support.run_client import Runtime
from tests.support.world import TeamWorld

NEO4J = pytest.param("neo4j", marks=pytest.mark.neo4j)
both = pytest.mark.parametrize("engine", ["embedded", NEO4J], indirect=True)
embedded = pytest.mark.parametrize("engine", ["embedded"], indirect=True)


@pytest.fixture
async def ana(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Who holds write on the workspace."""
    return await key(http, world, Right.WRITE)


@pytest.fixture
async def team(ana: MemoryClient) -> MemoryClient:
    """The memory M."""
    return await ana.make()


@pytest.fixture
async def thread(ana: MemoryClient) -> Runtime:
    """The thread t."""
    return await Runtime(ana).start()


def mount_of(memory: str, name: str = "team", **fields: Any) -> dict[str, Any]:
    return {"name": name, "memory_id": memory, **fields}


def told(given: dict[str, Any], place: int = 0) -> tuple[str, dict[str, Any]]:
    """Return kind and body of a block."""
    head, _, body, _ = given["preamble"][place].split("\n")
    return head.partition('kind="')[2].partition('"')[0], json.loads(body)


def names(given: dict[str, Any]) -> set[str]:
    return {tool["name"] for tool in given["tools"]}


async def pinned(ana: MemoryClient) -> MemoryClient:
    """Make the memory of example 4."""
    memory = await ana.make(always_load=["b.md", "a.md", "missing.md"])
    for path in ("a.md", "b.md", "c.md"):
        await memory.write(path, f"{path}\n")
    return memory


@embedded
@pytest.mark.req("MT-1", "MT-2", "MT-5", "MT-10")
async def test_01_mount(thread: Runtime, team: MemoryClient) -> None:
    path, old, body = thread.path("/memories"), thread.tag, mount_of(team.memory, access="write")
    made = await thread.client.send("POST", path, body, tag=old)
    assert made.status_code == 201
    assert (await thread.client.send("GET", thread.path())).headers["etag"] == made.headers["etag"]
    assert (await thread.client.refused("POST", path, body, tag=old))[0] == 412
    assert (await thread.client.refused("POST", path, body))[0] == 428
    tag = made.headers["etag"]
    _, code, details = await thread.client.refused("POST", path, {**body, "name": "Team"}, tag=tag)
    assert (code, details["field"]) == ("invalid_argument", "name")


@embedded
@pytest.mark.req("MT-6", "MT-9")
async def test_02_limit(thread: Runtime, team: MemoryClient) -> None:
    made = [await team.make() for _ in range(9)]
    for place, memory in enumerate(made[:8]):
        await thread.mount(f"m{place}", memory.memory)
    path = thread.path("/memories")
    for body, code, more in (
        (mount_of(made[8].memory, "m8"), "conflict", {"reason": "memory_mount_limit", "limit": 8}),
        (mount_of(made[8].memory, "m0"), "already_exists", {"kind": "mount"}),
        (mount_of(made[0].memory, "m8"), "conflict", {"reason": "already_mounted"}),
    ):
        status, found, details = await thread.client.refused("POST", path, body, tag=thread.tag)
        assert (status, found) == (409, code)
        assert details.items() >= more.items()


@both
@pytest.mark.req("MT-11", "MT-27", "MT-54")
async def test_03_frozen(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    run = await thread.accept()
    await thread.client.ok("PATCH", thread.path("/memories/team"), {"access": "read"}, tag=thread.tag)
    assert "memory_file_edit" in names(await thread.attempt(run))
    await thread.complete(run)
    later = names(await thread.run())
    assert "memory_file_edit" not in later
    assert "memory_file_view" in later


@embedded
@pytest.mark.req("MT-36", "MT-37", "MT-38", "MT-43")
async def test_04_first_full_then_changes(thread: Runtime, ana: MemoryClient) -> None:
    memory = await pinned(ana)
    await thread.mount("team", memory.memory)
    kind, body = told(await thread.run())
    assert (kind, [file["path"] for file in body["files"]]) == ("full", ["b.md", "a.md"])
    assert [line.partition(":")[0] for line in body["index"]] == ["a.md", "b.md", "c.md"]
    await memory.put("c.md", "Edited.\n", await memory.tag("GET", "/files/c.md"))
    assert told(await thread.run()) == ("changes", {"files": [], "changed": ["c.md: Edited."]})
    assert (await thread.run())["preamble"] == []


@embedded
@pytest.mark.req("MT-38", "MT-46")
async def test_05_another_threads_change(thread: Runtime, ana: MemoryClient) -> None:
    memory = await pinned(ana)
    await thread.mount("team", memory.memory)
    await thread.run()
    second = await Runtime(ana).start()
    await second.mount("mine", memory.memory)
    run = await second.accept()
    await second.call(run, "memory_file_edit", memory="mine", path="a.md", old_string="a.md", new_string="New")
    kind, body = told(await thread.run())
    assert (kind, body["files"]) == ("changes", [{"path": "a.md", "content": "New\n"}])


@embedded
@pytest.mark.req("MT-39")
async def test_06_compaction(thread: Runtime, ana: MemoryClient) -> None:
    await thread.mount("team", (await pinned(ana)).memory)
    for _ in range(3):
        await thread.run()
    assert (await thread.client.send("POST", thread.path("/compact"))).status_code == 204
    assert told(await thread.run())[0] == "full"


@both
@pytest.mark.req("MT-44", "MT-63", "MT-64", "MT-65")
async def test_07_lost_attempt(thread: Runtime, ana: MemoryClient) -> None:
    memory = await pinned(ana)
    await thread.mount("team", memory.memory)
    run = await thread.accept()
    first = await thread.attempt(run)
    body = {"tool_call_id": "w-1", "arguments": {"memory": "team", "path": "c.md", "text": "More."}}
    await ana.ok("POST", f"//runs/{run}/tools/memory_file_append", body)
    second = await thread.attempt(run)
    assert (first["number"], second["number"]) == (1, 2)
    assert (told(first)[0], told(second)[0]) == ("full", "full")
    assert told(second)[1]["files"] == told(first)[1]["files"]
    assert [call["tool_call_id"] for call in second["unknown_calls"]] == ["w-1"]
    [revision] = await memory.revisions(run_id=run)
    assert (revision["path"], revision["tool_call_id"], revision["run_id"]) == ("c.md", "w-1", run)


@embedded
@pytest.mark.req("MT-40", "MT-41")
async def test_08_budget(thread: Runtime, ana: MemoryClient) -> None:
    for name in ("left", "right"):
        memory = await ana.make(always_load=["one.md", "two.md"])
        for path in ("one.md", "two.md"):
            await memory.write(path, "x" * 5_120)
        await thread.mount(name, memory.memory)
    given = await thread.run()
    for place in (0, 1):
        first, second = told(given, place)[1]["files"]
        assert (first["content"], "content" in second) == ("x" * 5_120, False)
        assert "memory_file_view" in second["hint"]
    assert sum(len(block.encode()) for block in given["preamble"]) <= 32_768


@embedded
@pytest.mark.req("MT-16", "MT-33")
async def test_09_fork(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    run = await thread.accept()
    facts = mount_of((await team.make()).memory, "facts", access="read")
    made = await thread.client.send("POST", f"//runs/{run}/fork", {"memories": [facts]})
    assert made.status_code == 201
    forked = Runtime(thread.client, made.json()["id"], made.headers["etag"])
    assert await forked.mounts() == ["facts", "team"]
    again = {"memories": [mount_of(facts["memory_id"], "team")]}
    assert (await thread.client.refused("POST", f"//runs/{run}/fork", again))[0] == 409


@embedded
@pytest.mark.req("MT-17")
async def test_10_archive(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    await thread.client.ok("POST", thread.path("/archive"))
    assert await thread.mounts() == []
    body = mount_of(team.memory)
    status, _, details = await thread.client.refused("POST", thread.path("/memories"), body, tag=thread.tag)
    assert (status, details["reason"]) == (409, "archived")


@embedded
@pytest.mark.req("MT-20", "MT-21")
async def test_11_agent_defaults(thread: Runtime, team: MemoryClient) -> None:
    second = await team.make()
    await thread.mount("mine", second.memory)
    await thread.new_agent(memory_mounts=[mount_of(team.memory), mount_of(second.memory, "facts")])
    body = {"agent_id": thread.agent, "input": "Go on."}
    first = await thread.client.ok("POST", thread.path("/runs"), body)
    assert [mount["name"] for mount in first["memory_mounts"]] == ["mine", "team"]
    await thread.complete(first["id"])
    await thread.mounts()
    await thread.client.ok("DELETE", thread.path("/memories/team"), tag=thread.tag)
    later = await thread.client.ok("POST", thread.path("/runs"), body)
    assert [mount["name"] for mount in later["memory_mounts"]] == ["mine"]


@embedded
@pytest.mark.req("MT-22", "MT-23", "MT-24")
async def test_12_broken_default(thread: Runtime, team: MemoryClient) -> None:
    agent = await thread.new_agent(memory_mounts=[mount_of(team.memory)])
    full = await Runtime(thread.client, agent=agent).start()
    for place in range(8):
        await full.mount(f"m{place}", (await team.make()).memory)
    body = {"agent_id": agent, "input": "Go on."}
    status, _, details = await full.client.refused("POST", full.path("/runs"), body)
    assert (status, details["reason"]) == (409, "memory_mount_limit")
    await team.ok("DELETE", "", tag=f'"{team.memory}:1"')
    status, code, details = await thread.client.refused("POST", thread.path("/runs"), body)
    assert (status, code, details["field"]) == (400, "invalid_argument", "memory_mounts.0.memory_id")
    assert await thread.mounts() == []


@embedded
@pytest.mark.req("MT-52", "MT-53")
async def test_13_tools_off(thread: Runtime, team: MemoryClient) -> None:
    await team.write("a.md", "Known.")
    await thread.mount("team", team.memory)
    await thread.new_agent(toolsets={"memory": {"enabled": False}})
    given = await thread.run()
    assert (given["tools"], len(given["preamble"])) == ([], 1)
    everything = Runtime(thread.client, thread.thread, thread.tag)
    all_of_them = names(await everything.run())
    await thread.new_agent(toolsets={"memory": {"disabled_tools": ["file_delete"]}})
    assert names(await thread.run()) == all_of_them - {"memory_file_delete"}


@embedded
@pytest.mark.req("MT-55")
async def test_14_rights_lost(http: httpx2.AsyncClient, world: TeamWorld, team: MemoryClient) -> None:
    await team.write("a.md", "x")
    ben = await key(http, world, Right.RUN)
    await allow(world, world.ben, Right.READ)
    thread = await Runtime(ben).start(memories=[mount_of(team.memory, access="write")])
    run = await thread.accept()
    await command(world.deps, world.caller(world.dan), lambda cmd: revoke(cmd, world.ben, Right.RUN, world.node))
    viewed = await thread.call(run, "memory_file_view", memory="team", path="a.md")
    assert viewed["output"]["content"] == "x"
    failed = await thread.call(run, "memory_file_append", memory="team", path="a.md", text="y")
    assert failed["error"]["error"] == "forbidden"


@embedded
@pytest.mark.req("MT-57", "MT-60", "MT-61", "FM-56")
async def test_15_two_edits_both_survive(thread: Runtime, team: MemoryClient) -> None:
    await team.write("style.md", "likes tea\nreply in English\n")
    second = await Runtime(team).start()
    for one in (thread, second):
        await one.mount("team", team.memory)
    a, b = await thread.accept(), await second.accept()
    where = {"memory": "team", "path": "style.md"}
    for one, run in ((thread, a), (second, b)):
        await one.call(run, "memory_file_view", **where)
    edits = (
        thread.call(a, "memory_file_edit", **where, old_string="reply in English", new_string="reply in French"),
        second.call(b, "memory_file_edit", **where, old_string="likes tea", new_string="likes coffee"),
    )
    assert all("output" in answer for answer in await asyncio.gather(*edits))
    content = "likes coffee\nreply in French\n"
    assert (await team.ok("GET", "/files/style.md"))["content"] == content
    late = await second.call(b, "memory_file_edit", **where, old_string="reply in English", new_string="x")
    assert late["error"]["error"] == "no_match"
    assert late["error"]["current"]["content"] == content
