"""A body that stops in its middle: every family of addresses tells of it, and the connection is closed.

And a body that nobody wants: it is read to its end before the connection is closed, or the answer would be lost.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
import structlog
import uvicorn
from starlette.types import ASGIApp, Message

from api.bootstrap import Ports, build
from api.cli.serve import GracefulServer
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


def refused() -> dict[str, Any]:
    """Return the scope of a request with a large body and a token that nobody gave out."""
    scope = scope_of("/graphql", "rw_0")
    scope["headers"].append((b"content-length", b"3000000"))
    return scope


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

    await patient(slow)({"type": "http"}, receive, send)
    assert seen == ["http.request", "http.request", "False", "http.disconnect"]


def patient(app: ASGIApp) -> Patience:
    """Return the middleware of a server that goes on."""
    return Patience(app, asyncio.Event())


ANNOUNCED = {"type": "http", "headers": [(b"content-length", b"3000000")]}


def refuses(read: int = 0) -> ASGIApp:
    """An application that answers 413 after so many parts of the body."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(read):
            await receive()
        await send({"type": "http.response.start", "status": 413, "headers": []})
        await send({"type": "http.response.body", "body": b"too large"})

    return app


class Line:
    """A connection on which parts of a body come, and what is sent on it in between.

    Attributes:
        at_last: called when nothing more comes.
        went: names of what happened, in order: a part that was read, and what was sent.
    """

    def __init__(self, parts: int, *, then: str = "end", at_last: Callable[[], None] = lambda: None) -> None:
        self.left, self.then, self.at_last, self.went = parts, then, at_last, list[str]()

    async def receive(self) -> Message:
        self.left -= 1
        if self.left < 0 and self.then == "nothing":
            self.at_last()
            await asyncio.Event().wait()
        if self.left < 0 and self.then == "gone":
            return {"type": "http.disconnect"}
        self.went.append("part")
        return {"type": "http.request", "body": b"x" * 1_000_000, "more_body": self.left > 0 or self.then != "end"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.body":
            self.went.append("answer" if message["body"] else "end")


@pytest.mark.req("FM-64", "SM-65")
@pytest.mark.parametrize("read", [0, 1])
async def test_an_answer_before_the_body_was_read_ends_after_it_came(read: int) -> None:
    line = Line(3)
    await patient(refuses(read))(ANNOUNCED, line.receive, line.send)
    assert line.went == ["part"] * read + ["answer"] + ["part"] * (3 - read) + ["end"]


@pytest.mark.parametrize("then", ["nothing", "gone"])
async def test_the_rest_of_a_body_is_not_waited_for_without_end(then: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("api.patience.LINGER_GAP_S", 0.01)
    line = Line(2, then=then)
    await patient(refuses())(ANNOUNCED, line.receive, line.send)
    assert line.went == ["answer", "part", "part", "end"]


@pytest.mark.req("AD-38")
async def test_the_end_of_the_server_does_not_wait_for_the_rest_of_a_body(
    settings: Settings, ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("BETWEEN_PARTS_S", "LINGER_GAP_S", "LINGER_S"):
        monkeypatch.setattr(f"api.patience.{limit}", 1e6)
    service = build(settings, ports=ports)
    server = GracefulServer(uvicorn.Config(service.app), service.ending)
    line = Line(2, then="nothing", at_last=server.stop)
    await service.app(refused(), line.receive, line.send)
    assert line.went == ["answer", "part", "part", "end"]


async def test_a_body_without_end_is_not_read_for_ever() -> None:
    line = Line(10**9)
    await patient(refuses())(ANNOUNCED, line.receive, line.send)
    assert line.went == ["answer"] + ["part"] * 68 + ["end"]


@pytest.mark.parametrize(
    "headers", [[], [(b"content-length", b"0")], [(b"content-length", b"9"), (b"expect", b"100-continue")]]
)
async def test_a_body_that_does_not_come_unasked_is_not_asked_for(headers: list[tuple[bytes, bytes]]) -> None:
    line = Line(1)
    await patient(refuses())({"type": "http", "headers": headers}, line.receive, line.send)
    assert line.went == ["answer"]


@pytest.mark.parametrize("read", [1, 2])
async def test_a_body_that_was_asked_for_is_read_to_its_end(read: int) -> None:
    line = Line(3)
    scope = {"type": "http", "headers": [(b"transfer-encoding", b"chunked"), (b"expect", b"100-continue")]}
    await patient(refuses(read))(scope, line.receive, line.send)
    assert line.went == ["part"] * read + ["answer"] + ["part"] * (3 - read) + ["end"]


async def test_after_its_answer_an_application_sees_nothing_of_the_body() -> None:
    seen = list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await refuses()(scope, receive, send)
        seen.append((await receive())["type"])

    line = Line(3)
    await patient(app)(ANNOUNCED, line.receive, line.send)
    assert (seen, line.went) == (["http.disconnect"], ["answer", "part", "part", "part", "end"])


@pytest.mark.req("AD-42")
async def test_a_refusal_is_logged_and_measured_before_the_rest_of_its_body_comes(app: ASGIApp) -> None:
    seen = list[list[str]]()

    async def receive() -> Message:
        seen.append([line["event"] for line in lines])
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pass

    with structlog.testing.capture_logs() as lines:
        await app(refused(), receive, send)
    assert seen == [["request"]]


@pytest.mark.req("FM-64", "SM-65", "AD-11")
@pytest.mark.parametrize(
    ("path", "token", "status"),
    [("/graphql", True, 413), ("/v1/bots/nope/memory", True, 404), ("/graphql", False, 401)],
)
async def test_who_sends_all_before_he_reads_sees_the_answer(
    server: str, ana: GraphQLClient, path: str, token: bool, status: int
) -> None:
    length = 20_000_000
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {ana.token if token else 'rw_0'}"]
    lines += ["Content-Type: application/json", f"Content-Length: {length}", "Connection: close", "", ""]
    reader, writer = await asyncio.open_connection(urlsplit(server).hostname, urlsplit(server).port)
    writer.write("\r\n".join(lines).encode())
    for _ in range(length // 1_000_000):
        writer.write(b"x" * 1_000_000)
        await writer.drain()
    assert (await reader.readline()).split()[1] == str(status).encode()
    writer.close()


@pytest.mark.req("AD-11")
async def test_who_was_asked_for_all_and_sends_it_before_he_reads_sees_the_answer(
    server: str, ana: GraphQLClient
) -> None:
    lines = ["POST /graphql HTTP/1.1", "Host: x", f"Authorization: Bearer {ana.token}", "Connection: close"]
    lines += ["Content-Type: application/json", "Transfer-Encoding: chunked", "Expect: 100-continue", "", ""]
    reader, writer = await asyncio.open_connection(urlsplit(server).hostname, urlsplit(server).port)
    writer.write("\r\n".join(lines).encode())
    assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
    for _ in range(20):
        writer.write(b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n")
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    assert (await reader.readline()).split()[1] == b"413"
    writer.close()


@pytest.mark.req("AD-11", "FM-11")
@pytest.mark.parametrize("path", [*ANSWERS, "/api/v1/threads"])
async def test_a_body_that_is_lost_with_an_upgrade_is_not_taken_for_none(
    server: str, ana: GraphQLClient, world: TeamWorld, path: str
) -> None:
    await allow(world, world.ana, Right.WRITE)
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {ana.token}"]
    lines += [
        "Content-Type: application/json",
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABk",
        "Content-Length: 14",
    ]
    reader, writer = await asyncio.open_connection(urlsplit(server).hostname, urlsplit(server).port)
    writer.write(("\r\n".join(lines) + '\r\n\r\n{"id": "t-up"}').encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert b" 400 " in head.splitlines()[0]
    assert b"without asking for an Upgrade" in body
    assert ANSWERS.get(path, ANSWERS["/api/v1/memories"])(json.loads(body))


@pytest.mark.parametrize("more", [[], [(b"expect", b"100-continue")]])
@pytest.mark.parametrize("length", [(b"content-length", b"9"), (b"transfer-encoding", b"chunked")])
async def test_what_is_lost_with_an_upgrade_is_seen_as_broken_off(
    length: tuple[bytes, bytes], more: list[tuple[bytes, bytes]]
) -> None:
    seen = list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((await receive())["type"])

    async def nothing() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        pass

    await patient(app)({"type": "http", "headers": [(b"upgrade", b"h2c"), length, *more]}, nothing, send)
    assert seen == ["http.disconnect"]


@pytest.mark.parametrize("path", ["/health/live", "/console/"])
async def test_an_upgrade_without_a_body_is_passed_over(server: str, path: str) -> None:
    asked = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n"
    reader, writer = await asyncio.open_connection(urlsplit(server).hostname, urlsplit(server).port)
    writer.write(asked.encode())
    assert b" 200 " in await reader.readline()
    writer.close()
