"""Runs Stage A for one channel and base under the lease of a job: select, ask, decide, commit, batch after batch.

A run is begun with the ids of its batch before the model is asked, and ends in the transaction that writes its episodes
and moves the progress. Killed in between, the same batch is asked about again, which finds the saved answer.
Source: DR-25 to DR-27, DR-77 to DR-79.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dreaming.asking import ask
from dreaming.jobs import WorkContext, guarded_command, guarded_commit
from dreaming.light_model import light_model
from dreaming.saved_calls import LightModel
from dreaming.stage_a.answer import shape_for
from dreaming.stage_a.prompt import request_for
from dreaming.stage_a.select import Selected, agent_of, batch_id, check_scope, select
from graph.model.edges import Edge, EdgeType
from graph.model.errors import ModelAnswerInvalid, ModelBudgetSpent, ModelError, RootwardError, VersionConflict
from graph.model.fields import Json
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.learning import DreamBatch, DreamRun, RunState, Stage
from graph.rules.jobs import PARK_AFTER
from graph.rules.pending import pending_item
from graph.rules.pools import clause_of
from graph.rules.stage_a import Batch, Outcome, Split, decide, halved
from graph.services.access.commands import Command
from graph.services.learning.progress import find_progress, hold_progress
from graph.services.learning.runs import RUNS, end_batch, end_run, put_run
from graph.services.learning.stage_a import COUNTING, is_readable, keys_of, park_message, pass_over, unread
from graph.services.ledger import Commit, commit, hold
from graph.services.settings import load_settings
from graph.store.port import Writer

MOVED_TRIES = 3
"""So often a batch whose messages changed meanwhile is run, on what is there then (DR-78)."""
TRIGGER = "scheduled"
_NO_USE = "MODEL_ANSWER_"
"""Codes of answers that could not be used begin so; a model that gave none is no fault of the message."""


@dataclass(kw_only=True, slots=True)
class _Told:
    """What a job did, in numbers."""

    batches: int = 0
    messages: int = 0
    episodes: int = 0

    def as_json(self) -> Json:
        return {"batches": self.batches, "messages": self.messages, "episodes": self.episodes}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answered:
    """A batch (perhaps less than was chosen, halved so often) and how the model splits it."""

    batch: Batch
    split: Split
    halvings: int = 0


async def dream_channel(work: WorkContext) -> Json:
    """Write the episodes of all batches of a channel that are due, and return how many messages became how many.

    Raises:
        ModelError: a batch failed; it is due again as the back-off of the job says, and its progress did not move.
        VersionConflict: its messages changed again and again while the model was asked; likewise.
        PutOff: Dreaming is disabled or has no model; nothing is lost.
    """
    told, halvings = _Told(), 0
    while True:
        selected = await select(work.deps, work.job, halvings=halvings)
        if selected is None:
            return told.as_json()
        light = await light_model(work)
        halvings += await _run(work, light, selected, told)


async def _run(work: WorkContext, light: LightModel, selected: Selected, told: _Told) -> int:
    """Run one batch to its end; return how often it had to be halved.

    Raises:
        RootwardError: the run ended as failed, or waits for the next day's budget.
    """
    tries = 0
    while True:
        tries += 1
        try:
            answered = await _asked(work, light, selected)
            episodes = await _commit(work, selected, answered)
        except ModelBudgetSpent:
            raise  # no failure: the run goes on when there is budget again
        except (ModelError, VersionConflict) as error:
            again = isinstance(error, VersionConflict) and tries < MOVED_TRIES
            fresh = await select(work.deps, work.job, afresh=True) if again else None
            if fresh is None:
                await _fail(work, selected, error)
                raise
            selected = fresh
            continue
        told.batches += 1
        told.messages += len(answered.batch.messages)
        told.episodes += len(episodes)
        return answered.halvings


async def _asked(work: WorkContext, light: LightModel, selected: Selected) -> _Answered:
    """Begin the run and return how the model splits its batch; about nothing nobody is asked."""
    if not selected.batch.messages:
        return _Answered(batch=selected.batch, split=Split())
    await _begin(work, light, selected)
    return await _ask(work, light, selected)


async def _begin(work: WorkContext, light: LightModel, selected: Selected) -> None:
    """Write down that the batch is being worked on, before the model is asked about it."""
    now = work.deps.now()
    run = DreamRun(
        id=selected.run_id,
        workspace=selected.channel.workspace,
        pool=selected.base.id,
        created_at=now,
        stage=str(Stage.A),
        agent_id=work.agent,
        trigger=TRIGGER,
        state=str(RunState.RUNNING),
        channel_id=selected.key.channel,
        started_at=now,
        model=light.model.name,
    )
    batch = DreamBatch(
        id=selected.batch_id,
        workspace=run.workspace,
        pool=run.pool,
        created_at=now,
        run_id=run.id,
        agent_id=run.agent_id,
        channel_id=run.channel_id,
        state=str(RunState.RUNNING),
        attempts=1,
        item_ids=selected.batch.ids,
    )
    await guarded_commit(work, lambda writer: put_run(writer, run, [batch], clause_of(selected.base)))


async def _ask(work: WorkContext, light: LightModel, selected: Selected) -> _Answered:
    """Return how the model splits the batch; if it could not finish, how it splits the first half, and so on."""
    batch, halvings = selected.batch, 0
    while True:
        check_scope(selected.base, batch.messages)
        request = request_for(batch, work.deps.tokenizer, selected.limits.tokens)
        try:
            key = f"{selected.run_id}/{len(batch.messages)}"
            answer = await ask(work, light, key, request, shape_for(batch))
        except ModelAnswerInvalid as error:
            if not error.was_cut or len(batch.messages) == 1:
                raise
            batch, halvings = halved(batch), halvings + 1
            await _begin(work, light, replace(selected, batch=batch))  # a restart goes on with the half
            continue
        return _Answered(batch=batch, split=answer.split(), halvings=halvings)


async def _commit(work: WorkContext, selected: Selected, answered: _Answered) -> tuple[Episode, ...]:
    """Write episodes, progress and the end of the run in one transaction (DR-25).

    Raises:
        VersionConflict: a message of the batch, or what is to be read before its end, changed meanwhile.
        LeaseLost: nothing was written.
    """
    return await guarded_command(work, agent_of(work.job), lambda cmd: _write(cmd, selected, answered))


async def _write(cmd: Command, selected: Selected, answered: _Answered) -> tuple[Episode, ...]:
    key, batch, writer = selected.key, answered.batch, cmd.writer
    rows = [other.progress_id for other in keys_of(selected.channel)]
    await hold(writer, key.kb, [key.channel, *rows, *batch.ids])
    await _check_unmoved(writer, selected, batch)
    progress = await hold_progress(writer, key, selected.channel.workspace, cmd.at)
    new_ids = [cmd.deps.new_id(Episode.PREFIX) for _ in answered.split.episodes]
    made = decide(answered.split, batch, progress, key, run_id=selected.run_id, new_ids=new_ids, at=cmd.at)
    await _write_episodes(cmd, selected, made, batch)
    await writer.patch_many({progress.id: made.progress})
    moved = replace(progress, **made.progress)  # type: ignore[arg-type]
    await pass_over(writer, key, selected.channel, moved.cursor, cmd.at)
    await end_batch(writer, selected.batch_id, RunState.SUCCEEDED, tx_id=cmd.tx_id, item_ids=batch.ids)
    counts = {"materials_processed": len(batch.messages)}
    await end_run(writer, selected.run_id, RunState.SUCCEEDED, cmd.at, **counts)
    return made.episodes


async def _write_episodes(cmd: Command, selected: Selected, made: Outcome, batch: Batch) -> None:
    """Write the episodes with what waits for Stage B because of them, and what the batch used up."""
    changes = made.changes
    changes.puts += [pending_item(episode, selected.channel.owner_id, cmd.at) for episode in made.episodes]
    changes.links += [Edge(type=EdgeType.CONSUMED, source=selected.batch_id, target=id_) for id_ in batch.ids]
    language = (await load_settings(cmd.writer, cmd.caller.workspace))["search.default_language"]
    where = Commit(pool=selected.key.kb, tx_id=cmd.tx_id, at=cmd.at, language=language)
    await commit(cmd.writer, cmd.deps, where, changes)


async def _check_unmoved(writer: Writer, selected: Selected, batch: Batch) -> None:
    """Make sure that the batch is as it was read and leaves nothing out before the place it ends at.

    Raises:
        VersionConflict: it is not.
    """
    found = await writer.get(COUNTING, list(batch.ids))
    same = len(found) == len(batch.ids) and all(isinstance(m, Source) and is_readable(m) for m in found.values())
    row = await find_progress(writer, selected.key)
    version = row.version if row else 1
    fresh = [message.seq for message in batch.messages if message.seq > selected.progress.cursor]
    between = 0
    if fresh:
        where = unread(selected.key, selected.progress.cursor, until=max(fresh))
        between = (await writer.aggregate(COUNTING, Source, where)).get(None, 0)
    if not same or version != selected.progress.version or between != len(fresh):
        raise VersionConflict("messages of the batch changed while it was read: it is read again")


async def _fail(work: WorkContext, selected: Selected, error: RootwardError) -> None:
    """End the run as failed; the progress stays where it was, only its failures are counted (DR-26, DR-77).

    A message that failed three times alone, because no answer about it can be used, is parked (DR-79).
    """
    key, now = selected.key, work.deps.now()

    async def write(writer: Writer) -> None:
        await writer.lock([key.progress_id])
        row = await hold_progress(writer, key, selected.channel.workspace, now)
        if row.version != selected.progress.version:
            return
        await writer.patch_many({row.id: {"failures": row.failures + 1, "version": row.version + 1}})
        ids = selected.batch.ids  # all of them, also if the last question was about fewer: they are due again
        await end_batch(writer, selected.batch_id, RunState.FAILED, error=error.wire_code, item_ids=ids)
        await end_run(writer, selected.run_id, RunState.FAILED, now, error=error.wire_code)
        if await _is_hopeless(writer, selected):
            await park_message(writer, row, selected.batch.messages[0], work.agent, now)

    await guarded_commit(work, write)


async def _is_hopeless(writer: Writer, selected: Selected) -> bool:
    """Tell whether the last batches were of the same single message and none had an answer of use."""
    if len(selected.batch.messages) != 1:
        return False
    versions = range(selected.progress.version, max(selected.progress.version - PARK_AFTER, 0), -1)
    found = await writer.get(RUNS, [batch_id(selected.progress, version) for version in versions])
    failed = [
        batch
        for batch in found.values()
        if isinstance(batch, DreamBatch)
        and batch.item_ids == selected.batch.ids
        and (batch.error or "").startswith(_NO_USE)
    ]
    return len(failed) == PARK_AFTER
