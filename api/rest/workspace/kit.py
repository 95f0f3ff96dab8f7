"""What the routes under /api/v1 have in common: envelope, codes, tags of versions, pages (FM-1 to FM-18).

A handler keeps the order of FM-17: the kit signs in; then object, verb, kind, `if_match`, `body`, existence, comparison
of tags, and what the content may be.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import unquote_to_bytes

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import MASKED, WORKSPACE_STATES, row_of
from api.observability import log_fault
from api.rest.bodies import parsed, path_of
from api.rest.kit import Kit
from api.rest.routing import SurfaceRoute
from graph.model.errors import (
    BadInput,
    Forbidden,
    InvalidRequest,
    NotFound,
    RootwardError,
    StoreError,
    TooManyAttempts,
    Unauthenticated,
    WorkspaceRefused,
)
from graph.rules.memory_refusals import invalid as invalid
from graph.rules.memory_refusals import missing as missing
from graph.rules.memory_refusals import stale as stale
from graph.rules.memory_refusals import untagged
from graph.services.access.caller import Caller
from graph.services.deps import Deps

PREFIX: Final = "/api/v1"
MAX_BODY_BYTES: Final = 8 * 1_048_576 + 65_536
DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 100
RETRY_AFTER_S: Final = 5

B = TypeVar("B", bound=BaseModel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Which part of a collection is asked for; `after` is what `cursor` gave, None for the first page."""

    limit: int
    after: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WCall:
    """One request of a caller who was signed in."""

    kit: Kit
    caller: Caller
    request: Request

    @property
    def deps(self) -> Deps:
        """The ports of the core."""
        return self.kit.deps

    def id(self, name: str) -> str:
        """Return an id of the path, percent-decoded once."""
        return str(self.request.path_params[name])

    def tail(self, name: str) -> str:
        """Return a path of the path, with ``/`` as it is or as ``%2F``, percent-decoded exactly once (FM-49, FM-60).

        Raises:
            WorkspaceRefused: ``invalid_argument`` at `name`: what it decodes to is no UTF-8.
        """
        try:
            return unquote_to_bytes(self.id(name)).decode("utf-8")
        except UnicodeDecodeError:
            raise invalid(name, "is UTF-8") from None

    def query(self, name: str) -> str | None:
        """Return a parameter of the query string; None if it is not there."""
        return self.request.query_params.get(name)

    def if_match(self) -> tuple[str, ...]:
        """Return the tags of `If-Match`; compare with `matches` (FM-14, FM-15).

        Raises:
            WorkspaceRefused: ``precondition_required``: there is none.
        """
        tags = self.optional_if_match()
        if tags is None:
            raise untagged()
        return tags

    def optional_if_match(self) -> tuple[str, ...] | None:
        """Return the tags of `If-Match`, None if there is none."""
        given = self.request.headers.getlist("if-match")
        return None if not given else tuple(tag.strip() for tag in ",".join(given).split(","))

    async def body(self, shape: type[B]) -> B:
        """Return the body in a shape.

        Raises:
            WorkspaceRefused: ``invalid_argument`` at the field, ``payload_too_large``.
        """
        given: Any = None
        try:
            given = parsed(await self._read())
            return shape.model_validate(given, strict=True)
        except ValidationError as error:
            raise invalid(path_of(error, given), "does not fit") from None
        except InvalidRequest as error:
            raise invalid(str(error.details["path"]), "is no JSON in UTF-8") from None

    def page(self, *bound: object) -> Asked:
        """Return which part of a collection is asked for (FM-8, FM-9).

        Args:
            bound: the collection and all filters; a cursor is good for these alone.

        Raises:
            WorkspaceRefused: ``invalid_argument`` at `limit`, ``invalid_cursor``.
        """
        text = self.query("limit")
        limit = DEFAULT_LIMIT if text is None else number(text)
        if not 1 <= limit <= MAX_LIMIT:
            raise invalid("limit", f"takes 1 to {MAX_LIMIT}")
        cursor = self.query("cursor")
        return Asked(limit=limit, after=None if cursor is None else _place(cursor, bound))

    async def _read(self) -> bytes:
        parts, size = [], 0
        async for part in self.request.stream():
            size += len(part)
            if size > MAX_BODY_BYTES:
                raise WorkspaceRefused("payload_too_large", "the body is too large", limit=MAX_BODY_BYTES)
            parts.append(part)
        return b"".join(parts)


WHandler = Callable[[WCall], Awaitable[Response]]


def routes(kit: Kit, table: Mapping[str, Mapping[str, WHandler]]) -> Sequence[BaseRoute]:
    """Return the routes of a table ``{path: {method: handler}}``, under `PREFIX`."""
    return [
        SurfaceRoute(f"{PREFIX}{path}", _endpoint(kit, dict(handlers)), handlers) for path, handlers in table.items()
    ]


