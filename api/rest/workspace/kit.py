"""What the routes under /api/v1 have in common: envelope, codes, tags of versions, pages (FM-1 to FM-18).

A handler keeps the order of FM-17: the kit signs in; then object, verb, kind, `if_match`, `body`, existence, comparison
of tags, and what the content may be.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import unquote_to_bytes

from pydantic import BaseModel, ValidationError
from starlette.responses import Response
from starlette.routing import BaseRoute

from api.bodies import parsed, path_of
from api.cursors import after_of, cursor_of
from api.errors import RETRY_AFTER_S, WORKSPACE_STATES, headers_of, row_of, workspace_code
from api.incoming import TooLarge, body_of
from api.rest import kit as surfaces
from api.rest.kit import Call, Kit, Refused, endpoint
from api.rest.routing import SurfaceRoute
from graph.model.errors import (
    InvalidRequest,
    RootwardError,
    TooManyAttempts,
    WorkspaceRefused,
)
from graph.rules.memory_refusals import invalid as invalid
from graph.rules.memory_refusals import missing as missing
from graph.rules.memory_refusals import stale as stale
from graph.rules.memory_refusals import untagged
from graph.store.query import After

PREFIX: Final = "/api/v1"
MAX_BODY_BYTES: Final = 8 * 1_048_576 + 65_536
DEFAULT_LIMIT: Final = 50
MAX_LIMIT: Final = 100
_QUICK_BYTES: Final = 262_144

B = TypeVar("B", bound=BaseModel)


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """Which part of a collection is asked for; `after` is what `cursor` gave, None for the first page."""

    limit: int
    after: After | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WCall(Call):
    """One request of a caller who was signed in."""

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

    def knows(self, tag: str) -> bool:
        """Return whether the client has this version already; a weak tag counts here (RFC 9110, 13.1.2)."""
        given = ",".join(self.request.headers.getlist("if-none-match"))
        return tag in {one.strip().removeprefix("W/") for one in given.split(",")}

    async def body(
        self, shape: type[B], *, most: int = MAX_BODY_BYTES, limit: int | None = None, optional: bool = False
    ) -> B:
        """Return the body in a shape.

        Args:
            shape: that it must have.
            most: so many bytes are read.
            limit: what a refusal names, if it is another number.
            optional: no body at all is one without fields.

        Raises:
            WorkspaceRefused: ``invalid_argument`` at the field, ``payload_too_large``.
        """
        try:
            raw = await body_of(self.request, most)
        except TooLarge:
            raise WorkspaceRefused("payload_too_large", "the body is too large", limit=limit or most) from None
        if optional and not raw:
            raw = b"{}"
        if len(raw) <= _QUICK_BYTES:
            return _shaped(raw, shape)
        return await asyncio.to_thread(_shaped, raw, shape)  # it takes long enough for others to notice

    def page(self, *bound: object) -> Asked:
        """Return which part of a collection is asked for (FM-8, FM-9).

        Args:
            bound: the collection and all filters; a cursor is good for these alone.

        Raises:
            WorkspaceRefused: ``invalid_argument`` at `limit`, ``invalid_cursor``.
        """
        limit, cursor = self.limit(), self.query("cursor")
        return Asked(limit=limit, after=None if cursor is None else _place(cursor, bound))

    def limit(self) -> int:
        """Return how much of a collection is asked for (FM-8).

        Raises:
            WorkspaceRefused: ``invalid_argument`` at `limit`.
        """
        text = self.query("limit")
        limit = DEFAULT_LIMIT if text is None else number(text)
        if not 1 <= limit <= MAX_LIMIT:
            raise invalid("limit", f"takes 1 to {MAX_LIMIT}")
        return limit


def _shaped(raw: bytes, shape: type[B]) -> B:
    given: Any = None
    try:
        given = parsed(raw)
        return shape.model_validate(given, strict=True)
    except ValidationError as error:
        raise invalid(path_of(error, given), "does not fit") from None
    except InvalidRequest as error:
        raise invalid(str(error.details["path"]), "is no JSON in UTF-8") from None


WHandler = Callable[[WCall], Awaitable[Response]]


def routes(kit: Kit, table: Mapping[str, Mapping[str, WHandler]]) -> Sequence[BaseRoute]:
    """Return the routes of a table ``{path: {method: handler}}``, under `PREFIX`."""
    return [
        SurfaceRoute(f"{PREFIX}{path}", endpoint(kit, handlers, WCall, failed), handlers)
        for path, handlers in table.items()
    ]


def etag(id_: str, version: int) -> str:
    """Return the strong tag of one version of a resource (FM-12)."""
    return f'"{id_}:{version}"'


def matches(tags: Sequence[str], current: str) -> bool:
    """Return whether one of the tags of `If-Match` is the current one; weak tags and `*` never are (FM-15)."""
    return current in tags


def answer(body: Any, status: int = 200, *, tag: str | None = None) -> Response:
    """Return a JSON answer that no cache keeps, with its ETag if it has one."""
    headers = {} if tag is None else {"ETag": tag}
    if body is None:
        return Response(b"", 204, {"Cache-Control": "no-store", **headers})
    return surfaces.answer(body, status, headers)


def collection(items: Sequence[Any], next_place: Any, *bound: object, tag: str | None = None) -> Response:
    """Return a page of a collection; `next_place` is what the next page goes on after, None at the end (FM-8)."""
    cursor = None if next_place is None else cursor_of(_fingerprint(bound), next_place)
    return answer({"items": list(items), "next_cursor": cursor}, tag=tag)


def number(text: str, digits: int = 3) -> int:
    """Return a number that a client wrote in decimal digits; 0 for what is none, or has more digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= digits else 0


def _fingerprint(bound: Sequence[object]) -> bytes:
    return hashlib.sha256(repr(tuple(bound)).encode("utf-8", "surrogatepass")).digest()


def _place(cursor: str, bound: Sequence[object]) -> After:
    try:
        return after_of(_fingerprint(bound), cursor)
    except ValueError:
        raise WorkspaceRefused("invalid_cursor", "take the cursor of this very collection") from None


_REFUSALS: Final = {405: "method_not_allowed", 500: "internal"}
"""The code of a refusal that is no error of the core, where it is not ``invalid_argument``, which names a field."""


def failed(error: RootwardError | Refused, request_id: str) -> Response:
    """Return the answer to an error (FM-5 to FM-7)."""
    if isinstance(error, Refused):
        made = _envelope(_REFUSALS.get(error.status, "invalid_argument"), error.message, {}, request_id, error.status)
        made.headers.update(error.headers)
        return made
    if isinstance(error, WorkspaceRefused):
        status = WORKSPACE_STATES[error.refusal]
        made = _envelope(error.refusal, error.message, dict(error.details), request_id, status)
        if status == 503:
            made.headers["Retry-After"] = str(RETRY_AFTER_S)
        return made
    code = workspace_code(error)
    details = {"dependency": "store"} if code == "unavailable" else {}
    status = 429 if isinstance(error, TooManyAttempts) else WORKSPACE_STATES.get(code, row_of(error).http)
    made = _envelope(code, error.message, details, request_id, status)
    made.headers.update(headers_of(error))
    return made


def _envelope(code: str, message: str, details: Mapping[str, Any], request_id: str, status: int) -> Response:
    error = {"code": code, "message": message, "details": dict(details), "request_id": request_id}
    made = answer({"error": error}, status)
    if status == 401:
        made.headers["WWW-Authenticate"] = "Bearer"
    return made
