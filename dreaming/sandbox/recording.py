"""Runs of agents in a sandbox: what one is told when it starts, and its segment when it ended.

Each is one transaction that holds the session: layouts are reserved, and lines appended, by one after another in all
processes. Source: SB-40 to SB-59, SB-96, SB-106 to SB-112.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from dreaming.sandbox.instants import instant
from dreaming.sandbox.refusals import refusing
from dreaming.sandbox.rules import SandboxRules
from dreaming.sandbox.works import dumped, loaded
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxFile, SandboxPart, SandboxSession
from graph.rules.memory_refusals import invalid
from graph.rules.sandbox import sandbox_path
from graph.services.access.caller import Caller
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.access.session import read
from graph.services.blob_rows import hold_blobs
from graph.services.deps import Deps
from graph.services.sandbox.acting import Act, change
from graph.services.sandbox.files import append_line, create_empty, find_file
from graph.services.sandbox.finding import check_open, hold_sandbox, open_sandbox
from graph.services.sandbox.stored import Stored, opened, parts_of, with_bytes
from rootward.sandbox.consolidation import stamp
from rootward.sandbox.engine import Recorded, line_of
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.memory import Memory
from rootward.sandbox.reading import developer_prompt
from rootward.sandbox.segments import Segment
from rootward.sandbox.work import claim

_LONGEST_SLUG: Final = "x" * 80
"""Of a summary (SB-71)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BegunRun:
    """What a run starts with.

    Attributes:
        developer_prompt: what it is told of memory, if anything.
        capabilities_required: what its agent must have beside memory.
    """

    developer_prompt: str | None
    capabilities_required: Sequence[str]


async def begin_run(deps: Deps, caller: Caller, rules: SandboxRules, id_: NodeId, memory: Memory) -> BegunRun:
    """Reserve the layout of a run, and return what it is told (SB-106).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``invalid_argument`` at `memory` (both are off), ``conflict``
            (``session_closed``, ``memory_layout``).
    """
    if memory.read is None and memory.generate is None:
        raise invalid("memory", "reads or generates")
    _check_paths(memory, "run")

    await _begin(deps, caller, id_, memory)
    told = None
    if memory.read is not None:
        summary = await _text(deps, caller, id_, memory.layout.summary)
        told = developer_prompt(memory, summary, limit_tokens=rules.limits.summary_token_limit)
    return BegunRun(developer_prompt=told, capabilities_required=memory.requires)


async def record_run(
    deps: Deps, caller: Caller, rules: SandboxRules, id_: NodeId, memory: Memory, ref: ConversationRef, segment: Segment
) -> Recorded | None:
    """Append a finished run to its conversation file; None if this memory generates nothing (SB-108, SB-109).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``invalid_argument`` at the field, ``payload_too_large``,
            ``conflict`` (``session_closed``, ``memory_layout``); nothing was written.
    """
    session, _ = await read(deps, caller, lambda reading: open_sandbox(reading, id_, Right.RUN))
    check_open(session)
    if memory.generate is None:
        return None
    with refusing(id_):
        rollout_id = ref.rollout_id()
        updated_at = stamp(instant(deps.now()))
        line = await asyncio.to_thread(line_of, segment, rollout_id, updated_at, rules.limits)
    path = _check_paths(memory, rollout_id)

    async def work(cmd: Command, act: Act, stored: Stored, nothing: Stored) -> SandboxFile:
        session = await _held(cmd, id_)
        session = await _reserve(act, session, memory, rollout_id)
        await hold_blobs(act.writer, act.deps, [stored.sha256, nothing.sha256])
        await create_empty(act, session, [memory.layout.index, memory.layout.summary], nothing)
        file = await append_line(act, session, path, stored)
        await act.note(session, "sandbox.rollout", file.id, {"path": path, "version": file.version})
        return file

    file = await with_bytes(
        deps,
        {"line": line, "nothing": b""},
        lambda stored: change(deps, caller, lambda cmd, act: work(cmd, act, stored["line"], stored["nothing"])),
    )
    return Recorded(rollout_id=rollout_id, path=path, segment_count=file.lines, updated_at=updated_at)


async def _begin(deps: Deps, caller: Caller, id_: NodeId, memory: Memory) -> None:
    async def work(cmd: Command, act: Act) -> None:
        await _reserve(act, await _held(cmd, id_), memory)

    if memory.generate is None:  # such a run reserves nothing
        session, _ = await read(deps, caller, lambda reading: open_sandbox(reading, id_, Right.RUN))
        check_open(session)
    else:
        await change(deps, caller, work)


async def _held(cmd: Command, id_: NodeId) -> SandboxSession:
    session = await hold_sandbox(cmd, id_, Right.RUN)
    check_open(session)
    return session


async def _reserve(act: Act, session: SandboxSession, memory: Memory, rollout_id: str | None = None) -> SandboxSession:
    """Reserve the layout, and note which conversation is to be extracted."""
    works = loaded(session)
    with refusing(session.id):
        work = claim(works, memory)
    if work is not None and rollout_id is not None:
        work.add(rollout_id)
    if dumped(works) == dumped(loaded(session)):
        return session
    return await act.set(session, works=dumped(works))


def _check_paths(memory: Memory, rollout_id: str) -> str:
    """Return the path of a conversation file, if the paths of the layout can be stored.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `layout.memories_dir` or `layout.sessions_dir`.
    """
    longest = f"{memory.layout.summaries_dir}/{rollout_id}_{_LONGEST_SLUG}.md"  # of what closing will write
    sandbox_path(longest, "layout.memories_dir")
    return sandbox_path(memory.layout.rollout(rollout_id), "layout.sessions_dir")


async def _text(deps: Deps, caller: Caller, id_: NodeId, path: str) -> str | None:
    async def look(reading: Reading) -> tuple[SandboxFile, Sequence[SandboxPart]]:
        await open_sandbox(reading, id_, Right.RUN)
        file = await find_file(reading.reader, id_, path)
        if file is None:
            raise _Absent
        return file, (await parts_of(reading.reader, [file.id]))[file.id]

    async def find() -> tuple[SandboxFile, Sequence[SandboxPart]]:
        return (await read(deps, caller, look))[0]

    try:
        _, data = await opened(deps, find)
    except _Absent:
        return None
    return data.decode(errors="replace")


class _Absent(Exception):
    """There is no such file."""
