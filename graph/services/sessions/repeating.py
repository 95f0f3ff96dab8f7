"""What a host gets that asks again with the same idempotency key for a text that is not kept (AD-17).

Receipts hold no content, so the instructions of a turn are made anew: from the memory as it is by then.
"""

from __future__ import annotations

from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.nodes.sessions import Turn
from graph.services.access.commands import Command
from graph.services.sessions.finding import SESSIONS, hold_hosted
from graph.services.sessions.turns import instructions, turn_id


async def present_instructions(cmd: Command, session_id: NodeId, turn: str, person_id: NodeId | None) -> str:
    """Return the instructions of a turn that was begun before, for the person that the request names.

    Raises:
        Forbidden, MissingObject: as every host operation on the session.
        NotFound: it has no such turn any more.
    """
    session = await hold_hosted(cmd, session_id)
    id_ = turn_id(session, turn)
    found = (await cmd.writer.get(SESSIONS, [id_])).get(id_)
    if not isinstance(found, Turn):
        raise NotFound
    return await instructions(cmd.writer, cmd.deps.session_memory.max_length, session, person_id or found.person_id)
