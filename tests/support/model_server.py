"""A model provider on loopback that speaks three dialects and misbehaves on demand."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    """How the server answers one request.

    Attributes:
        text: what the model says, or a function of the body of the request; wrapped in the dialect of the request.
        body: sent instead of the wrapped text.
        tokens: of the question, as its usage says.
        finish: ``stop`` or ``length`` or ``refused``, in words of ours.
        hangs: nothing is ever sent.
        cut: only half of the body is sent before the connection closes.
        resets: the connection is broken off before anything is sent.
    """

    text: str | Callable[[Any], str] = "hello"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = None
    tokens: int = 11
    finish: str = "stop"
    hangs: bool = False
    cut: bool = False
    resets: bool = False


@dataclass
class ModelServer:
    """Answers with `replies` in order, the last one for ever.

    Attributes:
        asked: path, headers and JSON body of each request.
        is_asked: set by the first.
    """

    replies: list[Reply] = field(default_factory=lambda: [Reply()])
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    is_asked: asyncio.Event = field(default_factory=asyncio.Event)
    _server: asyncio.Server | None = None
    _open: set[asyncio.StreamWriter] = field(default_factory=set)

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> ModelServer:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            path, headers, body = await _request(reader)
            self.asked.append((path, headers, body))
            self.is_asked.set()
            reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
            if reply.resets:
                writer.transport.abort()
            elif reply.hangs:
                await reader.read()  # until the client gives up
            else:
                said = reply.text(body) if callable(reply.text) else reply.text
                writer.write(_response(replace(reply, text=said), path))
                await writer.drain()
        writer.close()
        self._open.discard(writer)


async def _request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], Any]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
    raw = await reader.readexactly(int(headers.get("content-length", 0)))
    return first.split()[1], headers, json.loads(raw) if raw else None


def _response(reply: Reply, path: str) -> bytes:
    body = reply.body if reply.body is not None else json.dumps(_dialect(reply, path)).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), "connection": "close"}
    lines = [f"HTTP/1.1 {reply.status} Said", *(f"{k}: {v}" for k, v in {**headers, **reply.headers}.items())]
    sent = body[: len(body) // 2] if reply.cut else body
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + sent


def _dialect(reply: Reply, path: str) -> dict[str, Any]:
    if reply.status >= 400:
        return {"error": {"message": "canary", "type": "some_error", "code": reply.status, "status": "FAILED"}}
    if path.endswith("/chat/completions"):
        return _openai(reply)
    return _anthropic(reply) if path.endswith("/messages") else _google(reply)


def _openai(reply: Reply) -> dict[str, Any]:
    finish = {"refused": "content_filter"}.get(reply.finish, reply.finish)
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1_746_867_600,
        "model": "small-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": reply.tokens, "completion_tokens": 3, "total_tokens": reply.tokens + 3},
    }


def _anthropic(reply: Reply) -> dict[str, Any]:
    finish = {"stop": "end_turn", "length": "max_tokens", "refused": "refusal"}[reply.finish]
    return {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "small-1",
        "content": [{"type": "text", "text": reply.text}] if reply.text else [],
        "stop_reason": finish,
        "stop_sequence": None,
        "usage": {"input_tokens": reply.tokens, "output_tokens": 3},
    }


def _google(reply: Reply) -> dict[str, Any]:
    finish = {"stop": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[reply.finish]
    content = {"role": "model", "parts": [{"text": reply.text}] if reply.text else []}
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0}],
        "usageMetadata": {
            "promptTokenCount": reply.tokens,
            "candidatesTokenCount": 3,
            "totalTokenCount": reply.tokens + 3,
        },
        "modelVersion": "small-1",
        "responseId": "r1",
    }
