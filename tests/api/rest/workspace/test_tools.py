"""The tools of runs on file memories, through their route (MT-49 to MT-65)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from api.bootstrap import Ports, build
from api.settings import Settings
from graph.model.nodes.people import Right
from graph.services.access.commands import command
from graph.services.access.grants import revoke
from graph.store.port import Store
from tests.support.faults import FaultyStore, fail_at
from tests.support.memory_client import MemoryClient, allow, key
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
async def thread(writer: MemoryClient, team: MemoryClient) -> Runtime:
    """A thread that mounts the memory to write, and another one to read."""
    made = await Runtime(writer).start()
    await made.mount("team", team.memory)
    await made.mount("docs", (await team.make()).memory, "read")
    return made


@pytest.fixture
async def run(thread: Runtime) -> str:
    """An accepted run of the thread."""
    return await thread.accept()


def offers(given: dict[str, Any]) -> dict[str, list[str]]:
    return {tool["key"]: tool["input_schema"]["properties"]["memory"]["enum"] for tool in given["tools"]}


@pytest.mark.req("MT-49", "MT-50", "MT-54")
async def test_tools_are_offered_for_the_mounts_that_they_serve(thread: Runtime, run: str) -> None:
    given = await thread.attempt(run)
    both, one = ["docs", "team"], ["team"]
    assert offers(given) == {
        "file_view": both,
        "file_grep": both,
        "file_create": one,
        "file_edit": one,
        "file_append": one,
        "file_move": one,
        "file_delete": one,
    }
    assert [tool["name"] for tool in given["tools"]] == [f"memory_{key}" for key in offers(given)]
    assert {tool["permission_id"] for tool in given["tools"]} >= {"memory.file.view", "memory.file.delete"}


@pytest.mark.req("MT-52", "MT-53", "MT-31")
async def test_a_disabled_tool_and_a_disabled_toolset_are_not_offered(thread: Runtime, team: MemoryClient) -> None:
    await team.write("a.md", "Known.")
    await thread.new_agent(toolsets={"memory": {"disabled_tools": ["file_delete"]}})
    run = await thread.accept()
    assert set(offers(await thread.attempt(run))) == {
        "file_view", "file_grep", "file_create", "file_edit", "file_append", "file_move",
    }  # fmt: skip
    call = {"tool_call_id": "c", "arguments": {"memory": "team", "path": "a.md", "version": 1}}
    refused = await thread.client.refused("POST", f"//runs/{run}/tools/memory_file_delete", call)
    assert refused == (404, "not_found", {"kind": "tool", "id": "memory_file_delete"})
    await thread.complete(run)
    await thread.new_agent(toolsets={"memory": {"enabled": False}})
    other = await Runtime(thread.client, agent=thread.agent).start()
    await other.mount("team", team.memory)
    given = await other.run()
    assert given["tools"] == []
    assert "Known." in given["preamble"][0]


@pytest.mark.req("MT-59")
async def test_view_lists_one_level_or_gives_a_file(thread: Runtime, team: MemoryClient, run: str) -> None:
    for path in ("a.md", "notes/b.md", "notes/deep/c.md", "notes/deep/d.md"):
        await team.write(path, f"In {path}")
    root = (await thread.call(run, "memory_file_view", memory="team"))["output"]
    assert root["files"] == [{"path": "a.md", "description": "In a.md", "size": 7, "version": 1}]
    assert root["directories"] == [{"path": "notes/", "file_count": 3}]
    for path in ("notes", "notes/"):
        notes = (await thread.call(run, "memory_file_view", memory="team", path=path))["output"]
        assert [file["path"] for file in notes["files"]] == ["notes/b.md"]
        assert notes["directories"] == [{"path": "notes/deep/", "file_count": 2}]
    file = (await thread.call(run, "memory_file_view", memory="team", path="notes/b.md"))["output"]
    assert (file["content"], file["version"], file["path"]) == ("In notes/b.md", 2, "notes/b.md")
    for path, code in (("none.md", "not_found"), ("../x", "invalid_path"), ("/", "invalid_path")):
        failed = await thread.call(run, "memory_file_view", memory="team", path=path)
        assert failed["error"]["error"] == code


@pytest.mark.req("MT-59", "MT-58")
async def test_grep_finds_lines(thread: Runtime, team: MemoryClient, run: str) -> None:
    await team.write("a.md", "Tea.\nI like tea (a+b)\nCoffee")
    await team.write("n/b.md", "tea again\n")

    async def found(pattern: str, **more: Any) -> list[tuple[str, int]]:
        answer = await thread.call(run, "memory_file_grep", memory="team", pattern=pattern, **more)
        return [(match["path"], match["line"]) for match in answer["output"]["matches"]]

    assert await found("TEA") == [("a.md", 1), ("a.md", 2), ("n/b.md", 1)]
    assert await found("tea", case_sensitive=True) == [("a.md", 2), ("n/b.md", 1)]
    assert await found("(a+b)") == [("a.md", 2)]
    assert await found("^tea", regex=True) == [("a.md", 1), ("n/b.md", 1)]
    assert await found("tea", path="n") == [("n/b.md", 1)]
    assert await found("tea", path="a.md", limit=1) == [("a.md", 1)]
    await team.write("many.md", "much\n" * 51)
    for more, number in (({}, 50), ({"limit": 51}, 51)):
        answer = await thread.call(run, "memory_file_grep", memory="team", pattern="much", **more)
        assert (len(answer["output"]["matches"]), answer["output"]["truncated"]) == (number, number < 51)
    for pattern, is_regex in (("(", True), ("", False), ("a" * 1_001, False)):
        failed = await thread.call(run, "memory_file_grep", memory="team", pattern=pattern, regex=is_regex)
        assert failed["error"]["error"] == "invalid_pattern"


@pytest.mark.req("MT-58")
async def test_an_expression_without_end_is_refused(thread: Runtime, team: MemoryClient, run: str) -> None:
    await team.write("a.md", "a" * 40_000 + "!")
    failed = await thread.call(run, "memory_file_grep", memory="team", pattern="(a|aa)+$", regex=True)
    assert failed["error"]["error"] == "invalid_pattern"


@pytest.mark.req("MT-60", "MT-65", "FM-71", "FM-72")
async def test_writing_tools_change_files_and_leave_run_and_call(thread: Runtime, team: MemoryClient, run: str) -> None:
    async def done(tool: str, **arguments: Any) -> dict[str, Any]:
        return dict((await thread.call(run, f"memory_file_{tool}", memory="team", **arguments))["output"])

    assert await done("create", path="a.md", content="one") == {"path": "a.md", "version": 1, "size": 3}
    assert (await done("append", path="a.md", text="two"))["version"] == 2
    assert (await done("edit", path="a.md", old_string="one", new_string="1"))["version"] == 3
    assert (await team.ok("GET", "/files/a.md"))["content"] == "1\ntwo"
    assert (await done("append", path="a.md", text="\n"))["size"] == 7
    assert (await done("move", source="a.md", destination="b.md"))["path"] == "b.md"
    assert (await done("delete", path="b.md", version=6))["deleted"] is True
    made = await team.revisions()
    assert {revision["run_id"] for revision in made} == {run}
    assert [revision["op"] for revision in made[:2]] == ["delete", "move_in"]
    assert len({revision["tool_call_id"] for revision in made}) == 6
    assert {revision["principal_id"] for revision in made} == {"ana"}
    assert len(await team.revisions(run_id=run)) == len(made)


@pytest.mark.req("MT-57", "MT-58", "MT-60")
async def test_a_failed_write_changes_nothing_and_tells_the_present_file(
    thread: Runtime, team: MemoryClient, run: str
) -> None:
    await team.write("a.md", "x x")
    await team.write("b.md", "there")
    current = {"path": "a.md", "version": 1, "size": 3, "content": "x x"}
    there = {"path": "b.md", "version": 2, "size": 5, "content": "there"}

    async def failed(tool: str, **arguments: Any) -> tuple[str, Any]:
        error = (await thread.call(run, f"memory_file_{tool}", memory="team", **arguments))["error"]
        return error["error"], error.get("current", "none told")

    assert await failed("create", path="a.md", content="") == ("already_exists", current)
    assert await failed("edit", path="a.md", old_string="x", new_string="y") == ("ambiguous_match", current)
    assert await failed("edit", path="a.md", old_string="z", new_string="y") == ("no_match", current)
    assert await failed("edit", path="c.md", old_string="z", new_string="y") == ("not_found", None)
    assert await failed("append", path="c.md", text="y") == ("not_found", None)
    assert await failed("append", path="a.md", text="y" * 65_536) == ("too_large", current)
    assert await failed("append", path="a.md", text="\0") == ("invalid_file", current)
    assert await failed("move", source="a.md", destination="b.md") == ("already_exists", there)
    assert await failed("delete", path="a.md", version=7) == ("version_mismatch", current)
    assert await failed("create", path="../a.md", content="") == ("invalid_path", "none told")
    assert (await team.view())["file_count"] == 2
    assert len(await team.revisions()) == 2


@pytest.mark.req("MT-61", "FM-56")
async def test_appends_at_once_all_survive(thread: Runtime, team: MemoryClient, run: str) -> None:
    await team.write("a.md", "")
    calls = [
        thread.call(run, "memory_file_append", memory="team", path="a.md", text=f"line {place}") for place in range(3)
    ]
    answers = await asyncio.gather(*calls)
    assert all("output" in answer for answer in answers)
    lines = (await team.ok("GET", "/files/a.md"))["content"].split("\n")
    assert sorted(lines) == ["line 0", "line 1", "line 2"]


@pytest.mark.req("MT-54", "MT-62")
async def test_the_memory_of_a_call_is_a_mount_that_serves_it(thread: Runtime, team: MemoryClient, run: str) -> None:
    for memory, code in (("docs", "forbidden"), ("none", "unknown_memory")):
        answer = await thread.call(run, "memory_file_create", memory=memory, path="a.md", content="")
        assert answer["error"]["error"] == code
    for arguments, field in (
        ({"memory": "team"}, "arguments.path"),
        ({"memory": "team", "path": 1, "content": ""}, "arguments.path"),
        ({"memory": "team", "path": "a", "content": "", "mode": "w"}, "arguments.mode"),
        ({"path": "a", "content": ""}, "arguments.memory"),
    ):
        body = {"tool_call_id": "bad", "arguments": arguments}
        _, code, details = await thread.client.refused("POST", f"//runs/{run}/tools/memory_file_create", body)
        assert (code, details["field"]) == ("invalid_argument", field)
        assert ("missing" in details["reason"]) is (field.removeprefix("arguments.") not in arguments)
    assert await team.revisions() == []


@pytest.mark.req("MT-55", "FM-3", "FM-71")
async def test_rights_are_asked_anew_at_each_call(
    http: httpx2.AsyncClient, world: TeamWorld, team: MemoryClient
) -> None:
    await team.write("a.md", "x")
    await allow(world, world.ben, Right.RUN)
    await allow(world, world.ben, Right.READ)
    ben = Runtime(MemoryClient(http=http, token=await world.token(world.ben)))
    thread = await ben.start(memories=[{"name": "team", "memory_id": team.memory, "access": "write"}])
    run = await thread.accept()
    append = {"memory": "team", "path": "a.md", "text": "y"}
    assert "output" in await thread.call(run, "memory_file_append", **append)
    by_ana = {"tool_call_id": "first-by-ana", "arguments": append}
    assert "output" in await team.ok("POST", f"//runs/{run}/tools/memory_file_append", by_ana)
    assert [(row["principal_id"], row["run_id"]) for row in await team.revisions(run_id=run)] == [("ben", run)] * 2
    await command(world.deps, world.caller(world.dan), lambda cmd: revoke(cmd, world.ben, Right.RUN, world.node))
    assert (await thread.call(run, "memory_file_append", **append))["error"]["error"] == "forbidden"
    assert (await thread.call(run, "memory_file_view", memory="team", path="a.md"))["output"]["content"] == "x\ny\ny"
    driven = Runtime(team)
    body = {"tool_call_id": "by-ana", "arguments": append}
    answer = await driven.client.ok("POST", f"//runs/{run}/tools/memory_file_append", body)
    assert answer["error"]["error"] == "forbidden"


@pytest.mark.req("FM-48", "MT-58")
async def test_a_deleted_memory_fails_the_call_alone(thread: Runtime, team: MemoryClient, run: str) -> None:
    await team.ok("DELETE", "", tag=f'"{team.memory}:1"')
    for tool, more in (("view", {}), ("create", {"path": "a.md", "content": ""})):
        answer = await thread.call(run, f"memory_file_{tool}", memory="team", **more)
        assert answer["error"]["error"] == "memory_deleted"
    assert "output" in await thread.call(run, "memory_file_view", memory="docs")
    await thread.complete(run)


@pytest.mark.req("MT-63", "MT-64", "FM-6")
async def test_a_write_that_the_store_broke_off_is_not_to_be_sent_again(
    settings: Settings, ports: Ports, store: Store, thread: Runtime, team: MemoryClient, run: str
) -> None:
    failing = FaultyStore(store, [fail_at(2, "transact")])  # after the one that writes down that the call begins
    app = build(settings, ports=replace(ports, store=failing)).app
    body = {"tool_call_id": "w-1", "arguments": {"memory": "team", "path": "a.md", "content": "x"}}
    path = f"//runs/{run}/tools/memory_file_create"
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://x") as http:
        broken = MemoryClient(http=http, token=team.token)
        answer = await broken.send("POST", path, body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")
        assert "retry-after" not in answer.headers, "what has it is sent again"
        assert (await broken.refused("POST", path, body))[2]["reason"] == "already_begun"
    assert [call["tool_call_id"] for call in (await thread.attempt(run))["unknown_calls"]] == ["w-1"]
    assert await team.revisions() == []


@pytest.mark.req("MT-63", "MT-64")
async def test_a_write_begun_without_a_checkpoint_is_told_and_not_repeated(
    thread: Runtime, team: MemoryClient, run: str
) -> None:
    await thread.attempt(run)
    body = {"tool_call_id": "w-1", "arguments": {"memory": "team", "path": "a.md", "content": "x"}}
    path = f"//runs/{run}/tools/memory_file_create"
    await thread.client.ok("POST", path, body)
    await thread.call(run, "memory_file_view", memory="team", path="a.md")
    given = await thread.attempt(run)
    assert given["unknown_calls"] == [{"tool_call_id": "w-1", "tool": "memory_file_create", "attempt": 1}]
    _, code, details = await thread.client.refused("POST", path, body)
    assert (code, details["reason"]) == ("conflict", "already_begun")
    assert len(await team.revisions()) == 1
    await thread.client.ok("POST", f"//runs/{run}/checkpoint")
    assert (await thread.attempt(run))["unknown_calls"] == []
