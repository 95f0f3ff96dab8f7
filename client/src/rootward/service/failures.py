"""What the service refuses, as one tree.

RootwardError
└── ServiceError             any answer that is no success; `code` and `details` tell which
    ├── InvalidRequest       400, 405, 413, 415, 422, 428: the request must change; `path` names what is wrong
    ├── Unauthenticated      401
    ├── Forbidden            403
    ├── NotFound             404: missing, or hidden from the caller
    ├── Conflict             409: the present state does not allow it; `reason` says why
    │   └── PreconditionFailed  412: somebody changed it since; `current` is the file as it is now
    ├── Unavailable          429, 502, 503: try again, after `retry_after_s` if it is given
    ├── ConnectionFailed     no answer came; whether anything was done is not known
    └── UnexpectedAnswer     an answer of another form

Messages are those of the service, which quote nothing that is stored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rootward.errors import RootwardError


class Answered(Protocol):
    """What a failure is read from."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def body(self) -> bytes: ...


class ServiceError(RootwardError):
    """The service did not do what was asked.

    Attributes:
        code: the contract's own word, such as ``SessionConflict`` or ``precondition_failed``; branch on it.
        status: of HTTP, or what GraphQL says it would be; None without an answer.
        reason: of a conflict.
        path: the field that is wrong, if one is.
        retry_after_s: seconds to wait before another try, if the service tells.
        details: all else that the service says of it.
        request_id: to look it up in the service's log; None where it tells none.
    """

    code = "service_error"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        status: int | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after_s: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code or type(self).code
        self.status = status
        self.details = dict(details or {})
        self.reason = _text(self.details.get("reason"))
        self.path = _text(self.details.get("path", self.details.get("field")))
        self.retry_after_s = retry_after_s
        self.request_id = request_id


class InvalidRequest(ServiceError):
    """The request does not fit."""


class Unauthenticated(ServiceError):
    """The token is missing, unknown, expired or revoked."""


class Forbidden(ServiceError):
    """A right is missing."""


class NotFound(ServiceError):
    """It does not exist, or is hidden from the caller."""


class Conflict(ServiceError):
    """The present state does not allow it: read again, then decide."""


class PreconditionFailed(Conflict):
    """Somebody changed it since it was read. Source: FM-16, FM-57, MT-66."""

    @property
    def current(self) -> Mapping[str, Any] | None:
        """The file as it is now, ``{path, version, size, content}``; None if there is none, or it is no file."""
        found = self.details.get("current")
        return found if isinstance(found, dict) else None

    @property
    def current_etag(self) -> str | None:
        """The tag that would be accepted now."""
        return _text(self.details.get("current_etag", self.details.get("currentEtag")))


class Unavailable(ServiceError):
    """The service cannot answer at present; nothing changed."""


class ConnectionFailed(ServiceError):
    """No answer came."""

    code = "connection_failed"


class UnexpectedAnswer(ServiceError):
    """An answer that is not of the form that the contract gives it."""

    code = "unexpected_answer"


_BY_STATUS: Mapping[int, type[ServiceError]] = {
    **dict.fromkeys((400, 405, 413, 415, 422, 428), InvalidRequest),
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: PreconditionFailed,
    **dict.fromkeys((429, 502, 503, 504), Unavailable),
}


def failure_of(reply: Answered) -> ServiceError:
    """Return the error that an answer tells, in whichever of the service's forms it comes."""
    told = _json(reply.body)
    retry = retry_after_s(reply.headers)
    if isinstance(told, dict) and "_tag" in told:
        details = {name: value for name, value in told.items() if name not in ("_tag", "message")}
        return _made(reply.status, told["_tag"], told.get("message"), details, retry)
    if isinstance(told, dict) and isinstance(told.get("error"), dict):
        error = told["error"]
        details = error.get("details") or {}
        return _made(reply.status, error.get("code"), error.get("message"), details, retry, error.get("request_id"))
    if isinstance(told, dict) and told.get("errors"):
        return failure_of_graphql(told["errors"], reply.status, retry)
    return _made(reply.status, f"http_{reply.status}", f"the service answered {reply.status}", {}, retry)


def failure_of_graphql(errors: Sequence[Any], status: int = 500, retry: float | None = None) -> ServiceError:
    """Return the first error of a GraphQL answer; `status` where it tells none."""
    first = errors[0] if isinstance(errors, list) and errors and isinstance(errors[0], dict) else {}
    told = first.get("extensions")
    extensions: dict[str, Any] = told if isinstance(told, dict) else {}
    own = extensions.get("status")
    details = {name: value for name, value in extensions.items() if name not in ("code", "status")}
    return _made(own if isinstance(own, int) else status, extensions.get("code"), first.get("message"), details, retry)


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `Retry-After`; None if there is none, or it names a date.

    >>> retry_after_s({"retry-after": "5"})
    5.0
    """
    given = headers.get("retry-after", "")
    return float(given) if given.isascii() and given.isdigit() and len(given) < 10 else None


def _made(
    status: int, code: Any, message: Any, details: Any, retry: float | None, request_id: Any = None
) -> ServiceError:
    kind = _BY_STATUS.get(status, ServiceError)
    return kind(
        _text(message) or f"the service answered {status}",
        code=_text(code) or f"http_{status}",
        status=status,
        details=details if isinstance(details, dict) else {},
        retry_after_s=retry,
        request_id=_text(request_id),
    )


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _text(given: Any) -> str | None:
    return given if isinstance(given, str) else None
