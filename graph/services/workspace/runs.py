"""Runs of threads: accepting one with the mounts of that moment, committing its progress, ending it (MT-20 to MT-34).

A run is locked before its thread (``wrn_…`` comes before ``wth_…``), memories between them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.model.ids import NodeId, node_id
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import AgentProfile, ContextCursor, RunThread, RunToolCall, WorkspaceRun
from graph.model.nodes.workspace import WorkspaceRunState as State
from graph.rules.memory_refusals import conflicting, invalid
from graph.rules.run_mounts import Mount, by_name, joined, unused
from graph.rules.run_tools import default_toolsets
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.workspace.mounts import live_memories, mounts_of, put_mounts
from graph.services.workspace.run_finding import RUNS, find_one, open_one, put_shared, touch
from graph.store.query import And, Eq, Find

ENDS = frozenset({State.COMPLETED, State.FAILED})


async def accept_run(cmd: Command, thread_id: NodeId, agent_id: NodeId, text: str) -> WorkspaceRun:
    """Accept a run with the mounts of the thread; the first one adds the defaults of its agent (MT-20, MT-27, MT-29).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``; ``conflict`` with reason ``archived``, ``run_active`` or
            ``memory_mount_limit``; ``invalid_argument`` at a default whose memory is gone. Then nothing is changed.
    """
    await open_one(cmd, thread_id, RunThread, Right.RUN)
    agent = await find_one(cmd, agent_id, AgentProfile)
    defaults = [Mount.of(given) for given in agent.memory_mounts or ()]
    await cmd.writer.lock(sorted({thread_id, *(mount.memory_id for mount in defaults)}))
    thread = await find_one(cmd, thread_id, RunThread)
    _check_free(thread)
    mounts = await mounts_of(cmd.writer, thread.id)
    if not thread.started:
        mounts = await _add_defaults(cmd, thread, mounts, defaults)
    run = WorkspaceRun(
        id=cmd.deps.new_id(WorkspaceRun.PREFIX),
        workspace=thread.workspace,
        created_at=cmd.at,
        thread_id=thread.id,
        agent_id=agent.id,
        principal_id=cmd.facts.principal,
        input=text,
        state=State.ACCEPTED,
        mounts=[mount.kept() for mount in mounts],
        toolsets=agent.toolsets or default_toolsets(),
    )
    await put_shared(cmd, [run])
    await cmd.writer.patch_many({thread.id: {"started": True, "active_run": run.id}})
    return run


async def hold_run(cmd: Command, run_id: NodeId, verb: Right = Right.RUN) -> WorkspaceRun:
    """Lock a run with its thread and return it if it is unfinished.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``; ``conflict`` with reason ``run_ended``.
    """
    found = await open_one(cmd, run_id, WorkspaceRun, verb)
    await cmd.writer.lock([found.id, found.thread_id])
    run = await find_one(cmd, run_id, WorkspaceRun)
    check_unfinished(run)
    return run


def check_unfinished(run: WorkspaceRun) -> None:
    """Refuse a run that ended.

    Raises:
        WorkspaceRefused: ``conflict`` with reason ``run_ended``.
    """
    if run.state != State.ACCEPTED:
        raise conflicting("run", outside(run.id), "run_ended")


async def commit_progress(cmd: Command, run_id: NodeId) -> WorkspaceRun:
    """Take note that what a run did and was told is part of its thread's history (MT-32, MT-44, MT-64).

    Raises:
        WorkspaceRefused: as for `hold_run`.
    """
    run = await hold_run(cmd, run_id)
    await _commit(cmd, run)
    await cmd.writer.patch_many({run.id: {"committed": True}})
    return replace(run, committed=True)


async def end_run(cmd: Command, run_id: NodeId, state: str) -> WorkspaceRun:
    """End a run; what it wrote stays however it ended (MT-34).

    Raises:
        WorkspaceRefused: as for `hold_run`; ``invalid_argument`` at `status`.
    """
    if state not in ENDS:
        raise invalid("status", "is completed or failed")
    run = await hold_run(cmd, run_id)
    await _commit(cmd, run)
    fields: dict[str, Any] = {"state": state, "committed": True, "ended_at": cmd.at}
    await cmd.writer.patch_many({run.id: fields, run.thread_id: {"active_run": None}})
    return replace(run, **fields)


async def unsettled_calls(cmd: Command, run_id: NodeId) -> Sequence[RunToolCall]:
    """Return the writes of a run after which no checkpoint came, in the order in which they began."""
    where = And((Eq("run_id", run_id), Eq("settled", False)))
    found = (await cmd.writer.find(RUNS, Find(kind=RunToolCall, where=where))).nodes
    return sorted(found, key=lambda call: (call.created_at, call.id))


def cursor_id(thread_id: NodeId, memory_id: NodeId, name: str) -> NodeId:
    """Return the id of what a thread was told of a memory under a name (MT-44)."""
    bodies = (node.partition("_")[2] for node in (thread_id, memory_id))
    return node_id(ContextCursor.PREFIX, "/".join((*bodies, name)))


def _check_free(thread: RunThread) -> None:
    if thread.archived_at is not None:
        raise conflicting("thread", outside(thread.id), "archived")
    if thread.active_run is not None:
        raise conflicting("thread", outside(thread.id), "run_active")


async def _add_defaults(
    cmd: Command, thread: RunThread, held: Sequence[Mount], defaults: Sequence[Mount]
) -> list[Mount]:
    added = unused(held, defaults)
    living = await live_memories(cmd, {mount.memory_id for mount in added})
    for place, mount in enumerate(defaults):
        if mount in added and mount.memory_id not in living:
            raise invalid(f"memory_mounts.{place}.memory_id", "names a memory that is gone")
    together = joined(held, added, thread.id, cmd.deps.memory_limits.mounts_per_thread)
    if added:
        await put_mounts(cmd, thread, by_name(added), living)
        await touch(cmd, thread)
    return together


async def _commit(cmd: Command, run: WorkspaceRun) -> None:
    """Move the cursors of the thread to what the last attempt was told; calls so far are settled."""
    told: Mapping[str, Any] = run.delivered or {}
    for name, given in told.items():
        await _move_cursor(cmd, run, name, given)
    mounted = {cursor_id(run.thread_id, Mount.of(given).memory_id, given["name"]) for given in run.mounts or ()}
    held = (await cmd.writer.find(RUNS, Find(kind=ContextCursor, where=Eq("thread_id", run.thread_id)))).nodes
    # What was absent for a run is told in full when it is mounted again (MT-45).
    await cmd.writer.delete([cursor.id for cursor in held if cursor.id not in mounted])
    begun = And((Eq("run_id", run.id), Eq("settled", False)))
    await cmd.writer.patch_where(RunToolCall, begun, {"settled": True})


async def _move_cursor(cmd: Command, run: WorkspaceRun, name: str, given: Mapping[str, Any]) -> None:
    memory_id = NodeId(given["memory_id"])
    id_ = cursor_id(run.thread_id, memory_id, name)
    fields = {"seq": given["seq"], "epoch": given["epoch"]}
    if await cmd.writer.get(RUNS, [id_]):
        await cmd.writer.patch_many({id_: fields})
        return
    cursor = ContextCursor(
        id=id_,
        workspace=run.workspace,
        created_at=cmd.at,
        thread_id=run.thread_id,
        memory_id=memory_id,
        name=name,
        **fields,
    )
    await cmd.writer.put([cursor])
