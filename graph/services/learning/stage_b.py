"""Stage B's bookkeeping in the core: which agents are due, runs and batches as nodes, progress, a run by hand.

Nothing here asks a model. All reads are a worker's own, for counting; what a prompt shows is read under the scope of
its base. A scheduled run is told of to whoever sees one of its batches, so that one over a private chat tells others
nothing; one that a person asked for is told of to all who read the agent. Source: DR-4, DR-7, DR-8, DR-30 to DR-33,
DR-77 to DR-82.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.errors import Forbidden, NotFound, OperationRejected
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.model.nodes.learning import DreamBatch, DreamRun, PendingItem, PendingState, Progress, RunState, Stage
from graph.model.nodes.people import Principal, PrincipalKind, Right
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.rules.guarding import guard_of
from graph.rules.jobs import JobState
from graph.rules.pools import base_id, clause_of
from graph.rules.rights import rights_on
from graph.rules.scopes import KbScope, may_read, pool_clause
from graph.rules.stage_b import MANUAL, STAGE_B, StageBKey, is_due, pace_of, run_id
from graph.services.access.commands import Command
from graph.services.audience import guard_and_decide
from graph.services.deps import Deps
from graph.services.learning.jobs import enqueue, find_job
from graph.services.learning.pending import pending_items
from graph.services.learning.progress import find_progress, hold_progress
from graph.services.settings import load_settings
from graph.store.port import Reader, Writer
from graph.store.query import Eq

COUNTING = SystemScope(reason="what waits for Stage B")
DREAMING_DISABLED = "DREAMING_DISABLED"
_UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)


async def due_stage_b(reader: Reader, now: Millis) -> list[StageBKey]:
    """Return the agents for which a scheduled run is due, in order of their ids (DR-32).

    Agents that are disabled or do not dream have none (DR-7). One count over all that waits, then a look at each agent
    that might be due.
    """
    counts = await reader.aggregate(COUNTING, PendingItem, Eq("state", str(PendingState.PENDING)), by="agent_id")
    found = await reader.get(COUNTING, sorted(counts))
    agents = [node for node in found.values() if isinstance(node, Principal) and node.disabled_at is None]
    keys = [StageBKey(agent=agent.id) for agent in agents if await _is_due(reader, agent, counts[agent.id], now)]
    return sorted(keys)


async def arrange_stage_b(deps: Deps) -> list[StageBKey]:
    """Ask for a job for each agent that is due and has none under way; return those agents.

    One that waits after a failure goes on waiting (DR-8, DR-27), and one that an operator cancelled is asked for again
    only when something new waits.
    """
    now = deps.now()
    async with deps.store.reading() as reader:
        due = [key for key in await due_stage_b(reader, now) if not await _is_asked_for(reader, key)]
        agents = await reader.get(COUNTING, [key.agent for key in due])
    for key in due:
        workspace = agents[key.agent].workspace
        await deps.store.transact(lambda writer, key=key, w=workspace: ask_for(writer, key, w, now))  # type: ignore[misc]
    return due


async def ask_for(writer: Writer, key: StageBKey, workspace: WorkspaceId, now: Millis) -> Job:
    """Ask for the job of an agent now."""
    return await enqueue(
        writer,
        STAGE_B,
        workspace=workspace,
        unique_key=key.unique_key,
        due_at=now,
        now=now,
        subject=key.agent,
        agent=key.agent,
    )


async def request_run(cmd: Command, agent_id: NodeId) -> DreamRun:
    """Ask for a run of Stage B for an agent now, whatever waits and however short ago the last one was (DR-32, DR-82).

    It is queued with its job and runs alone: Stage A of a channel is never started by it. While a run is under way the
    new one follows it; one that is queued already is returned as it is.

    Args:
        cmd: of a curator of the agent or an admin.
        agent_id: the agent.

    Raises:
        NotFound: there is no such agent for the caller.
        Forbidden: he may only read it.
        OperationRejected: ``DREAMING_DISABLED`` (DR-7).
    """
    agent = await _agent(cmd, agent_id)
    settings = await load_settings(cmd.writer, agent.workspace, agent.id)
    if agent.disabled_at is not None or not settings["dream.enabled"]:
        raise OperationRejected(DREAMING_DISABLED, "Dreaming is disabled for this agent: enable it first")
    key = StageBKey(agent=agent.id)
    await cmd.writer.lock([key.progress_id])
    progress = await hold_progress(cmd.writer, key, agent.workspace, cmd.at)
    run = await _queued(cmd, agent, progress)
    await _wake(cmd, key, agent.workspace)
    return run


async def find_run(reader: Reader, id_: NodeId) -> DreamRun | None:
    """Return a run by its id."""
    found = (await reader.get(COUNTING, [id_])).get(id_)
    return found if isinstance(found, DreamRun) else None


async def find_batch(reader: Reader, id_: NodeId) -> DreamBatch | None:
    """Return a batch by its id."""
    found = (await reader.get(COUNTING, [id_])).get(id_)
    return found if isinstance(found, DreamBatch) else None


def new_run(
    id_: NodeId, agent: NodeId, workspace: WorkspaceId, at: Millis, *, trigger: str, state: RunState, model: str | None
) -> DreamRun:
    """Return a run of Stage B; it belongs to the agent's own knowledge, its batches to the bases they write."""
    return DreamRun(
        id=id_,
        workspace=workspace,
        pool=base_id(workspace, agent, KbKind.AGENT),
        created_at=at,
        stage=str(Stage.B),
        agent_id=agent,
        trigger=trigger,
        state=str(state),
        started_at=at,
        model=model,
    )


