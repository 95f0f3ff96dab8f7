"""Deleting an agent: its sessions, chats, agent memory and bot memory go for good, and every right on it (AD-19, BM-8).

Its knowledge stays, with its audit, for admins and auditors of the workspace until it is erased source by source; its
id stays taken, so that nobody who comes later meets what was its. See ADR 0033.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias, TypeVar

from graph.model.edges import EdgeType
from graph.model.errors import BadState, NotFound
from graph.model.fields import Json, Node
from graph.model.ids import NodeId
from graph.model.nodes import bots
from graph.model.nodes import sessions as memory
from graph.model.nodes.evidence import Channel, Conversation
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import Connector, ModelCall
from graph.model.nodes.people import Grant, Principal, PrincipalKind, Token
from graph.model.nodes.work import Job
from graph.rules.admin_chain import AdminOperation
from graph.rules.bot_entries import pool_of
from graph.rules.connectors import ConnectorState
from graph.rules.explicit import explicit_id
from graph.rules.jobs import JobState, cancelled
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.people import ADMINISTRATION, hold_one, move_access
from graph.services.agents.state import memory_id as memory_of
from graph.services.knowledge.anchors import write_anchor
from graph.store.query import And, Direction, Eq, Find, In, Or, Where

N = TypeVar("N", bound=Node)
Kinds: TypeAlias = Sequence[tuple[type[Node], str]]

PAGE: Final = 500
CODE: Final = "AGENT_DELETED"
OF_KNOWLEDGE: Final = ("stage_a.", "stage_b.", "learn_material.")
"""How the purposes of model calls begin whose answers are kept with the knowledge."""

_OF_SESSION: Final[Kinds] = (
    (memory.SessionItem, "session_id"),
    (memory.SessionFact, "session_id"),
    (memory.SessionChange, "session_id"),
)
_OF_CHAT: Final[Kinds] = ((bots.Confession, "chat_id"), (bots.Enrichment, "chat_id"), (bots.BotCall, "chat_id"))
_OF_POOL: Final[Kinds] = ((memory.AgentChange, "pool"), (bots.BotLogRow, "pool"))
_OF_AGENT: Final[Kinds] = (
    (memory.AgentEntry, "agent_id"),
    (memory.Consolidation, "agent_id"),
    (memory.Turn, "agent_id"),
    (bots.BotEntry, "bot_id"),
    (bots.BotRun, "bot_id"),
    (bots.BotCall, "bot_id"),
    (bots.BotSpending, "bot_id"),
)
_OPEN_JOBS: Final = (JobState.QUEUED, JobState.RUNNING, JobState.PARKED)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentDeletion:
    """What went with an agent.

    Attributes:
        sessions, chats: number of conversations.
        agent_entries, bot_entries: number of remembered entries, of every status.
    """

    agent: NodeId
    sessions: int
    chats: int
    agent_entries: int
    bot_entries: int


async def delete_agent(cmd: Command, agent_id: NodeId) -> AgentDeletion:
    """Delete an agent or bot, in one transaction.

    Raises:
        Forbidden: no admin.
        NotFound: no such agent, or deleted already.
        BadState: linked bots have their memory from it: delete these first.
    """
    cmd.require_admin()
    agent = await hold_one(cmd, explicit_id(agent_id, "id"), Principal)
    if agent.kind != PrincipalKind.AGENT:
        raise NotFound
    if await _is_home(cmd, agent.id):
        raise BadState("delete the linked bots of this bot first: they have their memory from it")
    held = await _held(cmd, agent.id)
    await _end_rights(cmd, agent.id, held.places)
    await _end_work(cmd, agent.id)
    gone = await _delete_memories(cmd, agent.id, held)
    await _end_channels(cmd, agent.id)
    await cmd.writer.patch(agent.id, {"disabled_at": agent.disabled_at or cmd.at, "deleted_at": cmd.at})
    await record_admin(cmd, AdminOperation.AGENT_DELETE, agent.id, _codes(gone, held))
    await write_anchor(cmd.writer, cmd.caller.workspace, cmd.at)  # from here on no chain of these pools is missed
    return gone


@dataclass(frozen=True, kw_only=True, slots=True)
class _Held:
    """The pools and places of an agent, locked."""

    sessions: Sequence[memory.Session]
    chats: Sequence[bots.Chat]
    pools: Sequence[memory.AgentMemory | bots.BotPool]

    @property
    def places(self) -> list[NodeId]:
        return [place.id for place in (*self.sessions, *self.chats)]


async def _is_home(cmd: Command, agent: NodeId) -> bool:
    where = And((Eq("workspace", cmd.caller.workspace), Eq("kind", PrincipalKind.AGENT), Eq("home_id", agent)))
    links = (await cmd.writer.find(ADMINISTRATION, Find(kind=Principal, where=where))).nodes
    return any(link.deleted_at is None for link in links)


async def _held(cmd: Command, agent: NodeId) -> _Held:
    """Lock all that belongs to an agent, in id order, then read it.

    Its pools are locked whether or not they are there, so that none is made for it meanwhile.
    """
    found = await _read(cmd, agent)
    pools = {pool_of(cmd.caller.workspace, agent), memory_of(agent), *(c.pool for c in found.chats if c.pool)}
    await cmd.writer.lock(sorted({*found.places, *pools}))
    return await _read(cmd, agent)


async def _read(cmd: Command, agent: NodeId) -> _Held:
    """Return what belongs to an agent; chats of links that were deleted before go with the pool of their home."""
    of_bot = Or((Eq("bot_id", agent), Eq("pool", pool_of(cmd.caller.workspace, agent))))
    return _Held(
        sessions=await _all(cmd, memory.Session, Eq("agent_id", agent)),
        chats=await _all(cmd, bots.Chat, of_bot),
        pools=[
            *await _all(cmd, memory.AgentMemory, Eq("agent_id", agent)),
            *await _all(cmd, bots.BotPool, Eq("bot_id", agent)),
        ],
    )


async def _end_rights(cmd: Command, agent: NodeId, places: Sequence[NodeId]) -> None:
    """Take away grants on the agent, its sessions and chats, its own grants and tokens, and who it serves."""
    grants = [
        *await _all(cmd, Grant, In("object_id", [agent, *places])),
        *await _all(cmd, Grant, Eq("principal_id", agent)),
    ]
    await cmd.writer.delete([grant.id for grant in grants])
    tokens = await _all(cmd, Token, And((Eq("principal_id", agent), Eq("revoked_at", None))))
    await cmd.writer.patch_many({token.id: {"revoked_at": cmd.at} for token in tokens})
    serves = await cmd.writer.edges(ADMINISTRATION, [agent], [EdgeType.SERVES], Direction.OUT)
    members = await cmd.writer.edges(
        ADMINISTRATION, [edge.target for edge in serves], [EdgeType.MEMBER_OF], Direction.IN
    )
    bases = await _all(cmd, KnowledgeBase, Eq("owner_id", agent))
    shared = [
        *await cmd.writer.edges(ADMINISTRATION, [agent], [EdgeType.READS_SHARED], Direction.OUT),
        *await cmd.writer.edges(ADMINISTRATION, [base.id for base in bases], [EdgeType.READS_SHARED], Direction.IN),
    ]
    await cmd.writer.unlink([*serves, *shared])
    concerned = {grant.principal_id for grant in grants}
    await move_access(cmd, concerned | {edge.source for edge in (*members, *shared)} | {agent})


async def _end_work(cmd: Command, agent: NodeId) -> None:
    """Cancel what was still to be done for the agent, so that no worker commits, and forget what models answered."""
    open_jobs = And((Eq("agent_id", agent), In("state", [str(state) for state in _OPEN_JOBS])))
    jobs = await _all(cmd, Job, open_jobs)
    await cmd.writer.lock(sorted(job.id for job in jobs))
    await cmd.writer.patch_many({job.id: cancelled(job, CODE) for job in await _all(cmd, Job, open_jobs)})
    calls = await _all(cmd, ModelCall, Eq("agent_id", agent))
    await cmd.writer.delete([call.id for call in calls if not call.purpose.startswith(OF_KNOWLEDGE)])


async def _delete_memories(cmd: Command, agent: NodeId, held: _Held) -> AgentDeletion:
    pools = [pool.id for pool in held.pools]
    counts = {
        kind: await _delete_where(cmd, kind, values, field)
        for kinds, values in (
            (_OF_SESSION, [session.id for session in held.sessions]),
            (_OF_CHAT, [chat.id for chat in held.chats]),
            (_OF_POOL, pools),
            (_OF_AGENT, [agent]),
        )
        for kind, field in kinds
    }
    kept = await _delete_items(cmd, [chat.id for chat in held.chats])
    places = [place for place in held.places if place not in kept]
    await cmd.writer.delete([*places, *pools])
    await cmd.writer.patch_many({chat: {"deleted_at": cmd.at} for chat in kept})
    return AgentDeletion(
        agent=agent,
        sessions=len(held.sessions),
        chats=len(held.chats),
        agent_entries=counts[memory.AgentEntry],
        bot_entries=counts[bots.BotEntry],
    )


async def _delete_items(cmd: Command, chats: Sequence[NodeId]) -> Collection[NodeId]:
    """Delete the items of chats, but for those that entries of a home rest on; return the chats that have such.

    These stay without text, as after `deleteChatHistory`: their rules still count (BM-57).
    """
    items = await _all(cmd, bots.ChatItem, In("chat_id", list(chats)))
    cited: set[NodeId] = set()
    for some in _parts([item.id for item in items]):
        edges = await cmd.writer.edges(ADMINISTRATION, some, [EdgeType.CITES], Direction.IN)
        cited |= {edge.target for edge in edges}
    await cmd.writer.patch_many({item: {"text": None} for item in cited})
    await cmd.writer.delete([item.id for item in items if item.id not in cited])
    return {item.chat_id for item in items if item.id in cited}


async def _end_channels(cmd: Command, agent: NodeId) -> None:
    """Close what comes to the agent: later messages answer like those to an unknown channel; connectors pause."""
    channels = await _all(cmd, Channel, Eq("owner_id", agent))
    await cmd.writer.lock(sorted(channel.id for channel in channels))
    await cmd.writer.patch_many({channel.id: {"ended_at": cmd.at} for channel in channels})
    opened = And((In("channel_id", [channel.id for channel in channels]), Eq("closed_at", None)))
    await cmd.writer.patch_where(Conversation, opened, {"closed_at": cmd.at})
    active = And((Eq("owner_id", agent), Eq("state", str(ConnectorState.ACTIVE))))
    await cmd.writer.patch_where(Connector, active, {"state": str(ConnectorState.PAUSED)})


async def _delete_where(cmd: Command, kind: type[Node], values: Sequence[NodeId], field: str) -> int:
    count = 0
    for some in _parts(values):
        found = await _all(cmd, kind, In(field, some))
        await cmd.writer.delete([node.id for node in found])
        count += len(found)
    return count


async def _all(cmd: Command, kind: type[N], where: Where) -> Sequence[N]:
    scope = replace(ADMINISTRATION, workspace=cmd.caller.workspace)
    return (await cmd.writer.find(scope, Find(kind=kind, where=where))).nodes


def _parts(ids: Sequence[NodeId]) -> Iterable[list[NodeId]]:
    return (list(ids[start : start + PAGE]) for start in range(0, len(ids), PAGE))


def _codes(gone: AgentDeletion, held: _Held) -> dict[str, Json]:
    """Return how much went, and the last record of each memory's chain, which ends with it (AD-27)."""
    heads = {pool.id: {"seq": pool.audit_seq, "hash": pool.audit_head} for pool in held.pools}
    return {"sessions": gone.sessions, "chats": gone.chats, "entries": gone.bot_entries, "heads": heads}
