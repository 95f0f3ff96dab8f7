"""The HTTP side of the protocol: who may come in, what he opened, how much he may send; then the SDK speaks.

The order is that of the other surfaces: where it comes from, 401, 404, 403, 415 and 413, 400. Every answer that is no
exchange is a JSON-RPC error without an id, with the code of the one table. No answer is stored by caches.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio.to_thread
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from api.bodies import parsed
from api.errors import DENIED, INTERNAL_ERROR, INVALID_PARAMS, MASKED, headers_of, row_of
from api.incoming import BROKEN_OFF, CONVERSATION_HEADER, TooLarge, address_of, body_of
from api.mcp.came_from import may_come
from api.mcp.place import Kit, Place, Visit
from api.observability import note_fault
from graph.model.errors import RootwardError

_JSON: Final = "application/json"
_NO_STORE: Final = {"Cache-Control": "no-store"}

Opener = Callable[[Visit], Awaitable[Place]]
"""Opens an endpoint for a caller, or raises what keeps it closed."""


@dataclass(kw_only=True, slots=True)
class Door:
    """Answers the POST requests of one endpoint.

    Attributes:
        limit: bytes of the largest body.
    """

    kit: Kit
    opens: Opener
    limit: int
    _exchange: Callable[..., Awaitable[None]] | None = field(default=None, init=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        request = Request(scope, receive)
        try:
            place, body = await self._let_in(request)
        except _Refused as refused:
            await refused.response(scope, receive, send)
            return
        if self._exchange is None:
            self._exchange = await anyio.to_thread.run_sync(_protocol)
        await self._exchange(place, self.kit.deps.figures, self.limit, scope, _given(body, receive), _unstored(send))

    async def _let_in(self, request: Request) -> tuple[Place, bytes]:
        try:
            self._check_origin(request)
            place = await self.opens(await self._visit(request))
            return place, await self._body(request)
        except RootwardError as error:
            raise _refused(error) from None
        except TooLarge:
            told = f"send at most {self.limit} bytes"
            raise _Refused(413, INVALID_PARAMS, told, "LIMIT_EXCEEDED", {"Connection": "close"}) from None
        except ClientDisconnect:
            raise _Refused(400, INVALID_PARAMS, BROKEN_OFF, "BAD_INPUT") from None
        except _Refused:
            raise
        except Exception as error:  # noqa: BLE001 - the edge of the process: a request
            note_fault(error, self.kit.deps.figures)
            raise _Refused(500, INTERNAL_ERROR, MASKED, "INTERNAL") from None

    def _check_origin(self, request: Request) -> None:
        kit, sent = self.kit, request.headers
        host, origin = sent.get("host", ""), sent.get("origin", "")
        if not may_come(listens=kit.host, host=host, origin=origin, allowed_origins=kit.allowed_origins):
            told = "this server answers under its own name, and to pages of server.allowed_origins alone"
            raise _Refused(403, DENIED, told, "FORBIDDEN")

    async def _visit(self, request: Request) -> Visit:
        caller = await self.kit.auth.caller(request.headers.get("authorization"), address_of(request))
        return Visit(
            kit=self.kit,
            caller=caller,
            ids=dict(request.path_params),
            query=dict(request.query_params),
            conversation=request.headers.get(CONVERSATION_HEADER),
        )

    async def _body(self, request: Request) -> bytes:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _JSON:
            raise _Refused(415, INVALID_PARAMS, f"send {_JSON}", "BAD_INPUT")
        body = await body_of(request, self.limit)
        parsed(body)
        return body


class _Refused(Exception):
    """A request that does not come in."""

    def __init__(
        self, status: int, code: int, message: str, name: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.response = refusal(status, code, message, name, headers)


def refusal(status: int, code: int, message: str, name: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return the answer to a request that is no exchange: an error without an id; `name` is our own code."""
    error: dict[str, Any] = {"code": code, "message": message, "data": {"code": name}}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}, ensure_ascii=False)
    return Response(body.encode(), status, {**_NO_STORE, **(headers or {})}, media_type=_JSON)


def _refused(error: RootwardError) -> _Refused:
    row = row_of(error)
    return _Refused(row.http, row.json_rpc, error.message, error.wire_code, headers_of(error))


def _protocol() -> Callable[..., Awaitable[None]]:
    """Return what speaks the protocol: eighteen MiB and a third of a second that not every server needs."""
    from api.mcp.protocol import exchange

    return exchange


def _given(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read already, and then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def given() -> Message:
        return waiting.pop() if waiting else await receive()

    return given


def _unstored(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(_NO_STORE)
            message["status"] = int(message["status"])
        await send(message)

    return sent