async def put_run(writer: Writer, run: DreamRun) -> None:
    """Write a run that is not there yet."""
    await writer.put([run])
    await guard_and_decide(writer, [guard_of(run, pool_clause(KbScope(kind=KbKind.AGENT, owner=run.agent_id)))])


async def put_batch(writer: Writer, batch: DreamBatch, base: KnowledgeBase) -> None:
    """Write that a batch is being worked on; one that is there gets an attempt more and these items."""
    await writer.lock(sorted([batch.id, batch.run_id]))
    old = await find_batch(writer, batch.id)
    if old is not None:
        again = {"attempts": old.attempts + 1, "item_ids": batch.item_ids, "state": batch.state}
        await writer.patch_many({old.id: again})
        return
    await writer.put([batch])
    await writer.link([Edge(type=EdgeType.SHOWN_BY, source=batch.run_id, target=batch.id)])
    await guard_and_decide(writer, [guard_of(batch, clause_of(base))], [batch.run_id])


async def move_progress(writer: Writer, progress: Progress, **fields: Any) -> None:
    """Move a row on to its next version."""
    await writer.patch_many({progress.id: {**fields, "version": progress.version + 1}})


async def bases_of(reader: Reader, items: Collection[PendingItem]) -> list[KnowledgeBase]:
    """Return the knowledge bases of items, each once, in id order."""
    found = await reader.get(COUNTING, sorted({item.pool for item in items if item.pool}))
    return [node for node in found.values() if isinstance(node, KnowledgeBase)]


def sums_of(batches: Sequence[DreamBatch]) -> dict[str, int]:
    """Return what batches that were committed did, in the fields of a run."""
    done = [batch for batch in batches if batch.state == RunState.SUCCEEDED]
    return {
        "materials_processed": sum(len(batch.item_ids) for batch in done),
        "operations": sum(batch.operations for batch in done),
        "skill_updates": sum(batch.skill_updates for batch in done),
        "rejected": sum(batch.rejected for batch in done),
    }


async def _agent(cmd: Command, agent_id: NodeId) -> Principal:
    """Return an agent that the caller curates."""
    found = (await cmd.writer.get(COUNTING, [agent_id])).get(agent_id)
    readable = any(
        may_read(cmd.session.viewer, KbScope(kind=kind, owner=agent_id)) for kind in (KbKind.SHARED, KbKind.AGENT)
    )
    if not isinstance(found, Principal) or found.workspace != cmd.caller.workspace or not readable:
        raise NotFound
    if found.kind != PrincipalKind.AGENT:
        raise NotFound
    if cmd.facts.kind is PrincipalKind.AGENT or Right.CURATOR not in rights_on(cmd.facts, agent_id):
        raise Forbidden("a run of Dreaming is started by a curator of the agent")
    return found


async def _queued(cmd: Command, agent: Principal, progress: Progress) -> DreamRun:
    """Return the queued run of an agent: the next one, or the one after the run under way."""
    for ahead in (0, 1):
        found = await find_run(cmd.writer, run_id(progress, ahead))
        if found is None:
            made = new_run(
                run_id(progress, ahead),
                agent.id,
                agent.workspace,
                cmd.at,
                trigger=MANUAL,
                state=RunState.QUEUED,
                model=None,
            )
            await put_run(cmd.writer, made)
            return made
        if found.state == RunState.QUEUED:
            return found
    raise AssertionError("a run that ended moves the progress on")


async def _wake(cmd: Command, key: StageBKey, workspace: WorkspaceId) -> None:
    """Let the job of an agent be due now, even if it waits after a failure."""
    job = await ask_for(cmd.writer, key, workspace, cmd.at)
    if job.state == JobState.QUEUED and job.due_at > cmd.at:
        await cmd.writer.patch_many({job.id: {"due_at": cmd.at}})


async def _is_due(reader: Reader, agent: Principal, count: int, now: Millis) -> bool:
    settings = await load_settings(reader, agent.workspace, agent.id)
    if not settings["dream.enabled"]:
        return False
    pace, row = pace_of(settings), await find_progress(reader, StageBKey(agent=agent.id))
    last = row.last_run_at if row else None
    if not is_due(count, Millis(0), last, replace(pace, max_wait_hours=0), now):
        return False  # not even if everything had waited for long
    items = await pending_items(reader, agent.id)
    return is_due(len(items), min((item.created_at for item in items), default=None), last, pace, now)


async def _is_asked_for(reader: Reader, key: StageBKey) -> bool:
    """Return whether a job is under way, or was cancelled and nothing has come in since it was due."""
    job = await find_job(reader, key.unique_key)
    if job is None or job.state != JobState.CANCELLED:
        return job is not None and job.state in _UNDER_WAY
    return all(item.created_at <= job.due_at for item in await pending_items(reader, key.agent))
