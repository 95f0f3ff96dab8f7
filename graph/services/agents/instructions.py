"""The part of a turn's instructions that comes from its agent: whom it works with, what it learned, how it shares.

Source: AM-30, AM-40 to AM-46.
"""

from __future__ import annotations

from graph.model.ids import NodeId
from graph.model.nodes.sessions import Session
from graph.store.port import Reader


async def agent_instructions(reader: Reader, session: Session, person_id: NodeId | None) -> str:
    """Return the text for a turn of a session with a person; "" if there is nothing to say.

    Args:
        reader: any reader; the text goes to the agent's model, not to a viewer.
        session: whose agent runs.
        person_id: whom the turn is for; None if nobody was named.
    """
    del reader, session, person_id
    return ""
