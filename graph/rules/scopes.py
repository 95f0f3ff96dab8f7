"""Scopes of knowledge: what a conversation reads and writes, what may be cited where, and the only maker of viewers.

All functions are pure: a service reads the facts, these decide. Source: KN-39 to KN-58, AD-5.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from graph.model.access import ALL_AGENTS, Clause, Rule, RuleKind, Viewer, for_rule
from graph.model.errors import NotFound, OperationRejected
from graph.model.ids import NodeId, WorkspaceId, prefix_of
from graph.model.nodes.bots import Chat
from graph.model.nodes.evidence import ChannelKind
from graph.model.nodes.knowledge import KbKind
from graph.model.nodes.people import PrincipalKind, Right, Workspace
from graph.model.nodes.sessions import Session
from graph.model.nodes.workspace import WorkspaceMemory
from graph.rules.rights import (
    ChannelFacts,
    ViewerFacts,
    agents_with_role,
    audited_agents,
    audits_workspace,
    implied,
    may_audit,
    readable_agents,
    rights_on,
    role_on,
)


class MemoryScope(StrEnum):
    """Which memory a conversation uses; fixed when it is opened (KN-49)."""

    SHARED = "shared"
    CHANNEL = "channel"
    PRIVATE = "private"


@dataclass(frozen=True, kw_only=True, slots=True)
class KbScope:
    """What identifies a knowledge base before and after it exists: bases are created on first use (KN-40).

    Attributes:
        owner: the owning agent; for a guide base the person.
        channel: the channel or private chat of a base of that kind, else None.
    """

    kind: KbKind
    owner: NodeId
    channel: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RoutingFacts:
    """The routing rule of a shared channel."""

    memory_scope: MemoryScope
    isolated: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class ConversationFacts:
    """An open or closed conversation, with the memory scope it was opened with.

    Attributes:
        pool: the knowledge base it writes to, if it has one.
    """

    id: NodeId
    workspace: WorkspaceId
    channel: ChannelFacts
    memory_scope: MemoryScope
    closed: bool = False
    pool: NodeId | None = None


def pool_rule(kb: KbScope) -> Rule:
    """Return the rule that everything in the knowledge base carries.

    The agent in it is its owner, whose auditors pass; a guide base has none, so only its person passes.

    Raises:
        ValueError: a channel or private base without a channel.
    """
    if kb.kind is KbKind.GUIDE:
        return Rule(RuleKind.PERSON, kb.owner)
    if kb.kind in (KbKind.SHARED, KbKind.AGENT):
        kind = RuleKind.SHARED if kb.kind is KbKind.SHARED else RuleKind.AGENT
        return Rule(kind, kb.owner, kb.owner)
    if kb.channel is None:
        raise ValueError(f"a {kb.kind} knowledge base needs a channel")
    kind = RuleKind.PRIVATE if kb.kind is KbKind.PRIVATE else RuleKind.CHANNEL
    return Rule(kind, kb.channel, kb.owner)


def pool_clause(kb: KbScope) -> Clause:
    """Return the own rules of a node in the knowledge base, as its guard takes them."""
    return frozenset({pool_rule(kb)})


def memory_scope_for(channel: ChannelFacts, rule: RoutingFacts | None) -> MemoryScope:
    """Return the memory scope with which the next conversation of the channel opens.

    A private chat has its own; a shared channel follows its routing rule and without one uses the narrower choice.

    Source: KN-46, KN-47, KN-50.
    """
    if channel.kind is ChannelKind.PRIVATE_CHAT:
        return MemoryScope.PRIVATE
    return rule.memory_scope if rule else MemoryScope.CHANNEL


def check_routing(channel: ChannelFacts, rule: RoutingFacts) -> None:
    """Refuse a routing rule that the contract forbids.

    Raises:
        OperationRejected: ``ISOLATED_CHANNEL``: an isolated channel may not use shared memory (KN-48);
            ``BAD_INPUT``: only shared channels are routed, to `shared` or `channel` (KN-10).
    """
    if channel.kind is not ChannelKind.SHARED_CHANNEL or rule.memory_scope is MemoryScope.PRIVATE:
        raise OperationRejected("BAD_INPUT", "route a shared channel to shared or channel memory")
    if rule.isolated and rule.memory_scope is MemoryScope.SHARED:
        raise OperationRejected("ISOLATED_CHANNEL", "route an isolated channel to channel memory")


def read_set(conversation: ConversationFacts) -> frozenset[KbScope]:
    """Return the knowledge bases that the agent reads in a conversation.

    Source: KN-41, KN-43, KN-45; foreign shared bases (KN-55) are the viewer's, not the conversation's.
    """
    return frozenset({*_wider_bases(conversation.channel.owner), write_target(conversation)})


def write_target(conversation: ConversationFacts) -> KbScope:
    """Return the one knowledge base that is written in a conversation.

    Source: KN-42, KN-44, KN-45, KN-52.
    """
    owner, channel = conversation.channel.owner, conversation.channel.id
    if conversation.memory_scope is MemoryScope.SHARED:
        return KbScope(kind=KbKind.SHARED, owner=owner)
    return KbScope(kind=KbKind(conversation.memory_scope), owner=owner, channel=channel)


def check_open(conversation: ConversationFacts) -> None:
    """Refuse writing to a closed conversation.

    Raises:
        OperationRejected: ``CONVERSATION_CLOSED`` (KN-51).
    """
    if conversation.closed:
        raise OperationRejected("CONVERSATION_CLOSED", "open a new conversation with the next message")


def narrowed(viewer: Viewer, pools: frozenset[NodeId]) -> Viewer:
    """Return the viewer asking about those of his pools that are among `pools`; never a wider question."""
    return replace(viewer, pools=pools if viewer.pools is None else viewer.pools & pools)


def make_viewer(
    facts: ViewerFacts,
    *,
    conversation: ConversationFacts | None = None,
    pools: Iterable[NodeId] | None = None,
) -> Viewer:
    """Return the viewer of one request; the only place where one is made.

    Everyone holds his own PERSON rule and that of his workspace. An agent adds what its conversation reads and the
    shared knowledge it was granted; without a conversation it reads no knowledge. Others add what their roles
    give; for them a conversation widens nothing (narrow the question with `pools`).

    Args:
        facts: read in the request, never kept.
        conversation: the one that an agent speaks in.
        pools: narrows the question to these pools; they need not be readable.

    Raises:
        NotFound: the conversation is another agent's or another workspace's.

    Source: KN-41 to KN-45, KN-55 to KN-58.
    """
    if conversation and not _may_speak_in(facts, conversation):
        raise NotFound
    return Viewer(
        workspace=facts.workspace,
        principal=facts.principal,
        held=frozenset() if facts.disabled else frozenset(_held(facts, conversation)),
        audits=_audits(facts),
        pools=None if pools is None else frozenset(pools),
    )


def viewer_of_base(viewer: Viewer, kb: KbScope) -> Viewer:
    """Return who reads what a knowledge base reads, and nothing that `viewer` does not read himself.

    Source: KN-53, CO-22.
    """
    rules = {pool_rule(base) for base in (*_wider_bases(kb.owner), kb)}
    held = {rule for rule in rules if viewer.passes(rule)}
    held |= {rule for rule in viewer.held if rule.kind is RuleKind.WORKSPACE}
    return replace(viewer, held=frozenset(held), audits=frozenset())


def may_read(viewer: Viewer, kb: KbScope) -> bool:
    """True if the viewer passes the rule of the knowledge base, as a reader or as its auditor."""
    return viewer.passes(pool_rule(kb))


def may_write(facts: ViewerFacts, kb: KbScope, *, conversation: ConversationFacts | None = None) -> bool:
    """True if the principal may write statements or documents in the knowledge base.

    A person or service must be a curator of the owner and read the base by that role, so a grant of READS_SHARED or
    the right to audit never lets anyone write. An agent writes only what its open conversation writes. The guide
    base of a person is his alone.

    Source: KN-42 to KN-45, KN-55, KN-56, KN-58, KN-104.
    """
    if facts.disabled:
        return False
    if facts.kind is PrincipalKind.AGENT:
        return _conversation_writes(facts, conversation, kb)
    if kb.kind is KbKind.GUIDE:
        return facts.kind is PrincipalKind.HUMAN and kb.owner == facts.principal
    return role_on(facts, kb.owner) is Right.CURATOR and pool_rule(kb) in set(_held_by_roles(facts))


def check_write(facts: ViewerFacts, kb: KbScope, *, conversation: ConversationFacts | None = None) -> None:
    """Refuse a write outside the principal's scopes.

    Raises:
        OperationRejected: ``CONVERSATION_CLOSED`` (KN-51), ``SCOPE_FORBIDDEN`` (KN-56).
    """
    if conversation:
        check_open(conversation)
    if not may_write(facts, kb, conversation=conversation):
        raise OperationRejected("SCOPE_FORBIDDEN", "write to a knowledge base of this conversation or role")


def may_write_guide(facts: ViewerFacts, kb: KbScope) -> bool:
    """True if the principal may write the Curation Guide kept in `kb`: people only.

    Source: KN-104, KN-105.
    """
    kept_here = kb.kind in (KbKind.AGENT, KbKind.GUIDE)
    return kept_here and facts.kind is PrincipalKind.HUMAN and may_write(facts, kb)


def evidence_allowed(kb: KbScope, source_kb: KbScope) -> bool:
    """True if a statement in `kb` may rest on a source or statement in `source_kb`, or point to an entry there.

    Source: KN-27, KN-53, KN-55.
    """
    if KbKind.GUIDE in (kb.kind, source_kb.kind):
        return False
    return source_kb == kb or source_kb in _wider_bases(kb.owner)


def check_evidence(kb: KbScope, source_kbs: Iterable[KbScope]) -> None:
    """Refuse evidence from a scope that the knowledge base does not read.

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN`` (KN-53).
    """
    if not all(evidence_allowed(kb, source) for source in source_kbs):
        raise OperationRejected("SCOPE_FORBIDDEN", "cite only what this knowledge base reads")


def prompt_allowed(target: KbScope, contents: Iterable[KbScope]) -> bool:
    """True if one prompt may hold content of these bases while its writes go to `target`.

    Source: KN-54: content of at most one channel or private base, and then only if the writes go to that base;
    beside it only what the target reads.
    """
    return all(evidence_allowed(target, content) for content in contents)


def needs_access_record(viewer: Viewer, kb: KbScope) -> bool:
    """True if reading the base must first write an ``access.read`` record.

    That is an auditor's reading of a private base whose chat he is not part of.

    Source: KN-59.
    """
    if kb.kind is not KbKind.PRIVATE:
        return False
    rule = pool_rule(kb)
    return rule not in viewer.held and viewer.passes(rule)


def _wider_bases(agent: NodeId) -> tuple[KbScope, KbScope]:
    return KbScope(kind=KbKind.SHARED, owner=agent), KbScope(kind=KbKind.AGENT, owner=agent)


def _may_speak_in(facts: ViewerFacts, conversation: ConversationFacts) -> bool:
    if conversation.workspace != facts.workspace:
        return False
    return facts.kind is not PrincipalKind.AGENT or conversation.channel.owner == facts.principal


def _held(facts: ViewerFacts, conversation: ConversationFacts | None) -> Iterator[Rule]:
    yield Rule(RuleKind.PERSON, facts.principal)
    yield Rule(RuleKind.WORKSPACE, facts.workspace)
    yield from _held_of_surfaces(facts)
    if facts.kind is not PrincipalKind.AGENT:
        yield from _held_by_roles(facts)
    elif conversation:
        yield from map(pool_rule, read_set(conversation))
        yield from (pool_rule(KbScope(kind=KbKind.SHARED, owner=other)) for other in facts.reads_shared)


def session_rule(place: NodeId, person: NodeId | None) -> Rule:
    """Return the rule of a session or chat: its person, and who holds a grant on it (AD-5, AD-6)."""
    return for_rule([f"object:{place}", *([] if person is None else [f"person:{person}"])])


def workspace_rule(workspace_node: NodeId, memory: NodeId | None = None) -> Rule:
    """Return the rule of workspace memory: who holds a verb on the whole workspace, or on the one memory (FM-3)."""
    return for_rule([f"object:{workspace_node}", *([] if memory is None else [f"object:{memory}"])])


def group_viewer(workspace: WorkspaceId, group: NodeId, organization: NodeId, bots: Iterable[NodeId]) -> Viewer:
    """Return a channel group as a reader of bot memory, in an organization (BM section 4).

    Only the group's own entries and those for everyone are his; no exclusion of a person concerns him (BM-150).

    Args:
        workspace: of all of them.
        group: who reads.
        organization: where the work is done.
        bots: the bot, and its home if it is a linked one.
    """
    held = {
        Rule(RuleKind.CHANNEL, group),
        for_rule([f"channel:{group}"]),
        Rule(RuleKind.ORG, organization),
        *(rule for bot in bots for rule in _of_bot(bot)),
    }
    return Viewer(workspace=workspace, principal=group, held=frozenset(held))


def _of_bot(bot: NodeId) -> tuple[Rule, Rule]:
    return Rule(RuleKind.BOT, bot), for_rule([f"bot:{bot}"])


def _held_of_surfaces(facts: ViewerFacts) -> Iterator[Rule]:
    """Yield what sessions, agent memory and bot memory ask for (AD-5, AD-6, BM-37 to BM-41)."""
    if facts.token_rights is not None and Right.READ not in implied(facts.token_rights):
        return
    yield for_rule([f"person:{facts.principal}"])
    for group in facts.groups:
        yield Rule(RuleKind.CHANNEL, group)
        yield for_rule([f"channel:{group}"])
    if facts.organization is not None:
        yield Rule(RuleKind.ORG, facts.organization)
    for agent in readable_agents(facts):
        yield from _of_bot(agent)
    for grant in facts.grants:
        if prefix_of(grant.object_id) in _PLACES and Right.READ in rights_on(facts, grant.object_id):
            yield for_rule([f"object:{grant.object_id}"])


_PLACES = frozenset({Session.PREFIX, Chat.PREFIX, Workspace.PREFIX, WorkspaceMemory.PREFIX})


def _held_by_roles(facts: ViewerFacts) -> Iterator[Rule]:
    agents = agents_with_role(facts)
    for agent in agents:
        yield from map(pool_rule, _wider_bases(agent))
    for channel in facts.channels:
        if channel.owner in agents or may_audit(facts, channel.owner):  # who takes part is no outsider (KN-59)
            yield pool_rule(_base_of(channel))


def _base_of(channel: ChannelFacts) -> KbScope:
    kind = KbKind.PRIVATE if channel.kind is ChannelKind.PRIVATE_CHAT else KbKind.CHANNEL
    return KbScope(kind=kind, owner=channel.owner, channel=channel.id)


def _audits(facts: ViewerFacts) -> frozenset[str]:
    return frozenset({ALL_AGENTS}) if audits_workspace(facts) else frozenset(audited_agents(facts))


def _conversation_writes(facts: ViewerFacts, conversation: ConversationFacts | None, kb: KbScope) -> bool:
    if conversation is None or conversation.closed:
        return False
    return _may_speak_in(facts, conversation) and kb == write_target(conversation)
