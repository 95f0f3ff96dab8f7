"""Reading the memory of an agent and its log. Source: AM-1 to AM-9, AM-17 to AM-19, AM-44."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.sessions import AgentChange
from graph.model.time import Millis
from graph.services.access.session import Session


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentSource:
    """An item that supports an entry, by local ids."""

    session: str
    item: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentEntryView:
    """An entry as a reader of the agent sees it: `sources` are those that he himself may see (AM-44).

    Attributes:
        id: of the node.
    """

    id: NodeId
    key: str
    content: str
    kind: str
    status: str
    sources: tuple[AgentSource, ...]
    updated_at: Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentMemoryView:
    """All entries of an agent, keys ascending, and the version of its memory."""

    entries: tuple[AgentEntryView, ...]
    version: int


async def agent_memory(session: Session, agent_id: NodeId) -> AgentMemoryView:
    """Return the memory of an agent.

    Raises:
        MissingObject: ``AgentNotFound``: no such agent, or none that the caller may read.
    """
    raise NotImplementedError


async def agent_memory_log(
    session: Session, agent_id: NodeId, limit: int = 100, before: int | None = None
) -> tuple[AgentChange, ...]:
    """Return the versions of an agent's memory, newest first (AM-18, AM-19).

    Args:
        session: of the reader.
        agent_id: whose memory.
        limit: 1 to 1000.
        before: only versions below this one.

    Raises:
        MissingObject: ``AgentNotFound``.
        InvalidRequest: `limit` or `before` is none.
    """
    raise NotImplementedError
