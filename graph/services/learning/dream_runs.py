"""Runs of Dreaming as a reader sees them: what was read and changed, what was rejected and why (DR-54, DR-80, DR-81).

A run is shown to who reads the knowledge base it writes to, so that a run over a private chat tells others nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.learning import DreamBatch, DreamRun
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, find_listing
from graph.store.query import After, Eq, Find, In, Newest


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectionView:
    """One operation that was rejected."""

    batch_id: NodeId
    index: int
    op: str
    code: str
    reason: str


async def dream_runs(
    session: Session, agent_id: NodeId, *, first: int, after: After | None = None
) -> Listing[DreamRun]:
    """Return a page of the runs of both stages for an agent, newest first."""
    query = Find(kind=DreamRun, where=Eq("agent_id", agent_id), order=Newest(), first=first, after=after)
    return await find_listing(session, query)


async def rejections_of(session: Session, runs: Sequence[NodeId]) -> Mapping[NodeId, tuple[RejectionView, ...]]:
    """Return what was rejected in each run, in order of batches and of operations, as far as the caller sees them."""
    found: dict[NodeId, list[RejectionView]] = {id_: [] for id_ in runs}
    if not runs:
        return {}
    page = await session.page(Find(kind=DreamBatch, where=In("run_id", list(runs))))
    for batch in sorted(page.nodes, key=lambda b: (b.created_at, b.id)):
        found[batch.run_id] += [
            RejectionView(batch_id=batch.id, index=one["index"], op=one["op"], code=one["code"], reason=one["reason"])
            for one in batch.rejections or ()
        ]
    return {id_: tuple(views) for id_, views in found.items()}
