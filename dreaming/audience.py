"""The job `recompute_audience`: who may see what rests on a change that was too much for one transaction (KN-114)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from dreaming.jobs import WorkContext, guarded_commit
from graph.model.fields import Json
from graph.services.audience_later import changed_by, settle, steps_of
from graph.store.port import Writer


async def recompute_audience(work: WorkContext) -> Json:
    """Settle what the job names; each of its transactions counts only while the lease holds."""

    async def commit(write: Callable[[Writer], Awaitable[int]]) -> int:
        return await guarded_commit(work, write)

    changed = changed_by(work.job)
    async with work.deps.store.reading() as reader:
        steps = await steps_of(reader, changed)
    return {"moved": await settle(changed, steps, commit)}
