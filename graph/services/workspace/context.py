"""Reading what a run is told of the file memories that it mounts (MT-35 to MT-47).

Each memory is read for itself, so that one that cannot be read is passed over and keeps its cursor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.errors import StoreError
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import ContextCursor, MemoryFile, MemoryKind, MemoryRevision, WorkspaceMemory
from graph.rules.rights import ViewerFacts
from graph.rules.run_context import ContextKind, Part, Source, TextFile
from graph.rules.run_mounts import Mount
from graph.services.deps import Deps
from graph.services.workspace.files import files_at, indexed_files
from graph.services.workspace.finding import MEMORIES, verbs_on
from graph.services.workspace.revisions import changes_since
from graph.store.port import Reader

UNAVAILABLE: Final = "unavailable"
UNCHANGED: Final = "unchanged"


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """What a thread is told of one memory.

    Attributes:
        seq: up to which change.
        source: None: nothing changed since the last time.
    """

    mount: Mount
    seq: int
    source: Source | None


async def find_memories(deps: Deps, facts: ViewerFacts, mounts: Sequence[Mount]) -> Mapping[str, WorkspaceMemory]:
    """Return the memories of a run that are there and that its principal may read, by the names of their mounts.

    Those that the store does not give are left out.
    """
    found: dict[str, WorkspaceMemory] = {}
    for mount in mounts:
        memory = await _find(deps, mount.memory_id)
        is_here = memory is not None and memory.workspace == facts.workspace
        if memory is not None and is_here and Right.READ in verbs_on(facts, memory.id):
            found[mount.name] = memory
    return found


async def tell(deps: Deps, mount: Mount, cursor: ContextCursor | None) -> Told | None:
    """Return what a thread is told of a file memory; None: it cannot be read now, or is gone (MT-47).

    Args:
        deps: of the service.
        mount: of a memory that the principal of the run may read.
        cursor: what the thread was told; None: nothing that still counts.
    """
    try:
        async with deps.store.reading() as reader:
            return await _tell(reader, mount, cursor)
    except StoreError:
        deps.figures.count("context_unavailable")
        return None


async def _find(deps: Deps, memory_id: NodeId) -> WorkspaceMemory | None:
    try:
        async with deps.store.reading() as reader:
            found = (await reader.get(MEMORIES, [memory_id])).get(memory_id)
    except StoreError:
        return None
    return found if isinstance(found, WorkspaceMemory) else None


async def _tell(reader: Reader, mount: Mount, cursor: ContextCursor | None) -> Told | None:
    # Its number before its files: what is written between the two is told once more, never left out.
    memory = (await reader.get(MEMORIES, [mount.memory_id])).get(mount.memory_id)
    if not isinstance(memory, WorkspaceMemory) or memory.kind != MemoryKind.FILE:
        return None
    if cursor is not None and cursor.seq == memory.seq:
        return Told(mount=mount, seq=memory.seq, source=None)
    files = {file.path: file for file in await indexed_files(reader, memory.id)}
    files |= {file.path: file for file in await files_at(reader, memory.id, memory.always_load)}
    changes = None
    if cursor is not None:
        revisions = await changes_since(reader, memory.id, cursor.seq)
        changes = _changes(memory, files, [one for one in revisions if one.seq <= memory.seq], cursor.seq)
    source = Source(name=mount.name, full=_full(memory, files), changes=changes)
    return Told(mount=mount, seq=memory.seq, source=source)


def _full(memory: WorkspaceMemory, files: Mapping[str, MemoryFile]) -> Part:
    lines = [(path, _line(file)) for path, file in sorted(files.items())]
    return Part(kind=ContextKind.FULL, files=_loaded(memory, files), lines=lines)


def _changes(
    memory: WorkspaceMemory, files: Mapping[str, MemoryFile], revisions: Sequence[MemoryRevision], since: int
) -> Part | None:
    """Return what changed; None if some of the history since then was pruned or purged (MT-45)."""
    if len(revisions) < memory.seq - since:
        return None
    touched = {revision.path for revision in revisions}
    lines = [(path, _line(files[path]) if path in files else f"{path} (deleted)") for path in sorted(touched)]
    loaded = [file for file in _loaded(memory, files) if file.path in touched]
    return Part(kind=ContextKind.CHANGES, files=loaded, lines=lines)


def _loaded(memory: WorkspaceMemory, files: Mapping[str, MemoryFile]) -> list[TextFile]:
    return [TextFile(path=path, content=files[path].content) for path in memory.always_load if path in files]


def _line(file: MemoryFile) -> str:
    return file.path if file.description is None else f"{file.path}: {file.description}"
