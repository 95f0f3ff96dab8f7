"""One batch of Stage B: begun with its items, asked about twice, committed with its progress, or ended as failed.

Killed in between, the next worker finds the batch and the saved answers by their ids.
Source: DR-35 to DR-39, DR-54, DR-55, DR-76 to DR-79, DR-81.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dreaming.asking import ask
from dreaming.curation import (
    FRESH_TRIES,
    Opened,
    Report,
    Wanted,
    agent_caller,
    ask_for_operations,
    commit_answer,
    curation_request,
    fail_batch,
    open_material,
    produced,
)
from dreaming.jobs import WorkContext, guarded_commit
from dreaming.prompts import load_prompt
from dreaming.saved_calls import LightModel
from dreaming.stage_b.browse import Chosen, browse, choice_for, chosen_by, index_request
from dreaming.stage_b.select import Selected, select
from graph.model.edges import Edge, EdgeType
from graph.model.errors import (
    ModelAnswerInvalid,
    ModelBudgetSpent,
    ModelError,
    ModelUnavailable,
    RootwardError,
    VersionConflict,
)
from graph.model.fields import Json
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.learning import DreamBatch, DreamRun, PendingItem, PendingState, RunState
from graph.rules.operations.actors import ActorRules
from graph.rules.stage_b import StageBKey
from graph.services.access.commands import Command
from graph.services.access.session import Session, read
from graph.services.knowledge.state import bases_read
from graph.services.learning.pending import consume, note_failure
from graph.services.learning.progress import hold_progress
from graph.services.learning.runs import end_batch
from graph.services.learning.stage_b import COUNTING, move_progress, put_batch
from graph.services.learning.stage_b_hidden import entries_with_hidden_blocks
from graph.store.port import Writer

DECIDE = "stage_b.decide"
NAME = "Dreaming"
MAX_OFFERED = 20
"""So many entries with blocks that nobody sees are opened beside those that were chosen (MA-24)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchWork:
    """What a batch works with.

    Attributes:
        agent: what the agent is called.
    """

    context: WorkContext
    run: DreamRun
    light: LightModel
    agent: str


async def run_batch(work: BatchWork, selected: Selected) -> int:
    """Run one batch to its end; return how often it was halved because answers about it were cut.

    Raises:
        RootwardError: it failed, or waits for the next day's budget.
    """
    halvings = moved = 0
    while True:
        try:
            await _attempt(work, selected)
            return halvings
        except ModelBudgetSpent:
            raise
        except (ModelError, VersionConflict) as error:
            if isinstance(error, ModelAnswerInvalid) and error.was_cut and len(selected.items) > 1:
                selected, halvings = _halved(selected), halvings + 1
                continue
            moved += isinstance(error, VersionConflict)
            if isinstance(error, VersionConflict) and moved < FRESH_TRIES:
                fresh = await select(work.context.deps, work.run, selected.base, halvings=halvings)
                if fresh is None:
                    return halvings  # all that it was about is gone
                selected = fresh
                continue
            await _fail(work, selected, error)
            raise


