"""Reading what a run is told of the file memories that it mounts (MT-35 to MT-47).

All are read together. Only where that fails is each read for itself, so that one that cannot be read is passed over and
keeps its cursor.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

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

W = TypeVar("W")
K = TypeVar("K")
T = TypeVar("T")
_Files = dict[NodeId, dict[str, MemoryFile]]


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A memory that a thread is to be told of.

    Attributes:
        cursor: what the thread was told; None: nothing that still counts.
    """

    mount: Mount
    cursor: ContextCursor | None


async def find_memories(deps: Deps, facts: ViewerFacts, mounts: Sequence[Mount]) -> Mapping[str, WorkspaceMemory]:
    """Return the memories of a run that are there and that its principal may read, by the names of their mounts.

    Those that the store does not give are left out.
    """
    found = await _each(deps, [mount.memory_id for mount in mounts], _memories)
    return {
        mount.name: memory
        for mount in mounts
        if (memory := found.get(mount.memory_id)) is not None
        and memory.workspace == facts.workspace
        and Right.READ in verbs_on(facts, memory.id)
    }


async def tell(deps: Deps, asked: Sequence[Asked]) -> Mapping[str, Told]:
    """Return what a thread is told of file memories, by the names of their mounts (MT-47).

    Those that cannot be read now, or are gone, are left out.

    Args:
        deps: of the service.
        asked: memories that the principal of the run may read.
    """
    told = await _each(deps, asked, _tell)
    for _ in {one.mount.name for one in asked} - set(told):
        deps.figures.count("context_unavailable")
    return told


async def _each(
    deps: Deps, wanted: Sequence[W], read: Callable[[Reader, Sequence[W]], Awaitable[Mapping[K, T]]]
) -> dict[K, T]:
    """Return what is read of all that is wanted at once or, where that fails, of each that can be read by itself."""
    try:
        async with deps.store.reading() as reader:
            return dict(await read(reader, wanted)) if wanted else {}
    except StoreError:
        if len(wanted) == 1:
            return {}
    found: dict[K, T] = {}
    for one in wanted:
        found |= await _each(deps, [one], read)
    return found


async def _memories(reader: Reader, ids: Sequence[NodeId]) -> Mapping[NodeId, WorkspaceMemory]:
    found = await reader.get(MEMORIES, list(dict.fromkeys(ids)))
    return {id_: memory for id_, memory in found.items() if isinstance(memory, WorkspaceMemory)}


async def _tell(reader: Reader, asked: Sequence[Asked]) -> Mapping[str, Told]:
    # Numbers before files: what is written between the two is told once more, never left out.
    found = await _memories(reader, [one.mount.memory_id for one in asked])
    memories = {id_: memory for id_, memory in found.items() if memory.kind == MemoryKind.FILE}
    there = [(one, memories[one.mount.memory_id]) for one in asked if one.mount.memory_id in memories]
    files = await _files(reader, [memory for one, memory in there if not _is_known(one, memory)])
    return {
        one.mount.name: Told(mount=one.mount, seq=memory.seq, source=await _source(reader, one, memory, files))
        for one, memory in there
    }


def _is_known(one: Asked, memory: WorkspaceMemory) -> bool:
    return one.cursor is not None and one.cursor.seq == memory.seq


async def _files(reader: Reader, memories: Sequence[WorkspaceMemory]) -> _Files:
    """Return all files by path, with the content of those that are always loaded."""
    ids = sorted({memory.id for memory in memories})
    files = {id_: {file.path: file for file in await indexed_files(reader, id_)} for id_ in ids}
    loaded = {path for memory in memories for path in memory.always_load}
    for file in await files_at(reader, ids, loaded):
        files[file.memory_id][file.path] = file
    return files


async def _source(reader: Reader, one: Asked, memory: WorkspaceMemory, files: _Files) -> Source | None:
    if _is_known(one, memory):
        return None
    own, changes = files[memory.id], None
    if one.cursor is not None:
        revisions = await changes_since(reader, memory.id, one.cursor.seq)
        changes = _changes(memory, own, [made for made in revisions if made.seq <= memory.seq], one.cursor.seq)
    return Source(name=one.mount.name, full=_full(memory, own), changes=changes)


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
