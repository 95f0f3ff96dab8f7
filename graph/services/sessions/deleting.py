"""Deleting a session: its items, facts, changes, turns and records of learning go for good (AD-19, SM-14).

Entries that its agent learned from it stay and keep the ids of their sources (AM-39). Its audit stays too, ids and
codes for who could read it; so its local id is never used again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.errors import Forbidden, MissingObject
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.people import Grant
from graph.model.nodes.sessions import Consolidation, Session, SessionChange, SessionFact, SessionItem, Turn
from graph.model.nodes.work import Job
from graph.rules.admin_chain import AdminOperation
from graph.rules.jobs import JobState, cancelled
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.people import move_access
from graph.services.learning.model_calls import blank_calls
from graph.services.sessions.changing import SessionStep, actor_of, note_step
from graph.services.sessions.finding import hold_hosted, hold_writable
from graph.services.sessions.state import MEMORY
from graph.store.query import And, Eq, Find, In

CODE: Final = "SESSION_DELETED"
_BATCH: Final = 500
_KINDS: Final[Sequence[tuple[type[Node], str]]] = (
    (SessionItem, "session_id"),
    (SessionFact, "session_id"),
    (SessionChange, "session_id"),
    (Turn, "place_id"),
    (Consolidation, "session_id"),
)
_OPEN_JOBS: Final = tuple(str(state) for state in (JobState.QUEUED, JobState.RUNNING, JobState.PARKED))


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionDeletion:
    """What went with a session."""

    session: NodeId
    items: int
    facts: int
    turns: int


async def delete_session(cmd: Command, session_id: NodeId) -> SessionDeletion:
    """Delete a session; who may write it may, and the host inside whose object it is.

    Raises:
        Forbidden, MissingObject: the caller is neither; there is no such session for him.
    """
    session = await _hold(cmd, session_id)
    await _end_work(cmd, session)
    await _end_grants(cmd, session)
    counts = {kind: await _delete_all(cmd, kind, field, session.id) for kind, field in _KINDS}
    step = SessionStep(operation="session.delete", by=actor_of(cmd, session.person_id))
    ended = await note_step(cmd.writer, cmd.deps, session, step, tx_id=cmd.tx_id, at=cmd.at)
    await cmd.writer.delete([session.id])
    # The chain ends with its pool: its last record is kept where nobody can cut it unnoticed (AD-27).
    codes = {"seq": ended.audit_seq, "hash": ended.audit_head}
    await record_admin(cmd, AdminOperation.SESSION_DELETE, session.id, codes)
    return SessionDeletion(session=session.id, items=counts[SessionItem], facts=counts[SessionFact], turns=counts[Turn])


async def _hold(cmd: Command, session_id: NodeId) -> Session:
    try:
        return await hold_writable(cmd, session_id)
    except (Forbidden, MissingObject):
        return await hold_hosted(cmd, session_id)


async def _end_work(cmd: Command, session: Session) -> None:
    """Cancel learning from the session, so that no worker commits, and forget what models answered."""
    where = And((Eq("subject_id", session.id), In("state", _OPEN_JOBS)))
    jobs = (await cmd.writer.find(MEMORY, Find(kind=Job, where=where))).nodes
    await cmd.writer.lock(sorted(job.id for job in jobs))
    jobs = (await cmd.writer.find(MEMORY, Find(kind=Job, where=where))).nodes
    await cmd.writer.patch_many({job.id: cancelled(job, CODE) for job in jobs})
    items = (await cmd.writer.find(MEMORY, Find(kind=SessionItem, where=Eq("session_id", session.id)))).nodes
    await blank_calls(cmd.writer, {session.id, *(item.id for item in items)})


async def _end_grants(cmd: Command, session: Session) -> None:
    grants = (await cmd.writer.find(MEMORY, Find(kind=Grant, where=Eq("object_id", session.id)))).nodes
    await cmd.writer.delete([grant.id for grant in grants])
    await move_access(cmd, {grant.principal_id for grant in grants})


async def _delete_all(cmd: Command, kind: type[Node], field: str, session_id: NodeId) -> int:
    nodes = (await cmd.writer.find(MEMORY, Find(kind=kind, where=Eq(field, session_id)))).nodes
    for start in range(0, len(nodes), _BATCH):
        await cmd.writer.delete([node.id for node in nodes[start : start + _BATCH]])
    return len(nodes)
