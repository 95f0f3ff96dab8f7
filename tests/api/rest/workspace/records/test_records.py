"""Record memories and their records through the routes (RM-16 to RM-43, RM-70 to RM-76)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx2
import pytest

from api.bootstrap import Ports, build
from api.settings import Settings
from graph.rules.memory_guides import RECORD_GUIDE
from graph.rules.record_providers import PLATFORM
from graph.store.port import Store
from tests.api.conftest import ENGINES
from tests.support.faults import FaultyStore, fail_at
from tests.support.mem0_server import Fault, Mem0Server
from tests.support.memory_client import MemoryClient
from tests.support.record_room import RecordRoom, is_write


@pytest.mark.req("RM-16", "RM-17", "RM-18", "RM-19", "RM-26", "FM-31", "FM-33")
async def test_a_record_memory_needs_an_enabled_provider_of_its_type(room: RecordRoom, mem0: Mem0Server) -> None:
    provider, off = await room.provider(), await room.provider(enabled=False)
    body: dict[str, Any] = {"name": "Facts", "type": "mem0_oss", "provider_id": provider}

    async def refused(**more: Any) -> tuple[int, str, Any]:
        status, code, details = await room.ana.refused("POST", "//memories", {**body, **more})
        return status, code, details.get("field") or details.get("kind")

    assert await refused(provider_id=None) == (400, "invalid_argument", "provider_id")
    assert await refused(provider_id="memprov_x") == (404, "not_found", "memory_provider")
    assert await refused(provider_id=off) == (422, "disabled", "memory_provider")
    assert await refused(type=PLATFORM) == (400, "invalid_argument", "type")
    assert await refused(always_load=["a.md"]) == (400, "invalid_argument", "always_load")
    view = await room.ana.ok("POST", "//memories", {**body, "always_load": []})
    assert (view["kind"], view["provider_id"]) == ("record", provider)
    assert (view["guide"], view["inherited_guide"]) == (None, RECORD_GUIDE)
    assert (view["file_count"], view["content_bytes"], view["history_bytes"]) == (None, None, None)
    facts = room.ana.within(view["id"])
    tag = await facts.tag("GET", "")
    for change in ({"type": "postgres"}, {"provider_id": provider}, {"namespace": "x"}, {"always_load": ["a.md"]}):
        status, code, details = await facts.refused("PATCH", "", change, tag=tag)
        assert (status, code, details["field"]) == (400, "invalid_argument", next(iter(change)))
    assert mem0.asked == []


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("RM-25", "RM-24")
async def test_of_claims_at_once_one_wins_and_default_namespaces_count(room: RecordRoom) -> None:
    provider = await room.provider()
    body = {"name": "Facts", "type": "mem0_oss", "provider_id": provider, "namespace": "alice"}
    answers = await asyncio.gather(*(room.ana.send("POST", "//memories", body) for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409, 409]
    made = await (await room.memory(provider)).view()
    refused = await room.ana.refused("POST", "//memories", {**body, "namespace": made["namespace"]})
    assert refused[:2] == (409, "already_exists")


@pytest.mark.req("RM-28")
async def test_routes_of_the_other_kind_are_refused(
    room: RecordRoom, facts: MemoryClient, team: MemoryClient, mem0: Mem0Server
) -> None:
    for method, path, body in (
        ("GET", "/records", None),
        ("POST", "/records", {"text": "x"}),
        ("POST", "/records/search", {"query": "x"}),
        ("PUT", "/records/x", {"text": "x"}),
        ("DELETE", "/records/x", None),
    ):
        status, code, details = await team.refused(method, path, body)
        assert (status, code, details["reason"], details["expected"]) == (409, "conflict", "memory_kind", "record")
    for path in ("/files", "/files/a.md", "/revisions"):
        _, _, details = await facts.refused("GET", path)
        assert (details["reason"], details["expected"]) == ("memory_kind", "file")
    assert mem0.asked == []


@pytest.mark.req("RM-31", "RM-32", "RM-33", "RM-34", "RM-36", "RM-43", "RM-72", "RM-16")
async def test_records_are_added_changed_and_deleted_and_audited_without_text(
    room: RecordRoom, facts: MemoryClient, mem0: Mem0Server
) -> None:
    made = await facts.send("POST", "/records", {"text": " likes tea\n"})
    view = made.json()
    assert made.status_code == 201
    assert "etag" not in made.headers
    assert view == {"id": view["id"], "text": " likes tea\n", "score": None, "updated_at": "2025-05-10T07:00:01.123Z"}
    changed = await facts.ok("PUT", f"/records/{view['id']}", {"text": "likes coffee"}, tag='"stale:1"')
    assert (changed["id"], changed["text"]) == (view["id"], "likes coffee")
    assert (await facts.send("DELETE", f"/records/{view['id']}")).status_code == 204
    assert mem0.records == []
    events = await room.events(facts)
    assert [event["action"] for event in events] == [
        "memory.record.delete",
        "memory.record.update",
        "memory.record.create",
    ]
    assert [event["details"] for event in events] == [{"record_id": view["id"]}] * 3
    # Each write was sent once, and read back
    assert [line.split()[0] for line in mem0.lines] == ["POST", "GET", "GET", "PUT", "GET", "GET", "DELETE", "GET"]


@pytest.mark.req("RM-30", "RM-34", "RM-67", "RM-74")
async def test_a_search_gives_the_nearest_of_the_namespace_first(room: RecordRoom, mem0: Mem0Server) -> None:
    alice = await room.memory(namespace="alice")
    for text in ("green tea", "tea", "coffee"):
        mem0.store("alice", text)
    found = await alice.ok("POST", "/records/search", {"query": "tea", "limit": 2})
    assert [(record["text"], record["score"]) for record in found["items"]] == [("tea", 1.0), ("green tea", 0.5)]
    assert found["next_cursor"] is None
    assert len((await alice.ok("POST", "/records/search", {"query": "tea"}))["items"]) == 3
    assert mem0.asked[-1].body["top_k"] == 10
    sent = len(mem0.asked)
    for body, field in (
        ({"query": " "}, "query"), ({"query": "x", "limit": 0}, "limit"), ({"query": "x", "limit": 101}, "limit"),
        ({"query": "x", "limit": "5"}, "limit"), ({}, "query"), ({"query": "x", "y": 1}, "y"),
    ):  # fmt: skip
        status, code, details = await alice.refused("POST", "/records/search", body)
        assert (status, code, details["field"]) == (400, "invalid_argument", field)
    assert len(mem0.asked) == sent


@pytest.mark.req("RM-74")
async def test_records_of_others_that_a_backend_gives_are_dropped(room: RecordRoom, mem0: Mem0Server) -> None:
    alice = await room.memory(namespace="alice")
    foreign = b'{"results":[{"id":"a","memory":"x","user_id":"bob"},{"id":"b","memory":"y","user_id":"alice"}]}'
    mem0.fault = lambda asked: Fault(raw=foreign)
    assert [record["id"] for record in (await alice.ok("GET", "/records"))["items"]] == ["b"]
    assert [r["id"] for r in (await alice.ok("POST", "/records/search", {"query": "x"}))["items"]] == ["b"]


@pytest.mark.req("RM-29", "RM-41")
async def test_a_list_takes_its_own_cursors_and_limits(room: RecordRoom, mem0: Mem0Server) -> None:
    provider = await room.provider()
    alice, bob = await room.memory(provider, namespace="alice"), await room.memory(provider, namespace="bob")
    ids = [mem0.store("alice", str(number)) for number in range(60)]
    first = await alice.ok("GET", "/records")
    assert [record["id"] for record in first["items"]] == ids[:50]
    rest = await alice.ok("GET", "/records", limit=100, cursor=first["next_cursor"])
    assert ([record["id"] for record in rest["items"]], rest["next_cursor"]) == (ids[50:], None)
    for client, cursor in ((alice, "x"), (alice, ""), (alice, "\u20ac"), (bob, first["next_cursor"])):
        status, code, details = await client.refused("GET", "/records", cursor=cursor)
        assert (status, code, details["field"]) == (400, "invalid_argument", "cursor")
    for limit in ("0", "101", "x"):
        assert (await alice.refused("GET", "/records", limit=limit))[2]["field"] == "limit"


@pytest.mark.req("RM-33", "RM-40", "RM-77")
async def test_ids_that_no_record_has(facts: MemoryClient, mem0: Mem0Server) -> None:
    status, code, details = await facts.refused("DELETE", f"/records/{'x' * 257}")
    assert (status, code, details["field"]) == (400, "invalid_argument", "record_id")
    for sent in ("%2e%2e", "%2E"):
        assert (await facts.refused("DELETE", f"/records/{sent}"))[:2] == (404, "not_found")
    assert mem0.asked == []
    for sent, id_ in (("a%2Fb", "a/b"), ("search", "search"), ("x" * 256, "x" * 256)):
        refused = await facts.refused("DELETE", f"/records/{sent}")
        assert refused == (404, "not_found", {"kind": "memory_record", "id": id_})
    assert [line.split()[0] for line in mem0.lines] == ["GET"] * 3


@pytest.mark.req("RM-72", "RM-37", "RM-76", "RM-43")
@pytest.mark.parametrize("method", ["PUT", "DELETE"])
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({"status": 502}, (409, "conflict")),
        ({"drops": True}, (409, "conflict")),
        ({"stores": True, "raw": b"<html>"}, (409, "conflict")),
        ({"raw": b"{}", "location": "http://127.0.0.1:1/"}, (409, "conflict")),
        ({"status": 403}, (503, "unavailable")),
        ({"status": 404}, (404, "not_found")),
    ],
)
async def test_what_becomes_of_a_write_that_fails(
    room: RecordRoom, facts: MemoryClient, mem0: Mem0Server, method: str, how: Any, expected: tuple[int, str]
) -> None:
    id_ = (await facts.ok("POST", "/records", {"text": "likes tea"}))["id"]
    mem0.asked.clear()
    room.break_writes(**how)
    status, code, _ = await facts.refused(method, f"/records/{id_}", {"text": "x"} if method == "PUT" else None)
    assert (status, code) == expected
    assert [asked.method for asked in mem0.asked if is_write(asked)] == [method]
    assert [event["action"] for event in await room.events(facts)] == ["memory.record.create"]


@pytest.mark.req("RM-37", "RM-43")
async def test_a_change_that_cannot_be_audited_is_not_to_be_sent_again(
    settings: Settings, ports: Ports, store: Store, facts: MemoryClient, mem0: Mem0Server
) -> None:
    failing = FaultyStore(store, [fail_at(number, "transact") for number in (1, 2, 3)])
    app = build(settings, ports=replace(ports, store=failing)).app
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://x") as http:
        broken = MemoryClient(http=http, token=facts.token, memory=facts.memory)
        for method, path, body in (
            ("POST", "/records", {"text": "likes tea"}),
            ("PUT", "/records/{}", {"text": "likes coffee"}),
            ("DELETE", "/records/{}", None),
        ):
            sent = path.format(mem0.records[0]["id"] if mem0.records else "")
            status, code, details = await broken.refused(method, sent, body)
            assert (status, code, details["reason"]) == (409, "conflict", "write_unconfirmed")
    assert [asked.method for asked in mem0.asked if is_write(asked)] == ["POST", "PUT", "DELETE"]
    assert mem0.records == []


@pytest.mark.req("RM-72")
async def test_a_text_that_reads_back_otherwise_is_unconfirmed(facts: MemoryClient, mem0: Mem0Server) -> None:
    record = b'{"id":"a","memory":"likes Tea","user_id":"%s"}' % (await facts.view())["namespace"].encode()
    mem0.fault = lambda asked: Fault(raw=record) if asked.method == "GET" else None
    for method, path, body in (
        ("POST", "/records", {"text": "likes tea"}),
        ("PUT", "/records/a", {"text": "likes tea"}),
        ("DELETE", "/records/a", None),
    ):
        mem0.records.append({"id": "a", "memory": "", "user_id": ""})
        status, code, details = await facts.refused(method, path, body)
        assert (status, code, details["reason"]) == (409, "conflict", "write_unconfirmed")


@pytest.mark.req("RM-29", "RM-31", "RM-30")
async def test_verbs_of_records(
    room: RecordRoom, facts: MemoryClient, reader: MemoryClient, runner: MemoryClient, mem0: Mem0Server
) -> None:
    reads, runs = reader.within(facts.memory), runner.within(facts.memory)
    await reads.ok("GET", "/records")
    await reads.ok("POST", "/records/search", {"query": "x"})
    for method, path, body in (
        ("POST", "/records", {"text": "x"}),
        ("PUT", "/records/a", {"text": "x"}),
        ("DELETE", "/records/a", None),
    ):
        assert await reads.refused(method, path, body) == (403, "forbidden", {"verb": "run"})
    assert (await runs.send("POST", "/records", {"text": "x"})).status_code == 201
