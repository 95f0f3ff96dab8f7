"""Runs of Dreaming and background jobs as they lie in a store, written as their workers write them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import DreamBatch, DreamRun
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.pools import clause_of
from graph.services.learning.jobs import JOBS, enqueue
from graph.services.learning.runs import RUNS, put_run
from graph.store.port import Writer
from tests.support.world import TeamWorld


def rejection(index: int, code: str = "QUOTE_NOT_VERBATIM", op: str = "addRelation") -> dict[str, Any]:
    """Return a rejected operation as a batch keeps it."""
    return {"index": index, "op": op, "code": code, "reason": "quote what was said"}


async def run_in(
    world: TeamWorld,
    base: NodeId,
    *,
    batches: Sequence[dict[str, Any]] = ({},),
    at: Millis | None = None,
    **fields: Any,
) -> DreamRun:
    """Write a run of Stage B over one base with batches of these fields; it succeeded unless told otherwise."""
    deps, now = world.deps, at or world.deps.now()
    place: dict[str, Any] = {"workspace": world.workspace, "pool": base, "created_at": now, "agent_id": world.atlas}
    made = DreamRun(
        id=deps.new_id(DreamRun.PREFIX),
        **place,
        **{"stage": "b", "trigger": "manual", "state": "succeeded", "started_at": now, "ended_at": now, **fields},
    )
    rows = [
        DreamBatch(
            id=deps.new_id(DreamBatch.PREFIX),
            **{**place, "created_at": now + number},
            **{"run_id": made.id, "state": "succeeded", "attempts": 1, **batch},
        )
        for number, batch in enumerate(batches)
    ]

    async def work(writer: Writer) -> None:
        found = (await writer.get(RUNS, [base]))[base]
        assert isinstance(found, KnowledgeBase)
        await put_run(writer, made, rows, clause_of(found))

    await deps.store.transact(work)
    return made


async def job_of(world: TeamWorld, kind: str, key: str, *, subject: NodeId | None = None, **changes: Any) -> Job:
    """Write a job of the agent, as it is when it was asked for, but for `changes`."""
    deps = world.deps

    async def work(writer: Writer) -> Job:
        job = await enqueue(
            writer,
            kind,
            workspace=world.workspace,
            unique_key=f"{kind}:{key}",
            due_at=deps.now(),
            now=deps.now(),
            subject=subject,
            agent=world.atlas,
        )
        if changes:
            await writer.patch(job.id, changes)
        return replace(job, **changes)

    return await deps.store.transact(work)


async def stored_job(world: TeamWorld, id_: NodeId) -> Job:
    """Return a job as it is now."""
    async with world.deps.store.reading() as reader:
        found = (await reader.get(JOBS, [id_]))[id_]
    assert isinstance(found, Job)
    return found
