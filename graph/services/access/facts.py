"""Reads the facts from which `graph.rules.scopes` makes viewers; they are read within the request and never kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import NotFound
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.bots import BotPool
from graph.model.nodes.evidence import Channel, Conversation
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.people import Grant, Group, Organization, Principal, PrincipalKind, Right
from graph.model.time import Millis
from graph.rules.bot_entries import pool_of
from graph.rules.pools import channel_facts, conversation_facts, is_over
from graph.rules.rights import ChannelFacts, GrantFact, ViewerFacts, readable_agents
from graph.rules.scopes import ConversationFacts
from graph.services.access.caller import Caller
from graph.store.port import Reader
from graph.store.query import And, Direction, Eq, Find, In

VIEWER_FACTS = SystemScope(reason="facts about the viewer")
_FACTS = (EdgeType.MEMBER_OF, EdgeType.READS_SHARED)


async def load_facts(reader: Reader, caller: Caller) -> ViewerFacts:
    """Return what is known about the caller now.

    The principal is read first: his `access_version` moves whenever one of the other facts does.

    Raises:
        NotFound: the principal does not exist any more.
    """
    first: Sequence[Callable[[], Awaitable[Any]]] = (
        lambda: reader.get(VIEWER_FACTS, [caller.principal]),
        lambda: grants_of(reader, caller.principal),
        lambda: reader.edges(VIEWER_FACTS, [caller.principal], _FACTS, Direction.OUT),
    )
    found, grants, edges = await reader.together(first)
    principal = found.get(caller.principal)
    if not isinstance(principal, Principal) or principal.workspace != caller.workspace:
        raise NotFound
    belongs = [edge.target for edge in edges if edge.type is EdgeType.MEMBER_OF]
    organizations = frozenset(target for target in belongs if prefix_of(target) == Organization.PREFIX)
    is_admin = any(g.right is Right.ADMIN and g.object_id == caller.workspace_node for g in grants)
    then: Sequence[Callable[[], Awaitable[Any]]] = (
        lambda: _serving(reader, organizations),
        lambda: _agents(reader, caller, is_admin=is_admin),
        lambda: _channels(reader, belongs),
        lambda: _reads_shared(reader, principal, edges),
    )
    serving, agents, channels, reads_shared = await reader.together(then)
    return ViewerFacts(
        workspace=caller.workspace,
        workspace_node=caller.workspace_node,
        principal=caller.principal,
        kind=PrincipalKind(principal.kind),
        grants=grants,
        agents=agents,
        channels=channels,
        reads_shared=reads_shared,
        organization=_organization(caller, organizations),
        groups=frozenset(target for target in belongs if prefix_of(target) == Group.PREFIX),
        serving=serving,
        homes=await _homes(reader, serving, grants),
        token_rights=caller.rights,
        disabled=principal.disabled_at is not None,
        access_version=principal.access_version,
        name=principal.display_name,
    )


async def _serving(reader: Reader, organizations: frozenset[NodeId]) -> frozenset[NodeId]:
    """Return the agents that serve any of these organizations."""
    if not organizations:
        return frozenset()
    edges = await reader.edges(VIEWER_FACTS, sorted(organizations), [EdgeType.SERVES], Direction.IN)
    return frozenset(edge.source for edge in edges)


def _organization(caller: Caller, organizations: frozenset[NodeId]) -> NodeId | None:
    """Return the organization that a request is made in; a credential without one means the only one there is."""
    if caller.organization is not None:
        return caller.organization if caller.organization in organizations else None
    return next(iter(organizations)) if len(organizations) == 1 else None


async def _homes(reader: Reader, serving: frozenset[NodeId], grants: Iterable[GrantFact]) -> Mapping[NodeId, NodeId]:
    """Return the homes of linked bots among the agents that the caller may read."""
    granted = {grant.object_id for grant in grants if grant.right in (Right.READ, Right.WRITE)}
    agents = sorted(serving | {id_ for id_ in granted if prefix_of(id_) == Principal.PREFIX})
    found = (await reader.get(VIEWER_FACTS, agents)).values() if agents else ()
    return {node.id: node.home_id for node in found if isinstance(node, Principal) and node.home_id is not None}


async def grants_of(reader: Reader, principal: NodeId) -> tuple[GrantFact, ...]:
    """Return the grants of a principal."""
    page = await reader.find(VIEWER_FACTS, Find(kind=Grant, where=Eq("principal_id", principal)))
    return tuple(GrantFact(right=Right(grant.right), object_id=grant.object_id) for grant in page.nodes)


async def channels_of(reader: Reader, principal: NodeId) -> tuple[ChannelFacts, ...]:
    """Return the channels that a principal is a member of, himself or through a group, in id order."""
    edges = await reader.edges(VIEWER_FACTS, [principal], [EdgeType.MEMBER_OF], Direction.OUT)
    return await _channels(reader, [edge.target for edge in edges])


async def _channels(reader: Reader, targets: Sequence[NodeId]) -> tuple[ChannelFacts, ...]:
    own = [target for target in targets if prefix_of(target) == Channel.PREFIX]
    groups = [target for target in targets if prefix_of(target) == Group.PREFIX]
    there = (await reader.get(VIEWER_FACTS, own)).values() if own else ()
    found = [node for node in there if isinstance(node, Channel)]
    if groups:
        found += (await reader.find(VIEWER_FACTS, Find(kind=Channel, where=In("group_id", groups)))).nodes
    return tuple(channel_facts(channel) for channel in sorted(set(found), key=lambda c: c.id))


async def load_conversation(
    reader: Reader, conversation_id: NodeId, *, now: Millis, idle_hours: float
) -> tuple[Conversation, ConversationFacts]:
    """Return a conversation and what the rules of scope need of it.

    Raises:
        NotFound: there is none of this id.
    """
    conversation = (await reader.get(VIEWER_FACTS, [conversation_id])).get(conversation_id)
    if not isinstance(conversation, Conversation):
        raise NotFound
    channel = (await reader.get(VIEWER_FACTS, [conversation.channel_id])).get(conversation.channel_id)
    if not isinstance(channel, Channel):
        raise NotFound
    over = is_over(conversation, now, idle_hours)
    return conversation, conversation_facts(conversation, channel, over=over)


async def versions_of(reader: Reader, ids: Sequence[NodeId]) -> dict[NodeId, int]:
    """Return the access versions of these people, agents and pools, as far as they are there."""
    found = await reader.get(VIEWER_FACTS, ids)
    return {node.id: node.access_version for node in found.values() if isinstance(node, Principal | BotPool)}


async def base_versions(reader: Reader, caller: Caller) -> dict[NodeId, int]:
    """Return the access versions of all knowledge bases of the caller's workspace.

    They move with grants, membership, status, tags and withdrawals, not with ordinary writes (KN-116).
    """
    bases = await reader.find(VIEWER_FACTS, Find(kind=KnowledgeBase, where=Eq("workspace", caller.workspace)))
    return {base.id: base.access_version for base in bases.nodes}


def bot_pools(facts: ViewerFacts) -> list[NodeId]:
    """Return the pools of the bots that a principal reads, whether or not they are there yet."""
    return [pool_of(facts.workspace, agent) for agent in readable_agents(facts) if prefix_of(agent) == Principal.PREFIX]


async def _agents(reader: Reader, caller: Caller, *, is_admin: bool) -> frozenset[NodeId]:
    """Return all agents of the workspace; only an admin may know of them."""
    if not is_admin:
        return frozenset()
    where = And((Eq("workspace", caller.workspace), Eq("kind", PrincipalKind.AGENT)))
    page = await reader.find(VIEWER_FACTS, Find(kind=Principal, where=where))
    return frozenset(agent.id for agent in page.nodes)


async def _reads_shared(reader: Reader, principal: Principal, edges: Sequence[Edge]) -> frozenset[NodeId]:
    granted = [edge.target for edge in edges if edge.type is EdgeType.READS_SHARED]
    if principal.kind != PrincipalKind.AGENT or not granted:
        return frozenset()
    bases = await reader.get(VIEWER_FACTS, granted)
    return frozenset(base.owner_id for base in bases.values() if isinstance(base, KnowledgeBase))
