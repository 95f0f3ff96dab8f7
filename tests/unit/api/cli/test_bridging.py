"""The bridge between lines and requests: which headers go along, how ids come back, and what cannot be handed on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import pytest
from mcp_types import PROTOCOL_VERSION_META_KEY

from api.cli.bridging import Bridge
from api.errors import AWAY, DENIED, MISSING

Json = dict[str, Any]
MODERN = "2026-07-28"


def request(method: str, id_: object = 1, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}


def answer(asked: httpx2.Request) -> httpx2.Response:
    """Answer with the params, as the version that was asked for."""
    body = json.loads(asked.content)
    if "id" not in body:
        return httpx2.Response(202)
    return httpx2.Response(200, json={"jsonrpc": "2.0", "id": body["id"], "result": body["params"]})


async def bridged(
    *lines: Json | bytes, by: Callable[[httpx2.Request], httpx2.Response] = answer, query: dict[str, str] | None = None
) -> tuple[list[Json], list[httpx2.Request]]:
    """Hand lines on; return what was written, and the requests."""
    asked: list[httpx2.Request] = []
    written: list[bytes] = []

    async def answered(given: httpx2.Request) -> httpx2.Response:
        asked.append(given)
        return by(given)

    async def incoming() -> AsyncIterator[bytes]:
        for line in lines:
            yield line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n"

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answered), base_url="http://here.test") as http:
        await Bridge(http=http, path="/mcp/chats/c", write=written.append, query=query or {}).run(incoming())
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in written)
    return [json.loads(line) for line in written], asked


async def test_ids_come_back_as_they_were_sent_and_notifications_are_not_answered() -> None:
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    written, asked = await bridged(request("a", 1), request("b", "1"), told, b"\n")
    assert {json.dumps(one["id"]) for one in written} == {"1", '"1"'}
    assert len(asked) == 3


async def test_the_version_that_was_agreed_on_goes_with_every_later_request() -> None:
    begin = request("initialize", protocolVersion="2025-06-18")
    _, [first, second] = await bridged(begin, request("tools/list"))
    assert "mcp-protocol-version" not in first.headers
    assert second.headers["mcp-protocol-version"] == "2025-06-18"
    assert "mcp-method" not in second.headers


async def test_newer_messages_bring_their_version_method_and_name_along() -> None:
    meta = {PROTOCOL_VERSION_META_KEY: MODERN}
    _, asked = await bridged(
        request("tools/call", 1, name="confide", _meta=meta),
        request("resources/read", 2, uri="rootward://entries/ä", _meta=meta),
        request("tools/list", 3, _meta=meta),
        query={"turn": "t1"},
    )
    by_method = {one.headers["mcp-method"]: one for one in asked}
    assert {one.headers["mcp-protocol-version"] for one in asked} == {MODERN}
    assert by_method["tools/call"].headers["mcp-name"] == "confide"
    assert by_method["resources/read"].headers["mcp-name"].startswith("=?base64?")
    assert "mcp-name" not in by_method["tools/list"].headers
    assert {one.url.path + "?" + one.url.query.decode() for one in asked} == {"/mcp/chats/c?turn=t1"}


@pytest.mark.parametrize("line", [b"no JSON\n", b"[]\n", b"7\n", b"[" * 100_000 + b"\n"])
async def test_what_is_no_message_is_refused_here(line: bytes) -> None:
    [refused], asked = await bridged(line)
    assert (refused["id"], asked) == (None, [])
    assert refused["error"]["code"] in (-32_700, -32_600)


async def test_a_refusal_without_an_id_gets_the_id_of_its_request() -> None:
    body = {"jsonrpc": "2.0", "id": None, "error": {"code": DENIED, "message": "no"}}
    [refused], _ = await bridged(request("initialize", "x"), by=lambda _: httpx2.Response(401, json=body))
    assert (refused["id"], refused["error"]["code"]) == ("x", DENIED)


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (httpx2.Response(404, text="Not Found"), MISSING),
        (httpx2.Response(200, text="<html>"), AWAY),
        (httpx2.Response(200, json={"data": 1}), AWAY),
        (httpx2.ConnectError("refused"), AWAY),
    ],
)
async def test_an_answer_that_is_none_becomes_an_error(response: httpx2.Response | Exception, code: int) -> None:
    def given(_: httpx2.Request) -> httpx2.Response:
        if isinstance(response, Exception):
            raise response
        return response

    [told], _ = await bridged(request("tools/list", 7), by=given)
    assert (told["id"], told["error"]["code"]) == (7, code)


async def test_requests_are_answered_while_another_one_waits_and_a_cancelled_one_never() -> None:
    asked, others = asyncio.Event(), asyncio.Event()
    written: list[bytes] = []

    async def answered(given: httpx2.Request) -> httpx2.Response:
        if json.loads(given.content)["method"] == "slow":
            asked.set()
            await asyncio.Event().wait()
        return answer(given)

    def write(line: bytes) -> None:
        written.append(line)
        others.set()

    async def incoming() -> AsyncIterator[bytes]:
        yield json.dumps(request("slow", 1)).encode()
        await asked.wait()
        yield json.dumps(request("quick", 2)).encode()
        await others.wait()
        for id_ in ("1", 1):
            cancelled = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id_}}
            yield json.dumps(cancelled).encode()

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(answered), base_url="http://here.test") as http:
        await Bridge(http=http, path="/mcp/knowledge", write=write).run(incoming())
    assert [json.loads(line)["id"] for line in written] == [2]
