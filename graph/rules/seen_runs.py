"""A run of Stage B as one reader sees it: told by the batches that he sees, so that a private chat adds nothing. Pure.

A run goes over all knowledge bases of an agent, and fails if any batch does. Who does not read one of them is told the
sums and the end of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.model.nodes.learning import DreamBatch, DreamRun, RunState, Stage, Trigger


def as_seen(run: DreamRun, batches: Sequence[DreamBatch]) -> DreamRun:
    """Return a run with the sums, state and error of these batches of it.

    One of Stage A, or about one material, is told as it is: it has one base.

    Args:
        run: of which the reader was found to see something.
        batches: those of its batches that he sees.
    """
    if run.stage != Stage.B or run.trigger == Trigger.MATERIAL:
        return run
    done = [batch for batch in batches if batch.state == RunState.SUCCEEDED]
    failed = [batch for batch in batches if batch.state == RunState.FAILED]
    ended = run.state == RunState.FAILED and not failed
    return replace(
        run,
        state=str(RunState.SUCCEEDED) if ended else run.state,
        error=failed[0].error if failed and run.state == RunState.FAILED else None,
        materials_processed=sum(len(batch.item_ids) for batch in done),
        operations=sum(batch.operations for batch in done),
        skill_updates=sum(batch.skill_updates for batch in done),
        rejected=sum(batch.rejected for batch in (*done, *failed)),
    )
