"""Promotion: the lasting entries of a session's memory become its agent's. Source: AM-47 to AM-52."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sessions import AgentMemory, ChangeCause, Session, SessionFact, SessionItem
from graph.rules.agent_memory import carried_over, fact_items
from graph.rules.rights import surface_rights
from graph.services.access.commands import Command
from graph.services.agents.state import VersionStep, entries_of, hold_memory, memory_id, write_version
from graph.services.sessions.finding import SESSIONS, hold_hosted, hold_session
from graph.services.sessions.state import MEMORY, current_facts


async def promote(cmd: Command, session_id: NodeId) -> AgentMemory:
    """Carry what lasts of a session's memory over to its agent and return the agent's memory as it is then.

    A host promotes inside its object; anyone else who may write both the session and its agent.

    Raises:
        Forbidden: he is no host, and may not write both; whether there is such a session does not matter.
        MissingObject: ``SessionNotFound``: no such session inside the object of a host.
    """
    session = await _held(cmd, session_id)
    pool = await hold_memory(cmd, session.agent_id)
    facts = list((await current_facts(cmd.writer, session.id)).values())
    known = await entries_of(cmd.writer, session.agent_id)
    entries = carried_over(facts, await _types(cmd, facts), known, session.person_id)
    if not entries:
        return pool
    step = VersionStep(
        cause=ChangeCause.PROMOTION,
        operation="agent.promote",
        actor=cmd.facts.principal,
        actor_kind=cmd.actor_kind,
        entries=entries,
    )
    return await write_version(cmd, pool, step)


async def _held(cmd: Command, session_id: NodeId) -> Session:
    """Lock the session that the caller may promote, with the memory of its agent, and return it."""
    found = (await cmd.writer.get(SESSIONS, [session_id])).get(session_id)
    if isinstance(found, Session) and found.workspace == cmd.caller.workspace:
        await cmd.writer.lock([memory_id(found.agent_id), found.id])
        own = surface_rights(cmd.facts, found.id, person=found.person_id)
        if Right.WRITE in own and Right.WRITE in surface_rights(cmd.facts, found.agent_id):
            return await hold_session(cmd.writer, found.id)
    return await hold_hosted(cmd, session_id)


async def _types(cmd: Command, facts: Sequence[SessionFact]) -> Mapping[NodeId, str]:
    wanted = sorted({item for fact in facts for item in fact_items(fact)})
    found = (await cmd.writer.get(MEMORY, wanted)).values() if wanted else ()
    return {item.id: item.type for item in found if isinstance(item, SessionItem)}
