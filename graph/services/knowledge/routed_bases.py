"""Which knowledge base an admin routes a signal source or a connector to (KN-46, MA-16, MA-20)."""

from __future__ import annotations

from graph.model.errors import BadInput, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Channel, ChannelKind
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.people import Principal, PrincipalKind
from graph.rules.explicit import explicit_id
from graph.rules.pools import new_base
from graph.services.access.commands import Command
from graph.services.access.people import find_one
from graph.services.knowledge.bases import ensure_base


async def routed_base(cmd: Command, agent_id: NodeId, kind: KbKind, channel_id: NodeId | None = None) -> KnowledgeBase:
    """Return a base of an agent into which systems may report; made if this is its first use (KN-40).

    Nothing goes into a private chat, which an admin does not read either (AD-5), and no base is the default (MA-14).

    Raises:
        NotFound: no such agent, or no such shared channel of it.
        BadInput: a base of another kind, or a channel base without its channel.
    """
    agent = await find_one(cmd, explicit_id(agent_id, "agentId"), Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    if kind not in (KbKind.SHARED, KbKind.AGENT, KbKind.CHANNEL):
        raise BadInput("route it to shared, agent or channel knowledge", field="base")
    if (kind is KbKind.CHANNEL) is (channel_id is None):
        raise BadInput("name the channel of channel knowledge, and of no other", field="channelId")
    if channel_id is not None:
        channel = await find_one(cmd, channel_id, Channel)
        if channel.owner_id != agent.id or channel.kind != ChannelKind.SHARED_CHANNEL:
            raise NotFound
    return await ensure_base(cmd.writer, new_base(agent.workspace, agent.id, kind, cmd.at, channel=channel_id))
