"""What operators see and do about background work: list it, cancel it, let parked work begin afresh. Bug case 20.

Who may: admins of the workspace all of it, curators of an agent the agent's, but for work about a chat that they do
not read: a curator does not learn of it, and an admin not what it is about (CO-68).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace

from graph.model.errors import BadInput, BadState, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.admin_chain import AdminOperation
from graph.rules.jobs import JobState, cancelled, counts_as_parked, released
from graph.rules.rights import ViewerFacts, may_administer, rights_on
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.people import hold_one
from graph.services.access.session import Session
from graph.services.learning.given_up import given_up, taken_up
from graph.services.learning.job_subjects import told_jobs
from graph.services.learning.jobs import JOBS
from graph.store.query import And, By, Eq, Find, In

_OVER = (JobState.SUCCEEDED, JobState.FAILED, JobState.CANCELLED)
_CODE = re.compile(r"[A-Za-z0-9_]{1,64}")
"""A code and no sentence: erasure does not look here, so nothing that somebody said may stand in it."""
CANCELLED = "CANCELLED"


@dataclass(frozen=True, kw_only=True, slots=True)
class JobView:
    """A job as operators see it; it holds ids and codes, never content.

    Attributes:
        state: of the job, and ``parked`` too for one that goes on trying after three failures in a row.
        reason: code of the last failure, of why it waits or why it was cancelled.
        next_try_at: when it is tried next; None if it waits for a person or is over.
    """

    id: NodeId
    kind: str
    subject: NodeId | None
    agent: NodeId | None
    state: str
    reason: str | None
    attempts: int
    next_try_at: Millis | None
    heartbeat_at: Millis | None


def view_of(job: Job) -> JobView:
    """Return a job as operators see it."""
    return JobView(
        id=job.id,
        kind=job.kind,
        subject=job.subject_id,
        agent=job.agent_id,
        state=str(JobState.PARKED) if counts_as_parked(job) else job.state,
        reason=job.last_error,
        attempts=job.attempts,
        next_try_at=job.due_at if job.state == JobState.QUEUED else None,
        heartbeat_at=job.heartbeat_at,
    )


async def list_jobs(
    session: Session, *, states: Collection[str] = (), agent: NodeId | None = None, first: int = 100
) -> tuple[JobView, ...]:
    """Return the background work of the workspace, longest due first, that the caller may see.

    Args:
        session: of an admin, or of a curator, who sees the work of his agents.
        states: only in these states; none for all. ``parked`` is found whether it waits for a person or not.
        agent: only the work of this agent.
        first: at most so many.
    """
    where = [Eq("workspace", session.caller.workspace), *([Eq("agent_id", agent)] if agent else [])]
    query = Find(kind=Job, where=And([*where, *_stored(states)]), order=By("due_at"))
    page = await session.reader.find(JOBS, query)
    operated = [job for job in page.nodes if _may_operate(session.facts, job)]
    told = await told_jobs(session, operated)
    shown = [view_of(job) if job.id in told else _nameless(job) for job in operated if _is_listed(session, job, told)]
    return tuple(view for view in shown if not states or view.state in states)[:first]


def _is_listed(session: Session, job: Job, told: Collection[NodeId]) -> bool:
    return job.id in told or may_administer(session.facts)


def _nameless(job: Job) -> JobView:
    return replace(view_of(job), subject=None)


def _stored(states: Collection[str]) -> list[In]:
    """Return the condition on stored states; parked work that goes on trying is stored as queued."""
    if not states:
        return []
    return [In("state", sorted({*states, *([str(JobState.QUEUED)] if JobState.PARKED in states else [])}))]


async def cancel_job(cmd: Command, job_id: NodeId, reason: str) -> JobView:
    """End a job: it is not tried again until something new asks for its work; a worker that is at it cannot commit.

    Args:
        cmd: of an admin or curator of the job's agent.
        job_id: the job.
        reason: a code that others read, such as ``too_expensive``.

    Raises:
        NotFound: no such job for the caller.
        BadInput: the reason is no code.
        BadState: it is over already.
    """
    code = reason.strip()
    if not _CODE.fullmatch(code):
        raise BadInput("give the reason as a code of letters, digits and _, at most 64 of them", field="reason")
    job = await _held(cmd, job_id)
    if job.state in _OVER:
        raise BadState("the job is over")
    await given_up(cmd.writer, job, CANCELLED, cmd.at)
    return await _changed(cmd, job, cancelled(job, code), AdminOperation.JOB_CANCEL)


async def release_job(cmd: Command, job_id: NodeId) -> JobView:
    """Let a job that waits or was given up begin afresh now, its failures forgotten.

    Raises:
        NotFound: no such job for the caller.
        BadState: it is running.
    """
    job = await _held(cmd, job_id)
    if job.state == JobState.RUNNING:
        raise BadState("the job is running")
    await taken_up(cmd.writer, job, cmd.at)
    return await _changed(cmd, job, released(cmd.at), AdminOperation.JOB_RELEASE)


def _may_operate(facts: ViewerFacts, job: Job) -> bool:
    return may_administer(facts) or (job.agent_id is not None and Right.CURATOR in rights_on(facts, job.agent_id))


async def _held(cmd: Command, job_id: NodeId) -> Job:
    job = await hold_one(cmd, job_id, Job)
    if not _may_operate(cmd.facts, job) or not _is_listed(cmd.session, job, await told_jobs(cmd.session, [job])):
        raise NotFound
    return job


async def _changed(cmd: Command, job: Job, fields: dict[str, object], operation: AdminOperation) -> JobView:
    await cmd.writer.patch(job.id, fields)
    await record_admin(cmd, operation, job.id, {"kind": job.kind, "state": job.state, "agent": job.agent_id})
    found = (await cmd.writer.get(JOBS, [job.id]))[job.id]
    assert isinstance(found, Job)
    return view_of(found) if found.id in await told_jobs(cmd.session, [found]) else _nameless(found)
