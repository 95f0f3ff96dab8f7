"""The items that an agent has not read yet, over all its sessions that teach it. Source: AM-22 to AM-37."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.fields import Json
from graph.model.ids import NodeId, local_part
from graph.model.nodes.sessions import ItemType, Session, SessionItem, Turn, TurnState
from graph.model.nodes.work import Job
from graph.rules.agent_learning import MAX_READ, readable_now, teaches
from graph.rules.jobs import JobState
from graph.services.agents.state import AGENTS
from graph.services.sessions.consolidations import LEARN_AGENT
from graph.services.sessions.state import item_id
from graph.store.port import Reader
from graph.store.query import And, By, Eq, Find, In

_AT_ONCE: Final = 200
_READ: Final = [str(kind) for kind in ItemType if kind is not ItemType.MEMORY_EDIT]
"""Types of items that are conversation; an edit never is (SM-39)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Unread:
    """What a step of an agent reads: items, oldest first, and the sessions they are of."""

    items: Sequence[SessionItem]
    sessions: Mapping[NodeId, Session]


async def unread_for_agent(reader: Reader, trigger: Session, settings: Mapping[str, Json]) -> Unread:
    """Return what the step reads that a turn of `trigger` made due.

    That is what is unread in it and in all other sessions of the agent in the same organization, but for sessions
    that have a step of their own coming, so that steps side by side read different items (AM-23, AM-34).
    """
    taught = await _teaching(reader, trigger, settings)
    coming = await _with_own_step(reader, trigger)
    sessions = {session.id: session for session in taught if session.id not in coming}
    found = await _unread(reader, sorted(sessions))
    fresh = await _without_copies(reader, found, sessions)
    items = readable_now(fresh, await _under_way(reader, trigger.agent_id))[:MAX_READ]
    return Unread(items=items, sessions={item.session_id: sessions[item.session_id] for item in items})


async def _teaching(reader: Reader, trigger: Session, settings: Mapping[str, Json]) -> Sequence[Session]:
    where = And((Eq("agent_id", trigger.agent_id), Eq("organization_id", trigger.organization_id)))
    found = (await reader.find(AGENTS, Find(kind=Session, where=where))).nodes
    return [session for session in found if teaches(session, settings)]


async def _with_own_step(reader: Reader, trigger: Session) -> Collection[NodeId]:
    """Return the other sessions for which a step of the agent waits or runs."""
    open_jobs = In("state", [str(JobState.QUEUED), str(JobState.RUNNING)])
    where = And((Eq("agent_id", trigger.agent_id), Eq("kind", LEARN_AGENT), open_jobs))
    jobs = (await reader.find(AGENTS, Find(kind=Job, where=where))).nodes
    return {job.subject_id for job in jobs if job.subject_id is not None} - {trigger.id}


async def _unread(reader: Reader, sessions: Sequence[NodeId]) -> list[SessionItem]:
    found: list[SessionItem] = []
    for start in range(0, len(sessions), _AT_ONCE):
        some = In("session_id", sessions[start : start + _AT_ONCE])
        where = And((some, Eq("agent_read", False), Eq("current", True), In("type", _READ)))
        found += (await reader.find(AGENTS, Find(kind=SessionItem, where=where, order=By("created_at")))).nodes
    return found


async def _under_way(reader: Reader, agent: NodeId) -> Sequence[Turn]:
    states = In("state", [str(TurnState.RUNNING), str(TurnState.SUSPENDED)])
    return (await reader.find(AGENTS, Find(kind=Turn, where=And((Eq("agent_id", agent), states))))).nodes


async def _without_copies(
    reader: Reader, items: Sequence[SessionItem], sessions: Mapping[NodeId, Session]
) -> list[SessionItem]:
    """Leave out what a fork copied and the agent read, or reads now, in the session it was forked from (AM-35)."""
    own = {item.id for item in items}
    asked = {item.id: sessions[item.session_id].forked_from for item in items}
    read: set[NodeId] = set()
    while any(asked.values()):
        parents = await _sessions(reader, {parent for parent in asked.values() if parent is not None})
        there = await _originals(reader, [item for item in items if asked[item.id] in parents], asked, parents)
        read |= {copy for copy, original in there.items() if original.agent_read or original.id in own}
        asked = {id_: None if id_ in read or id_ not in there else _parent(parents, asked[id_]) for id_ in asked}
    return [item for item in items if item.id not in read]


async def _originals(
    reader: Reader,
    copies: Sequence[SessionItem],
    asked: Mapping[NodeId, NodeId | None],
    parents: Mapping[NodeId | None, Session],
) -> dict[NodeId, SessionItem]:
    """Return by copy the item that it is a copy of: a fork keeps ids and versions, what came later has its own."""
    named = {item.id: item_id(parents[asked[item.id]], local_part(item.id)) for item in copies}
    found = await reader.get(AGENTS, sorted(set(named.values())))
    originals = {item: found.get(named[item.id]) for item in copies}
    return {
        item.id: node for item, node in originals.items() if isinstance(node, SessionItem) and node.head == item.head
    }


def _parent(parents: Mapping[NodeId | None, Session], id_: NodeId | None) -> NodeId | None:
    return parents[id_].forked_from if id_ in parents else None


async def _sessions(reader: Reader, ids: Collection[NodeId]) -> dict[NodeId | None, Session]:
    found = await reader.get(AGENTS, sorted(ids))
    return {id_: node for id_, node in found.items() if isinstance(node, Session)}
