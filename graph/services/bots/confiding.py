"""Where a bot confides: a chat that the caller reports for, and the turn that runs in it (BM-65, BM-70)."""

from __future__ import annotations

from graph.model.errors import MissingObject
from graph.model.ids import NodeId, local_part
from graph.model.nodes.bots import Chat
from graph.model.nodes.sessions import Turn, TurnState
from graph.rules.rights import may_host
from graph.services.access.session import Session
from graph.services.bots.chat_access import CHAT_NOT_FOUND, CHATS, TURN_NOT_FOUND, find_chat, require_some_host
from graph.store.query import And, By, Eq, Find


async def reported_chat(session: Session, chat_id: NodeId) -> Chat:
    """Return a chat that the caller reports for.

    Raises:
        Forbidden: the caller hosts nothing.
        MissingObject: ``ChatNotFound``: unknown, or outside what he hosts, which answers alike (AD-15).
    """
    require_some_host(session.facts)
    found = await find_chat(session.reader, chat_id)
    is_here = found is not None and found.workspace == session.caller.workspace
    if found is None or not is_here or not may_host(session.facts, found.organization_id):
        raise MissingObject(CHAT_NOT_FOUND)
    return found


async def running_turn(session: Session, chat: Chat) -> str:
    """Return the local id of the turn that runs in a chat; of several the one that came last.

    Raises:
        MissingObject: ``TurnNotFound``: none runs.
    """
    where = And((Eq("place_id", chat.id), Eq("state", str(TurnState.RUNNING))))
    query = Find(kind=Turn, where=where, order=By("seq", descending=True), first=1)
    found = (await session.reader.find(CHATS, query)).nodes
    if not found:
        raise MissingObject(TURN_NOT_FOUND)
    return local_part(found[0].id)
