"""Answers to requests that no route takes: each family of addresses tells of them in its own form of errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from api.errors import INVALID_PARAMS, MISSING
from api.graphql.http import refusal as graphql_refusal
from api.incoming import request_id_of
from api.mcp.door import refusal as mcp_refusal
from api.rest.kit import Refused
from api.rest.kit import failed as surface_failed
from api.rest.workspace.kit import failed as workspace_failed
from api.rest.workspace.kit import missing

Told = Callable[[Refused, Request], Response]
"""Answers a refusal of a request."""


async def unmatched(request: Request, error: Exception) -> Response:
    """Answer a request for an address that there is not (404), or by a method that it does not take (405)."""
    assert isinstance(error, HTTPException)
    headers = dict(error.headers or {})
    if error.status_code == 405:
        refused = Refused(405, "MethodNotAllowed", f"this address takes {headers.get('Allow', 'no method')}", headers)
    else:
        refused = Refused(error.status_code, "NotFound", "there is nothing at this address", headers)
    return _form_of(request.url.path)(refused, request)


def _form_of(path: str) -> Told:
    return next((told for prefix, told in _FORMS.items() if f"{path}/".startswith(prefix)), _as_graphql)


def _as_surface(refused: Refused, request: Request) -> Response:
    return surface_failed(refused, request_id_of(request))


def _as_workspace(_: Refused, request: Request) -> Response:
    """Its routes take every method themselves, so what comes here is no route (FM-7)."""
    return workspace_failed(missing("route", request.url.path), request_id_of(request))


def _as_graphql(refused: Refused, _: Request) -> Response:
    code = "METHOD_NOT_ALLOWED" if refused.status == 405 else "NOT_FOUND"
    return graphql_refusal(refused.status, code, refused.message, refused.headers)


def _as_mcp(refused: Refused, _: Request) -> Response:
    code, name = (INVALID_PARAMS, "METHOD_NOT_ALLOWED") if refused.status == 405 else (MISSING, "NOT_FOUND")
    return mcp_refusal(refused.status, code, refused.message, name, refused.headers)


_FORMS: Final[Mapping[str, Told]] = {
    "/v1/": _as_surface,
    "/api/v1/": _as_workspace,
    "/mcp/": _as_mcp,
}
"""By the start of the address; any other answers as GraphQL does, downloads included."""
