"""Who is let in, in which order requests are refused, and that no answer and no log line tells too much."""

from __future__ import annotations

import json

import httpx2
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from api.auth import MAX_FAILURES
from api.bootstrap import Service
from api.errors import AWAY, DENIED, INTERNAL_ERROR, INVALID_PARAMS, MASKED, MISSING
from api.mcp.routes import ENDPOINTS, LARGE, SMALL
from graph.model.errors import StoreUnavailable
from graph.model.nodes.people import Right
from tests.support.logs import everything_logged
from tests.support.mcp_client import message, post
from tests.support.memory_client import allow
from tests.support.world import TeamWorld

PATHS = [path.format(run="run_x", chat="chat_x") for path in ENDPOINTS]
LIST = message("tools/list")


@pytest.fixture
async def token(world: TeamWorld) -> str:
    """Of Dan, who may everything: nothing but what a test is about keeps him out."""
    await allow(world, world.dan, Right.WRITE)
    await world.grant(world.dan, Right.HOST, world.node)
    return await world.token(world.dan)


def refused(answer: httpx2.Response) -> tuple[int, int, str]:
    """Return status, JSON-RPC code and our own code of a refusal."""
    body = answer.json()
    assert (body["jsonrpc"], body["id"]) == ("2.0", None)
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["rootward-request-id"]
    return answer.status_code, body["error"]["code"], body["error"]["data"]["code"]


@pytest.mark.req("AD-7", "AD-13")
@pytest.mark.parametrize("path", PATHS)
async def test_nobody_is_let_in_without_a_token(http: httpx2.AsyncClient, path: str) -> None:
    answer = await post(http, path, None, LIST)
    assert refused(answer) == (401, DENIED, "UNAUTHENTICATED")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert refused(await post(http, path, "rw_0_0", b"no JSON", **{"Content-Type": "text/plain"}))[0] == 401


@pytest.mark.req("AD-11")
async def test_who_failed_too_often_is_told_to_wait(http: httpx2.AsyncClient, token: str) -> None:
    for _ in range(MAX_FAILURES):
        await post(http, "/mcp/knowledge", "rw_0_0", LIST)
    answer = await post(http, "/mcp/knowledge", "rw_0_0", LIST)
    assert refused(answer)[0] == 429
    assert int(answer.headers["retry-after"]) > 0
    assert (await post(http, "/mcp/knowledge", token, LIST)).status_code == 200


@pytest.mark.parametrize(
    ("path", "name"), [("/mcp/runs/x", "not_found"), ("/mcp/runs/run_x", "not_found"), ("/mcp/chats/x", "ChatNotFound")]
)
async def test_a_place_that_is_not_there_is_told_before_the_body_is_looked_at(
    http: httpx2.AsyncClient, token: str, path: str, name: str
) -> None:
    answer = await post(http, path, token, b"no JSON", **{"Content-Type": "text/plain"})
    assert refused(answer) == (404, MISSING, name)


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.test"},
        {"Host": "evil.test", "Origin": "http://evil.test"},
        {"Origin": "https://evil.test"},
        {"Origin": "null"},
    ],
)
@pytest.mark.parametrize("path", PATHS)
async def test_pages_and_names_of_others_are_refused_before_the_token_is_looked_at(
    http: httpx2.AsyncClient, path: str, headers: dict[str, str]
) -> None:
    assert refused(await post(http, path, None, LIST, **headers)) == (403, DENIED, "FORBIDDEN")


