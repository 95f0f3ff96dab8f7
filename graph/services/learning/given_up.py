"""What else changes when a job is given up or begins afresh: the learning state of its material (MA-6), its record,
the namespace that it held (RM-49).

Called in the transaction that changes the job.
"""

from __future__ import annotations

from collections.abc import Mapping

from graph.model.fields import Json
from graph.model.nodes.evidence import LearningState
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.learning import LEARN_MATERIAL
from graph.services.sessions.consolidations import close_records
from graph.services.workspace.purging import free
from graph.store.port import Writer


async def given_up(writer: Writer, job: Job, code: str, at: Millis) -> None:
    """Tell what a job was about that nobody works at it any more, and why."""
    await _learning(
        writer, job, {"learning_state": str(LearningState.FAILED), "learning_code": code, "learning_at": at}
    )
    await close_records(writer, job, code, at)
    await free(writer, job)


async def taken_up(writer: Writer, job: Job, at: Millis) -> None:
    """Tell what a job is about that it is worked at again."""
    await _learning(
        writer, job, {"learning_state": str(LearningState.QUEUED), "learning_code": None, "learning_at": at}
    )


async def _learning(writer: Writer, job: Job, fields: Mapping[str, Json]) -> None:
    if job.kind == LEARN_MATERIAL and job.subject_id is not None:
        await writer.patch_many({job.subject_id: fields})
