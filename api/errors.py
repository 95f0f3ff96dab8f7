"""The one table of errors: class of the core → GraphQL code, HTTP status, JSON-RPC code.

A test walks the tree and demands a row for each class. What is not in the tree is an unexpected fault: it is logged
without content and masked. Source: KN-110, AD-24.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from graph.model import errors


@dataclass(frozen=True, slots=True)
class Row:
    """How one class of errors shows outside; a subclass may show a code of its own (`wire_code`)."""

    code: str
    http: int
    json_rpc: int


INVALID_PARAMS = -32_602
INTERNAL_ERROR = -32_603
DENIED = -32_001
MISSING = -32_002
CONFLICT = -32_009
AWAY = -32_010

TABLE: Mapping[type[errors.RootwardError], Row] = {
    errors.RootwardError: Row("INTERNAL", 500, INTERNAL_ERROR),
    errors.BadInput: Row("BAD_INPUT", 400, INVALID_PARAMS),
    errors.LimitExceeded: Row("LIMIT_EXCEEDED", 400, INVALID_PARAMS),
    errors.CursorInvalid: Row("CURSOR_INVALID", 400, INVALID_PARAMS),
    errors.InvalidRequest: Row("InvalidRequest", 400, INVALID_PARAMS),
    errors.OperationRejected: Row("OPERATION_REJECTED", 422, INVALID_PARAMS),
    errors.FetchRefused: Row("FETCH_REFUSED", 422, INVALID_PARAMS),
    errors.SyncFailed: Row("SYNC_FAILED", 503, AWAY),
    errors.UnsupportedType: Row("UNSUPPORTED_TYPE", 415, INVALID_PARAMS),
    errors.ImportInvalid: Row("IMPORT_INVALID", 400, INVALID_PARAMS),
    errors.ArchiveInvalid: Row("ARCHIVE_INVALID", 400, INVALID_PARAMS),
    errors.SettingsInvalid: Row("SETTINGS_INVALID", 400, INVALID_PARAMS),
    errors.Unauthenticated: Row("UNAUTHENTICATED", 401, DENIED),
    errors.TooManyAttempts: Row("TOO_MANY_ATTEMPTS", 429, DENIED),
    errors.Forbidden: Row("FORBIDDEN", 403, DENIED),
    errors.NotFound: Row("NOT_FOUND", 404, MISSING),
    errors.MissingObject: Row("NOT_FOUND", 404, MISSING),
    errors.Conflict: Row("CONFLICT", 409, CONFLICT),
    errors.VersionConflict: Row("VERSION_CONFLICT", 409, CONFLICT),
    errors.NameTaken: Row("NAME_TAKEN", 409, CONFLICT),
    errors.RestoreConflict: Row("RESTORE_CONFLICT", 409, CONFLICT),
    errors.NotRestorable: Row("NOT_RESTORABLE", 409, CONFLICT),
    errors.PreviewStale: Row("PREVIEW_STALE", 409, CONFLICT),
    errors.BadState: Row("BAD_STATE", 409, CONFLICT),
    errors.AlreadyExists: Row("ALREADY_EXISTS", 409, CONFLICT),
    errors.SurfaceConflict: Row("CONFLICT", 409, CONFLICT),
    errors.LeaseLost: Row("LEASE_LOST", 409, CONFLICT),
    errors.WorkspaceRefused: Row("WORKSPACE_REFUSED", 409, CONFLICT),
    errors.QueryTooComplex: Row("QUERY_TOO_COMPLEX", 400, INVALID_PARAMS),
    errors.StoreError: Row("STORE_UNAVAILABLE", 503, AWAY),
    errors.StoreUnavailable: Row("STORE_UNAVAILABLE", 503, AWAY),
    errors.StoreReadOnly: Row("STORE_READ_ONLY", 503, AWAY),
    errors.StoreLocked: Row("STORE_LOCKED", 503, AWAY),
    errors.StoreNewer: Row("STORE_NEWER", 503, AWAY),
    errors.BlobDamaged: Row("BLOB_DAMAGED", 503, AWAY),
    errors.SealBroken: Row("SEAL_BROKEN", 503, AWAY),
    errors.StoreKeyMissing: Row("STORE_KEY_MISSING", 503, AWAY),
    errors.RecordsFailed: Row("RECORDS_FAILED", 503, AWAY),
    errors.ModelError: Row("MODEL_FAILED", 503, AWAY),
    errors.ModelUnavailable: Row("MODEL_UNAVAILABLE", 503, AWAY),
    errors.ModelBudgetSpent: Row("MODEL_BUDGET_SPENT", 503, AWAY),
    errors.ModelAnswerInvalid: Row("MODEL_ANSWER_INVALID", 503, AWAY),
    errors.ProfileUnavailable: Row("MODEL_PROFILE_UNAVAILABLE", 503, AWAY),
    errors.ModelFailed: Row("ModelFailed", 502, AWAY),
    errors.EmbeddingSizeChanged: Row("EMBEDDING_SIZE_CHANGED", 503, AWAY),
    errors.SearchUnavailable: Row("SEARCH_UNAVAILABLE", 503, AWAY),
}

WORKSPACE_STATES: Mapping[str, int] = {
    "invalid_argument": 400,
    "invalid_cursor": 400,
    "unauthenticated": 401,
    "forbidden": 403,
    "not_found": 404,
    "already_exists": 409,
    "conflict": 409,
    "precondition_failed": 412,
    "payload_too_large": 413,
    "disabled": 422,
    "precondition_required": 428,
    "unavailable": 503,
}
"""The HTTP status of each code of workspace memory (FM-6)."""

_WORKSPACE_CODES: Mapping[type[errors.RootwardError], str] = {
    errors.Unauthenticated: "unauthenticated",
    errors.Forbidden: "forbidden",
    errors.NotFound: "not_found",
    errors.StoreError: "unavailable",
    errors.CursorInvalid: "invalid_cursor",
    errors.BadInput: "invalid_argument",
}

_JSON_RPC: Mapping[int, int] = {
    400: INVALID_PARAMS,
    401: DENIED,
    403: DENIED,
    404: MISSING,
    413: INVALID_PARAMS,
    503: AWAY,
}

MASKED = "an unexpected fault; look it up in the log by the request id"


RETRY_AFTER_S = 5
"""So long a client waits before it asks a store again that was away."""
UNKNOWN = "unknown"
"""The outcome of a commit whose connection broke: it must be looked at, not sent again."""


def headers_of(error: errors.RootwardError) -> dict[str, str]:
    """Return the headers that go with an error over HTTP: when to try again, and how to sign in.

    Clients send again what was refused with `Retry-After`, so it says that nothing was written.

    >>> headers_of(errors.StoreUnavailable("away")), headers_of(errors.StoreUnavailable("broke", outcome="unknown"))
    ({'Retry-After': '5'}, {})
    """
    if isinstance(error, errors.TooManyAttempts):
        return {"Retry-After": str(error.details.get("retry_after_s", 60))}
    if isinstance(error, errors.StoreError) and error.details.get("outcome") != UNKNOWN:
        return {"Retry-After": str(RETRY_AFTER_S)}
    return {"WWW-Authenticate": "Bearer"} if row_of(error).http == 401 else {}


def row_of(error: BaseException) -> Row:
    """Return the row of the nearest class in the tree; an unexpected fault is INTERNAL.

    >>> row_of(errors.NotFound()).http, row_of(KeyError()).code
    (404, 'INTERNAL')
    """
    if isinstance(error, errors.WorkspaceRefused):
        status = WORKSPACE_STATES.get(error.refusal, 409)
        return Row(error.refusal, status, _JSON_RPC.get(status, CONFLICT))
    for kind in type(error).__mro__:
        if kind in TABLE:
            return TABLE[kind]
    return TABLE[errors.RootwardError]


def workspace_code(error: errors.RootwardError) -> str:
    """Return the code by which workspace memory tells of an error (FM-6); what has none is a conflict.

    >>> workspace_code(errors.StoreUnavailable("away")), workspace_code(errors.BadState("busy"))
    ('unavailable', 'conflict')
    """
    if isinstance(error, errors.WorkspaceRefused):
        return error.refusal
    return next((_WORKSPACE_CODES[kind] for kind in type(error).__mro__ if kind in _WORKSPACE_CODES), "conflict")
