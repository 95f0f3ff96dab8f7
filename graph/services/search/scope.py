"""Where a search may look: the read set of a conversation, or what a role allows of one owner (RE-6, RE-35, KN-56)."""

from __future__ import annotations

from graph.model.access import Viewer
from graph.model.errors import BadInput
from graph.model.ids import NodeId
from graph.model.nodes.people import PrincipalKind
from graph.rules.knowledge_settings import Settings
from graph.rules.pools import conversation_bases
from graph.services.access.session import Session
from graph.services.knowledge.owners import check_named, narrowed_to


async def searched(
    session: Session,
    settings: Settings,
    *,
    conversation_id: NodeId | None,
    owner_id: NodeId | None,
    kb_ids: tuple[NodeId, ...] | None,
) -> Viewer:
    """Return the viewer whose eyes a search uses, narrowed to what was asked for.

    Raises:
        BadInput: neither a conversation nor an owner is named.
        NotFound: no such conversation for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``, an agent names bases that its conversation does not read (KN-56).
    """
    if conversation_id is not None:
        return await _of_conversation(session, settings, conversation_id, kb_ids)
    if session.facts.kind is PrincipalKind.AGENT:
        raise BadInput("an agent reads in a conversation: name conversationId", field="conversationId")
    if owner_id is None:
        raise BadInput("name a conversation, or an owner whose knowledge to search", field="ownerId")
    return await narrowed_to(session, owner_id, kb_ids)


async def _of_conversation(
    session: Session, settings: Settings, conversation_id: NodeId, kb_ids: tuple[NodeId, ...] | None
) -> Viewer:
    facts = await session.speak_in(conversation_id, idle_hours=settings["conversation.idle_hours"])
    check_named(session, kb_ids)
    pools = conversation_bases(session.facts, facts)
    return session.narrowed(pools if kb_ids is None else pools & set(kb_ids))
