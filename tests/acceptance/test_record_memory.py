"""Acceptance examples of record memories: 1 to 9, 12 and 13, over real sockets on both sides."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from graph.model.nodes.people import Right
from graph.rules.record_providers import PLATFORM
from graph.store.port import Store
from tests.support.clock import FakeClock
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.mem0_server import Fault, Mem0Server
from tests.support.memory_client import key
from tests.support.record_room import RecordRoom, wire_to
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", ["embedded"], indirect=True)


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def mem0() -> AsyncIterator[Mem0Server]:
    async with Mem0Server() as server:
        yield server


@pytest.fixture
async def other() -> AsyncIterator[Mem0Server]:
    async with Mem0Server() as server:
        yield server


@pytest.fixture
async def platform() -> AsyncIterator[Mem0Server]:
    async with Mem0Server(form=PLATFORM, key="m0-right") as server:
        yield server


@pytest.fixture
def ports(store: Store, clock: FakeClock, mem0: Mem0Server, other: Mem0Server, platform: Mem0Server) -> Ports:
    wire = wire_to(mem0, other, platform)
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring(), record_wire=wire)


@pytest.fixture
async def room(world: TeamWorld, server: str, mem0: Mem0Server) -> AsyncIterator[RecordRoom]:
    async with httpx2.AsyncClient(base_url=server, timeout=600) as http:
        yield RecordRoom(world=world, server=mem0, ana=await key(http, world, Right.WRITE))


@pytest.mark.req("RM-1", "RM-17", "RM-21", "RM-27", "RM-31", "RM-62", "RM-71")
async def test_01_the_default_namespace_is_made_of_the_id(room: RecordRoom, mem0: Mem0Server) -> None:
    facts = await room.memory(name="Customer facts")
    view = await facts.view()
    assert view["namespace"] == "a13n-" + hashlib.sha256(view["id"].encode()).hexdigest()[:32]
    assert mem0.asked == []
    made = await facts.send("POST", "/records", {"text": "likes tea"})
    assert made.status_code == 201
    add = mem0.asked[0]
    assert (add.line, add.body["user_id"], add.body["infer"]) == ("POST /memories", view["namespace"], False)
    assert "x-api-key" not in add.headers


@pytest.mark.req("RM-20", "RM-22", "RM-24", "RM-25")
async def test_02_a_namespace_is_adopted_and_belongs_to_one_memory(
    room: RecordRoom, mem0: Mem0Server, other: Mem0Server
) -> None:
    mem0.store("alice", "old")
    provider = await room.provider()
    alice = await room.memory(provider, namespace="alice")
    assert [record["text"] for record in (await alice.ok("GET", "/records"))["items"]] == ["old"]
    body = {"name": "Second", "type": "mem0_oss", "provider_id": provider, "namespace": "alice"}
    refused = await room.ana.refused("POST", "//memories", body)
    assert refused == (409, "already_exists", {"kind": "memory", "key": "alice"})
    body["provider_id"] = await room.provider(other)
    assert (await room.ana.send("POST", "//memories", body)).status_code == 201


@pytest.mark.req("RM-23", "RM-14")
@pytest.mark.parametrize("namespace", ["", "a b", "a*", "a" * 257, "a\n", "a13n-probe", "a\u3000b", "a\x7f"])
async def test_03_bad_namespaces_are_refused(room: RecordRoom, namespace: str) -> None:
    body = {"name": "X", "type": "mem0_oss", "provider_id": await room.provider(), "namespace": namespace}
    status, code, details = await room.ana.refused("POST", "//memories", body)
    assert (status, code, details["field"]) == (400, "invalid_argument", "namespace")
    body["namespace"] = "a" * 256
    assert (await room.ana.send("POST", "//memories", body)).status_code == 201


@pytest.mark.req("RM-44", "RM-45", "RM-46", "RM-49", "RM-68")
async def test_04_a_namespace_is_taken_until_its_purge_ended(room: RecordRoom, mem0: Mem0Server) -> None:
    provider = await room.provider()
    alice = await room.memory(provider, namespace="alice")
    mem0.store("alice", "adopted")
    mem0.store("bob", "of bob")
    go = asyncio.Event()
    mem0.fault = lambda asked: Fault(stores=True, hangs=go) if asked.method == "DELETE" else None
    await room.delete(alice)
    step = asyncio.create_task(room.worker().step())
    await mem0.is_asked.wait()
    body = {"name": "Next", "type": "mem0_oss", "provider_id": provider, "namespace": "alice"}
    assert await room.ana.refused("POST", "//memories", body) == (
        409,
        "conflict",
        {"kind": "memory_provider", "id": provider, "reason": "namespace_purging", "namespace": "alice"},
    )
    go.set()
    assert await step
    following = room.ana.within((await room.ana.ok("POST", "//memories", body))["id"])
    assert (await following.ok("GET", "/records"))["items"] == []
    assert mem0.texts("bob") == ["of bob"]
    assert mem0.asked[0].query == {"user_id": "alice"}


@pytest.mark.req("RM-47", "RM-48", "RM-49", "RM-51")
async def test_05_a_purge_gives_up_and_leaves_the_records(room: RecordRoom, mem0: Mem0Server, clock: HeldClock) -> None:
    mem0.admin = False
    provider = await room.provider()
    alice = await room.memory(provider, namespace="alice")
    mem0.store("alice", "kept")
    await room.delete(alice)
    worker = room.worker(attempts=3)
    for wait_s in (5, 30):
        assert await worker.step()
        clock.advance(timedelta(seconds=wait_s - 1))
        assert not await worker.step()
        clock.advance(timedelta(seconds=1))
    assert await worker.step()
    clock.advance(timedelta(days=7))
    assert not await worker.step()
    assert mem0.lines == ["DELETE /memories"] * 3
    assert room.outcomes == ["failed"] * 3
    again = await room.memory(provider, namespace="alice")
    assert [record["text"] for record in (await again.ok("GET", "/records"))["items"]] == ["kept"]


@pytest.mark.req("RM-37", "RM-43", "RM-76", "RM-69")
@pytest.mark.parametrize("how", [{"stores": True, "drops": True}, {"stores": True, "status": 502}])
async def test_06_an_unconfirmed_write_is_told_and_sent_once(
    room: RecordRoom, mem0: Mem0Server, how: dict[str, int]
) -> None:
    facts = await room.memory()
    room.break_writes(**how)
    status, code, details = await facts.refused("POST", "/records", {"text": "likes tea"})
    assert (status, code, details["reason"]) == (409, "conflict", "write_unconfirmed")
    assert mem0.lines == ["POST /memories"]
    room.mend()
    assert [record["text"] for record in (await facts.ok("GET", "/records"))["items"]] == ["likes tea"]
    assert await room.events(facts) == []


@pytest.mark.req("RM-38", "RM-39", "RM-12")
async def test_07_a_backend_that_is_down_and_a_provider_that_is_off(room: RecordRoom, mem0: Mem0Server) -> None:
    provider = await room.provider()
    facts = await room.memory(provider)
    mem0.stop()
    assert await facts.refused("GET", "/records") == (503, "unavailable", {"dependency": "memory:mem0_oss"})
    tag = await room.ana.tag("GET", f"//memory-providers/{provider}")
    await room.ana.ok("PATCH", f"//memory-providers/{provider}", {"enabled": False}, tag=tag)
    off = (422, "disabled", {"kind": "memory_provider", "id": provider})
    assert await facts.refused("GET", "/records") == off
    assert await facts.refused("POST", "/records/search", {"query": "tea"}) == off
    assert await facts.refused("POST", "/records", {"text": "tea"}) == off
    assert await facts.refused("PUT", "/records/x", {"text": "tea"}) == off
    assert await facts.refused("DELETE", "/records/x") == off


@pytest.mark.req("RM-40", "RM-73")
async def test_08_a_record_of_another_namespace_is_not_there(room: RecordRoom, mem0: Mem0Server) -> None:
    alice = await room.memory(namespace="alice")
    of_bob = mem0.store("bob", "secret")
    for method, body in (("PUT", {"text": "mine"}), ("DELETE", None)):
        refused = await alice.refused(method, f"/records/{of_bob}", body)
        assert refused == (404, "not_found", {"kind": "memory_record", "id": of_bob})
    assert mem0.lines == [f"GET /memories/{of_bob}"] * 2
    assert mem0.texts("bob") == ["secret"]


@pytest.mark.req("RM-35")
async def test_09_a_text_has_1_to_8000_characters(room: RecordRoom, mem0: Mem0Server) -> None:
    facts = await room.memory()
    for text in ("\u20ac" * 8_001, "   ", "", "\n\t"):
        status, code, details = await facts.refused("POST", "/records", {"text": text})
        assert (status, code, details["field"]) == (400, "invalid_argument", "text")
    assert mem0.asked == []
    assert (await facts.send("POST", "/records", {"text": "\u20ac" * 8_000})).status_code == 201


@pytest.mark.req("RM-29", "RM-42", "RM-66", "RM-61", "RM-75")
async def test_12_lists_are_followed_to_their_end(room: RecordRoom, mem0: Mem0Server, platform: Mem0Server) -> None:
    ids = [platform.store("alice", f"fact {n}") for n in range(450)]
    provider = await room.provider(platform)
    alice = await room.ana.make(type=PLATFORM, provider_id=provider, namespace="alice")
    seen, cursor, limits = [], None, [100, 7, 100, 50, 100, 33, 100]
    while True:
        more: dict[str, str] = {} if cursor is None else {"cursor": cursor}
        page = await alice.ok("GET", "/records", limit=limits.pop(0), **more)
        seen += [record["id"] for record in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == ids
    assert all(int(asked.query["page_size"]) <= 200 for asked in platform.asked)
    assert {asked.headers["authorization"] for asked in platform.asked} == {"Token m0-right"}
    for n in range(1_200):
        mem0.store("many", f"fact {n}")
    many, count, cursor = await room.memory(namespace="many"), 0, None
    for _ in range(10):
        page = await many.ok("GET", "/records", limit=100, **({} if cursor is None else {"cursor": cursor}))
        count, cursor = count + len(page["items"]), page["next_cursor"]
    assert (count, cursor) == (1_000, None)
    assert {asked.query["top_k"] for asked in mem0.asked} == {"1000"}


@pytest.mark.req("RM-13", "RM-14", "RM-8", "RM-9")
async def test_13_a_test_shows_whether_address_and_key_are_right(room: RecordRoom, platform: Mem0Server) -> None:
    wrong = await room.provider(platform, credential={"api_key": "m0-wrong"})
    found = await room.ana.ok("POST", f"//memory-providers/{wrong}/test")
    assert (found["provider_id"], found["provider_version"], found["status"]) == (wrong, 1, "failed")
    assert "Authentication" not in found["message"]
    [asked] = platform.asked
    assert (asked.line, asked.body) == ("POST /v3/memories/", {"filters": {"user_id": "a13n-probe"}})
    right = await room.provider(platform)
    assert (await room.ana.ok("POST", f"//memory-providers/{right}/test"))["status"] == "succeeded"
    private = await room.provider(config={"base_url": "http://10.0.0.5"})
    denied = await room.ana.ok("POST", f"//memory-providers/{private}/test")
    assert (denied["status"], denied["message"]) == ("failed", "provider_endpoint_denied")
