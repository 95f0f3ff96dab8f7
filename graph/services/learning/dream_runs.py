"""Runs of Dreaming as a reader sees them: what was read and changed, what was rejected and why (DR-54, DR-80, DR-81).

A run is shown to who reads a knowledge base that it writes to, and told by the batches that he sees, so that what it
did in a private chat tells others nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.learning import DreamBatch, DreamRun, RunState
from graph.model.time import Millis
from graph.rules.seen_runs import as_seen
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, Row, counted, cut_rows, find_listing
from graph.store.query import After, Eq, Find, In, Newest


@dataclass(frozen=True, kw_only=True, slots=True)
class RejectionView:
    """One operation that was rejected, or a part of one that was left out.

    Attributes:
        batch_at: when its batch was made.
        place: among what was rejected in the batch: parts of one operation have its index.
    """

    batch_id: NodeId
    batch_at: Millis
    place: int
    index: int
    op: str
    code: str
    reason: str


async def dream_runs(
    session: Session, agent_id: NodeId, *, first: int, after: After | None = None
) -> Listing[DreamRun]:
    """Return a page of the runs of both stages for an agent, newest first."""
    query = Find(kind=DreamRun, where=Eq("agent_id", agent_id), order=Newest(), first=first, after=after)
    listing = await find_listing(session, query)
    batches = await batches_of_runs(session, [run.id for run in listing.items])
    return listing.mapped(lambda run: as_seen(run, batches[run.id]))


async def run_views(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, DreamRun]:
    """Return those of the runs that the caller sees."""
    runs = [node for node in (await session.open(ids)).values() if isinstance(node, DreamRun)]
    batches = await batches_of_runs(session, [run.id for run in runs])
    return {run.id: as_seen(run, batches[run.id]) for run in runs}


async def batches_of_runs(session: Session, runs: Sequence[NodeId]) -> Mapping[NodeId, tuple[DreamBatch, ...]]:
    """Return the batches of each run that the caller sees, oldest first."""
    found: dict[NodeId, list[DreamBatch]] = {id_: [] for id_ in runs}
    if runs:
        page = await session.page(Find(kind=DreamBatch, where=In("run_id", list(runs))))
        for batch in sorted(page.nodes, key=lambda b: (b.created_at, b.id)):
            found[batch.run_id].append(batch)
    return {id_: tuple(batches) for id_, batches in found.items()}


async def rejections_of(session: Session, runs: Sequence[NodeId]) -> Mapping[NodeId, tuple[RejectionView, ...]]:
    """Return what was rejected in each run, in order of batches and of operations, as far as the caller sees them."""
    found = await batches_of_runs(session, runs)
    return {id_: tuple(view for batch in batches for view in _rejections(batch)) for id_, batches in found.items()}


@dataclass(frozen=True, kw_only=True, slots=True)
class RunProgress:
    """How far a run has come: what differs between two of them is worth telling (KN-123)."""

    run: DreamRun
    batches: tuple[DreamBatch, ...]

    @property
    def ended(self) -> bool:
        """True for a run that goes no further."""
        return self.run.state in (RunState.SUCCEEDED, RunState.FAILED)


async def run_progress(session: Session, run_id: NodeId) -> RunProgress:
    """Return how far a run has come.

    Raises:
        NotFound: no such run for the caller (any more).
    """
    run = await session.open_one(run_id, DreamRun)
    batches = (await batches_of_runs(session, [run_id]))[run_id]
    return RunProgress(run=as_seen(run, batches), batches=batches)


def rejection_page(views: Sequence[RejectionView], *, first: int, after: After | None = None) -> Listing[RejectionView]:
    """Return a page of what was rejected in one run, in order of batches and of operations."""
    by_row = {_row(view).place: view for view in views}
    rows, more = cut_rows([_row(view) for view in views], first=first, after=after)
    return Listing(
        items=tuple(by_row[row.place] for row in rows),
        places=tuple(row.place for row in rows),
        more=more,
        count=counted(len(views)),
    )


def _rejections(batch: DreamBatch) -> list[RejectionView]:
    return [
        RejectionView(
            batch_id=batch.id,
            batch_at=batch.created_at,
            place=place,
            index=one["index"],
            op=one["op"],
            code=one["code"],
            reason=one["reason"],
        )
        for place, one in enumerate(batch.rejections or ())
    ]


def _row(view: RejectionView) -> Row:
    return Row(key=(view.batch_at, view.batch_id, view.place), id=view.batch_id)
