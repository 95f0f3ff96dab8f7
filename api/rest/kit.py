"""What every REST route has in common: who asks, the order of checks, bodies, errors by their `_tag`.

The order is 401, 404, 403, 413 and 415, 400, 409 (SM-67, BM-182): the kit signs in; a handler finds its object and
right, and asks for the body (`Call.body`) only then. Answers are never stored by caches and hold no secret.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import quote, unquote

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from api.auth import Authenticator
from api.errors import MASKED, row_of
from api.observability import log_fault
from dreaming.jobs import ModelMaker
from graph.model.errors import (
    BadInput,
    Forbidden,
    InvalidRequest,
    NotFound,
    RootwardError,
    StoreError,
    TooManyAttempts,
    Unauthenticated,
)
from graph.services.access.caller import Caller
from graph.services.deps import Deps

MAX_BODY_BYTES: Final = 65_536
MAX_PATH_SHOWN: Final = 200
RETRY_AFTER_S: Final = 5

B = TypeVar("B", bound=BaseModel)


class Refused(Exception):
    """A refusal that is no error of the core: too large, another media type, another method."""

    def __init__(self, status: int, tag: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status, self.tag, self.message, self.headers = status, tag, message, dict(headers or {})


@dataclass(frozen=True, kw_only=True, slots=True)
class Kit:
    """What handlers work with.

    Attributes:
        models: makes models out of profiles, for what a request asks of a model itself.
    """

    deps: Deps
    auth: Authenticator
    models: ModelMaker


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One request of a caller who was signed in."""

    kit: Kit
    caller: Caller
    request: Request

    @property
    def deps(self) -> Deps:
        """The ports of the core."""
        return self.kit.deps

    def id(self, name: str) -> str:
        """Return an id of the path, percent-decoded once; any text (SM-29)."""
        return str(self.request.path_params[name])

    async def body(self, shape: type[B]) -> B:
        """Return the body in a shape; call it after the object and the right were found.

        Raises:
            Refused: 415 not JSON, 413 over 65,536 bytes.
            InvalidRequest: it does not fit; `path` names the field.
        """
        kind = self.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Refused(415, "UnsupportedMediaType", "send application/json")
        raw = await _read(self.request)
        given = _parsed(raw)
        try:
            return shape.model_validate(given, strict=True)
        except ValidationError as error:
            raise InvalidRequest("the body does not fit: see path", path=_path(error, given)) from None


Handler = Callable[[Call], Awaitable[Any]]
"""Answers a call with a JSON value, or with a `Response` of its own."""


def routes(kit: Kit, table: Mapping[str, Mapping[str, Handler]]) -> Sequence[BaseRoute]:
    """Return the routes of a table ``{path: {method: handler}}``; other methods answer 405 with `Allow`."""
    return [SurfaceRoute(path, _endpoint(kit, dict(handlers)), handlers) for path, handlers in table.items()]


class SurfaceRoute(Route):
    """A route that takes every method itself, and reads ids out of the path as it was sent.

    Each part between slashes is percent-decoded once, so ``a%2Fb`` is one id and never another route (SM-29).
    """

    def __init__(self, path: str, app: ASGIApp, methods: Iterable[str]) -> None:
        super().__init__(path, _Endpoint(app), methods=None)
        self.methods = set(methods)  # for the table of rights; the endpoint refuses the others in the right order
        self._parts = path.split("/")

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether a request is for this route, with the ids of its path."""
        sent = _sent_path(scope).split("/") if scope["type"] == "http" else []
        if len(sent) != len(self._parts):
            return Match.NONE, {}
        pairs = [(part, unquote(given)) for part, given in zip(self._parts, sent, strict=True)]
        if any(part != given for part, given in pairs if not part.startswith("{")):
            return Match.NONE, {}
        ids = {part[1:-1]: given for part, given in pairs if part.startswith("{")}
        return Match.FULL, {"endpoint": self.endpoint, "path_params": ids}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that matched."""
        await self.app(scope, receive, send)


