"""The tools of a run over MCP: exactly those of the run, as long as it goes, with the rights of who accepted it."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from api.bootstrap import Ports, Service, build
from api.errors import INVALID_PARAMS
from graph.model.nodes.people import Right
from graph.services.access.commands import command
from graph.services.access.grants import revoke
from tests.api.mcp.conftest import Connect
from tests.support.mcp_client import message, named, post, told
from tests.support.memory_client import MemoryClient, allow, key
from tests.support.run_client import Runtime
from tests.support.world import TeamWorld

FILE = {"memory": "team", "path": "notes/tea.md"}
CREATE = "memory_file_create"


@pytest.fixture
async def writer(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Ana, who holds write on the workspace."""
    return await key(http, world, Right.WRITE)


@pytest.fixture
async def thread(writer: MemoryClient) -> Runtime:
    """A thread that mounts a memory to write, and another one to read."""
    made = await Runtime(writer).start()
    await made.mount("team", (await writer.make()).memory)
    await made.mount("docs", (await writer.make()).memory, "read")
    return made


@pytest.fixture
async def run(thread: Runtime) -> str:
    return await thread.accept()


async def call(client: Client, tool: str, /, **arguments: Any) -> Any:
    return told(await client.call_tool(tool, arguments))


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


@pytest.mark.req("MT-48", "MT-49", "MT-50", "MT-53", "MT-54")
async def test_the_tools_are_those_that_an_attempt_is_given(connect: Connect, thread: Runtime) -> None:
    for toolset in ({}, {"disabled_tools": ["file_delete"]}, {"enabled": False}):
        await thread.new_agent(toolsets={"memory": toolset})
        run = await thread.accept()
        attempt = await thread.attempt(run)
        async with connect(f"/mcp/runs/{run}", thread.client.token) as client:
            listed = (await client.list_tools()).tools
            shown = [{"n": one.name, "d": one.description, "s": one.input_schema} for one in listed]
            given = attempt["tools"]
            assert shown == [{"n": one["name"], "d": one["description"], "s": one["input_schema"]} for one in given]
            assert client.instructions == attempt["instructions"]
            assert client.server_capabilities.resources is None
            readers = {one.name for one in listed if one.annotations and one.annotations.read_only_hint}
            assert readers <= {"memory_file_view", "memory_file_grep"}
        await thread.complete(run)


@pytest.mark.req("MT-31", "MT-57", "MT-58", "MT-59", "MT-60")
async def test_calls_answer_as_the_route_does(connect: Connect, thread: Runtime, run: str) -> None:
    async with connect(f"/mcp/runs/{run}", thread.client.token) as client:
        made = await call(client, "memory_file_create", **FILE, content="green\n")
        assert made == {"output": {"path": FILE["path"], "version": 1, "size": 6}}
        for tool, arguments in (
            ("memory_file_view", FILE),
            ("memory_file_view", {"memory": "docs", "path": ""}),
            ("memory_file_grep", {"memory": "team", "pattern": "GREEN"}),
            ("memory_file_create", {**FILE, "content": "black"}),
            ("memory_file_edit", {**FILE, "old_string": "white", "new_string": "x"}),
            ("memory_file_delete", {**FILE, "version": 7}),
            ("memory_file_view", {"memory": "team", "path": "../x"}),
            ("memory_file_view", {"memory": "none", "path": ""}),
            ("memory_file_append", {"memory": "docs", "path": "a.md", "text": "x"}),
        ):
            result = await client.call_tool(tool, arguments)
            answer = await thread.call(run, tool, **arguments)
            assert told(result) == answer
            assert result.is_error is ("error" in answer)


@pytest.mark.req("MT-31", "MT-54")
async def test_a_tool_that_is_not_offered_is_unknown(connect: Connect, thread: Runtime, run: str) -> None:
    async with connect(f"/mcp/runs/{run}", thread.client.token) as client:
        assert "memory_record_search" not in await names(client)
        for tool in ("memory_record_search", "memory_file_purge", "search", "confide", ""):
            with pytest.raises(MCPError) as refused:
                await client.call_tool(tool, {"memory": "team", "query": "tea"})
            assert refused.value.error.code == INVALID_PARAMS
            assert refused.value.error.data == {"code": "not_found", "kind": "tool"}


