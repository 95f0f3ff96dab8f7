"""What people change in the memory of an agent: remember and forget. Source: AM-10 to AM-17."""

from __future__ import annotations

from graph.model.errors import SurfaceConflict
from graph.model.ids import NodeId
from graph.model.nodes.sessions import AgentMemory, ChangeCause, EntryStatus
from graph.rules.agent_memory import CONFLICT, EntryState, check_room, check_version, checked_agent_kind
from graph.rules.session_memory import checked_content, checked_key
from graph.services.access.commands import Command
from graph.services.agents.state import VersionStep, entries_of, hold_writable, write_version


async def remember(
    cmd: Command, agent_id: NodeId, *, expected_version: int, key: str, content: str, kind: str
) -> AgentMemory:
    """Create, replace or restore an entry and return the memory as it is then.

    Raises:
        MissingObject: ``AgentNotFound``.
        Forbidden: the caller may read but not write.
        InvalidRequest: a key, content or kind that cannot be taken.
        SurfaceConflict: ``AgentMemoryConflict``: ``stale`` or ``memory_full``.
    """
    pool = await hold_writable(cmd, agent_id)
    name, text, sort = checked_key(key), checked_content(content), checked_agent_kind(kind)
    check_version(pool.version, expected_version)
    entries = await entries_of(cmd.writer, agent_id)
    before = entries.get(name)
    if before is None or before.status != EntryStatus.ACTIVE:
        check_room(entries.values())
    return await _edit(cmd, pool, "agent.remember", name, text, sort, EntryStatus.ACTIVE)


async def forget(cmd: Command, agent_id: NodeId, *, expected_version: int, key: str) -> AgentMemory:
    """Retract an entry, once more if it is retracted already, and return the memory as it is then.

    Raises:
        MissingObject, Forbidden, InvalidRequest: as `remember`.
        SurfaceConflict: ``AgentMemoryConflict``: ``stale`` or ``unknown_key``.
    """
    pool = await hold_writable(cmd, agent_id)
    name = checked_key(key)
    check_version(pool.version, expected_version)
    before = (await entries_of(cmd.writer, agent_id)).get(name)
    if before is None:
        raise SurfaceConflict(CONFLICT, "unknown_key", "no entry has this key")
    return await _edit(cmd, pool, "agent.forget", name, before.content, before.kind, EntryStatus.RETRACTED)


async def _edit(
    cmd: Command, pool: AgentMemory, operation: str, key: str, content: str, kind: str, status: EntryStatus
) -> AgentMemory:
    """Write a person's edit: it has no sources, the log tells that a person did it (AM-6)."""
    state = EntryState(key=key, content=content, kind=kind, status=status, updated_at=cmd.at, people={}, by_person=True)
    step = VersionStep(
        cause=ChangeCause.PERSON,
        operation=operation,
        actor=cmd.facts.principal,
        actor_kind=cmd.actor_kind,
        entries=(state,),
    )
    return await write_version(cmd, pool, step)
