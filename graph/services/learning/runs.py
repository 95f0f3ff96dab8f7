"""Runs of Dreaming and their batches as nodes: begun before a model is asked, ended with what came of them.

Who may read the base of a run may see it; it holds counts, codes and ids, and of rejections the reasons.
Source: DR-80, DR-81.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graph.model.access import Clause, SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.learning import DreamBatch, DreamRun, RunState
from graph.model.time import Millis
from graph.services.access.guards import put_all_alone
from graph.store.port import Reader, Writer
from graph.store.query import Eq, Find

RUNS = SystemScope(reason="runs of Dreaming")


async def put_run(writer: Writer, run: DreamRun, batches: Sequence[DreamBatch], rules: Clause) -> None:
    """Write a run with its first batches; of those that are there already only items and attempts follow.

    Args:
        writer: inside a transaction that checks the lease.
        run: running.
        batches: of the run; an id that exists gets one attempt more and the items of this one.
        rules: the own rules of the base that the run writes to.
    """
    await writer.lock(sorted([run.id, *(batch.id for batch in batches)]))
    there = await writer.get(RUNS, [run.id, *(batch.id for batch in batches)])
    new = [node for node in (run, *batches) if node.id not in there]
    await put_all_alone(writer, new, rules)
    for batch in batches:
        old = there.get(batch.id)
        if isinstance(old, DreamBatch):
            again = {"attempts": old.attempts + 1, "item_ids": batch.item_ids, "state": batch.state}
            await writer.patch_many({old.id: again})


async def end_batch(writer: Writer, batch: NodeId, state: RunState, **fields: Any) -> None:
    """Write how a batch ended: `tx_id`, `item_ids`, `rejections` or `error`."""
    await writer.patch_many({batch: {"state": str(state), **fields}})


async def end_run(writer: Writer, run: NodeId, state: RunState, at: Millis, **counts: Any) -> None:
    """Write how a run ended, with its counts or the code of its `error`."""
    await writer.patch_many({run: {"state": str(state), "ended_at": at, **counts}})


async def batches_of(reader: Reader, run: NodeId) -> Sequence[DreamBatch]:
    """Return the batches of a run in id order, for a worker."""
    return (await reader.find(RUNS, Find(kind=DreamBatch, where=Eq("run_id", run)))).nodes
