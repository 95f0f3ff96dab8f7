"""Sessions and what is remembered of them. Source: SM-20 to SM-67."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rootward.service.calls import KEEP, Ask, Unset, given, reads
from rootward.service.operations import AsyncSurface, SyncSurface, operation

_SESSION = "/v1/sessions/{sessionId}"
_MEMORY = f"{_SESSION}/memory"


@dataclass(frozen=True, kw_only=True)
class SessionView:
    """A session as it was seen; times are milliseconds since the Unix epoch.

    Attributes:
        head: opaque name of the version.
        revision: grows by 1 with each change.
    """

    id: str
    agent: str
    head: str
    revision: int
    review: bool
    created_at: int
    updated_at: int


@dataclass(frozen=True, kw_only=True)
class SessionFact:
    """One remembered fact; `sources` are ids of items that support it, `status` is ``active`` or ``retracted``."""

    key: str
    content: str
    kind: str
    sources: tuple[str, ...]
    updated_at: int
    status: str


@dataclass(frozen=True, kw_only=True)
class Switches:
    """The switches in force."""

    use: bool
    generate: bool


@dataclass(frozen=True, kw_only=True)
class Overrides:
    """The switches that the session set itself; None follows the organization."""

    use: bool | None = None
    generate: bool | None = None


@dataclass(frozen=True, kw_only=True)
class SessionMemory:
    """What is remembered of a session, by key; `processed` are ids of the items that were read for it."""

    entries: Mapping[str, SessionFact]
    processed: tuple[str, ...]
    settings: Switches
    overrides: Overrides


@operation("GET", _SESSION)
def read_session(session_id: str) -> Ask[SessionView]:
    """Read a session."""
    return Ask(ids=[session_id], read=reads(SessionView, "session"))


@operation("GET", _MEMORY)
def read_memory(session_id: str) -> Ask[SessionMemory]:
    """Read what is remembered of a session."""
    return Ask(ids=[session_id], read=reads(SessionMemory))


@operation("POST", _MEMORY)
def remember(session_id: str, *, seen: SessionView, key: str, content: str, kind: str) -> Ask[SessionView]:
    """Make a fact, or replace and revive the one under its key.

    Raises:
        Conflict: ``SessionConflict``, reason ``stale``: the session changed since `seen`.
    """
    return _edit(session_id, seen, "Remember", key=key, content=content, kind=kind)


@operation("POST", _MEMORY)
def forget(session_id: str, *, seen: SessionView, key: str) -> Ask[SessionView]:
    """Retract a fact; only a person brings it back."""
    return _edit(session_id, seen, "Forget", key=key)


@operation("POST", _MEMORY)
def configure(
    session_id: str, *, seen: SessionView, use: bool | Unset | None = KEEP, generate: bool | Unset | None = KEEP
) -> Ask[SessionView]:
    """Set switches; None follows the organization again, and one that is not named stays."""
    return _edit(session_id, seen, "Configure", use=use, generate=generate)


@operation("POST", _MEMORY)
def refresh(session_id: str) -> Ask[SessionView]:
    """Learn now, with the session's model; this may take as long as the model takes."""
    body = {"expected": "", "revision": 0, "command": {"_tag": "Refresh"}}
    return Ask(ids=[session_id], body=body, read=reads(SessionView, "session"))


def _edit(session_id: str, seen: SessionView, tag: str, **fields: Any) -> Ask[SessionView]:
    body = {"expected": seen.head, "revision": seen.revision, "command": {"_tag": tag, **given(**fields)}}
    return Ask(ids=[session_id], body=body, read=reads(SessionView, "session"))


class SessionOperations:
    """What can be done with sessions."""

    read = read_session
    memory = read_memory
    remember = remember
    forget = forget
    configure = configure
    refresh = refresh


class Sessions(SessionOperations, SyncSurface):
    """Sessions, waiting in the thread."""


class AsyncSessions(SessionOperations, AsyncSurface):
    """Sessions, waiting in the task."""
