"""Opening and closing conversations, and the routing rules that decide where they write (KN-45 to KN-52)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.errors import NotFound
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Channel, Conversation, RoutingRule
from graph.model.time import Millis
from graph.rules.admin_chain import AdminOperation
from graph.rules.pools import channel_facts, clause_of, is_over, write_base
from graph.rules.rights import may_host
from graph.rules.scopes import MemoryScope, RoutingFacts, check_routing
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.guards import guard_alone
from graph.services.access.session import Session
from graph.services.knowledge.bases import ensure_base
from graph.services.ledger import COMMIT_GUARD
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import And, By, Eq, Find, In


async def open_conversation(cmd: Command, channel_id: NodeId) -> Conversation:
    """Return the open conversation of a channel, or open a new one under the present routing rule (KN-49, KN-50).

    Raises:
        NotFound: there is no such channel for the caller.
    """
    channel = await hold_channel(cmd.writer, channel_id)
    may_report(cmd, channel)
    found = await _last_open(cmd.writer, channel)
    if found is not None and not is_over(found, cmd.at, await idle_hours(cmd)):
        return found
    if found is not None:
        await cmd.writer.patch_many({found.id: {"closed_at": cmd.at}})
    return await _open(cmd, channel)


async def close_conversation(cmd: Command, conversation_id: NodeId) -> Conversation:
    """Close a conversation and return it; closing a closed one changes nothing.

    Raises:
        NotFound: there is no such conversation for the caller.
    """
    await cmd.writer.lock([conversation_id])
    found = await conversation_of(cmd.writer, conversation_id)
    may_report(cmd, await hold_channel(cmd.writer, found.channel_id))
    if found.closed_at is not None:
        return found
    await cmd.writer.patch_many({found.id: {"closed_at": cmd.at}})
    return replace(found, closed_at=cmd.at)


async def set_routing_rule(
    cmd: Command, channel_id: NodeId, memory_scope: MemoryScope, *, isolated: bool
) -> RoutingRule:
    """Set the memory that the next conversation of a shared channel uses (KN-46, KN-50).

    Raises:
        Forbidden: only an admin routes channels.
        OperationRejected: ``ISOLATED_CHANNEL``, an isolated channel may not use shared memory (KN-48).
        NotFound: there is no such channel.
    """
    cmd.require_admin()
    channel = await hold_channel(cmd.writer, channel_id)
    if channel.workspace != cmd.caller.workspace:
        raise NotFound
    check_routing(channel_facts(channel), RoutingFacts(memory_scope=memory_scope, isolated=isolated))
    rule = await _write_rule(cmd, channel, memory_scope, isolated)
    codes = {"scope": str(memory_scope), "isolated": isolated}
    await record_admin(cmd, AdminOperation.ROUTING_SET, channel.id, codes)
    return rule


def may_report(cmd: Command, channel: Channel) -> None:
    """Refuse all who may not report what is said in a channel: hosts may, and the agent that owns it (AD-15).

    Raises:
        NotFound: to the others the channel does not exist.
    """
    own = channel.owner_id == cmd.facts.principal and not cmd.facts.disabled
    if channel.workspace != cmd.caller.workspace or not (own or may_host(cmd.facts)):
        raise NotFound


async def idle_hours(cmd: Command) -> float:
    """Return after how many hours without a message a conversation is over."""
    settings = await load_settings(cmd.writer, cmd.caller.workspace)
    return float(settings["conversation.idle_hours"])


async def conversation_of(reader: Reader, conversation_id: NodeId) -> Conversation:
    """Return a conversation.

    Raises:
        NotFound: there is none of this id.
    """
    found = (await reader.get(COMMIT_GUARD, [conversation_id])).get(conversation_id)
    if not isinstance(found, Conversation):
        raise NotFound
    return found


async def hold_channel(writer: Writer, channel_id: NodeId) -> Channel:
    """Lock a channel and return it.

    Raises:
        NotFound: there is none of this id, or its agent was deleted.
    """
    await writer.lock([channel_id])
    found = (await writer.get(COMMIT_GUARD, [channel_id])).get(channel_id)
    if not isinstance(found, Channel) or found.ended_at is not None:
        raise NotFound
    return found


async def rule_of(reader: Reader, channel_id: NodeId) -> RoutingRule | None:
    """Return the routing rule of a channel, if it has one."""
    return (await _rules(reader, [channel_id])).get(channel_id)


async def routing_rules(session: Session, channel_ids: Sequence[NodeId]) -> Mapping[NodeId, RoutingRule]:
    """Return the routing rules of channels that the caller was found to see, by channel."""
    return await _rules(session.reader, channel_ids)


async def _rules(reader: Reader, channel_ids: Sequence[NodeId]) -> Mapping[NodeId, RoutingRule]:
    page = await reader.find(COMMIT_GUARD, Find(kind=RoutingRule, where=In("channel_id", list(channel_ids))))
    return {rule.channel_id: rule for rule in page.nodes}


async def _last_open(reader: Reader, channel: Channel) -> Conversation | None:
    where = And((Eq("channel_id", channel.id), Eq("closed_at", None)))
    page = await reader.find(
        COMMIT_GUARD, Find(kind=Conversation, where=where, order=By("opened_at", descending=True), first=1)
    )
    return page.nodes[0] if page.nodes else None


async def _open(cmd: Command, channel: Channel) -> Conversation:
    return await begin_conversation(cmd, channel, cmd.deps.new_id(Conversation.PREFIX))


async def begin_conversation(
    cmd: Command, channel: Channel, id_: NodeId, *, opened_at: Millis | None = None, closed: bool = False
) -> Conversation:
    """Write a conversation of a channel that the caller holds, under the present routing rule (KN-49).

    Args:
        cmd: of whoever may report in the channel.
        channel: locked.
        id_: of the conversation.
        opened_at: when it was held, if not now.
        closed: it is over already, such as one that another program kept.
    """
    writer, now = cmd.writer, cmd.at
    base = await ensure_base(writer, write_base(channel, await rule_of(writer, channel.id), now))
    conversation = Conversation(
        id=id_,
        workspace=channel.workspace,
        pool=base.id,
        created_at=now,
        channel_id=channel.id,
        opened_at=now if opened_at is None else opened_at,
        closed_at=now if closed else None,
        last_message_at=now,
        memory_scope=base.kind,
    )
    await writer.put([conversation])
    await writer.link(
        [
            Edge(type=EdgeType.IN_CHANNEL, source=conversation.id, target=channel.id),
            Edge(type=EdgeType.SCOPED_TO, source=conversation.id, target=base.id),
        ]
    )
    await guard_alone(writer, conversation, clause_of(base))
    return conversation


async def _write_rule(cmd: Command, channel: Channel, memory_scope: MemoryScope, isolated: bool) -> RoutingRule:
    writer = cmd.writer
    found = await rule_of(writer, channel.id)
    if found is not None:
        changes = {"memory_scope": str(memory_scope), "isolated": isolated, "version": found.version + 1}
        await writer.patch_many({found.id: changes})
        return replace(found, memory_scope=memory_scope, isolated=isolated, version=found.version + 1)
    rule = RoutingRule(
        id=node_id(RoutingRule.PREFIX, channel.id.partition("_")[2]),
        workspace=channel.workspace,
        created_at=cmd.at,
        channel_id=channel.id,
        memory_scope=memory_scope,
        isolated=isolated,
    )
    await writer.put([rule])
    await writer.link([Edge(type=EdgeType.ROUTES, source=rule.id, target=channel.id)])
    return rule
