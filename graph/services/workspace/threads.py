"""Threads of runs: making, forking and archiving them, and what a compaction of their history means (MT-15 to MT-18).

Memories are locked before threads (``wsm_…`` comes before ``wth_…``), as deleting a memory does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import RunThread, WorkspaceRun
from graph.rules.memory_refusals import missing
from graph.rules.run_mounts import Mount, joined
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.workspace.finding import require_verb
from graph.services.workspace.mounts import hold_with_mounts, live_memories, mounts_of, put_mounts, remove_mounts
from graph.services.workspace.run_finding import find_one, open_one, put_shared, touch


@dataclass(frozen=True, kw_only=True, slots=True)
class ThreadView:
    """A thread with its mounts, by name."""

    thread: RunThread
    mounts: Sequence[Mount]


async def thread_view(reading: Reading, id_: NodeId, verb: Right = Right.READ) -> ThreadView:
    """Return a thread with its mounts.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    thread = await open_one(reading, id_, RunThread, verb)
    return ThreadView(thread=thread, mounts=await mounts_of(reading.reader, thread.id))


async def create_thread(cmd: Command, named_mounts: Sequence[Mount], parent: NodeId | None = None) -> ThreadView:
    """Make a thread with initial mounts; that of an async subagent begins with the mounts of its parent run (MT-25).

    Raises:
        WorkspaceRefused: ``forbidden``; ``not_found`` of a run or memory; what `joined` refuses; then nothing is made.
    """
    require_verb(cmd.facts, None, Right.RUN)
    inherited: list[Mount] = []
    if parent is not None:
        run = await open_one(cmd, parent, WorkspaceRun, Right.RUN)
        inherited = [Mount.of(given) for given in run.mounts or ()]
    return await _make(cmd, inherited, named_mounts, parent_run_id=parent)


async def fork_run(cmd: Command, run_id: NodeId, named_mounts: Sequence[Mount]) -> ThreadView:
    """Make a thread out of the history of a run: with the mounts of its thread, and more (MT-16, MT-33).

    It goes on from a run, so defaults of agents do not count any more.

    Raises:
        WorkspaceRefused: as for `create_thread`.
    """
    run = await open_one(cmd, run_id, WorkspaceRun, Right.RUN)
    copied = await mounts_of(cmd.writer, run.thread_id)
    return await _make(cmd, copied, named_mounts, started=True)


async def _make(cmd: Command, copied: Sequence[Mount], more: Sequence[Mount], **fields: Any) -> ThreadView:
    """Write a thread; memories of copied mounts may be gone by now, those of named ones may not."""
    known = await live_memories(cmd, {mount.memory_id for mount in (*copied, *more)})
    await cmd.writer.lock(sorted(known))  # nothing is locked for ids that name nothing
    living = await live_memories(cmd, known)
    for mount in more:
        if mount.memory_id not in living:
            raise missing("memory", outside(mount.memory_id))
    kept = [mount for mount in copied if mount.memory_id in living]
    mounts = joined([], [*kept, *more], None, cmd.deps.memory_limits.mounts_per_thread)
    thread = RunThread(
        id=cmd.deps.new_id(RunThread.PREFIX),
        workspace=cmd.caller.workspace,
        created_at=cmd.at,
        updated_at=cmd.at,
        **fields,
    )
    await put_shared(cmd, [thread])
    await put_mounts(cmd, thread, mounts, living)
    return ThreadView(thread=thread, mounts=mounts)


async def archive_thread(cmd: Command, id_: NodeId, *, archived: bool) -> ThreadView:
    """Archive a thread, which removes its mounts, or take it back, which restores none.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    await open_one(cmd, id_, RunThread, Right.RUN)
    mounts, memories = await hold_with_mounts(cmd, id_)
    thread = await find_one(cmd, id_, RunThread)
    if (thread.archived_at is not None) is archived:
        return ThreadView(thread=thread, mounts=mounts)
    if archived:
        await remove_mounts(cmd, thread, mounts, memories)
    changed = await touch(cmd, thread, archived_at=cmd.at if archived else None)
    return ThreadView(thread=changed, mounts=[] if archived else mounts)


async def compact_thread(cmd: Command, id_: NodeId) -> None:
    """Remember that the runtime compacted the history: what was told before does not count any more (MT-39).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``.
    """
    await open_one(cmd, id_, RunThread, Right.RUN)
    await cmd.writer.increment(id_, "epoch")
