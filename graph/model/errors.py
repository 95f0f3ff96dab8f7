"""The one error tree.

RootwardError
├── BadInput                 what was sent cannot be taken; says what to send instead
│   ├── LimitExceeded        a size or count is over its limit
│   ├── CursorInvalid        a cursor of another query, or damaged
│   ├── InvalidRequest       a body or argument of a surface does not fit; `path` names the field
│   └── OperationRejected    an operation breaks a rule of the contract; `code` is the contract's own
├── Unauthenticated          no valid credential
│   └── TooManyAttempts      slowed down after failed sign-ins
├── Forbidden                a right is missing on something whose existence is no secret
├── NotFound                 missing and hidden alike
│   └── MissingObject        the same by the name that a surface gives it, such as ``SessionNotFound``
├── Conflict
│   ├── VersionConflict      an expected version is not the current one
│   ├── NameTaken            another live entry has the name
│   ├── RestoreConflict      the present value is not the record's after image
│   ├── PreviewStale         the preview that was confirmed no longer holds
│   ├── BadState             not allowed in the present state
│   ├── AlreadyExists        a unique key is taken
│   ├── SurfaceConflict      the conflict of a surface by its own name, with a reason, such as ``stale``
│   └── LeaseLost            a worker no longer has the job it was doing; nothing was written
├── WorkspaceRefused         workspace memory refuses, by a code of its contract, with details (FM-5 to FM-7)
├── QueryTooComplex          refused before it runs
├── FetchRefused             a web page may not be fetched
├── SyncFailed               a connector's place could not be read; its mirrors stay as they are
├── RecordsFailed            the backend of record memories did not do what it was asked; `reason` says why
├── UnsupportedType          no text can be read from this kind of file
├── ImportInvalid            a chat export is not in its form; names file and place
├── ArchiveInvalid           an archive is damaged, incomplete or not one of ours; names the part
├── StoreError
│   ├── StoreUnavailable     the store cannot answer now; try again
│   ├── StoreReadOnly        a failed sync to disk: no writes until restart
│   ├── StoreLocked          another process owns the embedded store
│   ├── StoreNewer           made by a newer version of Rootward
│   ├── BlobDamaged          stored bytes no longer have their hash
│   ├── SealBroken           a sealed text was changed or stands in another place
│   └── StoreKeyMissing      a needed key is missing or wrong
├── ModelError               a language model did not do its part; nothing was lost
│   ├── ModelUnavailable     it gave no answer; `reason` says why
│   ├── ModelBudgetSpent     the calls or tokens of the day are used up
│   ├── ModelAnswerInvalid   it answered, but nothing that can be used
│   ├── ProfileUnavailable   the model profile is missing or unusable
│   ├── ModelFailed          the model that somebody waits for gave no answer that can be used
│   └── EmbeddingSizeChanged vectors of one model name would have two sizes
├── SearchUnavailable        every route failed
└── SettingsInvalid          an unknown setting or a value out of range

Every message says what to do and holds no content of user data. A class's `code` is stable; one table in
`api/errors.py` maps each class to GraphQL, HTTP and JSON-RPC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class RootwardError(Exception):
    """A failure with a stable code, a message that tells what to do, and typed details."""

    code: ClassVar[str] = "INTERNAL"

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Any] = details

    @property
    def wire_code(self) -> str:
        """The code a client sees."""
        return self.code


class BadInput(RootwardError):
    """What was sent cannot be taken."""

    code = "BAD_INPUT"


class LimitExceeded(BadInput):
    """A size or count is over its limit; details: `field`, `limit`."""

    code = "LIMIT_EXCEEDED"


class CursorInvalid(BadInput):
    """A cursor of another query, or a damaged one."""

    code = "CURSOR_INVALID"


class OperationRejected(BadInput):
    """An operation breaks a rule; `rule_code` is the contract's code, such as ``QUOTE_NOT_VERBATIM``."""

    code = "OPERATION_REJECTED"

    def __init__(self, rule_code: str, message: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.rule_code = rule_code

    @property
    def wire_code(self) -> str:
        """The contract's own code."""
        return self.rule_code


class InvalidRequest(BadInput):
    """A body or argument of a surface does not fit; details: `path`, the field that is wrong (SM-62, BM-179)."""

    code = "InvalidRequest"

    def __init__(self, message: str, *, path: str) -> None:
        super().__init__(message, path=path)


class Unauthenticated(RootwardError):
    """No valid credential was sent."""

    code = "UNAUTHENTICATED"


class TooManyAttempts(Unauthenticated):
    """Too many failed sign-ins from one address; details: `retry_after_s`."""

    code = "TOO_MANY_ATTEMPTS"


class Forbidden(RootwardError):
    """A right is missing on something whose existence is no secret."""

    code = "FORBIDDEN"


class NotFound(RootwardError):
    """There is no such thing for this viewer: missing and hidden answer alike."""

    code = "NOT_FOUND"

    def __init__(self, message: str = "there is no such object", **details: Any) -> None:
        super().__init__(message, **details)


class MissingObject(NotFound):
    """There is no such thing for this caller, by the name that a surface gives it, such as ``SessionNotFound``."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self.tag = tag

    @property
    def wire_code(self) -> str:
        """The surface's own name."""
        return self.tag


class Conflict(RootwardError):
    """The present state does not allow the change."""

    code = "CONFLICT"


class VersionConflict(Conflict):
    """An expected version is not the current one; details: `current` (the current version and value)."""

    code = "VERSION_CONFLICT"


class NameTaken(Conflict):
    """Another live entry of the knowledge base has the name; details: `entry_id`."""

    code = "NAME_TAKEN"


class RestoreConflict(Conflict):
    """The present value is not the after image; details: `conflicts` (audit record ids)."""

    code = "RESTORE_CONFLICT"

    def __init__(self, message: str, *, conflicts: Sequence[str]) -> None:
        super().__init__(message, conflicts=tuple(conflicts))


class NotRestorable(Conflict):
    """Records of this operation cannot be restored."""

    code = "NOT_RESTORABLE"


class PreviewStale(Conflict):
    """The preview that was confirmed no longer holds; ask for a new one."""

    code = "PREVIEW_STALE"


class BadState(Conflict):
    """Not allowed in the present state."""

    code = "BAD_STATE"


class AlreadyExists(Conflict):
    """A unique key is taken; details: `kind`, `key_fields`."""

    code = "ALREADY_EXISTS"


class SurfaceConflict(Conflict):
    """A conflict of a surface: `tag` such as ``SessionConflict``, `reason` such as ``stale`` (SM-55, BM-174)."""

    def __init__(self, tag: str, reason: str, message: str) -> None:
        super().__init__(message, reason=reason)
        self.tag = tag
        self.reason = reason

    @property
    def wire_code(self) -> str:
        """The surface's own name."""
        return self.tag


class LeaseLost(Conflict):
    """The worker's claim on its job is over: another has it, it was cancelled, or it ran out; nothing was written."""

    code = "LEASE_LOST"

    def __init__(self, message: str = "the job is no longer this worker's") -> None:
        super().__init__(message)


class WorkspaceRefused(RootwardError):
    """A refusal of workspace or sandbox memory by the contract's own code, such as ``precondition_failed``.

    Source: FM-5 to FM-7. Details never echo content, but for `current`, the file that a stale tag missed (FM-57).
    """

    code = "WORKSPACE_REFUSED"
    refusal = "conflict"

    def __init__(self, refusal: str, message: str, **details: Any) -> None:
        super().__init__(message, **details)
        self.refusal = refusal

    @property
    def wire_code(self) -> str:
        """The contract's own code."""
        return self.refusal


class QueryTooComplex(RootwardError):
    """Refused before it ran: too deep, too large or too costly."""

    code = "QUERY_TOO_COMPLEX"


class FetchRefused(BadInput):
    """A web page may not be fetched; the message says which rule."""

    code = "FETCH_REFUSED"


class SyncFailed(RootwardError):
    """A connector's place, or one document of it, could not be read: no answer, and no loss of access (MA-25).

    `reason` is one word, such as ``network``, ``too_large`` or ``place_gone``.
    """

    code = "SYNC_FAILED"

    def __init__(self, reason: str) -> None:
        super().__init__(SYNC_REASONS.get(reason, _SYNC_AGAIN), reason=reason)
        self.reason = reason

    @property
    def wire_code(self) -> str:
        """Such as ``SYNC_NETWORK``."""
        return f"SYNC_{self.reason.upper()}"


_SYNC_AGAIN = "the place of the connector could not be read: it is looked at again later"
SYNC_REASONS: Mapping[str, str] = {
    "network": "the place of the connector did not answer: it is looked at again later",
    "not_public": "the address of the connector is not one of the public internet: give another one",
    "too_large": "what the place of the connector sent is too large: give a smaller one",
    "place_gone": "the place of the connector is not there any more: give it back, or remove the connector",
    "place_forbidden": "the place of the connector may not be read: allow it, or remove the connector",
    "not_a_feed": "what the address gives is no RSS or Atom feed: give the address of one",
    "too_many": "the place of the connector holds too many documents: name a part of it",
    "kind_unknown": "this process has no such kind of connector: start one that has",
    "not_allowed": "the operator allows no such place: add it to connectors.folders",
}


class RecordsFailed(RootwardError):
    """The backend of record memories did not do what it was asked; whether it did it all the same is open (RM-76).

    Details: `reason` is ``denied`` (the policy does not let it be reached; nothing was sent), ``transport``,
    ``status`` (with `status`, the HTTP status), ``unreadable`` or ``unsupported``. Nothing of an answer is kept.
    """

    code = "RECORDS_FAILED"

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__("the backend of the records did not answer as it should", reason=reason, status=status)
        self.reason = reason
        self.status = status


class UnsupportedType(BadInput):
    """No text can be read from this kind of file."""

    code = "UNSUPPORTED_TYPE"


class ImportInvalid(BadInput):
    """A chat export is not in the form it should be in; details: `file`, `reason`, and `line` or `index`.

    The message names the place and what to do, never what stands there.
    """

    code = "IMPORT_INVALID"


class ArchiveInvalid(BadInput):
    """An archive is damaged, incomplete, of a newer form or not one of ours; details: `part`, the file it stands in."""

    code = "ARCHIVE_INVALID"


class StoreError(RootwardError):
    """The store failed."""

    code = "STORE_UNAVAILABLE"


class StoreUnavailable(StoreError):
    """The store cannot answer now; nothing was written; try again."""


class StoreReadOnly(StoreError):
    """A sync to disk failed: nothing was acknowledged and writes are refused until restart."""

    code = "STORE_READ_ONLY"


class StoreLocked(StoreError):
    """Another process owns the embedded store; details: `pid`, `address`."""

    code = "STORE_LOCKED"


class StoreNewer(StoreError):
    """The store was made by a newer version; it is left untouched."""

    code = "STORE_NEWER"


class BlobDamaged(StoreError):
    """Stored bytes no longer have the hash that names them; restore them from a backup."""

    code = "BLOB_DAMAGED"


class SealBroken(StoreError):
    """A sealed text was changed, or stands in another place than it was sealed for; it is not returned (BM-187)."""

    code = "SEAL_BROKEN"

    def __init__(self, message: str = "a sealed text is damaged: restore it from a backup") -> None:
        super().__init__(message)


class StoreKeyMissing(StoreError):
    """A needed key is missing or wrong; details: `key_id`."""

    code = "STORE_KEY_MISSING"


class ModelError(RootwardError):
    """A language model did not do its part; nothing was lost and the work is tried again."""

    code = "MODEL_FAILED"


class ModelUnavailable(ModelError):
    """A model gave no answer.

    `reason` is one of ``timeout``, ``network``, ``bad_response`` (not what such a provider answers), ``bad_request``
    (such a model takes no such request), ``http_5xx``, ``http_4xx`` or one of 401, 403, 404 and 429 by number.
    `retry_after_s` is what the provider asked for.
    """

    code = "MODEL_UNAVAILABLE"

    def __init__(self, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(_MODEL_ADVICE.get(reason, _REFUSED), reason=reason, retry_after_s=retry_after_s)
        self.reason = reason
        self.retry_after_s = retry_after_s

    @property
    def wire_code(self) -> str:
        """Such as ``MODEL_TIMEOUT`` or ``MODEL_HTTP_429``."""
        return f"MODEL_{self.reason.upper()}"


_REFUSED = "the model's provider refused the request: check the model profile"
_MODEL_ADVICE: Mapping[str, str] = {
    "timeout": "the model took too long: it is tried again later; or raise dream.model_timeout_seconds",
    "network": "the model's provider cannot be reached: check its address and the network",
    "bad_response": "what answered is no such provider: check the base URL of the model profile",
    "http_401": "the model's provider does not accept the credential: check the model profile",
    "http_403": "the credential may not use this model: check the model profile",
    "http_404": "the provider has no such model or address: check the model profile",
    "http_429": "the model's provider asks to slow down: it is tried again later",
    "http_5xx": "the model's provider failed: it is tried again later",
}


class ModelBudgetSpent(ModelError):
    """The calls or tokens of the day are used up; details: `limit` (``calls`` or ``tokens``), `until`."""

    code = "MODEL_BUDGET_SPENT"


class ModelAnswerInvalid(ModelError):
    """A model answered, but nothing that can be used; `problem` says why in one word, such as ``cut``."""

    code = "MODEL_ANSWER_INVALID"

    def __init__(self, message: str, *, problem: str) -> None:
        super().__init__(message, problem=problem)
        self.problem = problem

    @property
    def was_cut(self) -> bool:
        """True if the answer ended before it was complete: the next try should ask for less."""
        return self.problem == "cut"

    @property
    def wire_code(self) -> str:
        """Such as ``MODEL_ANSWER_CUT``."""
        return f"MODEL_ANSWER_{self.problem.upper()}"


class ProfileUnavailable(ModelError):
    """The model profile of an agent is missing or unusable; details: `reason`, ``light_profile_unavailable``."""

    code = "MODEL_PROFILE_UNAVAILABLE"


class ModelFailed(ModelError):
    """The model that a request waits for gave no answer that can be used; nothing changed (SM-52)."""

    code = "ModelFailed"

    def __init__(self) -> None:
        super().__init__("the model gave no answer that can be used: try again, or choose another model")


class EmbeddingSizeChanged(ModelError):
    """An embedding model gives vectors of another size than those kept under its name; details: `kept`, `given`."""

    code = "EMBEDDING_SIZE_CHANGED"

    def __init__(self, *, kept: int, given: int) -> None:
        super().__init__(
            f"the embedding model gives {given} numbers where {kept} are kept under its name: set embedding.dimensions"
            " or name another model, then everything is embedded anew",
            kept=kept,
            given=given,
        )


class SearchUnavailable(RootwardError):
    """Every search route failed; details: `routes`."""

    code = "SEARCH_UNAVAILABLE"


class SettingsInvalid(BadInput):
    """A setting is unknown or out of range; details: `name`, `origin`, `allowed`."""

    code = "SETTINGS_INVALID"
