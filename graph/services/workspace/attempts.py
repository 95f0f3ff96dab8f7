"""Starting an attempt of a run: what it is told, which tools it has, which writes nobody knows the end of (MT-30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import (
    ContextCursor,
    MemoryKind,
    RunThread,
    RunToolCall,
    WorkspaceMemory,
    WorkspaceRun,
)
from graph.rules.memory_guides import guide_of
from graph.rules.rights import ViewerFacts
from graph.rules.run_context import lay_out
from graph.rules.run_mounts import Mount
from graph.rules.run_tools import Offer, Served, offered
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.deps import Deps
from graph.services.workspace.context import UNAVAILABLE, UNCHANGED, Asked, find_memories, tell
from graph.services.workspace.recall import recall
from graph.services.workspace.run_finding import RUNS, find_one, open_one
from graph.services.workspace.runs import check_unfinished, cursor_id, hold_run, unsettled_calls


@dataclass(frozen=True, kw_only=True, slots=True)
class Report:
    """What became of a memory: ``full``, ``changes``, ``unchanged``, ``unavailable``, ``recalled``, ``timeout`` or
    ``failed`` (MT-47).
    """

    memory: str
    status: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Attempt:
    """What the runtime of an agent starts with (MT-30, MT-64)."""

    number: int
    instructions: str
    preamble: Sequence[str]
    tools: Sequence[Offer]
    reports: Sequence[Report]
    unknown_calls: Sequence[RunToolCall]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Start:
    run: WorkspaceRun
    thread: RunThread
    mounts: Sequence[Mount]
    cursors: Mapping[str, ContextCursor]
    facts: ViewerFacts


@dataclass(kw_only=True, slots=True)
class _Given:
    """What an attempt is given, while it is gathered."""

    preamble: list[str] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    delivered: dict[str, Any] = field(default_factory=dict)


async def start_attempt(deps: Deps, caller: Caller, run_id: NodeId) -> Attempt:
    """Start an attempt of a run that is unfinished.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``; ``conflict`` with reason ``run_ended``.
    """
    start, _ = await read(deps, caller, lambda reading: _look(reading, run_id))
    memories = await find_memories(deps, start.facts, start.mounts)
    given = _Given()
    await _give_context(deps, start, memories, given)
    await _give_recall(deps, start, memories, given)
    run, calls = await command(deps, caller, lambda cmd: _begin(cmd, start, given))
    return Attempt(
        number=run.attempts + 1,
        instructions=instructions_of(deps, start.mounts, memories),
        preamble=given.preamble,
        tools=offered(served(start.mounts, memories), run.toolsets or {}),
        reports=given.reports,
        unknown_calls=calls,
    )


def served(mounts: Sequence[Mount], memories: Mapping[str, WorkspaceMemory]) -> list[Served]:
    """Return the mounts of a run as the tools see them; those whose memory is gone serve nothing."""
    return [
        Served(name=mount.name, kind=memories[mount.name].kind, access=mount.access)
        for mount in mounts
        if mount.name in memories
    ]


async def principal_facts(reading: Reading, run: WorkspaceRun) -> ViewerFacts:
    """Return what is known now about who accepted a run; its tools act with his rights (MT-55).

    Raises:
        NotFound: he does not exist any more.
    """
    caller = reading.caller
    return await reading.facts_of(Caller(workspace=run.workspace, principal=run.principal_id, kind=caller.kind))


def instructions_of(deps: Deps, mounts: Sequence[Mount], memories: Mapping[str, WorkspaceMemory]) -> str:
    """Return what a model is told of its memories: name, kind, access and guide (MT-48)."""
    parts = []
    for mount in mounts:
        memory = memories.get(mount.name)
        if memory is not None:
            guide = guide_of(memory, deps.memory_limits)
            head = f"## {mount.name}\nkind: {memory.kind}\naccess: {mount.access}"
            parts.append(f"{head}\n\n{guide.strip()}" if guide else head)
    return "\n\n".join(["# Memories of this thread", *parts]) if parts else ""


async def _look(reading: Reading, run_id: NodeId) -> _Start:
    run = await open_one(reading, run_id, WorkspaceRun, Right.RUN)
    check_unfinished(run)
    thread = await find_one(reading, run.thread_id, RunThread)
    mounts = [Mount.of(given) for given in run.mounts or ()]
    ids = {mount.name: cursor_id(thread.id, mount.memory_id, mount.name) for mount in mounts}
    found = await reading.reader.get(RUNS, sorted(ids.values()))
    cursors = {name: found[id_] for name, id_ in ids.items() if id_ in found}
    return _Start(
        run=run,
        thread=thread,
        mounts=mounts,
        cursors={name: cursor for name, cursor in cursors.items() if isinstance(cursor, ContextCursor)},
        facts=await principal_facts(reading, run),
    )


async def _give_context(deps: Deps, start: _Start, memories: Mapping[str, WorkspaceMemory], given: _Given) -> None:
    """Add the blocks of file memories; an attempt after a checkpoint goes on with what was told (MT-39, MT-46)."""
    sources, states = [], {}
    asked = [] if start.run.committed else _asked(start, memories)
    told = await tell(deps, asked)
    for mount in start.mounts:
        memory = memories.get(mount.name)
        if memory is not None and memory.kind != MemoryKind.FILE:
            continue
        states[mount.name] = UNCHANGED if start.run.committed and memory else UNAVAILABLE
        of_mount = told.get(mount.name)
        if of_mount is not None:
            kept = {"memory_id": mount.memory_id, "seq": of_mount.seq, "epoch": start.thread.epoch}
            states[mount.name] = UNCHANGED
            given.delivered[mount.name] = kept
            sources += [] if of_mount.source is None else [of_mount.source]
    blocks = lay_out(sources, deps.memory_limits)
    states |= {block.name: str(block.kind) for block in blocks}
    for left_out in {source.name for source in sources} - {block.name for block in blocks}:
        states[left_out] = UNAVAILABLE
        del given.delivered[left_out]
    given.preamble += [block.text for block in blocks]
    given.reports += [Report(memory=name, status=status) for name, status in states.items()]


def _asked(start: _Start, memories: Mapping[str, WorkspaceMemory]) -> list[Asked]:
    """Return the file memories to tell of, with what still counts of what the thread was told (MT-44)."""
    cursors = {name: cursor for name, cursor in start.cursors.items() if cursor.epoch == start.thread.epoch}
    return [
        Asked(mount=mount, cursor=cursors.get(mount.name))
        for mount in start.mounts
        if mount.name in memories and memories[mount.name].kind == MemoryKind.FILE
    ]


async def _give_recall(deps: Deps, start: _Start, memories: Mapping[str, WorkspaceMemory], given: _Given) -> None:
    """Add the blocks of recall before the first attempt of a run (RM-58)."""
    if start.run.recalled:
        return
    asked = {
        mount.name: memories[mount.name]
        for mount in start.mounts
        if mount.recall and mount.name in memories and memories[mount.name].kind == MemoryKind.RECORD
    }
    blocks, states = await recall(deps, asked, start.run.input)
    given.preamble += blocks
    given.reports += [Report(memory=name, status=status) for name, status in states.items()]


async def _begin(cmd: Command, start: _Start, given: _Given) -> tuple[WorkspaceRun, Sequence[RunToolCall]]:
    run = await hold_run(cmd, start.run.id)
    fields: dict[str, Any] = {"attempts": run.attempts + 1, "recalled": True}
    if not run.committed:
        fields["delivered"] = given.delivered
    await cmd.writer.patch_many({run.id: fields})
    return run, await unsettled_calls(cmd, run.id)
