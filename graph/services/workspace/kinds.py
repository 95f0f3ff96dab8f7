"""What each type of memory needs when it is created and when it is deleted, by its wire value (FM-21, FM-22).

A type has one maker: it checks what only this type takes, writes what belongs to it, and says which fields the memory
gets. A kind has one ending: it removes what belongs to a memory, in the transaction that deletes it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.workspace import MemoryFile, MemoryKind, MemoryRevision, WorkspaceMemory
from graph.rules.memory_refusals import invalid
from graph.rules.record_providers import PLATFORM, SELF_HOSTED
from graph.services.access.commands import Command
from graph.services.workspace.finding import MEMORIES
from graph.services.workspace.namespaces import make_records, purge_later
from graph.store.query import Eq, Find

FILES: Final = "postgres"
"""The service's own store; the wire value stays although the store is another one (FM-22)."""
_BATCH: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class NewMemory:
    """What a client asks for (FM-38).

    Attributes:
        provider_id: as he names it, ``memprov_…``.
    """

    name: str
    description: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    type: str = FILES
    guide: str | None = None
    always_load: tuple[str, ...] = ()
    provider_id: str | None = None
    namespace: str | None = None


Maker: TypeAlias = Callable[[Command, NodeId, NewMemory], Awaitable[Mapping[str, Any]]]
"""Gets the id that the memory will have; returns at least its `kind`."""
Ending: TypeAlias = Callable[[Command, WorkspaceMemory], Awaitable[None]]


async def make_files(cmd: Command, id_: NodeId, new: NewMemory) -> Mapping[str, Any]:
    """Return the fields of an empty file memory.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at what only record memories have (FM-39).
    """
    del cmd, id_
    for name, value in (("provider_id", new.provider_id), ("namespace", new.namespace)):
        if value is not None:
            raise invalid(name, "is for record memories only")
    return {"kind": MemoryKind.FILE, "file_count": 0, "content_bytes": 0, "history_bytes": 0}


async def delete_files(cmd: Command, memory: WorkspaceMemory) -> None:
    """Delete the files of a memory and their history."""
    for kind in (MemoryFile, MemoryRevision):
        await _delete_all(cmd, kind, memory.id)


async def _delete_all(cmd: Command, kind: type[Node], memory_id: NodeId) -> None:
    while found := await _some(cmd, kind, memory_id):
        await cmd.writer.delete(found)


async def _some(cmd: Command, kind: type[Node], memory_id: NodeId) -> list[NodeId]:
    query = Find(kind=kind, where=Eq("memory_id", memory_id), first=_BATCH)
    return [node.id for node in (await cmd.writer.find(MEMORIES, query)).nodes]


MAKERS: Final[dict[str, Maker]] = {FILES: make_files, PLATFORM: make_records, SELF_HOSTED: make_records}
ENDINGS: Final[dict[str, Ending]] = {MemoryKind.FILE: delete_files, MemoryKind.RECORD: purge_later}
