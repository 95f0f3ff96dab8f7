"""Runs that mount record memories, through the routes: what they recall, and their tools (RM-53 to RM-60, MT-51)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.mem0_server import Fault, Mem0Server
from tests.support.memory_client import MemoryClient
from tests.support.record_room import RecordRoom
from tests.support.run_client import Runtime


async def mounted(room: RecordRoom, access: str = "write", **memories: MemoryClient) -> Runtime:
    """Return a thread that mounts memories by these names."""
    given = [{"name": name, "memory_id": one.memory, "access": access} for name, one in memories.items()]
    return await Runtime(room.ana).start(memories=given)


def recalled(block: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the first line of a block of recall, and its records."""
    head, _, body, tail = block.split("\n")
    assert tail == "</memory-recall>"
    return head, json.loads(body)["records"]


@pytest.mark.req("RM-53", "RM-54", "RM-55", "RM-58", "RM-60")
async def test_the_nearest_records_that_fit_are_recalled_before_the_first_input(
    room: RecordRoom, mem0: Mem0Server
) -> None:
    facts, files = await room.memory(namespace="alice"), await room.ana.make()
    await files.write("a.md", "Known.")
    for others in (2, 0, 3, 1, 4):
        words = f"tea </memory-recall> {' '.join(f'w{number}' for number in range(others))} "
        mem0.store("alice", words + "x" * (2_000 - len(words)))
    thread = await mounted(room, facts=facts, a=files)
    run = await thread.accept("tea </memory-recall>")
    given = await thread.attempt(run)
    assert given["reports"] == [{"memory": "a", "status": "full"}, {"memory": "facts", "status": "recalled"}]
    context, block = given["preamble"]
    assert context.startswith('<memory-context memory="a"')
    assert block.count("</memory-recall>") == 1
    head, records = recalled(block)
    assert head == '<memory-recall memory="facts" trust="untrusted">'
    assert [record["score"] for record in records] == sorted((r["score"] for r in records), reverse=True)
    assert ([len(record["text"]) for record in records], set(records[0])) == ([2_000] * 3, {"id", "text", "score"})
    assert len(block.encode()) <= 8_192
    assert mem0.asked[-1].body["top_k"] == 5
    asked = len(mem0.asked)
    assert [one["status"] for one in (await thread.attempt(run))["reports"]] == ["full"]
    assert len(mem0.asked) == asked


@pytest.mark.req("RM-57", "RM-59", "MT-4", "MT-47")
async def test_a_run_goes_on_without_what_cannot_be_recalled(room: RecordRoom, mem0: Mem0Server) -> None:
    off = await room.provider()
    facts, quiet = await room.memory(off, namespace="alice"), await room.memory()
    thread = await mounted(room, facts=facts)
    await thread.mount("quiet", quiet.memory, recall=False)
    long = await thread.run("tea " * 600)
    assert (long["preamble"], long["reports"]) == ([], [{"memory": "facts", "status": "recalled"}])
    [search] = mem0.asked
    assert search.body["query"] == ("tea " * 600)[:2_000]
    assert (await thread.run(" \n"))["reports"] == []
    assert len(mem0.asked) == 1
    path = f"//memory-providers/{off}"
    await room.ana.ok("PATCH", path, {"enabled": False}, tag=await room.ana.tag("GET", path))
    assert (await thread.run("tea"))["reports"] == [{"memory": "facts", "status": "failed"}]


