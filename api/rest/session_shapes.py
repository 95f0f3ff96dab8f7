"""The bodies and answers of the routes of sessions, as the reference lists them. Source: SM-3, SM-20 to SM-24, A3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.rest.openapi import ALWAYS, WITH_BODY, Operation, Reference
from api.rest.said import Content, Key, one_of
from graph.model.ids import local_part
from graph.model.nodes.sessions import EntryStatus, FactKind, Session, SessionFact
from graph.rules.session_memory import Seen
from graph.services.sessions.memory import SessionMemoryView

SESSION: str = "/v1/sessions/{sessionId}"
MEMORY: str = "/v1/sessions/{sessionId}/memory"


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Remember(_Shape):
    """Make a fact, or replace the one under its key."""

    tag: Literal["Remember"] = Field(alias="_tag")
    key: Key = Field(description="in NFC")
    content: Content
    kind: Annotated[str, one_of(FactKind)]


class Forget(_Shape):
    """Retract a fact."""

    tag: Literal["Forget"] = Field(alias="_tag")
    key: Key


class Configure(_Shape):
    """Set the switches of the session; null follows the organization again, a switch that is not named stays."""

    tag: Literal["Configure"] = Field(alias="_tag")
    use: bool | None = None
    generate: bool | None = None

    @property
    def switches(self) -> Mapping[str, bool | None]:
        """Those that were named."""
        return {name: getattr(self, name) for name in self.model_fields_set - {"tag"}}


class Refresh(_Shape):
    """Learn now; `expected` and `revision` must be there and are not looked at."""

    tag: Literal["Refresh"] = Field(alias="_tag")


class SessionEdit(_Shape):
    """A command on a session's memory, for the state that the client last saw."""

    expected: str = Field(description="`session.head` as last seen")
    revision: int = Field(description="`session.revision` as last seen")
    command: Annotated[Remember | Forget | Configure | Refresh, Field(discriminator="tag")]

    @property
    def seen(self) -> Seen:
        """That state."""
        return Seen(head=self.expected, revision=self.revision)


class SessionFields(BaseModel):
    """A session; times are milliseconds since the Unix epoch."""

    id: str
    agent: str
    head: str = Field(description="opaque name of the present version")
    revision: int = Field(description="grows by 1 with each committed change of the session")
    review: bool
    created_at: int = Field(alias="createdAt")
    updated_at: int = Field(alias="updatedAt")


class SessionView(BaseModel):
    """The view of a session."""

    session: SessionFields


class SessionEntry(_Shape):
    """One remembered fact; `sources` are ids of items of the session that support it."""

    key: str
    content: str
    kind: FactKind
    sources: list[str]
    updated_at: int = Field(alias="updatedAt", description="commit time of its last change, milliseconds")
    status: EntryStatus


class Switches(_Shape):
    """The switches in force."""

    use: bool
    generate: bool


class Overrides(_Shape):
    """The switches that the session set itself; the others are left out."""

    use: bool = Field(default_factory=bool)
    generate: bool = Field(default_factory=bool)


class SessionMemory(_Shape):
    """The memory of a session; `processed` are ids of the items already read for it, in history order."""

    entries: dict[str, SessionEntry]
    processed: list[str]
    settings: Switches
    overrides: Overrides


REFERENCE: Reference = {
    SESSION: {"GET": Operation(summary="Read a session", gives=SessionView)},
    MEMORY: {
        "GET": Operation(summary="Read the memory of a session", gives=SessionMemory),
        "POST": Operation(
            summary="Change the memory of a session, or learn now",
            takes=SessionEdit,
            gives=SessionView,
            errors=(*ALWAYS, *WITH_BODY, 502),
        ),
    },
}


def session_json(session: Session) -> dict[str, Any]:
    """Return the view of a session (SM-24)."""
    return {
        "session": {
            "id": local_part(session.id),
            "agent": local_part(session.agent_id),
            "head": session.head,
            "revision": session.revision,
            "review": session.review,
            "createdAt": session.created_at,
            "updatedAt": session.updated_at,
        }
    }


def memory_json(view: SessionMemoryView) -> dict[str, Any]:
    """Return the memory of a session (SM-20)."""
    return {
        "entries": {key: _entry_json(fact) for key, fact in view.entries.items()},
        "processed": list(view.processed),
        "settings": view.settings.to_json(),
        "overrides": dict(view.overrides),
    }


def _entry_json(fact: SessionFact) -> dict[str, Any]:
    return {
        "key": fact.key,
        "content": fact.content,
        "kind": fact.kind,
        "sources": list(fact.sources),
        "updatedAt": fact.updated_at,
        "status": fact.status,
    }
