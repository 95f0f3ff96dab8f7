"""Runs Stage B for one agent under the lease of a job: base after base, batch after batch.

A run is begun before a model is asked and ends in the transaction that writes its sums; the next worker after a kill
finds it by its id. A batch that fails leaves the other bases alone.
Source: DR-27, DR-30 to DR-33, DR-77, DR-80 to DR-82.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dreaming.curation import agent_name
from dreaming.jobs import WorkContext, guarded_commit
from dreaming.light_model import light_model
from dreaming.stage_b.batch import BatchWork, run_batch
from dreaming.stage_b.select import select
from graph.model.errors import (
    ModelBudgetSpent,
    ModelError,
    ModelUnavailable,
    RootwardError,
    VersionConflict,
)
from graph.model.fields import Json
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import DreamRun, RunState
from graph.rules.stage_b import SCHEDULED, StageBKey, run_id
from graph.services.learning.pending import pending_items
from graph.services.learning.progress import find_progress, hold_progress
from graph.services.learning.runs import batches_of, end_batch, end_run
from graph.services.learning.stage_b import bases_of, find_run, move_progress, new_run, put_run, sums_of
from graph.store.port import Writer


async def dream_agent(work: WorkContext) -> Json:
    """Do one run of Stage B for an agent: all that waited when it began; return what it did in numbers.

    Raises:
        ModelError: a batch failed; its items are due again as the back-off of the job says, those before stay done.
        VersionConflict: what a batch was about changed again and again; likewise.
        PutOff: Dreaming is disabled or has no model; nothing is lost.
    """
    run = await _begun(work)
    if run is None:
        return sums_of(())
    failed: RootwardError | None = None
    for base in await _bases(work, run):
        try:
            await _work_through(work, run, base)
        except ModelBudgetSpent:
            raise  # no failure: the run goes on when there is budget again
        except ModelUnavailable as error:
            failed = failed or error
            break  # nor would there be an answer about the other bases
        except (ModelError, VersionConflict) as error:
            failed = failed or error
    ended = await _end(work, run)
    if ended.error is not None:
        raise failed or ModelError("a batch of this run failed: its items are tried again later")
    return ended.counts


async def _begun(work: WorkContext) -> DreamRun | None:
    """Return the run of the job: under way, queued by hand or begun now; None if there is nothing to do.

    Without a model no run begins, unless there is nothing to ask about (DR-6, DR-32).
    """
    key = StageBKey(agent=work.agent)
    async with work.deps.store.reading() as reader:
        progress = await find_progress(reader, key) or key.new_progress(work.job.workspace, work.deps.now())
        run = await find_run(reader, run_id(progress))
        waits = bool(await pending_items(reader, work.agent))
    if run is not None and run.state == RunState.RUNNING:
        return run
    if run is None and not waits:
        return None
    model = (await light_model(work)).model.name if waits else None
    return await guarded_commit(work, lambda writer: _start(writer, work, key, model))


async def _start(writer: Writer, work: WorkContext, key: StageBKey, model: str | None) -> DreamRun:
    """Write that a run has begun; it is about what waits by now."""
    now = work.deps.now()
    await writer.lock([key.progress_id])
    progress = await hold_progress(writer, key, work.job.workspace, now)
    id_ = run_id(progress)
    run = await find_run(writer, id_)
    if run is not None:
        begun = {"state": str(RunState.RUNNING), "started_at": now, "model": model}
        await writer.patch_many({id_: begun})
        return replace(run, state=str(RunState.RUNNING), started_at=now, model=model)
    run = new_run(id_, key.agent, work.job.workspace, now, trigger=SCHEDULED, state=RunState.RUNNING, model=model)
    await put_run(writer, run)
    await writer.patch_many({progress.id: {"last_run_at": now}})
    return run


async def _bases(work: WorkContext, run: DreamRun) -> list[KnowledgeBase]:
    """Return the bases in which something waits that waited when the run began, but for those that failed in it."""
    async with work.deps.store.reading() as reader:
        items = await pending_items(reader, work.agent)
        failed = {batch.pool for batch in await batches_of(reader, run.id) if batch.state == RunState.FAILED}
        bases = await bases_of(reader, [item for item in items if item.created_at <= run.started_at])
    return [base for base in bases if base.id not in failed]


async def _work_through(work: WorkContext, run: DreamRun, base: KnowledgeBase) -> None:
    """Do the batches of one base.

    Raises:
        RootwardError: one failed; those before stay.
    """
    halvings = 0
    while True:
        selected = await select(work.deps, run, base, halvings=halvings)
        if selected is None:
            return
        with_model = BatchWork(
            context=work, run=run, light=await light_model(work), agent=await agent_name(work.deps, work.agent)
        )
        halvings += await run_batch(with_model, selected)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Ended:
    """How a run ended: its sums, and the code of the first batch that failed."""

    counts: Json
    error: str | None


async def _end(work: WorkContext, run: DreamRun) -> _Ended:
    """End a run with the sums of its batches; it failed if one of them did (DR-77, DR-80, DR-81)."""
    key = StageBKey(agent=run.agent_id)

    async def write(writer: Writer) -> _Ended:
        await writer.lock(sorted([key.progress_id, run.id]))
        progress = await hold_progress(writer, key, run.workspace, work.deps.now())
        batches = await batches_of(writer, run.id)
        for batch in batches:
            if batch.state == RunState.RUNNING:  # all that it was about went away
                await end_batch(writer, batch.id, RunState.SUCCEEDED, item_ids=())
        failed = [batch for batch in batches if batch.state == RunState.FAILED]
        ended = _Ended(counts=sums_of(batches), error=(failed[0].error or ModelError.code) if failed else None)
        state = RunState.FAILED if failed else RunState.SUCCEEDED
        await end_run(writer, run.id, state, work.deps.now(), **ended.counts, error=ended.error)
        await move_progress(writer, progress, failures=progress.failures + 1 if failed else 0)
        return ended

    return await guarded_commit(work, write)
