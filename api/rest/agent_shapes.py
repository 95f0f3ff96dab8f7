"""The bodies and answers of the routes of agent memory, as the reference lists them. Source: AM-2 to AM-19."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from api.rest.openapi import ALWAYS, WITH_BODY, Operation, Reference
from api.rest.said import Content, Key, one_of
from graph.model.nodes.sessions import AgentChange, ChangeCause, EntryStatus
from graph.rules.agent_memory import KINDS
from graph.services.agents.memory import DEFAULT_LOG, MAX_LOG, AgentEntryView, AgentMemoryView

MEMORY: str = "/v1/agents/{agentId}/memory"
LOG: str = "/v1/agents/{agentId}/memory/log"


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class RememberForAgent(_Shape):
    """Make an entry, replace the one under its key, or restore it."""

    tag: Literal["Remember"] = Field(alias="_tag")
    key: Key = Field(description="in NFC")
    content: Content
    kind: Annotated[str, one_of(KINDS)]


class ForgetForAgent(_Shape):
    """Retract an entry."""

    tag: Literal["Forget"] = Field(alias="_tag")
    key: Key


class AgentEdit(_Shape):
    """A command on an agent's memory, for the version that the client last saw."""

    expected: int = Field(description="`version` as last seen")
    command: Annotated[RememberForAgent | ForgetForAgent, Field(discriminator="tag")]


class AgentEntrySource(_Shape):
    """An item that supports an entry."""

    session: str
    item: str


class AgentEntryFields(_Shape):
    """One entry; `sources` are those that the caller may see, none for what a person wrote."""

    key: str
    content: str
    kind: str
    sources: list[AgentEntrySource]
    updated_at: int = Field(alias="updatedAt", description="commit time of its last change, milliseconds")
    status: EntryStatus


class AgentMemoryAnswer(_Shape):
    """The memory of an agent."""

    entries: dict[str, AgentEntryFields]
    version: int = Field(description="grows by 1 with each committed change set")


class AgentChangeFields(_Shape):
    """One version of an agent's memory."""

    version: int
    at: int = Field(description="milliseconds since the Unix epoch")
    cause: ChangeCause
    keys: list[str]


class AgentLog(_Shape):
    """The versions of an agent's memory, newest first."""

    changes: list[AgentChangeFields]


REFERENCE: Reference = {
    MEMORY: {
        "GET": Operation(summary="Read the memory of an agent", gives=AgentMemoryAnswer),
        "POST": Operation(
            summary="Change the memory of an agent",
            takes=AgentEdit,
            gives=AgentMemoryAnswer,
            errors=(*ALWAYS, *WITH_BODY),
        ),
    },
    LOG: {
        "GET": Operation(
            summary="Read the log of an agent's memory",
            gives=AgentLog,
            errors=(*ALWAYS, 400),
            query={
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LOG, "default": DEFAULT_LOG},
                "before": {"type": "integer", "minimum": 0, "description": "only versions below this one"},
            },
        )
    },
}


def memory_json(view: AgentMemoryView) -> dict[str, Any]:
    """Return the memory of an agent (AM-9)."""
    return {"entries": {entry.key: _entry_json(entry) for entry in view.entries}, "version": view.version}


def log_json(changes: Iterable[AgentChange]) -> dict[str, Any]:
    """Return rows of the log (AM-19)."""
    return {
        "changes": [
            {"version": change.version, "at": change.at, "cause": change.cause, "keys": list(change.keys)}
            for change in changes
        ]
    }


def _entry_json(entry: AgentEntryView) -> dict[str, Any]:
    return {
        "key": entry.key,
        "content": entry.content,
        "kind": entry.kind,
        "sources": [{"session": source.session, "item": source.item} for source in entry.sources],
        "updatedAt": entry.updated_at,
        "status": entry.status,
    }
