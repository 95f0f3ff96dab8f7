"""Which knowledge base a command writes, and whether the caller may. Source: KN-42 to KN-45, KN-51, KN-56, KN-58."""

from __future__ import annotations

from graph.model.errors import BadInput, NotFound, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.people import PrincipalKind
from graph.rules.operations.actors import ActorRules
from graph.rules.pools import scope_of
from graph.rules.scopes import check_write, may_read
from graph.services.access.commands import Command
from graph.services.knowledge.conversations import idle_hours
from graph.services.knowledge.statements import PRESENT


async def write_target(cmd: Command, *, conversation_id: NodeId | None, kb_id: NodeId | None) -> KnowledgeBase:
    """Return the knowledge base that the caller writes, and let his session read as in the conversation.

    Raises:
        BadInput: neither a conversation nor a knowledge base is named.
        NotFound: what is named does not exist for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``: an agent without its conversation, or a base outside of it, or one
            that the caller may only read; ``CONVERSATION_CLOSED``.
    """
    if conversation_id is not None:
        return await _of_conversation(cmd, conversation_id, kb_id)
    if cmd.facts.kind is PrincipalKind.AGENT:
        raise OperationRejected("SCOPE_FORBIDDEN", "an agent writes through its conversation")
    if kb_id is None:
        raise BadInput("name a conversation or a knowledge base", field="kbId")
    return await writable_base(cmd, kb_id)


async def writable_base(cmd: Command, kb_id: NodeId) -> KnowledgeBase:
    """Return a knowledge base that a person or service may write by his role.

    Raises:
        NotFound: there is none that he may read.
        OperationRejected: ``SCOPE_FORBIDDEN``: he may only read it.
    """
    base = await _base(cmd, kb_id)
    if not may_read(cmd.session.viewer, scope_of(base)):
        raise NotFound
    check_write(cmd.facts, scope_of(base))
    return base


def actor_of(cmd: Command, reason: str | None) -> ActorRules:
    """Return the caller as the writer of a list."""
    return ActorRules(id=cmd.caller.principal, kind=cmd.actor_kind, name=cmd.facts.name, reason=reason)


async def _of_conversation(cmd: Command, conversation_id: NodeId, kb_id: NodeId | None) -> KnowledgeBase:
    facts = await cmd.session.speak_in(conversation_id, idle_hours=await idle_hours(cmd))
    if facts.pool is None:
        raise NotFound
    if kb_id is not None and kb_id != facts.pool:
        raise OperationRejected("SCOPE_FORBIDDEN", "a conversation writes to its own knowledge base alone")
    base = await _base(cmd, facts.pool)
    check_write(cmd.facts, scope_of(base), conversation=facts)
    return base


async def _base(cmd: Command, kb_id: NodeId) -> KnowledgeBase:
    base = (await cmd.writer.get(PRESENT, [kb_id])).get(kb_id)
    if not isinstance(base, KnowledgeBase) or base.workspace != cmd.caller.workspace:
        raise NotFound
    return base
