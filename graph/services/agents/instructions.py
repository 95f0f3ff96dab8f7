"""The part of a turn's instructions that comes from its agent: whom it works with, how it shares, what it learned.

Source: AM-30, AM-40 to AM-46.
"""

from __future__ import annotations

from graph.model.ids import NodeId, local_part
from graph.model.nodes.people import Principal
from graph.model.nodes.sessions import Session
from graph.rules.agent_memory_text import agent_text, person_called
from graph.services.agents.state import AGENTS, entries_of
from graph.store.port import Reader


async def agent_instructions(reader: Reader, session: Session, person_id: NodeId | None) -> str:
    """Return the text for a turn of a session with a person; "" if there is nothing to say.

    Args:
        reader: any reader; the text goes to the agent's model, not to a viewer.
        session: whose agent runs.
        person_id: whom the turn is for; None if nobody was named: then it is for the person of the session.
    """
    person_id = person_id or session.person_id
    wanted = [session.agent_id, *([person_id] if person_id else [])]
    found = await reader.get(AGENTS, wanted)
    agent, person = found.get(session.agent_id), found.get(person_id) if person_id else None
    return agent_text(
        person=person_called(person.display_name, local_part(person.id)) if isinstance(person, Principal) else "",
        shared=isinstance(agent, Principal) and agent.shared,
        entries=(await entries_of(reader, session.agent_id)).values(),
    )
