"""The routes of the console: its files, what it must know before anybody is signed in, and the way there from ``/``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from api.console.files import INDEX, NEVER_KEPT, BuiltFiles
from api.console.policy import headers, origin_of
from api.settings import ConsoleSettings, OidcSettings, Settings

BASE: Final = "/console"
SIGNED_IN: Final = f"{BASE}/signed-in"
"""Where the issuer sends the browser back to."""
BUILT: Final = Path(__file__).with_name("dist")
"""The build that came with the server."""

Answer = Callable[[Request], Awaitable[Response]]


def console_routes(settings: Settings, *, max_upload: int) -> list[BaseRoute]:
    """Return the routes of the console; none if it is switched off.

    Args:
        settings: `console`, `oidc` and `graphql.graphiql` count.
        max_upload: bytes of the largest file that can be uploaded.
    """
    given = settings.console
    if not given.enabled:
        return []
    files = BuiltFiles(folder=folder_of(given), connect=connect_origins(settings.oidc))
    return [
        Route("/", _to_console, methods=["GET"]),
        Route(BASE, _with_slash, methods=["GET"]),
        Route(f"{BASE}/config.json", _config(public_config(settings, max_upload)), methods=["GET"]),
        Route(f"{BASE}/{{path:path}}", files.__call__, methods=["GET"]),
    ]


def folder_of(given: ConsoleSettings) -> Path:
    """Return the folder of the build that is served."""
    return Path(given.folder) if given.folder else BUILT


def is_there(settings: Settings) -> bool:
    """True if the console is built and served."""
    return settings.console.enabled and (folder_of(settings.console) / INDEX).is_file()


def public_config(settings: Settings, max_upload: int) -> dict[str, Any]:
    """Return what the console must know before anybody is signed in; anybody may read it."""
    return {
        "version": version("rootward-server"),
        "graphiql": settings.graphql.graphiql,
        "maxUploadBytes": max_upload,
        "oidc": _sign_in(settings.oidc) if signs_in(settings.oidc) else None,
    }


def signs_in(oidc: OidcSettings) -> bool:
    """True if people can sign in at the issuer from the console."""
    return bool(oidc.issuer and oidc.client_id)


def connect_origins(oidc: OidcSettings) -> tuple[str, ...]:
    """Return the origins that the browser asks while somebody signs in at the issuer."""
    if not signs_in(oidc):
        return ()
    return tuple(dict.fromkeys(origin_of(address) for address in (oidc.issuer, *oidc.more_origins)))


def _sign_in(oidc: OidcSettings) -> dict[str, Any]:
    return {
        "issuer": oidc.issuer,
        "clientId": oidc.client_id,
        "scopes": oidc.scopes,
        "bearer": oidc.bearer,
        "redirectPath": SIGNED_IN,
    }


def _config(config: dict[str, Any]) -> Answer:
    async def answer(_: Request) -> Response:
        return JSONResponse(config, headers={**headers(), "Cache-Control": NEVER_KEPT})

    return answer


async def _with_slash(_: Request) -> Response:
    return RedirectResponse(f"{BASE}/", 308, headers=headers())


async def _to_console(request: Request) -> Response:
    """Lead people to the console; programs are told that there is nothing here."""
    if "text/html" in request.headers.get("accept", ""):
        return RedirectResponse(f"{BASE}/", 307, headers={**headers(), "Vary": "Accept"})
    return PlainTextResponse("Not Found", 404, headers={"Vary": "Accept"})
