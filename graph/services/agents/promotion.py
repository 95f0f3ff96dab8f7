"""Promotion: the lasting entries of a session's memory become its agent's. Source: AM-47 to AM-52."""

from __future__ import annotations

from graph.model.ids import NodeId
from graph.model.nodes.sessions import AgentMemory
from graph.services.access.commands import Command


async def promote(cmd: Command, session_id: NodeId) -> AgentMemory:
    """Carry what lasts of a session's memory over to its agent and return the agent's pool as it is then.

    Raises:
        MissingObject: ``SessionNotFound``: no such session, or neither a host of its organization nor who may
            write both the session and its agent.
    """
    raise NotImplementedError