def _halved(selected: Selected) -> Selected:
    return replace(selected, items=selected.items[: len(selected.items) // 2])


async def _attempt(work: BatchWork, selected: Selected) -> None:
    """Ask about a batch and commit the answer, on what is there now.

    Raises:
        VersionConflict: something changed while the model was asked.
    """
    await guarded_commit(work.context, lambda writer: _begin_batch(writer, work, selected))
    chosen = await _choose(work, selected)
    opened = await _open(work, selected, chosen)
    operations = await _decide(work, selected, opened) if opened.wanted != Wanted() else []
    actor = ActorRules(
        id=work.run.agent_id,
        kind=ModifierKind.DREAMING,
        name=NAME,
        dream_run_id=work.run.id,
        run_started_at=work.run.started_at,
    )
    rows = [selected.progress.id, selected.batch_id, *(item.id for item in selected.items)]
    await commit_answer(
        work.context,
        opened,
        operations,
        actor,
        hold=[*rows, *selected.item_ids],
        also=lambda cmd, report: _end_batch(cmd, work, selected, report),
    )


async def _begin_batch(writer: Writer, work: BatchWork, selected: Selected) -> None:
    """Write down what is being worked on, before the model is asked about it."""
    batch = DreamBatch(
        id=selected.batch_id,
        workspace=selected.base.workspace,
        pool=selected.base.id,
        created_at=work.context.deps.now(),
        run_id=work.run.id,
        agent_id=work.run.agent_id,
        state=str(RunState.RUNNING),
        attempts=1,
        item_ids=selected.item_ids,
    )
    await put_batch(writer, batch, selected.base)


async def _choose(work: BatchWork, selected: Selected) -> Chosen:
    """Let the model say what to open (DR-36)."""
    index, _ = await read(work.context.deps, agent_caller(selected.base), lambda session: browse(session, selected))
    request = index_request(index, agent=work.agent, scope=selected.base.kind)
    key = f"{selected.batch_id}/select/{len(selected.items)}"
    answer = await ask(work.context, work.light, key, request, choice_for(index))
    return chosen_by(index, answer.choice())


async def _open(work: BatchWork, selected: Selected, chosen: Chosen) -> Opened:
    """Open what was chosen, and entries with blocks that nobody sees.

    Nothing is opened if nothing was chosen and no such block could be written anew from what is left of its evidence.
    """
    base = selected.base

    async def look(session: Session) -> Opened:
        offered = (await entries_with_hidden_blocks(session.reader, base, bases_read(base)))[:MAX_OFFERED]
        episodes = tuple(id_ for id_ in chosen.expand if id_ in selected.messages)
        wanted = Wanted(
            episodes=episodes,
            sources=tuple(id_ for id_ in chosen.expand if id_ not in episodes),
            entries=tuple(dict.fromkeys([*chosen.entries, *offered])),
            skills=chosen.skills,
            evidence_tokens=selected.limits.tokens,
            knowledge_tokens=max(selected.limits.tokens // 2, 1),
        )
        found = await open_material(session, base, wanted)
        if chosen.expand or chosen.entries or found.mendable:
            return found
        return await open_material(session, base, Wanted())

    opened, _ = await read(work.context.deps, agent_caller(base), look)
    return opened


async def _decide(work: BatchWork, selected: Selected, opened: Opened) -> list[Json]:
    """Let the model say what should be known from now on (DR-42)."""
    request = curation_request(
        opened,
        purpose=DECIDE,
        prompt=load_prompt("stage_b_decide"),
        run_at=work.run.started_at,
        agent=work.agent,
    )
    key = f"{selected.batch_id}/decide/{len(selected.items)}"
    answer = await ask_for_operations(work.context, work.light, key, request, opened)
    return list(answer.operations)


async def _end_batch(cmd: Command, work: BatchWork, selected: Selected, report: Report) -> None:
    """Write progress and the end of a batch beside what it changed (DR-76).

    Raises:
        VersionConflict: an item is not there as it was, or another worker moved the progress.
    """
    await _check_items(cmd, selected)
    key = StageBKey(agent=work.run.agent_id, kb=selected.base.id)
    progress = await hold_progress(cmd.writer, key, selected.base.workspace, cmd.at)
    if progress.version != selected.progress.version:
        raise VersionConflict("another batch of this base was committed meanwhile")
    await consume(cmd.writer, selected.items)
    await move_progress(cmd.writer, progress, failures=0, last_run_at=cmd.at)
    consumed = [Edge(type=EdgeType.CONSUMED, source=selected.batch_id, target=id_) for id_ in selected.item_ids]
    await cmd.writer.link([*consumed, *produced(selected.batch_id, report)])
    await end_batch(
        cmd.writer,
        selected.batch_id,
        RunState.SUCCEEDED,
        tx_id=cmd.tx_id,
        item_ids=selected.item_ids,
        rejections=list(report.rejections),
        operations=report.operations,
        skill_updates=report.skill_updates,
        rejected=report.rejected,
    )


async def _check_items(cmd: Command, selected: Selected) -> None:
    """Make sure that all items still wait and are what they were.

    Raises:
        VersionConflict: one is not.
    """
    rows = await cmd.writer.get(COUNTING, [item.id for item in selected.items])
    waits = [row for row in rows.values() if isinstance(row, PendingItem) and row.state == PendingState.PENDING]
    shown = await cmd.session.open(selected.item_ids)
    same = all(_is_same(selected.nodes[id_], shown.get(id_)) for id_ in selected.item_ids)
    if len(waits) != len(selected.items) or not same:
        raise VersionConflict("items of the batch changed while the model was asked: the batch is chosen again")


def _is_same(read_as: object, now: object) -> bool:
    if isinstance(read_as, Source) and isinstance(now, Source):
        return (read_as.latest, read_as.state) == (now.latest, now.state)
    return now is not None


async def _fail(work: BatchWork, selected: Selected, error: RootwardError) -> None:
    """End a batch as failed: nothing of it is written, its failures are counted (DR-77).

    A single item that fails three times, though there was an answer about it, is parked (DR-79).
    """
    key = StageBKey(agent=work.run.agent_id, kb=selected.base.id)

    async def write(writer: Writer) -> None:
        rows = [key.progress_id, selected.batch_id, *(item.id for item in selected.items)]
        await writer.lock(sorted(rows))
        row = await hold_progress(writer, key, selected.base.workspace, work.context.deps.now())
        if row.version != selected.progress.version:
            return
        await move_progress(writer, row, failures=row.failures + 1)
        await fail_batch(writer, selected.batch_id, error)
        if len(selected.items) == 1 and not isinstance(error, ModelUnavailable):
            await _count_failure(writer, selected.items[0])

    await guarded_commit(work.context, write)


async def _count_failure(writer: Writer, item: PendingItem) -> None:
    found = (await writer.get(COUNTING, [item.id])).get(item.id)
    if isinstance(found, PendingItem) and found.state == PendingState.PENDING:
        await note_failure(writer, found)
