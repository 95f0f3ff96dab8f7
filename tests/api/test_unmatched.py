"""Addresses that there are not, and methods that an address does not take: told in the form of their family."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from api.errors import INVALID_PARAMS, MISSING

NOWHERE = "there is nothing at this address"


def surface(answer: httpx2.Response) -> Any:
    assert answer.headers["cache-control"] == "no-store"
    return answer.json()


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/sessions", "/v1/sessions/s/memory/more"])
async def test_sessions_agents_and_bots(http: httpx2.AsyncClient, path: str) -> None:
    for method in ("GET", "POST", "DELETE"):
        answer = await http.request(method, path)
        assert (answer.status_code, surface(answer)) == (404, {"_tag": "NotFound", "message": NOWHERE})


@pytest.mark.req("FM-5", "FM-7")
@pytest.mark.parametrize("path", ["/api/v1", "/api/v1/nothing", "/api/v1/memories/mem_x/nothing/at/all"])
async def test_workspace_memory(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.get(path)
    error = surface(answer)["error"]
    assert (answer.status_code, error["code"], error["details"]) == (404, "not_found", {"kind": "route", "id": path})
    assert error["request_id"] == answer.headers["rootward-request-id"]


@pytest.mark.parametrize("path", ["/mcp", "/mcp/nothing", "/mcp/runs", "/mcp/runs/run_x/more"])
async def test_mcp(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.post(path, json={})
    error = {"code": MISSING, "message": NOWHERE, "data": {"code": "NOT_FOUND"}}
    assert (answer.status_code, surface(answer)) == (404, {"jsonrpc": "2.0", "id": None, "error": error})


@pytest.mark.parametrize("path", ["/graphql/more", "/v2/sessions", "/v1x", "/blobs", "/nothing"])
async def test_anything_else_answers_as_graphql_does(http: httpx2.AsyncClient, path: str) -> None:
    answer = await http.post(path, json={})
    error = {"message": NOWHERE, "extensions": {"code": "NOT_FOUND", "status": 404}}
    assert (answer.status_code, answer.json()) == (404, {"errors": [error]})


@pytest.mark.parametrize(
    ("path", "allowed"), [("/graphql", "POST"), ("/blobs/x", "GET, HEAD"), ("/health/live", "GET, HEAD")]
)
async def test_a_method_that_an_address_does_not_take(http: httpx2.AsyncClient, path: str, allowed: str) -> None:
    answer = await http.delete(path)
    [error] = answer.json()["errors"]
    assert (answer.status_code, error["extensions"]) == (405, {"code": "METHOD_NOT_ALLOWED", "status": 405})
    assert ", ".join(sorted(answer.headers["allow"].split(", "))) == allowed


async def test_a_method_that_a_route_or_a_tool_does_not_take(http: httpx2.AsyncClient) -> None:
    mcp = await http.get("/mcp/knowledge")
    assert (mcp.status_code, mcp.json()["error"]["code"], mcp.headers["allow"]) == (405, INVALID_PARAMS, "POST")
    # Routes of surfaces ask who it is first.
    assert [(await http.delete(path)).status_code for path in ("/v1/sessions/s", "/api/v1/memories")] == [401, 401]