def etag(id_: str, version: int) -> str:
    """Return the strong tag of one version of a resource (FM-12)."""
    return f'"{id_}:{version}"'


def matches(tags: Sequence[str], current: str) -> bool:
    """Return whether one of the tags of `If-Match` is the current one; weak tags and `*` never are (FM-15)."""
    return current in tags


def answer(body: Any, status: int = 200, *, tag: str | None = None) -> Response:
    """Return a JSON answer that no cache keeps, with its ETag if it has one."""
    headers = {"Cache-Control": "no-store", **({} if tag is None else {"ETag": tag})}
    if body is None:
        return Response(b"", 204, headers)
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Response(text.encode("utf-8"), status, headers, media_type="application/json; charset=utf-8")


def collection(items: Sequence[Any], next_place: Any, *bound: object, tag: str | None = None) -> Response:
    """Return a page of a collection; `next_place` is what the next page goes on after, None at the end (FM-8)."""
    cursor = None if next_place is None else _cursor(next_place, bound)
    return answer({"items": list(items), "next_cursor": cursor}, tag=tag)


def number(text: str, digits: int = 3) -> int:
    """Return a number that a client wrote in decimal digits; 0 for what is none, or has more digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else 0


def _cursor(place: Any, bound: Sequence[object]) -> str:
    raw = json.dumps(place).encode()
    return base64.urlsafe_b64encode(_bound(raw, bound) + raw).decode().rstrip("=")


def _place(cursor: str, bound: Sequence[object]) -> Any:
    try:
        data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        check, raw = data[:8], data[8:]
        if check != _bound(raw, bound):
            raise ValueError
        return json.loads(raw)
    except (ValueError, binascii.Error):
        raise WorkspaceRefused("invalid_cursor", "take the cursor of this very collection") from None


def _bound(raw: bytes, bound: Sequence[object]) -> bytes:
    return hashlib.sha256(repr(tuple(bound)).encode("utf-8", "surrogatepass") + b"\0" + raw).digest()[:8]


def _endpoint(kit: Kit, handlers: Mapping[str, WHandler]) -> ASGIApp:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        response = await respond(Request(scope, receive))
        await response(scope, receive, send)

    async def respond(request: Request) -> Response:
        request_id = kit.deps.ids.new()
        try:
            address = request.client.host if request.client else ""
            caller = await kit.auth.caller(request.headers.get("authorization"), address)
            handler = handlers.get("GET" if request.method == "HEAD" else request.method)
            if handler is None:
                return _not_allowed(handlers, request_id)
            return await handler(WCall(kit=kit, caller=caller, request=request))
        except RootwardError as error:
            return failed(error, request_id)
        except ClientDisconnect:
            return _envelope("invalid_argument", "the request was broken off", {}, request_id, 400)
        except Exception as error:  # noqa: BLE001 - the edge of the process: a request
            log_fault(error)
            kit.deps.figures.count("unexpected_faults", error=type(error).__name__)
            return _envelope("internal", MASKED, {}, request_id, 500)

    return endpoint


_CODES: Final[Mapping[type[RootwardError], str]] = {
    Unauthenticated: "unauthenticated",
    Forbidden: "forbidden",
    NotFound: "not_found",
    StoreError: "unavailable",
    BadInput: "invalid_argument",
}


def failed(error: RootwardError, request_id: str) -> Response:
    """Return the answer to an error of the core (FM-5 to FM-7)."""
    if isinstance(error, WorkspaceRefused):
        status = WORKSPACE_STATES[error.refusal]
        return _envelope(error.refusal, error.message, dict(error.details), request_id, status)
    code = next((_CODES[kind] for kind in type(error).__mro__ if kind in _CODES), "conflict")
    details = {"dependency": "store"} if code == "unavailable" else {}
    status = 429 if isinstance(error, TooManyAttempts) else WORKSPACE_STATES.get(code, row_of(error).http)
    return _envelope(code, error.message, details, request_id, status)


def _not_allowed(handlers: Mapping[str, WHandler], request_id: str) -> Response:
    allowed = ", ".join(sorted(handlers))
    made = _envelope("invalid_argument", f"this path takes {allowed}", {}, request_id, 405)
    made.headers["Allow"] = allowed
    return made


def _envelope(code: str, message: str, details: Mapping[str, Any], request_id: str, status: int) -> Response:
    error = {"code": code, "message": message, "details": dict(details), "request_id": request_id}
    made = answer({"error": error}, status)
    if status == 401:
        made.headers["WWW-Authenticate"] = "Bearer"
    if status in (429, 503):
        made.headers["Retry-After"] = str(RETRY_AFTER_S)
    return made
