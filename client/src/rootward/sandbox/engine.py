"""Memory of one sandbox session: what a run is told, what is recorded, what closing makes of it.

Everything goes through the ports of workspace and model, so a local directory and a service give the same files.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rootward.errors import PathRefused, SegmentTooLarge
from rootward.models import Model, ModelRef
from rootward.sandbox.consolidation import stamp
from rootward.sandbox.generation import Generation
from rootward.sandbox.identity import ConversationRef
from rootward.sandbox.memory import Memory, MemoryLimits
from rootward.sandbox.reading import developer_prompt
from rootward.sandbox.report import MemoryReport
from rootward.sandbox.segments import Segment, encode
from rootward.sandbox.work import LayoutWork, claim
from rootward.sandbox.workspace import Workspace, read_text

_log = logging.getLogger("rootward")


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


async def _unsaved() -> None:
    """Keep nothing: the work is only in memory."""


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """Where a run was recorded; `segment_count` counts the lines of its conversation file."""

    rollout_id: str
    path: str
    segment_count: int
    updated_at: str


@dataclass(kw_only=True)
class SandboxMemory:
    """Memory of one open sandbox session.

    Attributes:
        find_model: a model by its name; raises `ModelUnavailable`.
        works: what there is to do at closing, one entry a layout; may come from an earlier process.
        save: called after every change of `works`, before what follows from it.
        report: what closing did, once it did.
    """

    workspace: Workspace
    session_id: str
    find_model: Callable[[ModelRef], Model]
    limits: MemoryLimits = field(default_factory=MemoryLimits)
    now: Callable[[], datetime] = utc_now
    works: list[LayoutWork] = field(default_factory=list)
    save: Callable[[], Awaitable[None]] = _unsaved
    report: MemoryReport | None = None
    _recording: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)
    _closing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False, repr=False)

    def claim(self, memory: Memory) -> LayoutWork | None:
        """Reserve the layout for this configuration; None if the agent generates nothing. Source: SB-96.

        Raises:
            MemoryLayoutClash: another layout has one of the directories, or this one another configuration.
        """
        return claim(self.works, memory)

    async def developer_prompt(self, memory: Memory) -> str | None:
        """Return what a run that starts now is told; None if there is nothing to tell."""
        if memory.read is None:
            return None
        return developer_prompt(memory, await self._summary(memory), limit_tokens=self.limits.summary_token_limit)

    async def record(self, memory: Memory, conversation: ConversationRef, segment: Segment) -> Recorded | None:
        """Append a finished run to its conversation file; None if the agent generates nothing.

        Raises:
            InvalidConversationId: the id cannot name a file; nothing is written.
            InvalidSegment: the segment is too large or no JSON; nothing is written.
            MemoryLayoutClash: see `claim`.
            PathRefused: a directory of the layout leaves the workspace.
        """
        if memory.generate is None:
            return None
        rollout_id = conversation.rollout_id()
        async with self._recording:
            updated_at = stamp(self.now())
            line = await asyncio.to_thread(line_of, segment, rollout_id, updated_at, self.limits)
            work = self.claim(memory)
            assert work is not None  # generate is on
            count = await self._append(work, rollout_id, line)
        return Recorded(
            rollout_id=rollout_id, path=memory.layout.rollout(rollout_id), segment_count=count, updated_at=updated_at
        )

    async def close(self) -> MemoryReport:
        """Run both phases for what was recorded; again, return the first report. Source: SB-102.

        A close that was cut off goes on where it was: what is extracted stays so.
        """
        async with self._closing:
            if self.report is None:
                generation = Generation(
                    workspace=self.workspace,
                    session_id=self.session_id,
                    find_model=self.find_model,
                    limits=self.limits,
                    now=self.now,
                    save=self.save,
                )
                self.report = await generation.run(self.works)
                await self.save()
            return self.report

    async def _summary(self, memory: Memory) -> str | None:
        try:
            return await read_text(self.workspace, memory.layout.summary)
        except (PathRefused, OSError) as error:
            _log.warning("memory is not read: %s", getattr(error, "code", type(error).__name__))
            return None

    async def _append(self, work: LayoutWork, rollout_id: str, line: bytes) -> int:
        """Note what is to be processed first, then append: a line without a note would never be read."""
        await self._prepare(work)
        is_new = rollout_id not in work.pending
        work.add(rollout_id)
        try:
            if is_new:
                await self.save()
            return await self.workspace.append_line(work.layout.rollout(rollout_id), line)
        except BaseException:
            if is_new:
                work.recorded.discard(rollout_id)
            raise

    @asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """Let nothing be recorded or generated meanwhile."""
        async with self._closing, self._recording:
            yield

    async def _prepare(self, work: LayoutWork) -> None:
        """Make the directories and the two empty files of a layout where they are missing. Source: SB-22."""
        await self.workspace.make_directories(work.layout.directories)
        await _create_empty(self.workspace, [work.layout.index, work.layout.summary])


def line_of(segment: Segment, rollout_id: str, updated_at: str, limits: MemoryLimits) -> bytes:
    """Return the line, with its newline, that a conversation file gets.

    Raises:
        InvalidSegment: it is too large (`SegmentTooLarge`), or no JSON.
    """
    line = encode(segment, rollout_id=rollout_id, updated_at=updated_at)
    if len(line) - 1 > limits.max_segment_bytes:
        raise SegmentTooLarge(size=len(line) - 1, limit=limits.max_segment_bytes)
    return line


async def _create_empty(workspace: Workspace, paths: Sequence[str]) -> None:
    for path in paths:
        await workspace.create(path, b"")
