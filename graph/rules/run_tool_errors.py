"""How a tool of a run fails: the codes that models are told, and which refusal gives which (MT-58)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from graph.model.errors import WorkspaceRefused

CODES: Final = frozenset(
    {
        "not_found",
        "already_exists",
        "version_mismatch",
        "invalid_path",
        "invalid_file",
        "invalid_pattern",
        "too_large",
        "memory_full",
        "memory_deleted",
        "forbidden",
        "unavailable",
        "unknown_memory",
        "no_match",
        "ambiguous_match",
        "conflict_retries_exhausted",
        "record_not_found",
        "invalid_text",
        "invalid_cursor",
        "write_unconfirmed",
    }
)

_MESSAGES: Final[Mapping[str, str]] = {
    "not_found": "there is no file at this path",
    "already_exists": "a file is at this path already: edit it, or take another path",
    "version_mismatch": "the file changed since you viewed it: view it again",
    "invalid_path": "this is no path of a file",
    "invalid_file": "a file cannot hold this content",
    "invalid_pattern": "this pattern cannot be searched for",
    "too_large": "the file would be too large",
    "memory_full": "the memory is full: delete what is no longer needed",
    "memory_deleted": "the memory was deleted",
    "forbidden": "this is not allowed on this memory",
    "unavailable": "the records cannot be reached now: go on without them",
    "unknown_memory": "no memory of this run has this name",
    "no_match": "the text to replace does not occur in the file: view it again",
    "ambiguous_match": "the text to replace occurs more than once: give more of what is around it",
    "conflict_retries_exhausted": "others keep changing the file: view it again",
    "record_not_found": "there is no such record in this memory",
    "invalid_text": "a record cannot hold this text",
    "invalid_cursor": "take next_cursor of the page before",
    "write_unconfirmed": "nobody knows whether it was written: search or list before you write it again",
}
_FIELDS: Final[Mapping[str, str]] = {
    "path": "invalid_path",
    "source": "invalid_path",
    "destination": "invalid_path",
    "prefix": "invalid_path",
    "content": "invalid_file",
    "text": "invalid_text",
    "query": "invalid_text",
    "cursor": "invalid_cursor",
    "record_id": "record_not_found",
}
_MISSING: Final[Mapping[str, str]] = {
    "memory": "memory_deleted",
    "memory_file": "not_found",
    "memory_record": "record_not_found",
}
_PLAIN: Final[Mapping[str, str]] = {
    "already_exists": "already_exists",
    "precondition_failed": "version_mismatch",
    "payload_too_large": "too_large",
    "forbidden": "forbidden",
    "unavailable": "unavailable",
    "disabled": "unavailable",
    "invalid_cursor": "invalid_cursor",
}


class ToolFailed(Exception):
    """A call of a tool failed, and only this call.

    Attributes:
        code: one of `CODES`.
        current: the file as it is now, for a change of a file; None: no file is there (MT-57).
        has_current: whether `current` is told at all.
    """

    def __init__(self, code: str, *, current: Mapping[str, Any] | None = None, has_current: bool = False) -> None:
        super().__init__(code)
        self.code, self.current, self.has_current = code, current, has_current

    def told(self) -> dict[str, Any]:
        """Return what the model is told."""
        more = {"current": self.current} if self.has_current else {}
        return {"error": self.code, "message": _MESSAGES[self.code], **more}


def code_of(error: WorkspaceRefused) -> str | None:
    """Return the code by which a tool tells of a refusal; None: it is none of a tool."""
    details = error.details
    if error.refusal == "invalid_argument":
        return _FIELDS.get(str(details.get("field")))
    if error.refusal == "not_found":
        return _MISSING.get(str(details.get("kind")))
    if error.refusal == "conflict":
        reason = str(details.get("reason"))
        return reason if reason in ("memory_full", "write_unconfirmed") else None
    return _PLAIN.get(error.refusal)
