"""Which background work a caller may be told of: work about a private chat is told to its people alone (CO-68)."""

from __future__ import annotations

from collections.abc import Collection

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.work import Job
from graph.rules.pools import scope_of
from graph.rules.scopes import may_read
from graph.rules.stage_a import STAGE_A
from graph.services.access.session import Session
from graph.services.learning.jobs import JOBS


async def told_jobs(session: Session, jobs: Collection[Job]) -> frozenset[NodeId]:
    """Return the ids of those jobs whose subject the caller may see; work about nothing in particular is among them."""
    subjects = {job.subject_id for job in jobs if job.subject_id is not None}
    shown = await session.reader.get(session.viewer, sorted(subjects))
    bases = await _readable(session, {job.id: stage_a_base(job) for job in jobs if job.kind == STAGE_A})
    return frozenset(job.id for job in jobs if _is_told(job, shown.keys(), bases))


def stage_a_base(job: Job) -> NodeId | None:
    """Return the base that a job of Stage A reads; None for other kinds.

    Its key is ``stage_a:<channel>:<base>``, and ids may hold colons: a base's begins at the last ``:knb_``.
    """
    if job.kind != STAGE_A or job.unique_key is None:
        return None
    _, mark, rest = job.unique_key.rpartition(f":{KnowledgeBase.PREFIX}_")
    return NodeId(f"{KnowledgeBase.PREFIX}_{rest}") if mark else None


async def _readable(session: Session, bases: dict[NodeId, NodeId | None]) -> dict[NodeId, bool]:
    nodes = await session.reader.get(JOBS, sorted({base for base in bases.values() if base is not None}))
    readable = {
        id_
        for id_, node in nodes.items()
        if isinstance(node, KnowledgeBase) and may_read(session.viewer, scope_of(node))
    }
    return {job: base in readable for job, base in bases.items()}


def _is_told(job: Job, shown: Collection[NodeId], bases: dict[NodeId, bool]) -> bool:
    if job.id in bases:
        return bases[job.id]
    return job.subject_id is None or job.subject_id == job.agent_id or job.subject_id in shown
