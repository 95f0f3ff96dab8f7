"""Learns from one material under the lease of a job: part after part, each committed with how far it was read.

A part is a batch of the task's run, begun before the model is asked. Killed in between, the next worker finds the run,
the part and the saved answer by their ids. A part that fails leaves those before it. Source: MA-6 to MA-10, DR-76 to
DR-78, AD-33.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dreaming.curation import (
    Opened,
    Report,
    Wanted,
    agent_caller,
    agent_name,
    ask_for_operations,
    commit_answer,
    curation_request,
    fail_batch,
    on_fresh_state,
    open_material,
    produced,
    read_as_base,
)
from dreaming.jobs import WorkContext, guarded_commit
from dreaming.light_model import light_model
from dreaming.materials.parts import PART_TOKENS, part_count, part_end
from dreaming.materials.topics import entries_about
from dreaming.prompts import load_prompt
from dreaming.saved_calls import LightModel
from graph.model.edges import Edge, EdgeType
from graph.model.errors import (
    ModelAnswerInvalid,
    ModelBudgetSpent,
    ModelError,
    RootwardError,
    UnsupportedType,
    VersionConflict,
)
from graph.model.fields import Json
from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import LearningState, Source
from graph.model.nodes.knowledge import KnowledgeBase, ModifierKind
from graph.model.nodes.learning import DreamBatch, DreamRun, Progress, RunState, Stage, Trigger
from graph.rules.operations.actors import ActorRules
from graph.rules.pools import clause_of
from graph.rules.unreadable import OTHER_TYPE
from graph.services.access.commands import Command
from graph.services.access.session import Session, read
from graph.services.learning.material_tasks import (
    LEARNING,
    WITHDRAWN,
    find_learning,
    is_there,
    material_of,
    name_agent,
    put_learning,
    refuse_material,
    set_learning_state,
    set_text,
)
from graph.services.learning.pending import consume_source
from graph.services.learning.runs import RUNS, batches_of, end_batch, end_run, put_run
from graph.store.port import Reader, Writer

PURPOSE = "learn_material.decide"
NAME = "Learning"
LEAST_TOKENS = 500
"""A part is not halved below this because an answer about it was cut."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    """What a task works with.

    Attributes:
        agent: what the agent is called.
    """

    work: WorkContext
    source: Source
    base: KnowledgeBase
    light: LightModel
    agent: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Part:
    """A stretch of the text, with the run and batch that read it."""

    progress: Progress
    start: int
    end: int
    number: int
    of: int
    run: DreamRun
    batch_id: NodeId

    @property
    def is_last(self) -> bool:
        return self.number == self.of


async def learn_material(work: WorkContext) -> Json:
    """Learn from the material of a job; return in numbers what came of it, or the code of why nothing could.

    Raises:
        ModelError, VersionConflict: a part failed; it is tried again as the back-off of the job says.
        PutOff: Dreaming is disabled or has no model; the material goes on waiting.
    """
    async with work.deps.store.reading() as reader:
        found = await material_of(reader, work.job.subject_id)
    if found is None:
        return {}
    source, base = found
    work = await _named(work, base)
    if not is_there(source):
        return await _refused(work, source, WITHDRAWN)
    try:
        source = await _with_text(work, source)
    except UnsupportedType as error:
        return await _refused(work, source, error.wire_code, str(error.details.get("reason", OTHER_TYPE)))
    task = _Task(
        work=work,
        source=source,
        base=base,
        light=await light_model(work),
        agent=await agent_name(work.deps, base.owner_id),
    )
    return await _learn(task)


async def _named(work: WorkContext, base: KnowledgeBase) -> WorkContext:
    if work.job.agent_id is not None:
        return work
    job = await guarded_commit(work, lambda writer: name_agent(writer, work.job, base.owner_id))
    return replace(work, job=replace(work.job, agent_id=job.agent_id))


async def _refused(work: WorkContext, source: Source, code: str, reason: str | None = None) -> Json:
    """End a task from which nothing can be learned, however often it is tried; a person may retry it (MA-6)."""
    now = work.deps.now()
    await guarded_commit(work, lambda writer: refuse_material(writer, source, now, code=code, reason=reason))
    return {"code": code}


async def _with_text(work: WorkContext, source: Source) -> Source:
    """Return the source with its text, read out of its bytes if that was not done yet.

    Raises:
        UnsupportedType: no text can be read from it.
    """
    if source.text.strip():
        return source
    if source.blob_ref is None:
        raise UnsupportedType("the material holds no text", reason="no_text")
    data = await work.deps.blobs.read(source.blob_ref)
    filename = (source.meta or {}).get("filename")
    found = await asyncio.to_thread(work.deps.extractor.extract, data, media_type=source.media_type, filename=filename)
    return await guarded_commit(work, lambda writer: set_text(writer, source, found.text, found.title))


async def _learn(task: _Task) -> Json:
    tokens, parts = PART_TOKENS, 0
    while True:
        part = await _next(task, tokens)
        if part is None:
            return {"parts": parts}
        try:
            await on_fresh_state(lambda part=part: _attempt(task, part))  # type: ignore[misc]
        except ModelBudgetSpent:
            raise  # no failure: the task goes on when there is budget again
        except (ModelError, VersionConflict) as error:
            if isinstance(error, ModelAnswerInvalid) and error.was_cut and tokens > LEAST_TOKENS:
                tokens //= 2
                continue
            await _fail(task, part, error)
            raise
        parts += 1


async def _next(task: _Task, tokens: int) -> _Part | None:
    """Begin the next part; None if all was read."""
    deps = task.work.deps
    async with deps.store.reading() as reader:
        progress = await find_learning(reader, task.source, deps.now())
        run = await _run_of(reader, task, progress)
    text, start = task.source.text, progress.cursor
    if start >= len(text):
        return None
    left = part_count(text, start, deps.tokenizer, tokens)
    batches = progress.version - progress.failures
    part = _Part(
        progress=progress,
        start=start,
        end=part_end(text, start, deps.tokenizer, tokens),
        number=batches,
        of=batches + left - 1,
        run=run,
        batch_id=node_id(DreamBatch.PREFIX, f"{run.id.replace('_', '.', 1)}/{start}"),
    )
    await guarded_commit(task.work, lambda writer: _begin(writer, task, part))
    return part


async def _run_of(reader: Reader, task: _Task, progress: Progress) -> DreamRun:
    """Return the run of the task: one until it fails, so that a restart finds it."""
    id_ = node_id(DreamRun.PREFIX, f"{progress.id.replace('_', '.', 1)}/{progress.failures}")
    found = (await reader.get(RUNS, [id_])).get(id_)
    if isinstance(found, DreamRun):
        return found
    now = task.work.deps.now()
    return DreamRun(
        id=id_,
        workspace=task.base.workspace,
        pool=task.base.id,
        created_at=now,
        stage=str(Stage.B),
        agent_id=task.base.owner_id,
        trigger=str(Trigger.MATERIAL),
        state=str(RunState.RUNNING),
        started_at=now,
        model=task.light.model.name,
    )


async def _begin(writer: Writer, task: _Task, part: _Part) -> None:
    """Write down what is read, before the model is asked about it."""
    batch = DreamBatch(
        id=part.batch_id,
        workspace=task.base.workspace,
        pool=task.base.id,
        created_at=task.work.deps.now(),
        run_id=part.run.id,
        agent_id=part.run.agent_id,
        state=str(RunState.RUNNING),
        attempts=1,
        item_ids=(task.source.id,),
    )
    await put_run(writer, part.run, [batch], clause_of(task.base))
    await set_learning_state(writer, task.source.id, LearningState.RUNNING, task.work.deps.now())


async def _attempt(task: _Task, part: _Part) -> Report:
    """Ask about a part and commit the answer, on what is there now.

    Raises:
        VersionConflict: something that was shown changed while the model was asked.
    """
    opened, _ = await read(task.work.deps, agent_caller(task.base), lambda session: _open(session, task, part))
    request = curation_request(
        opened,
        purpose=PURPOSE,
        prompt=load_prompt("learn_material"),
        run_at=part.run.started_at,
        agent=task.agent,
        asked=_asked(task, part),
    )
    answer = await ask_for_operations(task.work, task.light, f"{part.batch_id}/{part.end}", request, opened)
    actor = ActorRules(
        id=task.base.owner_id,
        kind=ModifierKind.AGENT,
        name=NAME,
        dream_run_id=part.run.id,
        run_started_at=part.run.started_at,
    )
    return await commit_answer(
        task.work,
        opened,
        answer.operations,
        actor,
        hold=[task.source.id, part.progress.id, part.batch_id, part.run.id],
        also=lambda cmd, report: _end_part(cmd, task, part, report),
    )


async def _open(session: Session, task: _Task, part: _Part) -> Opened:
    read_as_base(session, task.base)
    entries = await entries_about(session, task.source, task.source.text[part.start : part.end])
    wanted = Wanted(sources=(task.source.id,), stretches={task.source.id: (part.start, part.end)}, entries=entries)
    opened = await open_material(session, task.base, wanted)
    if task.source.id not in opened.evidence:
        raise VersionConflict("the material was withdrawn while it was read")
    return opened


def _asked(task: _Task, part: _Part) -> str:
    """Say what is shown, beside the quoted data and never with words of it."""
    whole = "The whole material is shown." if part.of == 1 else f"Part {part.number} of {part.of} is shown."
    newer = f" It is version {task.source.version} of the material." if task.source.version > 1 else ""
    return whole + newer


async def _end_part(cmd: Command, task: _Task, part: _Part, report: Report) -> None:
    """Write how far the material was read, and the end of the batch, beside what it changed (DR-76).

    Raises:
        VersionConflict: the material or the progress is not as it was.
    """
    now = await find_learning(cmd.writer, task.source, cmd.at)
    source = (await cmd.writer.get(LEARNING, [task.source.id])).get(task.source.id)
    if not isinstance(source, Source) or not source.latest or not is_there(source) or now.cursor != part.start:
        raise VersionConflict("the material changed while it was read")
    await put_learning(cmd.writer, replace(now, cursor=part.end, version=now.version + 1))
    consumed = Edge(type=EdgeType.CONSUMED, source=part.batch_id, target=task.source.id)
    await cmd.writer.link([consumed, *produced(part.batch_id, report)])
    await end_batch(
        cmd.writer,
        part.batch_id,
        RunState.SUCCEEDED,
        tx_id=cmd.tx_id,
        rejections=list(report.rejections),
        operations=report.operations,
        skill_updates=report.skill_updates,
        rejected=report.rejected,
    )
    if part.end >= len(task.source.text):
        await _end_task(cmd, task, part)


async def _end_task(cmd: Command, task: _Task, part: _Part) -> None:
    """End the task in the transaction of its last part: the material is learned and waits no more (MA-7)."""
    counts = _sums(await batches_of(cmd.writer, part.run.id))
    await end_run(cmd.writer, part.run.id, RunState.SUCCEEDED, cmd.at, materials_processed=1, **counts)
    await consume_source(cmd.writer, task.source.id)
    await set_learning_state(cmd.writer, task.source.id, LearningState.SUCCEEDED, cmd.at)


def _sums(batches: Sequence[DreamBatch]) -> dict[str, int]:
    """Return what became of the operations of these parts, in the fields of a run (DR-81)."""
    return {
        "operations": sum(batch.operations for batch in batches),
        "skill_updates": sum(batch.skill_updates for batch in batches),
        "rejected": sum(batch.rejected for batch in batches),
    }


async def _fail(task: _Task, part: _Part, error: RootwardError) -> None:
    """End the run as failed; what was read before stays, and the next run goes on from there (DR-77)."""

    async def write(writer: Writer) -> None:
        now = task.work.deps.now()
        await writer.lock([part.progress.id])
        found = await find_learning(writer, task.source, now)
        await put_learning(writer, replace(found, failures=found.failures + 1, version=found.version + 1))
        await fail_batch(writer, part.batch_id, error)
        counts = _sums(await batches_of(writer, part.run.id))
        await end_run(writer, part.run.id, RunState.FAILED, now, **counts, error=error.wire_code)
        await set_learning_state(writer, task.source.id, LearningState.QUEUED, now)

    await guarded_commit(task.work, write)
