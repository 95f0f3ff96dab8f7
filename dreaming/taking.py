"""Taking the job of somebody who waits for it, as a worker would: so the same work is never done twice at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from graph.model.fields import Json
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.jobs import JOB_KINDS, JobState
from graph.services.learning.jobs import find_job, job_id
from graph.store.port import Writer

LOOK_AGAIN_S: Final = 0.25
"""So often one looks whether another has ended."""


async def take(writer: Writer, made: Job, owner: str, now: Millis) -> Job | None:
    """Return a job, claimed afresh whatever became of it before; None while another has it.

    Args:
        writer: of a transaction of its own.
        made: the job as it is if there is none of its key yet; its arguments count in any case.
        owner: the worker that does it.
        now: time of the claim.
    """
    assert made.unique_key is not None
    await writer.lock([job_id(made.unique_key)])
    found = await find_job(writer, made.unique_key)
    if found is not None and _is_held(found, now):
        return None
    claimed = _claimed_by(found or made, owner, now, made.arguments)
    await (writer.put([claimed]) if found is None else writer.patch_many({claimed.id: _changed(claimed)}))
    return claimed


def _is_held(job: Job, now: Millis) -> bool:
    return job.state == JobState.RUNNING and job.lease_until is not None and job.lease_until > now


def _claimed_by(job: Job, owner: str, now: Millis, arguments: Json) -> Job:
    """Return the job as claimed; what a worker that died left of it begins afresh."""
    return replace(
        job,
        state=str(JobState.RUNNING),
        owner=owner,
        fence=job.fence + 1,
        attempts=1,
        due_at=now,
        again_at=None,
        heartbeat_at=now,
        lease_until=Millis(now + JOB_KINDS[job.kind].lease_s * 1_000),
        last_error=None,
        arguments=arguments,
    )


def _changed(job: Job) -> dict[str, Json]:
    names = (
        "state",
        "owner",
        "fence",
        "attempts",
        "due_at",
        "again_at",
        "heartbeat_at",
        "lease_until",
        "last_error",
        "arguments",
    )
    return {name: getattr(job, name) for name in names}
