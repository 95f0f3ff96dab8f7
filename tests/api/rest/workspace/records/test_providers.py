"""Memory providers through the routes (RM-1 to RM-15)."""

from __future__ import annotations

from typing import Any

import pytest

from graph.rules.record_providers import PLATFORM, SELF_HOSTED
from tests.support.mem0_server import Mem0Server
from tests.support.memory_client import MemoryClient
from tests.support.record_room import RecordRoom

AT = "//memory-providers"
PLAIN: dict[str, Any] = {"type": SELF_HOSTED, "name": "Mem0", "config": {"base_url": "https://mem0.example"}}
HOSTED: dict[str, Any] = {"type": PLATFORM, "name": "Mem0", "credential": {"api_key": "m0-secret"}}


async def _field(client: MemoryClient, method: str, path: str, body: Any, **more: Any) -> str:
    status, code, details = await client.refused(method, path, body, **more)
    assert (status, code) == (400, "invalid_argument")
    return str(details["field"])


@pytest.mark.req("RM-1", "RM-2", "RM-4", "RM-5", "RM-6", "RM-10")
async def test_a_provider_has_the_view_of_the_contract_and_never_its_key(writer: MemoryClient) -> None:
    made = await writer.send("POST", AT, HOSTED)
    view = made.json()
    assert made.status_code == 201
    assert view == {
        "id": view["id"],
        "type": PLATFORM,
        "name": "Mem0",
        "config": {"base_url": "https://api.mem0.ai"},
        "credential_configured": True,
        "enabled": True,
        "version": 1,
        "created_at": view["created_at"],
        "updated_at": view["created_at"],
    }
    assert view["id"].startswith("memprov_")
    assert made.headers["etag"] == f'"{view["id"]}:1"'
    plain = await writer.ok("POST", AT, {**PLAIN, "config": {"base_url": "https://mem0.example/base/"}})
    assert (plain["credential_configured"], plain["config"]["base_url"]) == (False, "https://mem0.example/base")
    listed = await writer.ok("GET", AT)
    assert listed["items"] == sorted([view, plain], key=lambda item: str(item["id"]))
    assert (await writer.ok("GET", f"{AT}/{view['id']}")) == view
    assert "m0-secret" not in str(listed)


@pytest.mark.req("RM-3", "RM-4", "RM-5", "RM-6")
async def test_what_does_not_fit_is_named(writer: MemoryClient) -> None:
    for type_ in ("postgres", "", "mem0"):
        assert await _field(writer, "POST", AT, {**PLAIN, "type": type_}) == "type"
    assert await _field(writer, "POST", AT, {"type": PLATFORM, "name": "X"}) == "credential"
    assert await _field(writer, "POST", AT, {**HOSTED, "credential": {"api_key": "a\nX-Evil: 1"}}) == (
        "credential.api_key"
    )
    assert await _field(writer, "POST", AT, {"type": SELF_HOSTED, "name": "X"}) == "config.base_url"
    assert await _field(writer, "POST", AT, {**PLAIN, "config": {"model": "x"}}) == "config.model"
    assert await _field(writer, "POST", AT, {**PLAIN, "name": " "}) == "name"
    assert await _field(writer, "POST", AT, {**PLAIN, "enabled": "yes"}) == "enabled"
    for url in (
        "mem0.example", "/x", "ftp://mem0.example", "https://a@mem0.example", "https://a:b@mem0.example",
        "https://mem0.example?x", "https://mem0.example?", "https://mem0.example#x", "https://", "https://x:y",
        "https://mem0.example/a b", "https://mem0.example\\@x", "", "https://" + "a" * 600, 7, None,
    ):  # fmt: skip
        assert await _field(writer, "POST", AT, {**PLAIN, "config": {"base_url": url}}) == "config.base_url"
    assert (await writer.ok("GET", AT))["items"] == []


