"""Requests that ask for WebSocket and are no handshake: answered, and in nobody's way when the server ends."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import pytest

UPGRADE = "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
MANY = "".join(f"X-{number}: x\r\n" for number in range(300))
NO_HANDSHAKES = {
    "a body": f"GET /graphql HTTP/1.1\r\n{UPGRADE}{KEY}Content-Length: 2\r\n\r\n{{}}",
    "parts of a body": f"GET /graphql HTTP/1.1\r\n{UPGRADE}{KEY}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "a long line": f"GET /graphql HTTP/1.1\r\n{UPGRADE}{KEY}X-Long: {'x' * 20_000}\r\n\r\n",
    "a long address": f"GET /graphql?{'x' * 20_000} HTTP/1.1\r\n{UPGRADE}{KEY}\r\n",
    "many headers": f"GET /graphql HTTP/1.1\r\n{UPGRADE}{KEY}{MANY}\r\n",
}


async def told(server: str, request: str) -> bytes:
    """Send a request, and return all that comes until the server closes the connection."""
    reader, writer = await asyncio.open_connection(urlsplit(server).hostname, urlsplit(server).port)
    writer.write(request.encode())
    try:
        async with asyncio.timeout(10):
            return await reader.read()
    finally:
        writer.close()


@pytest.mark.req("AD-24", "AD-38")
@pytest.mark.parametrize("request_", NO_HANDSHAKES.values(), ids=NO_HANDSHAKES.keys())
async def test_what_is_no_handshake_is_told_so(server: str, request_: str) -> None:
    head, _, body = (await told(server, request_)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"connection: close" in head
    assert json.loads(body)["errors"][0]["extensions"] == {"code": "BAD_INPUT", "status": 400}


@pytest.mark.req("AD-24")
@pytest.mark.parametrize(("method", "key", "status"), [("GET", "", b"400"), ("POST", KEY, b"405")])
async def test_a_handshake_that_is_wrong_is_answered_once(server: str, method: str, key: str, status: bytes) -> None:
    answer = await told(server, f"{method} /graphql HTTP/1.1\r\n{UPGRADE}{key}\r\n")
    assert answer.split()[1] == status
    assert answer.count(b"HTTP/1.1") == 1
