"""Phase 2: the raw memories of a layout become its index and its summary. Source: SB-77 to SB-91."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from rootward.loop import Loop
from rootward.models import Model, message
from rootward.sandbox.artifacts import read_raw_memory, rollout_id_of
from rootward.sandbox.desk import Desk
from rootward.sandbox.layout import MemoryLayoutConfig, is_inside
from rootward.sandbox.memory import MemoryGenerateConfig
from rootward.sandbox.prompts import phase_two_instructions
from rootward.sandbox.selection import Choice, Kept, choose, read_selection, write_selection
from rootward.sandbox.workspace import Workspace, read_text

_ASKED = "Read raw_memories.md and bring MEMORY.md and memory_summary.md up to date."


@dataclass(frozen=True, kw_only=True)
class Consolidator:
    """Phase 2 of one layout.

    Attributes:
        foreign: directories that are none of its business; see `Desk`.
        fresh: ids of the conversations that were extracted in this close.
        now: for the time of the selection, in UTC.
    """

    workspace: Workspace
    layout: MemoryLayoutConfig
    generate: MemoryGenerateConfig
    foreign: Sequence[str]
    fresh: Collection[str]
    max_turns: int
    now: Callable[[], datetime]

    async def choose(self) -> Choice:
        """Return what is selected and removed, by the files as they are."""
        previous = read_selection(await read_text(self.workspace, self.layout.selection))
        found = [one for one in [await self._found(path) for path in await self._raw_memories()] if one]
        most = self.generate.max_raw_memories_for_consolidation
        return choose(found, previous, most=most, fresh=self.fresh)

    async def consolidate(self, choice: Choice, model: Model) -> dict[str, bytes | None]:
        """Rebuild the file of raw memories, let the model work, and return all changes that make it real.

        Until those are applied, index, summary, skills and selection are as they were.

        Raises:
            MaxTurnsExceeded: the model did not come to an end.
        """
        await self.workspace.apply({self.layout.raw_memories_file: await self._joined(choice.selected)})
        desk = Desk(workspace=self.workspace, layout=self.layout, foreign=self.foreign)
        loop = Loop(
            model=model,
            instructions=phase_two_instructions(self.layout, self.generate, choice),
            tools=desk.tools,
            max_turns=self.max_turns,
        )
        await loop.go([message("user", _ASKED)])
        return await self._changes(desk, choice)

    async def _raw_memories(self) -> list[str]:
        return [path for path in await self.workspace.paths(self.layout.raw_memories_dir) if self._is_own(path)]

    def _is_own(self, path: str) -> bool:
        rollout_id = rollout_id_of(path)
        own = rollout_id is not None and path == self.layout.raw_memory(rollout_id)
        return own and not is_inside(path, self.foreign)

    async def _found(self, path: str) -> Kept | None:
        rollout_id, text = rollout_id_of(path), await read_text(self.workspace, path)
        return None if rollout_id is None or text is None else read_raw_memory(rollout_id, text)

    async def _joined(self, selected: Sequence[Kept]) -> bytes:
        texts = [await read_text(self.workspace, self.layout.raw_memory(one.rollout_id)) for one in selected]
        return ("\n\n".join((text or "").strip("\n") for text in texts) + "\n").encode()

    async def _changes(self, desk: Desk, choice: Choice) -> dict[str, bytes | None]:
        changes = desk.changes
        for path in (self.layout.index, self.layout.summary):
            if path not in changes and await self.workspace.read(path) is None:
                changes[path] = b""
        changes |= {self.layout.raw_memory(one.rollout_id): None for one in choice.removed}
        changes[self.layout.selection] = write_selection(choice.selected, updated_at=stamp(self.now()))
        return changes


def stamp(instant: datetime) -> str:
    """Return an instant as it is written in all files. Source: SB-48.

    >>> from datetime import UTC
    >>> stamp(datetime(2026, 5, 1, 12, tzinfo=UTC))
    '2026-05-01T12:00:00.000000+00:00'
    """
    return instant.isoformat(timespec="microseconds")
