"""How workspace memory refuses: the codes and details of its contract, in one place (FM-6, FM-7, FM-16, FM-57)."""

from __future__ import annotations

from typing import Any

from graph.model.errors import WorkspaceRefused
from graph.model.nodes.people import Right


def invalid(field: str, reason: str) -> WorkspaceRefused:
    """Return the refusal of a field; `reason` never echoes what was given."""
    return WorkspaceRefused("invalid_argument", f"{field} {reason}", field=field, reason=reason)


def missing(kind: str, id_: str) -> WorkspaceRefused:
    """Return the refusal of what is not there for the caller; of another workspace alike (FM-4)."""
    return WorkspaceRefused("not_found", f"there is no such {kind}", kind=kind, id=id_)


def forbidden(verb: Right) -> WorkspaceRefused:
    """Return the refusal of a caller without a verb (FM-3)."""
    return WorkspaceRefused("forbidden", f"this needs the right {verb}", verb=str(verb))


def occupied(kind: str, key: str) -> WorkspaceRefused:
    """Return the refusal of a key that is taken, such as a path."""
    return WorkspaceRefused("already_exists", f"there is such a {kind} already", kind=kind, key=key)


def conflicting(kind: str, id_: str, reason: str, **more: Any) -> WorkspaceRefused:
    """Return the refusal of a change that the present state forbids; a rule of capacity adds its `limit`."""
    message = f"the {kind} does not allow it: {reason}"
    return WorkspaceRefused("conflict", message, kind=kind, id=id_, reason=reason, **more)


def stale(tag: str | None, **details: Any) -> WorkspaceRefused:
    """Return the refusal of a tag that is not the current one."""
    return WorkspaceRefused(
        "precondition_failed", "it changed since you read it: read it again", current_etag=tag, **details
    )


def untagged() -> WorkspaceRefused:
    """Return the refusal of a conditional change without a tag (FM-14)."""
    return WorkspaceRefused("precondition_required", "send If-Match with the ETag you read", header="If-Match")
