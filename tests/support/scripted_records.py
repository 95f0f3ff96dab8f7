"""A backend of records that a test scripts: what it finds, fails or keeps waiting for."""

from __future__ import annotations

import asyncio
from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass, field, replace

from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.workspace import WorkspaceMemory
from graph.rules.memory_refusals import missing
from graph.services.workspace.records_port import Record, RecordActor, RecordBackend, RecordPage


@dataclass
class ScriptedRecords:
    """Keeps records by memory.

    Attributes:
        failing: what every call on a memory is refused with.
        hanging: memories whose searches never end.
    """

    held: dict[NodeId, MutableSequence[Record]] = field(default_factory=dict)
    failing: dict[NodeId, WorkspaceRefused] = field(default_factory=dict)
    hanging: set[NodeId] = field(default_factory=set)
    searched: list[tuple[NodeId, str, int]] = field(default_factory=list)
    actors: list[RecordActor] = field(default_factory=list)

    async def search(self, memory: WorkspaceMemory, query: str, *, limit: int) -> Sequence[Record]:
        self.searched.append((memory.id, query, limit))
        found = self._of(memory)
        if memory.id in self.hanging:
            await asyncio.Event().wait()
        return [replace(record, score=0.5) for record in found[:limit]]

    async def list(self, memory: WorkspaceMemory, *, limit: int, cursor: str | None = None) -> RecordPage:
        if cursor not in (None, "1"):
            raise WorkspaceRefused("invalid_argument", "no such cursor", field="cursor", reason="is none of ours")
        rest = self._of(memory)[int(cursor or 0) :]
        places = [str(int(cursor or 0) + place) for place, _ in enumerate(rest[:limit], 1)]
        return RecordPage(records=rest[:limit], places=places, next_cursor="1" if len(rest) > limit else None)

    async def add(self, memory: WorkspaceMemory, text: str, actor: RecordActor) -> Record:
        if not text.strip():
            raise WorkspaceRefused("invalid_argument", "blank", field="text", reason="is not blank")
        made = Record(id=f"r{len(self._of(memory)) + 1}", text=text)
        self._of(memory).append(made)
        self.actors.append(actor)
        return made

    async def update(self, memory: WorkspaceMemory, record_id: str, text: str, actor: RecordActor) -> Record:
        place = self._place(memory, record_id)
        self.held[memory.id][place] = Record(id=record_id, text=text)
        self.actors.append(actor)
        return self.held[memory.id][place]

    async def delete(self, memory: WorkspaceMemory, record_id: str, actor: RecordActor) -> None:
        place = self._place(memory, record_id)
        del self.held[memory.id][place]
        self.actors.append(actor)

    def _of(self, memory: WorkspaceMemory) -> MutableSequence[Record]:
        if memory.id in self.failing:
            raise self.failing[memory.id]
        return self.held.setdefault(memory.id, [])

    def _place(self, memory: WorkspaceMemory, record_id: str) -> int:
        ids = [record.id for record in self._of(memory)]
        if record_id not in ids:
            raise missing("memory_record", record_id)
        return ids.index(record_id)


def is_backend(records: ScriptedRecords) -> RecordBackend:
    """Return the records as the port, so that types say that they are one."""
    return records
