"""Reading the memory of an agent and its log. Source: AM-1 to AM-9, AM-17 to AM-19, AM-39, AM-44."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.errors import InvalidRequest
from graph.model.ids import NodeId
from graph.model.nodes.sessions import AgentChange, AgentEntry
from graph.model.time import Millis
from graph.rules.agent_memory import AgentSource as AgentSource
from graph.rules.agent_memory import SourceSight, source_id, sources_of, sources_shown
from graph.services.access.session import Session
from graph.services.agents.state import AGENTS, check_readable, find_memory, memory_id
from graph.store.query import And, By, Eq, Find, Range

MAX_LOG: Final = 1_000
DEFAULT_LOG: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentEntryView:
    """An entry as a reader of the agent sees it: `sources` are those that he himself may see (AM-44).

    Attributes:
        id: of the node.
    """

    id: NodeId
    agent_id: NodeId
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
    """Return the memory of an agent, entries and version of one state.

    Raises:
        MissingObject: ``AgentNotFound``: no such agent, or none that the caller may read.
    """
    await check_readable(session.reader, session.facts, agent_id)
    version, entries = await _one_state(session, agent_id)
    views = await shown_entries(session, entries)
    return AgentMemoryView(entries=tuple(sorted(views, key=lambda view: view.key)), version=version)


async def shown_entries(session: Session, entries: Sequence[AgentEntry]) -> Sequence[AgentEntryView]:
    """Return entries that the reader was found to see, with those of their sources that he may see too (AM-44)."""
    sight = await _sight(session, entries)
    return [_view(entry, sight) for entry in entries]


async def agent_entry_views(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, AgentEntryView]:
    """Return those of the entries that the reader may see, by id (KN-121)."""
    found = [node for node in (await session.open(ids)).values() if isinstance(node, AgentEntry)]
    return {view.id: view for view in await shown_entries(session, found)}


async def agent_memory_log(
    session: Session, agent_id: NodeId, limit: int = DEFAULT_LOG, before: int | None = None
) -> tuple[AgentChange, ...]:
    """Return the versions of an agent's memory, newest first (AM-18, AM-19).

    Args:
        session: of the reader.
        agent_id: whose memory.
        limit: 1 to 1000.
        before: only versions below this one.

    Raises:
        MissingObject: ``AgentNotFound``.
        InvalidRequest: `limit` is out of its range.
    """
    await check_readable(session.reader, session.facts, agent_id)
    if not 1 <= limit <= MAX_LOG:
        raise InvalidRequest(f"limit is 1 to {MAX_LOG}", path="limit")
    where = And((Eq("pool", memory_id(agent_id)), Range("version", None, before)))
    query = Find(kind=AgentChange, where=where, order=By("version", descending=True), first=limit)
    return (await session.reader.find(AGENTS, query)).nodes


async def _one_state(session: Session, agent_id: NodeId) -> tuple[int, Sequence[AgentEntry]]:
    """Return version and entries; read again if a version was made in between, where a store lets that happen."""
    version = await _version(session, agent_id)
    while True:
        page = await session.page(Find(kind=AgentEntry, where=Eq("agent_id", agent_id)))
        now = await _version(session, agent_id)
        if now == version:
            return version, page.nodes
        version = now


async def _version(session: Session, agent_id: NodeId) -> int:
    pool = await find_memory(session.reader, agent_id)
    return 0 if pool is None else pool.version


async def _sight(session: Session, entries: Sequence[AgentEntry]) -> SourceSight:
    """Return which of the items behind these entries there are, and which of them the reader may see."""
    named = sorted({source_id(entry.workspace, source) for entry in entries for source in sources_of(entry)})
    there = await session.reader.get(AGENTS, named) if named else {}
    shown = await session.open(named) if named else {}
    return SourceSight(viewer=session.facts.principal, shown=frozenset(shown), there=frozenset(there))


def _view(entry: AgentEntry, sight: SourceSight) -> AgentEntryView:
    return AgentEntryView(
        id=entry.id,
        agent_id=entry.agent_id,
        key=entry.key,
        content=entry.content,
        kind=entry.kind,
        status=entry.status,
        sources=sources_shown(entry, sight),
        updated_at=entry.updated_at,
    )
