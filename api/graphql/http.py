"""The GraphQL endpoint over HTTP: one operation a POST of JSON, or one upload with a header no form can send.

Refused before anything is looked at: other methods, other content types, lists of operations, bodies over the limit.
Source: E1, E5, case 13.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

from starlette.datastructures import FormData, UploadFile
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from api.errors import headers_of, row_of
from api.graphql.execution import Executor, GraphQLRequest
from api.graphql.forms import form_of
from api.graphql.media import GRAPHQL, answer_headers, media_of, status_of
from api.graphql.media import JSON as JSON_TYPE
from api.incoming import BROKEN_OFF, CONVERSATION_HEADER, TooLarge, address_of, body_of, declared_length
from graph.model.errors import BadInput, RootwardError
from graph.services.access.caller import Caller

UPLOAD_HEADER = "rootward-upload"
NO_STORE: Mapping[str, str] = MappingProxyType({"Cache-Control": "no-store"})
"""Whatever is answered is for who asked, now: no cache keeps it (SM-27, BM-188)."""
FORM_TYPE = "multipart/form-data"
FORM_OVERHEAD = 65_536


class Authenticates(Protocol):
    """Tells who sent a credential."""

    async def caller(self, authorization: str | None, address: str) -> Caller:
        """Return the caller, or raise `Unauthenticated`."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class BodyLimits:
    """How much a client may send: JSON bodies, variables in it, uploaded files."""

    body: int
    variables: int
    upload: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphQLEndpoint:
    """Answers POST /graphql."""

    executor: Executor
    auth: Authenticates
    limits: BodyLimits

    async def __call__(self, request: Request) -> Response:
        """Return the answer to one operation, in the form that the client accepts."""
        if request.method != "POST":
            return refusal(405, "METHOD_NOT_ALLOWED", "send a POST of JSON", {"Allow": "POST"})
        media = media_of(request.headers.get("accept"))
        if media is None:
            return refusal(406, "BAD_INPUT", f"accept {GRAPHQL} or {JSON_TYPE}")
        response = await self._answer(request, media)
        response.headers["Content-Type"] = f"{media}; charset=utf-8" if media == GRAPHQL else media
        return response

    async def _answer(self, request: Request, media: str) -> Response:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in (JSON_TYPE, FORM_TYPE) or (kind == FORM_TYPE and request.headers.get(UPLOAD_HEADER) != "1"):
            return refusal(415, "BAD_INPUT", "send application/json, or an upload with the header Rootward-Upload: 1")
        try:
            caller = await self.auth.caller(request.headers.get("authorization"), address_of(request))
            parsed = await (self._json(request) if kind == JSON_TYPE else self._upload(request))
        except TooLarge:
            return refusal(413, "LIMIT_EXCEEDED", "the body is too large", {"Connection": "close"})
        except ClientDisconnect:
            return refusal(400, "BAD_INPUT", BROKEN_OFF, {})
        except RootwardError as error:
            return failure(error)
        body = await self.executor.answer(parsed, caller)
        status = status_of(body, media)
        return JSONResponse(body, status_code=status, headers={**NO_STORE, **answer_headers(body, status)})

    async def _json(self, request: Request) -> GraphQLRequest:
        raw = await body_of(request, self.limits.body)
        try:
            body = json.loads(raw.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise BadInput("the body is no JSON in UTF-8", field="body") from error
        return self._request(body, request.headers.get(CONVERSATION_HEADER))

    async def _upload(self, request: Request) -> GraphQLRequest:
        """Read the GraphQL multipart request form: `operations`, `map`, then one file."""
        declared = declared_length(request.headers)
        if declared is None or declared > self.limits.upload + FORM_OVERHEAD:
            raise TooLarge
        try:
            form = await form_of(request, most_text=FORM_OVERHEAD)
            body = json.loads(_text(form, "operations"))
            _fill(body, json.loads(_text(form, "map")), form)
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise BadInput(
                "send operations, map and one file as GraphQL multipart requests do, in UTF-8", field="body"
            ) from error
        return self._request(body, request.headers.get(CONVERSATION_HEADER))

    def _request(self, body: Any, conversation: str | None) -> GraphQLRequest:
        if isinstance(body, list):
            raise BadInput("send one operation a request: lists of operations are not taken", field="body")
        if not isinstance(body, dict) or not isinstance(body.get("query"), str):
            raise BadInput("send an object with a query", field="query")
        variables, name = body.get("variables"), body.get("operationName")
        variables = {} if variables is None else variables
        if not isinstance(variables, dict) or not isinstance(name, str | None):
            raise BadInput("variables are an object, operationName is a text", field="variables")
        if _size(variables) > self.limits.variables:
            raise TooLarge
        return GraphQLRequest(query=body["query"], variables=variables, operation_name=name, conversation=conversation)


def failure(error: RootwardError) -> Response:
    """Return the answer to a request that was refused as a whole."""
    return refusal(row_of(error).http, error.wire_code, error.message, headers_of(error))


def refusal(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return a refusal in the form of GraphQL errors."""
    body = {"errors": [{"message": message, "extensions": {"code": code, "status": status}}]}
    return JSONResponse(body, status_code=status, headers={**NO_STORE, **(headers or {})})


def _size(variables: Mapping[str, Any]) -> int:
    """Return roughly how many bytes the variables took: uploaded files count nothing.

    Raises:
        BadInput: they are nested so deeply that they could be read and not written; `check_json` refuses less already.
    """
    try:
        return len(json.dumps(variables, ensure_ascii=False, default=lambda _: None).encode("utf-8", "surrogatepass"))
    except RecursionError:
        raise BadInput("the variables are nested too deeply", field="variables") from None


def _text(form: FormData, name: str) -> str:
    value = form[name]
    if not isinstance(value, str):
        raise ValueError(name)
    return value


def _fill(body: Any, places: Any, form: FormData) -> None:
    """Put the uploaded file where the map says: one place, inside the variables."""
    if not isinstance(places, dict) or not isinstance(body, dict):
        raise TypeError("map and operations are objects")
    ((key, paths),) = places.items()
    (path,) = paths
    file = form[key]
    if not isinstance(file, UploadFile) or not isinstance(path, str):
        raise ValueError(key)
    parts = path.split(".")
    if parts[0] != "variables" or len(parts) < 2:
        raise ValueError(path)
    target: Any = body
    for part in parts[:-1]:
        target = target[int(part)] if isinstance(target, list) else target[part]
    if target[parts[-1]] is not None:
        raise ValueError(path)
    target[parts[-1]] = file
