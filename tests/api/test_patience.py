"""A body that stops in its middle: every family of addresses tells of it, and the connection is closed."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from starlette.types import ASGIApp, Message

from api.bootstrap import Ports, build
from api.patience import Patience
from api.settings import Settings
from graph.model.nodes.people import Right
from tests.api.clients import GraphQLClient
from tests.support.memory_client import allow
from tests.support.world import TeamWorld

ANSWERS = {
    "/graphql": lambda body: body["errors"][0]["extensions"]["code"] == "BAD_INPUT",
    "/mcp/knowledge": lambda body: body["error"]["data"]["code"] == "BAD_INPUT",
    "/api/v1/memories": lambda body: body["error"]["code"] == "invalid_argument",
}


@pytest.fixture
async def app(
    settings: Settings, ports: Ports, ana: GraphQLClient, world: TeamWorld, monkeypatch: pytest.MonkeyPatch
) -> ASGIApp:
    """The service, with little patience, in a world where Ana may write everything."""
    monkeypatch.setattr("api.patience.BETWEEN_PARTS_S", 0.01)
    await allow(world, world.ana, Right.WRITE)
    return build(settings, ports=ports).app


def scope_of(path: str, token: str | None, kind: str = "application/json") -> dict[str, Any]:
    given = {"host": "127.0.0.1", "authorization": f"Bearer {token}", "content-type": kind, "rootward-upload": "1"}
    headers = [(name.encode(), value.encode()) for name, value in given.items()]
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "client": ("127.0.0.1", 9),
        "server": ("127.0.0.1", 80),
        "headers": headers,
    }


async def answer_to(app: ASGIApp, scope: dict[str, Any], *parts: bytes) -> tuple[int, dict[str, str], Any]:
    """Return status, headers and body for a request of which only these parts come, and then nothing."""
    waiting, sent = list(parts), list[Message]()

    async def receive() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(0), "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError("nothing sets it")

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, json.loads(b"".join(one.get("body", b"") for one in sent[1:]))


@pytest.mark.parametrize("path", ANSWERS)
@pytest.mark.parametrize("parts", [(), (b'{"query": ',), (b"{", b'"que')])
async def test_a_body_that_stops_is_told_of_in_the_form_of_its_family(
    app: ASGIApp, ana: GraphQLClient, path: str, parts: tuple[bytes, ...]
) -> None:
    status, headers, body = await answer_to(app, scope_of(path, ana.token), *parts)
    assert (status, headers["connection"]) == (400, "close")
    assert ANSWERS[path](body), body


async def test_an_upload_that_stops_is_refused(app: ASGIApp, ana: GraphQLClient) -> None:
    scope = scope_of("/graphql", ana.token, "multipart/form-data; boundary=x")
    scope["headers"].append((b"content-length", b"1000"))
    status, headers, body = await answer_to(app, scope, b'--x\r\nContent-Disposition: form-data; name="operations"\r\n')
    assert (status, headers["connection"]) == (400, "close")
    assert ANSWERS["/graphql"](body), body


async def test_after_the_body_there_is_no_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that takes long, or is streamed, listens for a client that goes away."""
    monkeypatch.setattr("api.patience.BETWEEN_PARTS_S", 0)
    gone = asyncio.Event()
    parts: list[Message] = [{"type": "http.request", "body": b"a", "more_body": more} for more in (True, False)]
    seen: list[str] = []

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(2):
            seen.append((await receive())["type"])
        listening = asyncio.create_task(receive())
        for _ in range(10):  # a wait that no second is left for would end here
            await asyncio.sleep(0)
        seen.append(str(listening.done()))
        gone.set()
        seen.append((await listening)["type"])

    async def receive() -> Message:
        if parts:
            return parts.pop(0)
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        raise AssertionError(message)

    await Patience(slow)({"type": "http"}, receive, send)
    assert seen == ["http.request", "http.request", "False", "http.disconnect"]
