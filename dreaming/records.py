"""The job `purge_records`: deletes the records of a memory that was deleted (RM-44 to RM-52)."""

from __future__ import annotations

from dreaming.jobs import WorkContext, guarded_commit
from graph.model.fields import Json
from graph.services.workspace.purging import claim_to_purge, free, purge


async def purge_records(work: WorkContext) -> Json:
    """Ask the backend once; free the namespace when it has accepted.

    The lease outlives the call (RM-52), so that nobody gets the namespace while a call of ours is under way.
    """
    claim = await guarded_commit(work, lambda writer: claim_to_purge(writer, work.job))
    if claim is not None:
        await purge(work.deps, claim)
        await guarded_commit(work, lambda writer: free(writer, work.job))
    return {"purged": claim is not None}
