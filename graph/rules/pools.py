"""The pools of knowledge: their ids and which one a conversation writes to. Source: KN-40 to KN-48, KN-104."""

from __future__ import annotations

from functools import lru_cache

from graph.model.access import Clause
from graph.model.ids import NodeId, WorkspaceId, local_part, node_id
from graph.model.nodes.evidence import Channel, ChannelKind, Conversation, RoutingRule
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.people import PrincipalKind
from graph.model.time import HOUR_MS, Millis
from graph.rules.rights import ChannelFacts, ViewerFacts
from graph.rules.scopes import (
    ConversationFacts,
    KbScope,
    MemoryScope,
    RoutingFacts,
    memory_scope_for,
    pool_clause,
    read_set,
)


def base_id(workspace: str, owner: NodeId, kind: KbKind, channel: NodeId | None = None) -> NodeId:
    """Return the id of a knowledge base: made from what it is, so that two first uses make the same one.

    >>> base_id("w", NodeId("prn_w/agent/atlas"), KbKind.CHANNEL, NodeId("chn_w/atlas/ops"))
    'knb_w/atlas/channel:ops'
    """
    place = f"{kind}:{local_part(channel)}" if channel else str(kind)
    return node_id(KnowledgeBase.PREFIX, f"{workspace}/{local_part(owner)}/{place}")


def new_base(
    workspace: str, owner: NodeId, kind: KbKind, at: Millis, *, channel: NodeId | None = None
) -> KnowledgeBase:
    """Return an empty knowledge base of `owner`."""
    own_id = base_id(workspace, owner, kind, channel)
    return KnowledgeBase(
        id=own_id,
        workspace=WorkspaceId(workspace),
        pool=own_id,
        created_at=at,
        owner_id=owner,
        kind=kind,
        channel_id=channel,
    )


def scope_of(base: KnowledgeBase) -> KbScope:
    """Return what identifies a base for the rules of scope."""
    return _scope(base.kind, base.owner_id, base.channel_id)


@lru_cache(maxsize=1_000)
def _scope(kind: str, owner: NodeId, channel: NodeId | None) -> KbScope:
    """Return the same value for the same base: it is asked for with every citation."""
    return KbScope(kind=KbKind(kind), owner=owner, channel=channel)


def clause_of(base: KnowledgeBase) -> Clause:
    """Return the own rules of everything that lives in a base."""
    return pool_clause(scope_of(base))


def write_base(channel: Channel, rule: RoutingRule | None, at: Millis) -> KnowledgeBase:
    """Return the base that a new conversation of `channel` writes to, as it is before its first use."""
    kind = KbKind(memory_scope_for(channel_facts(channel), routing_facts(rule)))
    own = None if kind is KbKind.SHARED else channel.id
    return new_base(channel.workspace, channel.owner_id, kind, at, channel=own)


def conversation_bases(facts: ViewerFacts, conversation: ConversationFacts | None) -> frozenset[NodeId]:
    """Return the ids of the bases that are read in a conversation, made or not; without one there are none.

    An agent also reads the shared ones that it was granted (KN-55).
    """
    if conversation is None:
        return frozenset()
    scopes = set(read_set(conversation))
    if facts.kind is PrincipalKind.AGENT:
        scopes |= {KbScope(kind=KbKind.SHARED, owner=owner) for owner in facts.reads_shared}
    return frozenset(base_id(facts.workspace, kb.owner, kb.kind, kb.channel) for kb in scopes)


def channel_facts(channel: Channel) -> ChannelFacts:
    """Return a channel as the rules of scope see it."""
    return ChannelFacts(id=channel.id, owner=channel.owner_id, kind=ChannelKind(channel.kind))


def routing_facts(rule: RoutingRule | None) -> RoutingFacts | None:
    """Return a routing rule as the rules of scope see it."""
    if rule is None:
        return None
    return RoutingFacts(memory_scope=MemoryScope(rule.memory_scope), isolated=rule.isolated)


def conversation_facts(conversation: Conversation, channel: Channel, *, over: bool = False) -> ConversationFacts:
    """Return a conversation as the rules of scope see it; `over` adds that it has been idle too long."""
    return ConversationFacts(
        id=conversation.id,
        workspace=conversation.workspace,
        channel=channel_facts(channel),
        memory_scope=MemoryScope(conversation.memory_scope),
        closed=over or conversation.closed_at is not None,
        pool=conversation.pool,
    )


def is_over(conversation: Conversation, now: Millis, idle_hours: float) -> bool:
    """Return whether a conversation was closed or has been idle too long (KN-51)."""
    return conversation.closed_at is not None or now - conversation.last_message_at >= idle_hours * HOUR_MS
