"""Reads in the name of one knowledge base: what a prompt may hold and what its answer may name (KN-54, DR-10, DR-33).

A batch writes to one base. Its session sees what that base reads, the agent's `shared` and `agent` knowledge and the
base's own, and nothing else: neither another channel or private chat nor what another agent granted (KN-53, KN-55).
"""

from __future__ import annotations

from collections.abc import Iterable

from graph.model.access import SystemScope
from graph.model.errors import OperationRejected
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.pools import scope_of
from graph.rules.rights import ChannelFacts
from graph.rules.scopes import ConversationFacts, KbScope, MemoryScope, make_viewer, prompt_allowed, viewer_of_base
from graph.services.access.caller import Caller
from graph.services.access.session import Session
from graph.services.deps import Deps

_NAMES = SystemScope(reason="what agents are called in their own prompts")
_MEMORY = {KbKind.CHANNEL: MemoryScope.CHANNEL, KbKind.PRIVATE: MemoryScope.PRIVATE}


def agent_caller(base: KnowledgeBase) -> Caller:
    """Return the owner of a base as the caller in whose name a learner reads and writes it."""
    return Caller(workspace=base.workspace, principal=base.owner_id, kind=PrincipalKind.AGENT)


async def agent_name(deps: Deps, agent: NodeId) -> str:
    """Return what an agent is called in its prompts; empty for one that is not there."""
    async with deps.store.reading() as reader:
        found = (await reader.get(_NAMES, [agent])).get(agent)
    return found.display_name if isinstance(found, Principal) else ""


def read_as_base(session: Session, base: KnowledgeBase) -> None:
    """Let a session of the owning agent see what the base reads, and nothing more."""
    session.conversation = _place(base)
    widest = make_viewer(session.facts, conversation=session.conversation)
    session.own_viewer = viewer_of_base(widest, scope_of(base))


async def check_prompt(session: Session, base: KnowledgeBase, shown: Iterable[Node]) -> None:
    """Refuse a prompt that would hold what the base does not read; the last look before a model is asked (KN-54).

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN``.
    """
    scopes = [await _scope(session, pool) for pool in sorted({node.pool for node in shown if node.pool})]
    if not prompt_allowed(scope_of(base), [scope for scope in scopes if scope is not None]):
        raise OperationRejected("SCOPE_FORBIDDEN", "a prompt holds only what the written knowledge base reads")


async def _scope(session: Session, pool: NodeId) -> KbScope | None:
    base = await session.base(pool)
    return None if base is None else scope_of(base)


def _place(base: KnowledgeBase) -> ConversationFacts:
    """Return a conversation that reads as the base does; the wider bases are read like a shared channel."""
    kind = ChannelKind.PRIVATE_CHAT if base.kind == KbKind.PRIVATE else ChannelKind.SHARED_CHANNEL
    place = base.channel_id or base.id
    return ConversationFacts(
        id=place,
        workspace=base.workspace,
        channel=ChannelFacts(id=place, owner=base.owner_id, kind=kind),
        memory_scope=_MEMORY.get(KbKind(base.kind), MemoryScope.SHARED),
    )