@pytest.mark.req("MT-54")
async def test_a_run_that_ends_takes_its_tools_away(connect: Connect, thread: Runtime, run: str) -> None:
    async with connect(f"/mcp/runs/{run}", thread.client.token) as client:
        assert len(await names(client)) == 7
        await thread.complete(run)
        assert await names(client) == []
        failed = await call(client, "memory_file_create", **FILE, content="x")
        assert (failed["error"]["error"], failed["error"]["details"]["reason"]) == ("conflict", "run_ended")
    async with connect(f"/mcp/runs/{run}", thread.client.token) as client:
        assert (await names(client), client.instructions) == ([], None)


@pytest.mark.req("MT-55", "MT-58")
async def test_rights_are_those_of_the_moment_and_fail_single_calls(
    connect: Connect, thread: Runtime, run: str, world: TeamWorld
) -> None:
    async with connect(f"/mcp/runs/{run}", thread.client.token) as client:
        await call(client, "memory_file_create", **FILE, content="green")
        await allow(world, world.ana, Right.READ)
        dan = world.caller(world.dan)
        await command(world.deps, dan, lambda cmd: revoke(cmd, world.ana, Right.WRITE, world.node))
        refused = await call(client, "memory_file_append", **FILE, text="black")
        assert refused["error"]["error"] == "forbidden"
        assert "green" in str(await call(client, "memory_file_view", **FILE))


@pytest.mark.req("FM-3", "MT-55")
async def test_a_second_person_gets_nothing_of_the_firsts_run(
    http: httpx2.AsyncClient, world: TeamWorld, thread: Runtime, run: str
) -> None:
    asked = message("tools/list")
    answers = {
        name: await post(http, f"/mcp/runs/{run}", await world.token(world.person(name)), asked)
        for name in ("eve", "ben")
    }
    assert {name: answer.status_code for name, answer in answers.items()} == {"eve": 403, "ben": 403}
    stranger = await TeamWorld(deps=world.deps).make()
    await allow(stranger, stranger.ana, Right.WRITE)
    elsewhere = await post(http, f"/mcp/runs/{run}", await stranger.token(stranger.ana), asked)
    unknown = await post(http, "/mcp/runs/run_x", await stranger.token(stranger.ana), asked)
    assert elsewhere.status_code == unknown.status_code == 404
    assert elsewhere.json() == unknown.json()


@pytest.mark.req("MT-64")
async def test_a_call_that_its_client_names_is_done_once(connect: Connect, thread: Runtime, run: str) -> None:
    async with connect(f"/mcp/runs/{run}", thread.client.token) as client:
        first, second = [
            told(await client.call_tool(CREATE, {**FILE, "path": path, "content": "x"}, meta=named("c-1")))
            for path in ("1.md", "2.md")
        ]
        assert "output" in first
        assert second["error"]["details"]["reason"] == "already_begun"
        for n in (3, 4):
            assert "output" in await call(client, CREATE, **{**FILE, "path": f"{n}.md"}, content="x")
        unknown = (await thread.attempt(run))["unknown_calls"]
        assert unknown[0]["tool_call_id"] == "c-1"
        assert len({one["tool_call_id"] for one in unknown}) == 3
        for bad in ("", "x" * 257, 7):
            refused = await client.call_tool("memory_file_view", FILE, meta=named(bad))
            assert told(refused)["error"]["error"] == "invalid_argument"


@pytest.mark.req("MT-57")
async def test_the_largest_file_can_be_written(
    http: httpx2.AsyncClient, thread: Runtime, run: str, service: Service
) -> None:
    most = service.deps.memory_limits.max_file_bytes
    content = "é" * (most // 2)
    asked = message("tools/call", name="memory_file_create", arguments={**FILE, "content": content})
    answer = await post(http, f"/mcp/runs/{run}", thread.client.token, json.dumps(asked).encode())
    assert answer.json()["result"]["structuredContent"]["output"]["size"] == most


async def test_any_server_process_answers_the_next_request(
    service: Service, thread: Runtime, run: str, http: httpx2.AsyncClient
) -> None:
    """Nothing is kept between requests: what one process began, another goes on with."""
    other = build(service.settings, ports=Ports(store=service.deps.store, clock=service.deps.clock))
    about = {"clientInfo": {"name": "x", "version": "1"}, "capabilities": {}}
    begun = await post(
        http, f"/mcp/runs/{run}", thread.client.token, message("initialize", protocolVersion="2025-11-25", **about)
    )
    assert "mcp-session-id" not in begun.headers
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=other.app)) as second:
        listed = await post(
            second,
            f"/mcp/runs/{run}",
            thread.client.token,
            message("tools/list"),
            **{"MCP-Protocol-Version": "2025-11-25"},
        )
    assert len(listed.json()["result"]["tools"]) == 7
