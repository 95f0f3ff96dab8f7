"""What agents remember over all their sessions. Source: AM-9 to AM-19."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rootward.service.calls import Ask, reads, reads_all
from rootward.service.operations import AsyncSurface, SyncSurface, operation

_MEMORY = "/v1/agents/{agentId}/memory"


@dataclass(frozen=True, kw_only=True)
class AgentSource:
    """An item that supports an entry, by the ids of its session and its own."""

    session: str
    item: str


@dataclass(frozen=True, kw_only=True)
class AgentEntry:
    """One entry; `sources` are those that the caller may see, none for what a person wrote."""

    key: str
    content: str
    kind: str
    sources: tuple[AgentSource, ...]
    updated_at: int
    status: str


@dataclass(frozen=True, kw_only=True)
class AgentMemory:
    """What an agent remembers, by key; `version` grows by 1 with each change."""

    entries: Mapping[str, AgentEntry]
    version: int


@dataclass(frozen=True, kw_only=True)
class AgentChange:
    """One version of an agent's memory; `at` is in milliseconds since the Unix epoch."""

    version: int
    at: int
    cause: str
    keys: tuple[str, ...]


@operation("GET", _MEMORY)
def read_memory(agent_id: str) -> Ask[AgentMemory]:
    """Read what an agent remembers."""
    return Ask(ids=[agent_id], read=reads(AgentMemory))


@operation("POST", _MEMORY)
def remember(agent_id: str, *, expected_version: int, key: str, content: str, kind: str) -> Ask[AgentMemory]:
    """Make an entry, replace the one under its key, or restore it.

    Raises:
        Conflict: ``AgentMemoryConflict``, reason ``stale``: the memory is at another version.
    """
    command = {"_tag": "Remember", "key": key, "content": content, "kind": kind}
    return Ask(ids=[agent_id], body={"expected": expected_version, "command": command}, read=reads(AgentMemory))


@operation("POST", _MEMORY)
def forget(agent_id: str, *, expected_version: int, key: str) -> Ask[AgentMemory]:
    """Retract an entry."""
    command = {"_tag": "Forget", "key": key}
    return Ask(ids=[agent_id], body={"expected": expected_version, "command": command}, read=reads(AgentMemory))


@operation("GET", f"{_MEMORY}/log")
def read_log(agent_id: str, *, limit: int | None = None, before: int | None = None) -> Ask[tuple[AgentChange, ...]]:
    """Read the versions of an agent's memory, newest first; only those below `before`."""
    return Ask(ids=[agent_id], query={"limit": limit, "before": before}, read=reads_all(AgentChange, "changes"))


class AgentOperations:
    """What can be done with the memory of agents."""

    memory = read_memory
    remember = remember
    forget = forget
    log = read_log


class Agents(AgentOperations, SyncSurface):
    """The memory of agents, waiting in the thread."""


class AsyncAgents(AgentOperations, AsyncSurface):
    """The memory of agents, waiting in the task."""
