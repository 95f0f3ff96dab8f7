"""Clients of the Model Context Protocol, by its own SDK, in process or over a socket."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, RequestParamsMeta, TextContent

from api.mcp.protocol import CALL_ID

HERE = "http://localhost"
LEGACY = "legacy"
MODERN = "2026-07-28"


@asynccontextmanager
async def mcp_client(
    app: Any, path: str, token: str, *, mode: str = "auto", base: str = HERE, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Client]:
    """Connect to an endpoint; `app` is an ASGI application, or None for a server that listens at `base`."""
    transport = None if app is None else httpx2.ASGITransport(app=app)
    sent = {"Authorization": f"Bearer {token}", **(headers or {})}
    async with (
        httpx2.AsyncClient(transport=transport, base_url=base, headers=sent, timeout=60) as http,
        Client(streamable_http_client(f"{base}{path}", http_client=http), mode=mode, cache=None) as client,
    ):
        yield client


def told(result: CallToolResult) -> Any:
    """Return what a call gave; its text says the same as its structure."""
    [content] = result.content
    assert isinstance(content, TextContent)
    body = result.structured_content
    assert json.loads(content.text) == body
    return body


def named(id_: object) -> RequestParamsMeta:
    """Return what tells a call from others."""
    return cast(RequestParamsMeta, {CALL_ID: id_})


async def post(http: httpx2.AsyncClient, path: str, token: str | None, body: Any, **headers: str) -> httpx2.Response:
    """Send one message as it is."""
    sent = {"Accept": "application/json", "Content-Type": "application/json", **headers}
    if token is not None:
        sent["Authorization"] = f"Bearer {token}"
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await http.post(f"{HERE}{path}", content=content, headers=sent)


def message(method: str, **params: Any) -> dict[str, Any]:
    """Return a request of the protocol."""
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
