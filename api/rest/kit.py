"""What every REST route has in common: who asks, the order of checks, bodies, errors by their `_tag`.

The order is 401, 404, 403, 413 and 415, 400, 409 (SM-67, BM-182): the kit signs in; a handler finds its object and
right, and asks for the body (`Call.body`) only then. Answers are never stored by caches and hold no secret.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from api.auth import Authenticator
from api.bodies import advice_of, parsed, path_of
from api.errors import MASKED, headers_of, row_of
from api.incoming import BROKEN_OFF, TooLarge, address_of, body_of, request_id_of
from api.observability import note_fault
from api.rest.routing import SurfaceRoute
from dreaming.jobs import ModelMaker
from dreaming.sandbox.rules import SandboxRules
from graph.model.errors import (
    BadInput,
    Forbidden,
    InvalidRequest,
    MissingObject,
    NotFound,
    OperationRejected,
    RootwardError,
    StoreError,
    TooManyAttempts,
    Unauthenticated,
)
from graph.services.access.caller import Caller
from graph.services.deps import Deps

MAX_BODY_BYTES: Final = 65_536

B = TypeVar("B", bound=BaseModel)
C = TypeVar("C")


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
        sandbox: what is set for sandbox memory.
    """

    deps: Deps
    auth: Authenticator
    models: ModelMaker
    sandbox: SandboxRules = field(default_factory=SandboxRules)


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
        try:
            given = parsed(await body_of(self.request, MAX_BODY_BYTES))
        except TooLarge:
            told = f"send at most {MAX_BODY_BYTES} bytes"
            raise Refused(413, "PayloadTooLarge", told, {"Connection": "close"}) from None
        try:
            return shape.model_validate(given, strict=True)
        except ValidationError as error:
            raise InvalidRequest(advice_of(error), path=path_of(error, given)) from None


Handler = Callable[[Call], Awaitable[Any]]
"""Answers a call with a JSON value, or with a `Response` of its own."""


def routes(kit: Kit, table: Mapping[str, Mapping[str, Handler]]) -> Sequence[BaseRoute]:
    """Return the routes of a table ``{path: {method: handler}}``; other methods answer 405 with `Allow`."""
    return [SurfaceRoute(path, endpoint(kit, handlers, Call, failed), handlers) for path, handlers in table.items()]


def answer(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Return a JSON answer that no cache keeps (SM-27)."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    given = {"Cache-Control": "no-store", **(headers or {})}
    return Response(text.encode("utf-8"), status, given, media_type="application/json; charset=utf-8")


def failed(error: RootwardError | Refused, request_id: str) -> Response:
    """Return the answer to an error: its `_tag`, message, and reason or path (SM-55, BM-174)."""
    del request_id  # it stands in a header
    if isinstance(error, Refused):
        return answer({"_tag": error.tag, "message": error.message}, error.status, error.headers)
    body = {"_tag": _tag(error), "message": error.message}
    body |= {name: error.details[name] for name in ("reason", "path") if error.details.get(name) is not None}
    return answer(body, row_of(error).http, headers_of(error))


def endpoint(
    kit: Kit,
    handlers: Mapping[str, Callable[[C], Awaitable[Any]]],
    call: Callable[..., C],
    told: Callable[[RootwardError | Refused, str], Response],
) -> ASGIApp:
    """Return what answers one path: it signs in, finds the handler of the method, and tells of every failure.

    Args:
        kit: what handlers work with.
        handlers: by method; they give a JSON value, or a `Response` of their own.
        call: makes of kit, caller and request what handlers take.
        told: answers an error, given the id of the request.
    """

    async def served(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            response = await _answered(kit, handlers, call, request)
        except (RootwardError, Refused) as error:
            response = told(error, request_id_of(request))
        await response(scope, receive, send)

    return served


async def _answered(
    kit: Kit, handlers: Mapping[str, Callable[[C], Awaitable[Any]]], call: Callable[..., C], request: Request
) -> Response:
    try:
        caller = await kit.auth.caller(request.headers.get("authorization"), address_of(request))
        handler = handlers.get("GET" if request.method == "HEAD" else request.method)
        if handler is None:
            allowed = ", ".join(sorted(handlers))
            raise Refused(405, "MethodNotAllowed", f"this path takes {allowed}", {"Allow": allowed})
        made = await handler(call(kit=kit, caller=caller, request=request))
        return made if isinstance(made, Response) else answer(made)
    except (RootwardError, Refused):
        raise
    except ClientDisconnect:
        raise Refused(400, "InvalidRequest", BROKEN_OFF) from None
    except Exception as error:  # noqa: BLE001 - the edge of the process: a request
        note_fault(error, kit.deps.figures)
        raise Refused(500, "Internal", MASKED) from None


_TAGS: Final[Mapping[type[RootwardError], str]] = {
    Unauthenticated: "Unauthorized",
    TooManyAttempts: "TooManyRequests",
    Forbidden: "Forbidden",
    StoreError: "Unavailable",
    BadInput: "InvalidRequest",
    NotFound: "NotFound",
}


def _tag(error: RootwardError) -> str:
    """Return the surface's own name of an error; the nearest class in the tree decides."""
    if isinstance(error, MissingObject | OperationRejected):
        return error.wire_code
    return next((_TAGS[kind] for kind in type(error).__mro__ if kind in _TAGS), error.wire_code)