@pytest.mark.req("RM-11", "RM-12", "RM-3")
async def test_a_provider_is_changed_with_its_tag_and_never_deleted(room: RecordRoom, writer: MemoryClient) -> None:
    provider = f"{AT}/{await room.provider()}"
    first = await writer.tag("GET", provider)
    assert (await writer.refused("PATCH", provider, {"name": "X"}))[:2] == (428, "precondition_required")
    assert await writer.tag("PATCH", provider, {"name": "Mem0", "enabled": True}, tag=first) == first
    second = await writer.tag("PATCH", provider, {"name": "Other"}, tag=first)
    stale = await writer.refused("PATCH", provider, {"name": "X"}, tag=first)
    assert stale == (412, "precondition_failed", {"current_etag": second})
    assert await _field(writer, "PATCH", provider, {"type": PLATFORM}, tag=second) == "type"
    elsewhere = {"config": {"base_url": "https://evil.example"}}
    assert await _field(writer, "PATCH", provider, elsewhere, tag=second) == "credential"
    removed = await writer.ok("PATCH", provider, {"credential": None}, tag=second)
    assert (removed["credential_configured"], removed["version"]) == (False, 3)
    third = await writer.tag("PATCH", provider, elsewhere, tag=await writer.tag("GET", provider))
    again = {"config": {"base_url": "https://mem0.example"}, "credential": {"api_key": "new"}}
    fourth = await writer.tag("PATCH", provider, again, tag=third)
    assert await writer.tag("PATCH", provider, again, tag=fourth) == fourth
    gone = await writer.send("DELETE", provider, tag=fourth)
    assert (gone.status_code, gone.headers["allow"]) == (405, "GET, PATCH")
    assert (gone.json()["error"]["code"], gone.json()["error"]["details"]) == ("method_not_allowed", {})


@pytest.mark.req("RM-11", "RM-4")
async def test_a_provider_of_the_platform_keeps_a_key(writer: MemoryClient) -> None:
    made = await writer.send("POST", AT, HOSTED)
    provider, tag = f"{AT}/{made.json()['id']}", made.headers["etag"]
    assert await _field(writer, "PATCH", provider, {"credential": None}, tag=tag) == "credential"


@pytest.mark.req("RM-2", "RM-10", "RM-14", "RM-11")
async def test_verbs_of_providers(
    room: RecordRoom, writer: MemoryClient, runner: MemoryClient, reader: MemoryClient, mem0: Mem0Server
) -> None:
    provider = f"{AT}/{await room.provider()}"
    for client in (reader, runner, writer):
        await client.ok("GET", AT)
        await client.ok("GET", provider)
    for client in (reader, runner):
        assert await client.refused("POST", AT, PLAIN) == (403, "forbidden", {"verb": "write"})
        assert await client.refused("PATCH", provider, {}) == (403, "forbidden", {"verb": "write"})
    assert await reader.refused("POST", f"{provider}/test") == (403, "forbidden", {"verb": "run"})
    assert (await runner.ok("POST", f"{provider}/test"))["status"] == "succeeded"
    for path in (f"{AT}/memprov_x", f"{AT}/mem_x"):
        missing = (404, "not_found", {"kind": "memory_provider", "id": path.rpartition("/")[2]})
        assert await reader.refused("GET", path) == missing
        assert await runner.refused("POST", f"{path}/test") == missing


@pytest.mark.req("RM-13", "RM-14", "RM-9")
async def test_a_test_tells_codes_of_ours_and_changes_nothing(room: RecordRoom, mem0: Mem0Server) -> None:
    provider = await room.provider()
    denied = await room.provider(config={"base_url": "http://169.254.169.254"})
    found = await room.ana.ok("POST", f"{AT}/{provider}/test")
    assert (found["status"], found["provider_version"]) == ("succeeded", 1)
    assert [(asked.line, asked.query["user_id"]) for asked in mem0.asked] == [("GET /memories", "a13n-probe")]
    mem0.key = "another"
    failed = await room.ana.ok("POST", f"{AT}/{provider}/test")
    assert (failed["status"], failed["message"]) == ("failed", "provider_credential_rejected")
    mem0.stop()
    failed = await room.ana.ok("POST", f"{AT}/{provider}/test")
    assert (failed["status"], failed["message"]) == ("failed", "provider_unavailable")
    failed = await room.ana.ok("POST", f"{AT}/{denied}/test")
    assert (failed["status"], failed["message"]) == ("failed", "provider_endpoint_denied")
    memory = await room.memory(denied)
    assert (await memory.refused("GET", "/records"))[:2] == (503, "unavailable")
    assert (await memory.refused("POST", "/records", {"text": "x"}))[:2] == (503, "unavailable")
