"""The reference of all REST routes, in one OpenAPI document (SM-30).

Each surface describes its own paths and shapes; this puts them together with what all of them share.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final

from pydantic import BaseModel, Field
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from api.rest.kit import answer

PATH: Final = "/openapi.json"
_REF: Final = "#/components/schemas/{model}"
_JSON: Final = "application/json"
_STATES: Final = {
    200: "done",
    201: "made",
    202: "begun: it goes on without the request",
    204: "done",
    304: "the version that If-None-Match names is current",
    400: "InvalidRequest: the body or an argument does not fit; `path` names the field",
    401: "Unauthorized: no valid credential",
    403: "Forbidden: a right is missing",
    404: "missing, or hidden from the caller",
    405: "MethodNotAllowed (under /api/v1: method_not_allowed): see `Allow`",
    409: "the present state does not allow it; `reason` says why",
    412: "precondition_failed: no tag of If-Match is the current one",
    413: "PayloadTooLarge: over 65536 bytes; under /api/v1: over the limit that the details name",
    415: "UnsupportedMediaType: send application/json",
    422: "disabled: what it names is switched off",
    428: "precondition_required: send If-Match",
    429: "TooManyRequests: too many failed sign-ins; try again after `Retry-After` seconds",
    502: "ModelFailed: the model failed and nothing changed",
    503: "Unavailable: try again after `Retry-After` seconds; without it, look whether it was done",
}
_ETAG: Final = {"description": "of this version, for If-Match and If-None-Match", "schema": {"type": "string"}}
ALWAYS: Final = (401, 404, 405, 429, 503)
"""States that every route may answer with."""
WITH_BODY: Final = (400, 403, 409, 413, 415)
"""Further ones of a route that takes a body."""


class Error(BaseModel):
    """What an error answers with."""

    tag: str = Field(alias="_tag", description="its name")
    message: str = Field(description="what to do; never content")
    reason: str | None = Field(default=None, description="of a conflict")
    path: str | None = Field(default=None, description="of a request that does not fit: the field")


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """One method of a path.

    Attributes:
        gives: shape of the answer; None: it has no body.
        takes: shape of the body, if it has one.
        optional: whether the body may be left out.
        done: state of success.
        failure: shape of what an error answers with.
        also: shapes of further states of success, where they differ from `gives`.
        errors: the other states, also of success; 304 and 428 bring the header with them that they answer.
        query: parameters of the query string, with their schemas; ``required`` beside them if they must be there.
        tag: whether `If-Match` must be there where 428 is among the errors.
        etag: whether success, and 304, bring the tag of a version.
        media: what the answer is if it is no JSON.
        signed_in: whether it takes a credential.
    """

    summary: str
    gives: type[BaseModel] | None
    takes: type[BaseModel] | None = None
    optional: bool = False
    done: int = 200
    failure: type[BaseModel] = Error
    also: Mapping[int, type[BaseModel] | None] = field(default_factory=dict)
    errors: Sequence[int] = ALWAYS
    query: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    tag: bool = True
    etag: bool = False
    media: str = _JSON
    signed_in: bool = True


Reference = Mapping[str, Mapping[str, Operation]]
"""What a surface says of its routes: ``{path: {method: operation}}``."""


def document(references: Iterable[Reference]) -> dict[str, Any]:
    """Return the OpenAPI document of these surfaces."""
    paths = {path: operations for reference in references for path, operations in reference.items()}
    refs, schemas = _schemas(operation for operations in paths.values() for operation in operations.values())
    return {
        "openapi": "3.1.0",
        "info": {"title": "Rootward", "version": version("rootward-server")},
        "security": [{"bearer": []}],
        "paths": {path: _path_item(path, operations, refs) for path, operations in paths.items()},
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}, "schemas": schemas},
    }


def openapi_route(references: Sequence[Reference]) -> Route:
    """Return the route of the document; it holds no data, so nobody signs in for it."""
    made: dict[str, Any] = {}

    async def serve(_: Request) -> Response:
        if not made:
            made.update(document(references))
        return answer(made)

    return Route(PATH, serve, methods=["GET"])


_Refs = Mapping[type[BaseModel], Mapping[str, Any]]
"""How to refer to a shape; two surfaces may have shapes of one name."""


def _schemas(operations: Iterable[Operation]) -> tuple[_Refs, dict[str, Any]]:
    found: set[type[BaseModel]] = {Error}
    for operation in operations:
        named = (operation.gives, operation.takes, operation.failure, *operation.also.values())
        found |= {shape for shape in named if shape is not None}
    shapes = sorted(found, key=lambda shape: (shape.__name__, shape.__module__))
    refs, schemas = models_json_schema([(shape, "validation") for shape in shapes], ref_template=_REF)
    return {shape: refs[shape, "validation"] for shape in shapes}, dict(schemas["$defs"])


def _path_item(path: str, operations: Mapping[str, Operation], refs: _Refs) -> dict[str, Any]:
    ids = re.findall(r"\{(\w+)\}", path)
    named = [{"name": id_, "in": "path", "required": True, "schema": {"type": "string"}} for id_ in ids]
    return {"parameters": named, **{method.lower(): _operation(one, refs) for method, one in operations.items()}}


def _operation(operation: Operation, refs: _Refs) -> dict[str, Any]:
    states = sorted({*operation.errors, *operation.also})
    answers = {
        operation.done: _content(operation.gives, operation.media, refs),
        **{state: _content(_shape(operation, state), _JSON, refs) for state in states},
    }
    made: dict[str, Any] = {
        "summary": operation.summary,
        "responses": {str(state): _answer(operation, state, content) for state, content in answers.items()},
    }
    if operation.takes is not None:
        made["requestBody"] = {"required": not operation.optional, "content": _content(operation.takes, _JSON, refs)}
    parameters = [*_headers(operation), *(_in("query", name, schema) for name, schema in operation.query.items())]
    if parameters:
        made["parameters"] = parameters
    if not operation.signed_in:
        made["security"] = []
    return made


def _answer(operation: Operation, state: int, content: Mapping[str, Any]) -> dict[str, Any]:
    said: dict[str, Any] = {"description": _STATES[state]}
    if operation.etag and state < 400:
        said["headers"] = {"ETag": _ETAG}
    return {**said, "content": content} if content else said


def _shape(operation: Operation, state: int) -> type[BaseModel] | None:
    if state >= 400:
        return operation.failure
    return operation.also.get(state, operation.gives) if state < 300 else None


def _headers(operation: Operation) -> Sequence[dict[str, Any]]:
    found = []
    if 304 in operation.errors:
        found.append(_in("header", "If-None-Match", {"type": "string", "description": "tag of the version you have"}))
    if 428 in operation.errors:
        schema = {"type": "string", "description": "tag of the version you read", "required": operation.tag}
        found.append(_in("header", "If-Match", schema))
    return found


def _in(place: str, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    rest = {member: value for member, value in schema.items() if member != "required"}
    return {"name": name, "in": place, "required": bool(schema.get("required", False)), "schema": rest}


def _content(shape: type[BaseModel] | None, media: str, refs: _Refs) -> dict[str, Any]:
    if media != _JSON:
        return {media: {"schema": {"type": "string"}}}
    return {_JSON: {"schema": dict(refs[shape])}} if shape else {}
