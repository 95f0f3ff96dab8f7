"""Closing: phase 1 for each recorded conversation of a layout, then phase 2. Source: SB-60, SB-76 to SB-78, SB-95."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from rootward.errors import ModelUnavailable, RootwardError
from rootward.models import Model, ModelRef
from rootward.sandbox.consolidation import Consolidator
from rootward.sandbox.extraction import Extractor
from rootward.sandbox.layout import MemoryLayoutConfig, is_inside
from rootward.sandbox.memory import MemoryGenerateConfig, MemoryLimits
from rootward.sandbox.report import (
    Consolidation,
    Extraction,
    LayoutReport,
    MemoryReport,
    PhaseOneReport,
    PhaseTwoReport,
)
from rootward.sandbox.selection import Kept
from rootward.sandbox.work import LayoutWork, in_file_order
from rootward.sandbox.workspace import Workspace

_log = logging.getLogger("rootward")


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Both phases of all layouts of a session. A failure is reported and stops nothing else."""

    workspace: Workspace
    session_id: str
    find_model: Callable[[ModelRef], Model]
    limits: MemoryLimits
    now: Callable[[], datetime]
    save: Callable[[], Awaitable[None]]

    async def run(self, works: Sequence[LayoutWork]) -> MemoryReport:
        """Do what is left to do, saving after each step, and return what was done in all."""
        busy = [work for work in works if work.recorded]
        return MemoryReport(layouts=[await self._layout(work, works) for work in busy])

    async def _layout(self, work: LayoutWork, works: Sequence[LayoutWork]) -> LayoutReport:
        for rollout_id in work.pending:
            work.phase_one[rollout_id] = await self._extract(work, rollout_id)
            await self.save()
        if work.phase_two is None:
            work.phase_two = await self._consolidate(work, _foreign(work.layout, [other.layout for other in works]))
            await self.save()
        return LayoutReport(
            memories_dir=work.layout.memories_dir,
            sessions_dir=work.layout.sessions_dir,
            phase_one=[work.phase_one[rollout_id] for rollout_id in in_file_order(work.phase_one)],
            phase_two=work.phase_two,
        )

    async def _extract(self, work: LayoutWork, rollout_id: str) -> PhaseOneReport:
        try:
            generate = _known(work.generate)
            extractor = Extractor(
                workspace=self.workspace,
                layout=work.layout,
                generate=generate,
                session_id=self.session_id,
                limit_tokens=self.limits.phase_one_token_limit,
            )
            async with asyncio.timeout(self.limits.phase_seconds):
                changes = await extractor.extract(rollout_id, self.find_model(generate.phase_one_model))
            await self.workspace.apply(changes)  # outside: a time that is over must not leave half of it
        except Exception as failure:  # noqa: BLE001  a model of the user's may raise anything; SB-76
            error = _code(failure, "phase 1")
            return PhaseOneReport(rollout_id=rollout_id, status=Extraction.FAILED, error=error)
        status = Extraction.EXTRACTED if changes else Extraction.EMPTY
        return PhaseOneReport(rollout_id=rollout_id, status=status)

    async def _consolidate(self, work: LayoutWork, foreign: Sequence[str]) -> PhaseTwoReport:
        fresh = {one.rollout_id for one in work.phase_one.values() if one.status is Extraction.EXTRACTED}
        if not fresh:
            return PhaseTwoReport(status=Consolidation.SKIPPED)
        try:
            generate = _known(work.generate)
            consolidator = Consolidator(
                workspace=self.workspace,
                layout=work.layout,
                generate=generate,
                foreign=foreign,
                fresh=fresh,
                max_turns=self.limits.phase_two_max_turns,
                now=self.now,
            )
            async with asyncio.timeout(self.limits.phase_seconds):
                choice = await consolidator.choose()
                changes = await consolidator.consolidate(choice, self.find_model(generate.phase_two_model))
            await self.workspace.apply(changes)
        except Exception as failure:  # noqa: BLE001  a model of the user's may raise anything; SB-84
            return PhaseTwoReport(status=Consolidation.FAILED, error=_code(failure, "phase 2"))
        return PhaseTwoReport(
            status=Consolidation.COMPLETED, selected=_ids(choice.selected), removed=_ids(choice.removed)
        )


def _foreign(layout: MemoryLayoutConfig, all_layouts: Sequence[MemoryLayoutConfig]) -> list[str]:
    """Return the directories that phase 2 of a layout leaves alone: its conversations, and all of the others.

    A directory that this memory lies in is none of them; of it, only the inside of this memory is ever looked at.
    """
    others = [other for other in all_layouts if other != layout]
    named = [layout.sessions_dir, *(one for other in others for one in (other.memories_dir, other.sessions_dir))]
    return [directory for directory in named if not is_inside(layout.memories_dir, [directory])]


def _known(generate: MemoryGenerateConfig | None) -> MemoryGenerateConfig:
    if generate is None:
        raise ModelUnavailable("the models of this layout are not known; run its agent once before closing")
    return generate


def _ids(kept: Sequence[Kept]) -> list[str]:
    return [one.rollout_id for one in kept]


def _code(failure: Exception, phase: str) -> str:
    """Return the code for the report, and log it; what the failure says may quote content and is left out."""
    if isinstance(failure, RootwardError):
        code = failure.code
    elif isinstance(failure, TimeoutError):
        code = "timeout"
    else:
        code = "storage_failed" if isinstance(failure, OSError) else "model_failed"
    told = {"operation": phase, "code": code}
    _log.warning("%s failed: %s (%s)", phase, code, type(failure).__name__, extra=told)
    return code
