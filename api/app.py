"""The ASGI application: GraphQL, blobs, the console, health and figures. It knows ports and services, no adapter."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.auth import Authenticator
from api.console.routes import console_routes
from api.downloads import BlobEndpoint
from api.graphql.execution import Executor
from api.graphql.http import BodyLimits, GraphQLEndpoint, failure
from api.graphql.schema import build_schema
from api.graphql.websocket import SubscriptionEndpoint
from api.limits import Limits
from api.mcp.place import Kit as McpKit
from api.mcp.routes import mcp_routes
from api.observability import PrometheusFigures, log_fault
from api.patience import Patience
from api.rest.kit import Kit
from api.rest.routes import surface_routes
from api.settings import Settings
from api.tidying import Tidy
from api.unmatched import unmatched
from dreaming.jobs import ModelMaker, no_models
from dreaming.sandbox.rules import SandboxRules
from graph.model.errors import RootwardError
from graph.model.ids import IdSource
from graph.services.deps import Deps

MAX_UPLOAD = 52_428_800
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
"""All of them, so that the GraphQL endpoint itself refuses what it does not take."""
TOLD_TO_PAGES = ("ETag", "Retry-After", "WWW-Authenticate", "Content-Disposition", "Rootward-Request-Id")
"""Headers of answers that a page of another origin can read, beside those that every page can."""

Check = Callable[[], Awaitable[str]]
"""Tells why a part is not ready; empty if it is."""


@dataclass(kw_only=True, slots=True)
class Parts:
    """What the application is made of.

    Attributes:
        checks: parts that must be ready before requests are taken, by name.
        lifespan: opens and closes what the process holds.
        models: makes models out of profiles, for what a request asks of a model itself.
        sandbox: what is set for sandbox memory.
        more_routes: of other transports.
        ending: set when the server is told to end.
    """

    settings: Settings
    deps: Deps
    figures: PrometheusFigures
    auth: Authenticator
    checks: Mapping[str, Check] = field(default_factory=dict)
    lifespan: Callable[[], AbstractAsyncContextManager[None]] | None = None
    models: ModelMaker = no_models
    sandbox: SandboxRules = field(default_factory=SandboxRules)
    more_routes: Sequence[BaseRoute] = ()
    ending: asyncio.Event = field(default_factory=asyncio.Event)


def create_app(parts: Parts) -> Starlette:
    """Return the application."""
    graphql = parts.settings.graphql
    executor = make_executor(parts)
    post = GraphQLEndpoint(
        executor=executor,
        auth=parts.auth,
        limits=BodyLimits(body=graphql.max_body_bytes, variables=graphql.max_variables_bytes, upload=MAX_UPLOAD),
    )
    sockets = SubscriptionEndpoint(
        executor,
        parts.auth,
        allowed_origins=parts.settings.server.allowed_origins,
        most=graphql.max_subscriptions,
    )
    routes: list[BaseRoute] = [
        Route("/graphql", post.__call__, methods=list(METHODS)),
        WebSocketRoute("/graphql", sockets),
        Route("/blobs/{id}", BlobEndpoint(deps=parts.deps, auth=parts.auth).__call__, methods=["GET"]),
        Route("/health/live", _live, methods=["GET"]),
        Route("/health/ready", _ready(parts.checks), methods=["GET"]),
        Route("/metrics", _metrics(parts.figures), methods=["GET"]),
        *surface_routes(Kit(deps=parts.deps, auth=parts.auth, models=parts.models, sandbox=parts.sandbox)),
        *mcp_routes(_mcp_kit(parts)),
        *console_routes(parts.settings, max_upload=MAX_UPLOAD),
        *parts.more_routes,
    ]
    return Starlette(
        routes=routes,
        lifespan=_lifespan(parts),
        middleware=[
            Middleware(Patience, ending=parts.ending),
            Middleware(RequestLog, figures=parts.figures, ids=parts.deps.ids),
            Middleware(Tidy),
            *_for_pages_of(parts.settings.server.allowed_origins),
        ],
        exception_handlers={HTTPException: unmatched, RootwardError: _own_failure, Exception: _masked},
    )


def make_executor(parts: Parts) -> Executor:
    """Return the executor of the GraphQL schema under the limits of the settings."""
    limits = parts.settings.graphql
    return Executor(
        schema=build_schema(),
        deps=parts.deps,
        models=parts.models,
        sandbox=parts.sandbox,
        introspection=limits.introspection,
        limits=Limits(
            depth=limits.max_depth,
            nodes=limits.max_nodes,
            tokens=limits.max_tokens,
            aliases=limits.max_aliases,
            directives=limits.max_directives,
        ),
    )


def _mcp_kit(parts: Parts) -> McpKit:
    server = parts.settings.server
    return McpKit(
        deps=parts.deps,
        auth=parts.auth,
        models=parts.models,
        host=server.host,
        allowed_origins=server.allowed_origins,
    )


def _for_pages_of(origins: Sequence[str]) -> Sequence[Middleware]:
    """Return what lets browsers hand requests of pages of these origins on; without any, nothing lets them."""
    if not origins:
        return ()
    methods = [method for method in METHODS if method != "OPTIONS"]
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=methods,
            allow_headers=["*"],
            expose_headers=TOLD_TO_PAGES,
        )
    ]


class RequestLog:
    """One log line and two figures a request, with an id that the answer carries too. No content (AD-42)."""

    def __init__(self, app: ASGIApp, figures: PrometheusFigures, ids: IdSource) -> None:
        self._app = app
        self._figures = figures
        self._ids = ids

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id, started, status = self._ids.new(), time.perf_counter(), 500
        scope.setdefault("state", {})["request_id"] = request_id

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message.setdefault("headers", []).append((b"rootward-request-id", request_id.encode()))
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, observed)
            finally:
                self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "unknown")
        self._figures.count("requests", route=route, status=str(status))
        self._figures.observe("request_seconds", seconds, route=route)
        structlog.get_logger().info(
            "request", method=_method(scope), route=route, status=status, seconds=round(seconds, 4)
        )


def _method(scope: Scope) -> str:
    method = scope.get("method", "")
    return method if method in METHODS else "other"


def _lifespan(parts: Parts) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def run(_: Any) -> AsyncIterator[None]:
        if parts.lifespan is None:
            yield
            return
        async with parts.lifespan():
            yield

    return run


async def _live(_: Request) -> Response:
    return JSONResponse({"live": True})


def _ready(checks: Mapping[str, Check]) -> Callable[[Request], Awaitable[Response]]:
    async def ready(_: Request) -> Response:
        reasons = {name: await check() for name, check in checks.items()}
        parts = {name: {"ready": not reason, "reason": reason} for name, reason in reasons.items()}
        well = not any(reasons.values())
        return JSONResponse({"ready": well, "parts": parts}, status_code=200 if well else 503)

    return ready


def _metrics(figures: PrometheusFigures) -> Callable[[Request], Awaitable[Response]]:
    async def metrics(_: Request) -> Response:
        return PlainTextResponse(figures.render(), media_type="text/plain; version=0.0.4")

    return metrics


async def _own_failure(_: Request, error: Exception) -> Response:
    assert isinstance(error, RootwardError)
    return failure(error)


async def _masked(_: Request, error: Exception) -> Response:
    log_fault(error)
    return failure(RootwardError("an unexpected fault; look it up in the log by the request id"))
