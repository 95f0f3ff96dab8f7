"""What the last verification of each chain found, kept so that a break stays an alert until it is mended (CO-69).

Verifying reads whole chains, so nobody does it at every look at the status.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.access import SystemScope
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.learning import Progress
from graph.model.time import Millis
from graph.services.access.caller import workspace_node
from graph.services.deps import Deps
from graph.services.knowledge.audit_verify import AuditVerification, PoolReport
from graph.store.port import Reader, Writer

CHECKS = SystemScope(reason="what verifications of audit chains found")
STAGE: Final = "audit"
"""A verification keeps its place like a stage of work: `cursor` is the last good number, `failures` 1 after a break."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BrokenChain:
    """A chain in which a verification found a break.

    Attributes:
        pool: whose chain; the workspace for those of administration and of anchors.
        good_until: the number of the last record that held.
        found_at: when it was found first.
    """

    pool: NodeId
    good_until: int
    found_at: Millis


async def note_verification(deps: Deps, workspace: WorkspaceId, found: AuditVerification, from_seq: int) -> None:
    """Keep what a verification found, where it is news: a break, or that a broken chain holds again from its begin."""
    every = [*found.pools, *_of_workspace(workspace, found)]
    reports = [report for report in every if not report.report.ok or from_seq == 1]
    if reports:
        async with deps.store.reading() as reader:
            rows = await _rows(reader, [report.pool for report in reports])
        if any(_is_news(report, rows.get(report.pool)) for report in reports):
            await deps.store.transact(lambda writer: _write(writer, workspace, reports, deps.now()))


def _of_workspace(workspace: WorkspaceId, found: AuditVerification) -> list[PoolReport]:
    """Return what was found of the chains of administration and of anchors, under the id of the workspace."""
    both = [report for report in (found.administration, found.anchors) if report is not None]
    worst = next((report for report in both if not report.ok), both[0] if both else None)
    return [] if worst is None else [PoolReport(pool=workspace_node(workspace), report=worst)]


async def broken_chains(reader: Reader, pools: Collection[NodeId]) -> list[BrokenChain]:
    """Return which of these chains are known to be broken, by id; the caller sees to it that the pools may be named."""
    rows = await _rows(reader, sorted(pools))
    return [
        BrokenChain(pool=pool, good_until=row.cursor, found_at=row.last_run_at or row.created_at)
        for pool, row in sorted(rows.items())
        if row.failures
    ]


async def _write(writer: Writer, workspace: WorkspaceId, reports: Sequence[PoolReport], now: Millis) -> None:
    await writer.lock(sorted(_id(report.pool) for report in reports))
    rows = await _rows(writer, [report.pool for report in reports])
    for report in reports:
        row = rows.get(report.pool)
        if not _is_news(report, row):
            continue
        if row is None:
            made = Progress(id=_id(report.pool), workspace=workspace, created_at=now, stage=STAGE, key=report.pool)
            await writer.put([made])
        good = report.report.head.seq if report.report.ok else (report.report.first_broken_seq or 1) - 1
        fields = {"cursor": good, "failures": int(not report.report.ok), "last_run_at": now}
        await writer.patch_many({_id(report.pool): fields})


def _is_news(report: PoolReport, row: Progress | None) -> bool:
    return (not report.report.ok) is not bool(row and row.failures)


async def _rows(reader: Reader, pools: Sequence[NodeId]) -> dict[NodeId, Progress]:
    found = await reader.get(CHECKS, [_id(pool) for pool in pools])
    return {NodeId(row.key): row for row in found.values() if isinstance(row, Progress)}


def _id(pool: NodeId) -> NodeId:
    return node_id(Progress.PREFIX, f"{STAGE}:{pool}")
