"""Learning states of materials and the job behind each (MA-3, MA-6, MA-26, AD-33). Pure."""

from __future__ import annotations

from graph.model.errors import BadState
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import LearningState, Source
from graph.model.nodes.learning import Progress
from graph.model.nodes.work import Job
from graph.model.time import MINUTE_MS, Millis

LEARN_MATERIAL = "learn_material"
UNSUPPORTED_TYPE = "UNSUPPORTED_TYPE"
SUPERSEDED = "SUPERSEDED"
"""Why the learning of an older version ended: there is a newer one to learn from."""


def learning_key(source: NodeId) -> str:
    """Return what makes the job of a source the only one."""
    return f"{LEARN_MATERIAL}:{source}"


def learning_progress_id(source: NodeId) -> NodeId:
    """Return the id of the row that says how far a source was read.

    >>> learning_progress_id(NodeId("src_01"))
    'prg_learn/src.01'
    """
    return node_id(Progress.PREFIX, f"learn/{source.replace('_', '.', 1)}")


def learning_job(source: Source, id_: NodeId, at: Millis, *, agent: NodeId) -> Job:
    """Return the job that learns from a source for an agent; one that failed already is never claimed."""
    failed = source.learning_state == LearningState.FAILED
    return Job(
        id=id_,
        workspace=source.workspace,
        created_at=at,
        kind=LEARN_MATERIAL,
        state=LearningState.FAILED if failed else LearningState.QUEUED,
        subject_id=source.id,
        agent_id=agent,
        unique_key=learning_key(source.id),
        due_at=at,
        last_error=source.learning_code,
    )


def is_stuck(job: Job, now: Millis, stuck_minutes: float) -> bool:
    """Return whether a job has shown no sign of life for too long (MA-26)."""
    if job.state not in (LearningState.QUEUED, LearningState.RUNNING):
        return False
    last_sign = job.heartbeat_at if job.heartbeat_at is not None else job.due_at
    return now - last_sign >= stuck_minutes * MINUTE_MS


def check_retry(source: Source, job: Job | None, now: Millis, stuck_minutes: float) -> None:
    """Refuse to learn again from what was learned, is being learned or has a newer version.

    Raises:
        BadState: only a failed or stuck learning task is retried (MA-6).
    """
    failed = source.learning_state == LearningState.FAILED
    stuck = job is not None and is_stuck(job, now, stuck_minutes)
    if not source.latest or not (failed or stuck):
        raise BadState("only a failed or stuck learning task is retried")
