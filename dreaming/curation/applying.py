"""Applies an answer: the operations, the progress of the learner and the end of its batch in one transaction.

Source: DR-54, DR-55, DR-76 to DR-78, DR-81.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from dreaming.curation.opening import Opened, open_material
from dreaming.curation.reading import agent_caller, read_as_base
from dreaming.jobs import WorkContext, guarded_command
from graph.model.edges import Edge, EdgeType
from graph.model.errors import ModelAnswerInvalid, RootwardError, VersionConflict
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.learning import RunState
from graph.model.nodes.work import AuditRecord
from graph.rules.operations.actors import ActorRules
from graph.rules.operations.needs import needs_of
from graph.rules.operations.parsing import map_ids, parse_operations
from graph.rules.operations.schema import KINDS
from graph.rules.operations.verdicts import Verdict
from graph.services.access.commands import Command
from graph.services.knowledge.operations import apply_to_base, hold_for
from graph.services.learning.runs import end_batch
from graph.store.port import Writer

T = TypeVar("T")

FRESH_TRIES = 3
"""A batch whose material changed while the model was asked is run again on fresh state twice (DR-78)."""
ALL_REJECTED = "all_rejected"
_SKILL_OP = "updateSkillOverlay"


class AllRejected(ModelAnswerInvalid):
    """Not one operation of a list was accepted: the batch fails (DR-55); `report` says why.

    Its wire code is ``MODEL_ANSWER_ALL_REJECTED``.
    """

    def __init__(self, report: Report) -> None:
        super().__init__("every operation was rejected: it is tried again later", problem=ALL_REJECTED)
        self.report = report


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What became of an answer.

    Attributes:
        operations: accepted ones but for those on Skills; `skill_updates` those (DR-81).
        rejected: operations of which nothing was written.
        rejections: one JSON object each: `index`, `op`, `code`, `reason`; parts of an entry that were left out too.
        records: audit records that were written.
        tx_id: of the transaction; "" where nothing was decided.
    """

    operations: int = 0
    skill_updates: int = 0
    rejected: int = 0
    rejections: tuple[Mapping[str, Json], ...] = ()
    records: tuple[AuditRecord, ...] = ()
    tx_id: str = ""


async def fail_batch(writer: Writer, batch: NodeId, error: RootwardError) -> None:
    """Write that a batch failed, and which operations were rejected if that was why."""
    report = error.report if isinstance(error, AllRejected) else Report()
    rejections = list(report.rejections)
    await end_batch(
        writer, batch, RunState.FAILED, error=error.wire_code, rejections=rejections, rejected=report.rejected
    )


async def commit_answer(
    work: WorkContext,
    opened: Opened,
    operations: Sequence[Any],
    actor: ActorRules,
    *,
    hold: Collection[NodeId] = (),
    also: Callable[[Command, Report], Awaitable[None]],
) -> Report:
    """Apply an answer and write what else belongs to its batch, all in one transaction under the lease.

    Args:
        work: the job.
        opened: what the model was shown.
        operations: as the model gave them, with the names of the prompt.
        actor: who applies them; `skip_rejected`, `opened` and `offered` are set here.
        hold: further ids to lock: items of the batch, progress.
        also: writes progress, batch and run (`produced` for the audit records); it may raise `VersionConflict` if
            what it holds changed. Nothing is written if it raises.

    Raises:
        VersionConflict: what was shown is not there any more as it was: run the batch again (`on_fresh_state`).
        AllRejected: nothing was written (DR-55).
        LeaseLost: nothing was written.
    """
    bound = replace(actor, skip_rejected=True, opened=opened.evidence, offered=opened.hidden)
    given = [
        map_ids(operation, opened.names.id_of) if isinstance(operation, Mapping) else operation
        for operation in operations
    ]

    async def write(cmd: Command) -> Report:
        await _hold(cmd, opened, given, hold)
        await check_unmoved(cmd, opened)
        report = await _applied(cmd, opened, given, bound)
        await also(cmd, report)
        return report

    return await guarded_command(work, agent_caller(opened.base), write)


async def check_unmoved(cmd: Command, opened: Opened) -> None:
    """Make sure that opening the same material shows what the model was shown (DR-78).

    Raises:
        VersionConflict: something of it changed.
    """
    now = await open_material(cmd.session, opened.base, opened.wanted)
    if (now.text, now.guide, now.names.ids) != (opened.text, opened.guide, opened.names.ids):
        raise VersionConflict("what the model was shown changed meanwhile: it is asked again")


async def on_fresh_state(attempt: Callable[[], Awaitable[T]]) -> T:
    """Return what an attempt returns; one that finds its material changed is made again, at most twice (DR-78).

    Raises:
        VersionConflict: it changed every time.
    """
    for _ in range(FRESH_TRIES - 1):
        try:
            return await attempt()
        except VersionConflict:
            continue
    return await attempt()


def produced(batch: NodeId, report: Report) -> list[Edge]:
    """Return the links of a batch to the audit records of what it changed."""
    return [Edge(type=EdgeType.PRODUCED, source=batch, target=record.id) for record in report.records]


def report_of(verdicts: Sequence[Verdict], records: Sequence[AuditRecord] = (), tx_id: str = "") -> Report:
    """Return verdicts in numbers, with the reasons of what was rejected (DR-54, DR-81)."""
    accepted = [verdict for verdict in verdicts if not verdict.is_rejected]
    skills = sum(verdict.op == _SKILL_OP for verdict in accepted)
    return Report(
        operations=len(accepted) - skills,
        skill_updates=skills,
        rejected=len(verdicts) - len(accepted),
        rejections=tuple(row for verdict in verdicts for row in _rejections(verdict)),
        records=tuple(records),
        tx_id=tx_id,
    )


async def _hold(cmd: Command, opened: Opened, operations: Sequence[Any], more: Collection[NodeId]) -> None:
    """Lock once all that the list, the check and the learner need."""
    parsed = parse_operations(operations, max_operations=len(operations))
    named = needs_of(found.operation for found in parsed if found.operation is not None).named
    await hold_for(cmd, opened.base.id, {*named, *more, *opened.wanted.sources, *opened.wanted.episodes})


async def _applied(cmd: Command, opened: Opened, operations: Sequence[Any], actor: ActorRules) -> Report:
    if not operations:
        return Report(tx_id=cmd.tx_id)
    read_as_base(cmd.session, opened.base)
    result = await apply_to_base(cmd, opened.base, operations, actor)
    report = report_of(result.verdicts, result.records, result.tx_id)
    if report.rejected == len(operations):
        raise AllRejected(report)
    return report


def _rejections(verdict: Verdict) -> list[dict[str, Json]]:
    """Return what is kept of a rejection; a name that is no operation is the model's text, and is not."""
    op = verdict.op if verdict.op in KINDS else ""
    rows: list[dict[str, Json]] = [
        {
            "index": verdict.index,
            "op": f"{verdict.op}.{part.part}[{part.index}]",
            "code": part.code,
            "reason": part.reason,
        }
        for part in verdict.left_out
    ]
    if verdict.is_rejected:
        rows.append({"index": verdict.index, "op": op, "code": verdict.code, "reason": verdict.reason})
    return rows
