"""`rootward mcp`: the Model Context Protocol on standard input and output, answered by the running server.

Each line is one message; it is posted as it is, and what comes back is written as one line. The server keeps no
session, so that there is nothing to hand on but the version of the protocol that was agreed on. Standard output carries
nothing else; whatever somebody prints goes to standard error.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2
from mcp.shared.inbound import (
    MCP_METHOD_HEADER,
    MCP_NAME_HEADER,
    MCP_PROTOCOL_VERSION_HEADER,
    NAME_BEARING_METHODS,
    encode_header_value,
)
from mcp_types import PROTOCOL_VERSION_META_KEY

from api.cli.given import Chosen
from api.cli.link import TIMEOUT_S, find_server, token_of
from api.errors import AWAY, MISSING
from api.incoming import CONVERSATION_HEADER
from graph.model.errors import StoreUnavailable

PARSE_ERROR: Final = -32_700
INVALID_REQUEST: Final = -32_600
_CHUNK: Final = 65_536
_ACCEPT: Final = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}

Message = dict[str, Any]


async def serve_stdio(
    chosen: Chosen, path: str, *, who: str | None = None, conversation: str = "", query: Mapping[str, str] | None = None
) -> None:
    """Speak for an endpoint of the running server until standard input ends.

    Args:
        chosen: the settings, which tell where the server and the token are.
        path: of the endpoint.
        who: whose token; see `api.cli.link.token_of`.
        conversation: in which an agent reads.
        query: parameters of the address.

    Raises:
        StoreUnavailable: no server runs.
        BadInput: there is no token.
    """
    headers = {"Authorization": f"Bearer {token_of(chosen, who)}"}
    if conversation:
        headers[CONVERSATION_HEADER] = conversation
    address = await find_server(chosen)
    if not address:
        raise StoreUnavailable("no server runs: start one with rootward serve, or name it in ROOTWARD_URL")
    wire = sys.stdout.fileno()
    async with httpx2.AsyncClient(base_url=address, timeout=TIMEOUT_S, trust_env=False, headers=headers) as http:
        with contextlib.redirect_stdout(sys.stderr):
            bridge = Bridge(http=http, path=path, query=dict(query or {}), write=lambda line: _write(wire, line))
            await bridge.run(_lines(sys.stdin.fileno()))


@dataclass(kw_only=True, slots=True)
class Bridge:
    """Hands messages on, many at a time.

    Attributes:
        write: takes one line.
        version: of the protocol, once `initialize` agreed on it.
    """

    http: httpx2.AsyncClient
    path: str
    write: Callable[[bytes], None]
    query: dict[str, str] = field(default_factory=dict)
    version: str = ""
    _waiting: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Hand on every line, and wait for what is not answered yet."""
        async with asyncio.TaskGroup() as group:
            async for line in lines:
                if line.strip():
                    await self._take(line, group)

    async def _take(self, line: bytes, group: asyncio.TaskGroup) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._answer(_failed(None, PARSE_ERROR, "a line is no JSON"))
            return
        if not isinstance(message, dict):
            self._answer(_failed(None, INVALID_REQUEST, "send one message a line"))
        elif message.get("method") == "notifications/cancelled":
            self._cancel(message)
        elif message.get("method") == "initialize":
            await self._exchange(message, line)
        elif "method" in message:
            key = _key(message.get("id"))
            task = group.create_task(self._exchange(message, line))
            if "id" in message:
                self._waiting[key] = task
                task.add_done_callback(lambda done: self._forget(key, done))

    async def _exchange(self, message: Message, line: bytes) -> None:
        """Post one message and write its answer; a notification has none."""
        answer = await self._posted(message, line)
        if not answer:
            return
        if answer.get("id") is None:
            answer["id"] = message["id"]
        if message["method"] == "initialize":
            self.version = str((answer.get("result") or {}).get("protocolVersion", ""))
        self._answer(answer)

    async def _posted(self, message: Message, line: bytes) -> Message:
        headers = {**_ACCEPT, **_headers(message, self.version)}
        try:
            response = await self.http.post(self.path, content=line, headers=headers, params=self.query)
        except httpx2.HTTPError:
            return _failed(None, AWAY, "the server does not answer: is it running?")
        return {} if response.status_code == 202 or "id" not in message else _answer_of(response)

    def _cancel(self, message: Message) -> None:
        """Give up a request; nobody waits for its answer any more."""
        task = self._waiting.get(_key((message.get("params") or {}).get("requestId")))
        if task is not None:
            task.cancel()

    def _forget(self, key: str, done: asyncio.Task[None]) -> None:
        if self._waiting.get(key) is done:
            del self._waiting[key]

    def _answer(self, message: Message) -> None:
        self.write(json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")


def _answer_of(response: httpx2.Response) -> Message:
    """Return the message in a response, or why there is none."""
    try:
        found = response.json()
    except ValueError:
        found = None
    if isinstance(found, dict) and ("result" in found or "error" in found):
        return found
    if response.status_code == 404:
        return _failed(None, MISSING, "there is no such endpoint: look at the id")
    return _failed(None, AWAY, "what answers is no Rootward server")


def _headers(message: Message, version: str) -> dict[str, str]:
    """Return what the protocol repeats of a message in headers: its version, and of newer ones method and name."""
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    newer = meta.get(PROTOCOL_VERSION_META_KEY) if isinstance(meta, dict) else None
    if not isinstance(newer, str):
        return {MCP_PROTOCOL_VERSION_HEADER: version} if version else {}
    method = str(message["method"])
    found = {MCP_PROTOCOL_VERSION_HEADER: newer, MCP_METHOD_HEADER: method}
    name = params.get(NAME_BEARING_METHODS.get(method, ""))
    return {**found, MCP_NAME_HEADER: encode_header_value(name)} if isinstance(name, str) else found


def _failed(id_: Any, code: int, text: str) -> Message:
    return {"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": text}}


def _key(id_: Any) -> str:
    """Return what tells ids apart: ``1`` is not ``"1"``."""
    return json.dumps(id_)


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    """Yield what comes in, line by line.

    It is read by a thread that nobody waits for, without Python's own buffer, whose lock such a thread would hold when
    the process ends.
    """
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def pump() -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the process ends
            while chunk := _read(descriptor):
                loop.call_soon_threadsafe(queue.put_nowait, chunk)
            loop.call_soon_threadsafe(queue.put_nowait, b"")

    threading.Thread(target=pump, daemon=True).start()
    waiting = b""
    while chunk := await queue.get():
        *whole, waiting = (waiting + chunk).split(b"\n")
        for line in whole:
            yield line
    if waiting:
        yield waiting


def _write(descriptor: int, line: bytes) -> None:
    with contextlib.suppress(BrokenPipeError):  # who reads us is gone, and the end of input follows
        while line:
            line = line[os.write(descriptor, line) :]


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _CHUNK)
    except OSError:
        return b""