async def test_a_store_that_is_away_is_told_with_when_to_try_again(
    http: httpx2.AsyncClient, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("the store does not answer: try again")

    monkeypatch.setattr("api.mcp.runs.check_driver", away)
    answer = await post(http, "/mcp/runs/run_x", token, LIST)
    assert refused(answer) == (503, AWAY, "STORE_UNAVAILABLE")
    assert int(answer.headers["retry-after"]) > 0
    monkeypatch.setattr("api.mcp.knowledge.memory_search", away)
    asked = message("tools/call", name="search", arguments={"query": "x", "agent": "Atlas"})
    told = (await post(http, "/mcp/knowledge", token, asked)).json()["result"]
    assert told["isError"]
    assert told["structuredContent"]["error"]["error"] == "STORE_UNAVAILABLE"


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS"])
async def test_there_are_no_streams_and_no_sessions(http: httpx2.AsyncClient, method: str, path: str) -> None:
    answer = await http.request(method, path)
    assert (refused(answer), answer.headers["allow"]) == ((405, INVALID_PARAMS, "METHOD_NOT_ALLOWED"), "POST")


async def test_bodies_are_json_of_a_limited_size(http: httpx2.AsyncClient, token: str) -> None:
    async def sent(body: bytes, kind: str = "application/json") -> tuple[int, int, str]:
        return refused(await post(http, "/mcp/knowledge", token, body, **{"Content-Type": kind}))

    assert await sent(b"{}", "text/plain") == (415, INVALID_PARAMS, "BAD_INPUT")
    assert (await sent(b" " * (SMALL + 1)))[0] == 413
    lone = json.dumps(message("tools/call", name="search", arguments={"query": "\ud800"})).encode()
    for broken in (b"{", b"\xff", b"[" * 100_000, b'{"id": NaN}', lone):
        assert (await sent(broken))[0] == 400
    assert LARGE > SMALL


@pytest.mark.parametrize("body", [[LIST], {"jsonrpc": "2.0"}, 7, {"jsonrpc": "2.0", "id": 1}])
async def test_what_is_no_message_is_refused(http: httpx2.AsyncClient, token: str, body: object) -> None:
    answer = await post(http, "/mcp/knowledge", token, body)
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] < 0


@pytest.mark.parametrize("method", ["prompts/list", "logging/setLevel", "resources/subscribe", "completion/complete"])
async def test_methods_that_no_endpoint_has_are_unknown(http: httpx2.AsyncClient, token: str, method: str) -> None:
    params = {"level": "info", "uri": "x", "ref": {"type": "ref/prompt", "name": "x"}, "argument": {}}
    answer = await post(http, "/mcp/knowledge", token, message(method, **params))
    assert "error" in answer.json()


async def test_notifications_have_no_answer(http: httpx2.AsyncClient, token: str) -> None:
    told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = await post(http, "/mcp/knowledge", token, told)
    assert (answer.status_code, answer.content) == (202, b"")


@pytest.mark.req("AD-24", "AD-42")
async def test_a_fault_is_masked_and_logged_without_content(
    http: httpx2.AsyncClient, token: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def fails(*_: object, **__: object) -> None:
        raise RuntimeError("Mia likes tea")

    monkeypatch.setattr("api.mcp.knowledge.provenance", fails)
    with everything_logged():
        answer = await post(
            http, "/mcp/knowledge", token, message("tools/call", name="trace", arguments={"ref": "Mia"})
        )
    error = answer.json()["error"]
    assert (error["code"], error["message"]) == (INTERNAL_ERROR, MASKED)
    logged = capsys.readouterr().err
    assert "unexpected_fault" in logged
    assert answer.headers["rootward-request-id"] in logged
    assert "Mia" not in logged


@pytest.mark.req("AD-42")
async def test_nothing_that_was_sent_or_answered_is_logged(
    http: httpx2.AsyncClient, token: str, world: TeamWorld, capsys: pytest.CaptureFixture[str]
) -> None:
    await world.say(world.ops, "The valve of tank four leaks.")
    asked = message("tools/call", name="search", arguments={"query": "valve", "agent": "Atlas"})
    with everything_logged():
        answer = await post(http, "/mcp/knowledge", token, asked)
        await post(http, "/mcp/knowledge", token, message("tools/call", name="valve-tool", arguments={}))
        await post(http, "/mcp/knowledge", token, {"valve": 1})
    assert answer.status_code == 200
    logged = capsys.readouterr().err
    assert "/mcp/knowledge" in logged
    for secret in ("valve", "tank", token):
        assert secret not in logged


@pytest.mark.req("AD-42")
async def test_traces_hold_no_content(http: httpx2.AsyncClient, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    monkeypatch.setattr("api.mcp.protocol.tracer", provider.get_tracer("test"))
    refs = {"name": "browse", "arguments": {"ref": "valve"}}
    for params in (refs, {"name": "valve", "arguments": {}}, {"name": ["valve"]}):
        await post(http, "/mcp/knowledge", token, message("tools/call", **params))
    told = [span.to_json() for span in spans.get_finished_spans()]
    assert [json.loads(one)["name"] for one in told] == ["mcp.knowledge"] * 3
    assert "valve" not in "".join(told)


async def test_calls_are_counted_by_endpoint_and_outcome(
    http: httpx2.AsyncClient, token: str, service: Service
) -> None:
    for ref in ("x", ""):
        await post(http, "/mcp/knowledge", token, message("tools/call", name="browse", arguments={"ref": ref}))
    shown = service.figures.render().decode()
    assert 'rootward_mcp_calls_total{outcome="failed",place="knowledge"} 2.0' in shown