class _Endpoint:
    """An application in a form that takes every method."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _sent_path(scope: Scope) -> str:
    raw = scope.get("raw_path")
    path = quote(scope["path"]) if raw is None else raw.decode("latin-1")
    return path.removeprefix(scope.get("root_path", ""))


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON answer that no cache keeps (SM-27)."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    given = {"Cache-Control": "no-store", **(headers or {})}
    return Response(text.encode("utf-8"), status, given, media_type="application/json; charset=utf-8")


def failed(error: RootwardError) -> Response:
    """Return the answer to an error of the core: its `_tag`, message, and reason or path (SM-55, BM-174)."""
    body = {"_tag": _tag(error), "message": error.message}
    body |= {name: error.details[name] for name in ("reason", "path") if error.details.get(name) is not None}
    headers: dict[str, str] = {}
    if isinstance(error, TooManyAttempts):
        headers["Retry-After"] = str(error.details.get("retry_after_s", 60))
    if isinstance(error, StoreError):
        headers["Retry-After"] = str(RETRY_AFTER_S)
    status = row_of(error).http
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return answer(body, status, headers)


def _endpoint(kit: Kit, handlers: Mapping[str, Handler]) -> ASGIApp:
    async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
        response = await respond(Request(scope, receive))
        await response(scope, receive, send)

    async def respond(request: Request) -> Response:
        try:
            caller = await kit.auth.caller(request.headers.get("authorization"), _address(request))
            handler = handlers.get("GET" if request.method == "HEAD" else request.method)
            if handler is None:
                allowed = ", ".join(sorted(handlers))
                raise Refused(405, "MethodNotAllowed", f"this path takes {allowed}", {"Allow": allowed})
            made = await handler(Call(kit=kit, caller=caller, request=request))
            return made if isinstance(made, Response) else answer(made)
        except Refused as refused:
            return answer({"_tag": refused.tag, "message": refused.message}, refused.status, refused.headers)
        except RootwardError as error:
            return failed(error)
        except ClientDisconnect:
            return answer({"_tag": "InvalidRequest", "message": "the request was broken off"}, 400)
        except Exception as error:  # noqa: BLE001 - the edge of the process: a request
            log_fault(error)
            kit.deps.figures.count("unexpected_faults", error=type(error).__name__)
            return answer({"_tag": "Internal", "message": MASKED}, 500)

    return endpoint


_TAGS: Final[Mapping[type[RootwardError], str]] = {
    Unauthenticated: "Unauthorized",
    TooManyAttempts: "TooManyRequests",
    Forbidden: "Forbidden",
    StoreError: "Unavailable",
    InvalidRequest: "InvalidRequest",
    BadInput: "InvalidRequest",
}


def _tag(error: RootwardError) -> str:
    """Return the surface's own name of an error; the nearest class in the tree decides."""
    if type(error).wire_code is not RootwardError.wire_code and not isinstance(error, Unauthenticated | StoreError):
        return error.wire_code
    return next((_TAGS[kind] for kind in type(error).__mro__ if kind in _TAGS), _own(error))


def _own(error: RootwardError) -> str:
    return "NotFound" if isinstance(error, NotFound) else error.wire_code


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


async def _read(request: Request) -> bytes:
    declared = request.headers.get("content-length", "")
    too_large = Refused(413, "PayloadTooLarge", f"send at most {MAX_BODY_BYTES} bytes", {"Connection": "close"})
    if declared.isdigit() and int(declared) > MAX_BODY_BYTES:
        raise too_large
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_BODY_BYTES:
            raise too_large
        parts.append(part)
    return b"".join(parts)


def _parsed(raw: bytes) -> Any:
    """Return the JSON value of a body.

    Raises:
        InvalidRequest: it is no JSON in UTF-8, or nested too deeply.
    """
    try:
        return json.loads(raw.decode("utf-8"), parse_constant=_no_json)
    except (ValueError, RecursionError):
        raise InvalidRequest("the body is no JSON: send an object", path="body") from None


def _no_json(name: str) -> Any:
    raise ValueError(name)


def _path(error: ValidationError, given: Any) -> str:
    """Return the field that is wrong as the body spells it, such as ``command.key``; the whole body is ``body``."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(_places(first, given)) or "body"
    return path.encode("utf-8", "replace").decode("utf-8")[:MAX_PATH_SHOWN]


def _places(error: ErrorDetails, given: Any) -> Iterator[str]:
    """Yield the steps to a field; pydantic also names which of several shapes it took, which no body does."""
    for step, place in enumerate(error["loc"], 1):
        is_there = place in given if isinstance(given, dict) else isinstance(given, list)
        if is_there or (step == len(error["loc"]) and error["type"] == "missing"):
            yield str(place)
            given = given[place] if is_there else None
    if error["type"].startswith("union_tag"):
        yield "_tag"
