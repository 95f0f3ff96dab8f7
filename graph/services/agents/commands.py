"""What people change in the memory of an agent: remember and forget. Source: AM-10 to AM-17."""

from __future__ import annotations

from graph.model.ids import NodeId
from graph.model.nodes.sessions import AgentMemory
from graph.services.access.commands import Command


async def remember(
    cmd: Command, agent_id: NodeId, *, expected_version: int, key: str, content: str, kind: str
) -> AgentMemory:
    """Create, replace or restore an entry and return the pool as it is then.

    Raises:
        MissingObject: ``AgentNotFound``.
        Forbidden: the caller may read but not write.
        InvalidRequest: a key, content or kind that cannot be taken.
        SurfaceConflict: ``AgentMemoryConflict``: ``stale`` or ``memory_full``.
    """
    raise NotImplementedError


async def forget(cmd: Command, agent_id: NodeId, *, expected_version: int, key: str) -> AgentMemory:
    """Retract an entry and return the pool as it is then.

    Raises:
        MissingObject, Forbidden, InvalidRequest: as `remember`.
        SurfaceConflict: ``AgentMemoryConflict``: ``stale`` or ``unknown_key``.
    """
    raise NotImplementedError
