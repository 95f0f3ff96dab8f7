"""Background work of an agent that does not get on, and whether anybody works at all (CO-66, CO-69, MA-26)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import PendingItem
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.alerts import ABSENT_MS, Waiting
from graph.rules.jobs import JOB_KINDS, JobState
from graph.rules.learning import LEARN_MATERIAL, is_stuck
from graph.services.access.session import Session
from graph.services.learning.job_subjects import told_jobs
from graph.services.learning.jobs import JOBS
from graph.services.learning.pending import parked_items
from graph.store.query import And, Eq, Find, In, Range

PARKED_ITEM = "parked_item"
_UNDER_WAY = (str(JobState.QUEUED), str(JobState.RUNNING), str(JobState.PARKED))


class StuckAction(StrEnum):
    """What a person can do about it."""

    RETRY = "retry"
    """Learn the material again: `retryLearning`."""
    RELEASE = "release"
    """Let the item wait again: `releaseParked`."""
    RELEASE_JOB = "release_job"
    """Let the job begin afresh: `releaseJob`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StuckTask:
    """Something that does not get on.

    Attributes:
        id: of the job, or of the row of a parked item.
        subject: what it is about: the argument of the action, but for a job, which is released by its own id.
        since: last sign of life, or when it was made.
        action: None where it is taken up again by itself as soon as a worker is there.
    """

    id: NodeId
    kind: str
    subject: NodeId | None
    since: Millis
    attempts: int
    error: str | None
    action: StuckAction | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Stuck:
    """What does not get on.

    Attributes:
        tasks: those that the caller may be told of, longest first.
        unseen: since when others do not get on that he may not be told of.
        waiting: whether anybody works.
    """

    tasks: Sequence[StuckTask]
    unseen: Sequence[Millis]
    waiting: Waiting


async def stuck_work(session: Session, agent_id: NodeId, bases: Sequence[KnowledgeBase], stuck_minutes: float) -> Stuck:
    """Return what does not get on of an agent's work; `bases` are those of its bases that the caller reads."""
    now = session.deps.now()
    jobs = await _jobs(session, agent_id, bases)
    told = await told_jobs(session, jobs)
    stuck = [job for job in jobs if job.state == JobState.PARKED or is_stuck(job, now, stuck_minutes)]
    tasks = [_of_job(job) for job in stuck if job.id in told]
    unseen = [_sign(job) for job in stuck if job.id not in told]
    rows = await parked_items(session.reader, agent_id)
    shown = await session.reader.get(session.viewer, [row.item_id for row in rows])
    tasks += [_of_item(row) for row in rows if row.item_id in shown]
    unseen += [row.created_at for row in rows if row.item_id not in shown]
    waiting = await _waiting(session, [job for job in jobs if job.id in told], now)
    return Stuck(tasks=sorted(tasks, key=lambda task: (task.since, task.id)), unseen=unseen, waiting=waiting)


async def _jobs(session: Session, agent_id: NodeId, bases: Sequence[KnowledgeBase]) -> list[Job]:
    """Return the unfinished work of an agent, and what its materials wait for."""
    where = And((Eq("workspace", session.caller.workspace), In("state", _UNDER_WAY)))
    found = (await session.reader.find(JOBS, Find(kind=Job, where=where))).nodes
    loose = [job.subject_id for job in found if job.agent_id is None and job.kind == LEARN_MATERIAL and job.subject_id]
    pools = {base.id for base in bases}
    materials = await session.reader.get(session.viewer, loose)
    own = {id_ for id_, node in materials.items() if isinstance(node, Source) and node.pool in pools}
    return [job for job in found if job.agent_id == agent_id or job.subject_id in own]


async def _waiting(session: Session, jobs: Sequence[Job], now: Millis) -> Waiting:
    """Return the job that has waited longest though a worker could do it, and the last sign of any worker."""
    due = [
        job
        for job in jobs
        if job.state == JobState.QUEUED and JOB_KINDS[job.kind].built and now - job.due_at >= ABSENT_MS
    ]
    if not due:
        return Waiting()
    where = And((Eq("state", str(JobState.RUNNING)), Range("lease_until", now, None)))
    running = (await session.reader.find(JOBS, Find(kind=Job, where=where))).nodes
    signs = [_last_sign(job) for job in running]
    longest = min(due, key=lambda job: (job.due_at, job.id))
    return Waiting(job=longest.id, due_since=longest.due_at, heartbeat_at=max(signs, default=None))


def _last_sign(job: Job) -> Millis:
    """Return when the worker of a running job last showed itself: its heartbeat, else when it claimed the job."""
    if job.heartbeat_at is not None or job.lease_until is None:
        return job.heartbeat_at or job.due_at
    return Millis(job.lease_until - JOB_KINDS[job.kind].lease_s * 1_000)


def _sign(job: Job) -> Millis:
    return job.heartbeat_at if job.heartbeat_at is not None else job.due_at


def _of_job(job: Job) -> StuckTask:
    learning = job.kind == LEARN_MATERIAL
    action = StuckAction.RETRY if learning else None if job.state == JobState.RUNNING else StuckAction.RELEASE_JOB
    return StuckTask(
        id=job.id,
        kind=job.kind,
        subject=job.subject_id,
        since=_sign(job),
        attempts=job.attempts,
        error=job.last_error,
        action=action,
    )


def _of_item(row: PendingItem) -> StuckTask:
    return StuckTask(
        id=row.id,
        kind=PARKED_ITEM,
        subject=row.item_id,
        since=row.created_at,
        attempts=row.failures,
        error=None,
        action=StuckAction.RELEASE,
    )