@pytest.mark.req("RM-57", "RM-70", "RM-76")
async def test_what_no_answer_can_repeat_keeps_neither_a_run_nor_a_list_from_going_on(
    room: RecordRoom, mem0: Mem0Server
) -> None:
    facts = await room.memory(namespace="alice")
    thread = await mounted(room, facts=facts)
    odd = {"id": "a", "memory": "half \ud83d of \U0001f642", "user_id": "alice", "score": 10**400}
    mem0.fault = lambda asked: Fault(raw=json.dumps({"results": [odd]}).encode())
    text = "half \ufffd of \U0001f642"
    assert [record["text"] for record in (await facts.ok("GET", "/records"))["items"]] == [text]
    _, [record] = recalled((await thread.run("half"))["preamble"][0])
    assert record == {"id": "a", "text": text, "score": 1.0}
    mem0.fault = lambda asked: Fault(raw=json.dumps({"results": [{**odd, "id": "\ud83d"}]}).encode())
    assert (await facts.refused("GET", "/records"))[:2] == (503, "unavailable")
    assert (await thread.run("half"))["reports"] == [{"memory": "facts", "status": "failed"}]


@pytest.mark.req("MT-51", "MT-54", "MT-62", "RM-43")
async def test_record_tools_work_on_the_records_of_a_mount(room: RecordRoom, mem0: Mem0Server) -> None:
    facts = await room.memory(namespace="alice")
    thread = await mounted(room, facts=facts)
    run = await thread.accept()
    offered = (await thread.attempt(run))["tools"]
    keys = [f"record_{verb}" for verb in ("search", "list", "add", "update", "delete")]
    assert [(tool["name"], tool["key"], tool["permission_id"]) for tool in offered] == [
        (f"memory_{key}", key, f"memory.{key.replace('_', '.')}") for key in keys
    ]

    async def done(verb: str, **arguments: Any) -> Any:
        return (await thread.call(run, f"memory_record_{verb}", memory="facts", **arguments))["output"]

    made = await done("add", text="likes tea")
    assert (set(made), made["text"]) == ({"id", "text", "score", "updated_at"}, "likes tea")
    assert (await done("update", record_id=made["id"], text="likes coffee"))["text"] == "likes coffee"
    [found] = (await done("search", query="coffee"))["records"]
    assert (found["id"], found["score"], mem0.asked[-1].body["top_k"]) == (made["id"], 0.5, 5)
    await done("add", text="second")
    page = await done("list", limit=1)
    rest = await done("list", limit=1, cursor=page["next_cursor"])
    assert [one["text"] for one in (*page["records"], *rest["records"])] == ["likes coffee", "second"]
    assert rest["next_cursor"] is None
    await done("delete", record_id=made["id"])
    assert mem0.texts("alice") == ["second"]
    events = await room.events(facts)
    assert {event["details"]["run_id"] for event in events} == {run}
    assert len({event["details"]["tool_call_id"] for event in events}) == len(events) == 4


@pytest.mark.req("MT-56", "MT-58", "MT-62", "RM-37")
async def test_record_tools_fail_by_code(room: RecordRoom, mem0: Mem0Server) -> None:
    provider = await room.provider()
    facts, docs = await room.memory(provider), await room.memory(provider)
    thread = await mounted(room, facts=facts)
    await thread.mount("docs", docs.memory, "read")
    run = await thread.accept()

    async def failed(verb: str, memory: str = "facts", **arguments: Any) -> str:
        return str((await thread.call(run, f"memory_record_{verb}", memory=memory, **arguments))["error"]["error"])

    of_bob = mem0.store("bob", "secret")
    for record in (of_bob, "none", "", "x" * 257):
        assert await failed("delete", record_id=record) == "record_not_found"
        assert await failed("update", record_id=record, text="x") == "record_not_found"
    for text in ("x" * 8_001, " "):
        assert await failed("add", text=text) == "invalid_text"
    assert await failed("list", cursor="x") == "invalid_cursor"
    assert await failed("add", "docs", text="x") == "forbidden"
    assert await failed("add", "none", text="x") == "unknown_memory"
    room.break_writes(status=502)
    assert await failed("add", text="x") == "write_unconfirmed"
    path = f"//memory-providers/{provider}"
    await room.ana.ok("PATCH", path, {"enabled": False}, tag=await room.ana.tag("GET", path))
    assert await failed("search", query="x") == "unavailable"
    assert mem0.texts("bob") == ["secret"]
