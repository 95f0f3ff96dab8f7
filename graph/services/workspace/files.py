"""Files of a memory: reading them, and one function for each change, for people and for the tools of runs alike.

Changes take a memory that is held locked (`finding.hold_memory`) and an `Actor`; verbs were checked there. Every change
looks at the file as it is under the lock, so none is built on older content unnoticed. Source: FM-49 to FM-68.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from graph.model.errors import WorkspaceRefused
from graph.model.ids import NodeId
from graph.model.nodes.workspace import MemoryFile, RevisionOp, WorkspaceMemory
from graph.rules.memory_files import FileText, checked_content
from graph.rules.memory_history import PathChange
from graph.rules.memory_paths import checked_path, checked_prefix, paths_under
from graph.rules.memory_refusals import missing, occupied, stale
from graph.rules.workspace_ids import tag_of
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.workspace.changing import Actor, FileStep, Kept, kept_at, write_step
from graph.services.workspace.finding import MEMORIES
from graph.store.port import Reader
from graph.store.query import After, And, By, Eq, Find, In, Page, Range, Where, both

KIND = "memory_file"


def file_tag(file: MemoryFile) -> str:
    """Return the ETag of a file (FM-12, FM-67)."""
    return tag_of(file.id, file.version)


async def find_file(reader: Reader, memory_id: NodeId, path: str) -> MemoryFile | None:
    """Return the file at a checked path; None if none is there. The caller has checked the verb."""
    where = And((Eq("memory_id", memory_id), Eq("path", path)))
    return next(iter((await reader.find(MEMORIES, Find(kind=MemoryFile, where=where))).nodes), None)


async def all_files(reader: Reader, memory_id: NodeId, prefix: str = "") -> tuple[MemoryFile, ...]:
    """Return every file under a directory with its content, ordered by path; for the tools of runs."""
    query = Find(kind=MemoryFile, where=_under(memory_id, prefix), order=By("path"))
    return (await reader.find(MEMORIES, query)).nodes


async def indexed_files(reader: Reader, memory_id: NodeId, prefix: str = "") -> tuple[MemoryFile, ...]:
    """Return every file under a directory, ordered by path; its content may be left empty. For runs and their tools."""
    query = Find(kind=MemoryFile, where=_under(memory_id, prefix), order=By("path"), without=("content",))
    return (await reader.find(MEMORIES, query)).nodes


async def files_at(reader: Reader, memories: Collection[NodeId], paths: Collection[str]) -> tuple[MemoryFile, ...]:
    """Return the files of these memories at these paths, with their content."""
    if not memories or not paths:
        return ()
    where = And((In("memory_id", sorted(memories)), In("path", sorted(paths))))
    return (await reader.find(MEMORIES, Find(kind=MemoryFile, where=where))).nodes


async def read_file(reading: Reading, memory: WorkspaceMemory, path: str) -> MemoryFile:
    """Return a file that the caller may read.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `path`, ``not_found`` of kind ``memory_file``.
    """
    wanted = checked_path(path, reading.deps.memory_limits)
    where = And((Eq("memory_id", memory.id), Eq("path", wanted)))
    found = (await reading.page(Find(kind=MemoryFile, where=where))).nodes
    if not found:
        raise missing(KIND, wanted)
    return found[0]


async def list_files(
    reading: Reading, memory: WorkspaceMemory, prefix: str, *, first: int, after: After | None = None
) -> Page[MemoryFile]:
    """Return files at any depth under a directory prefix, in code-point order of their paths (FM-50).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `prefix`.
    """
    where = _under(memory.id, checked_prefix(prefix, reading.deps.memory_limits))
    return await reading.page(Find(kind=MemoryFile, where=where, order=By("path"), first=first, after=after))


async def create_file(cmd: Command, memory: WorkspaceMemory, actor: Actor, path: str, content: str) -> MemoryFile:
    """Make a file at a free path.

    Raises:
        WorkspaceRefused: ``invalid_argument``, ``already_exists``, ``payload_too_large``, ``conflict``
            (``memory_full``).
    """
    wanted = checked_path(path, cmd.deps.memory_limits)
    if await find_file(cmd.writer, memory.id, wanted) is not None:
        raise occupied(KIND, wanted)
    return await make_at(cmd, memory, actor, wanted, checked_content(content, cmd.deps.memory_limits))


async def replace_file(
    cmd: Command, memory: WorkspaceMemory, actor: Actor, path: str, content: str, tags: Collection[str] | None
) -> MemoryFile:
    """Replace the content of the file that one of the tags names; the content it has already is no change (FM-68).

    Args:
        cmd: of the change.
        memory: held locked.
        actor: who changes it.
        path: of the file; none is made here (FM-53).
        content: the new one.
        tags: of which one must be the file's; None: whatever its version.

    Raises:
        WorkspaceRefused: ``invalid_argument``, ``not_found``, ``precondition_failed`` with the current file,
            ``payload_too_large``, ``conflict`` (``memory_full``).
    """
    file, kept = await _seen_with_history(cmd, memory, path, tags)
    return await set_content(cmd, memory, actor, file, content, kept=kept)


async def edit_file(
    cmd: Command, memory: WorkspaceMemory, actor: Actor, path: str, change: Callable[[MemoryFile], str]
) -> MemoryFile:
    """Read a file, let `change` say what it shall hold, and write that, all under the lock.

    Args:
        cmd: of the change.
        memory: held locked.
        actor: who changes it.
        path: of the file.
        change: gives the new content of the file as it is; what it raises goes through, and nothing is changed.

    Raises:
        WorkspaceRefused: as for `replace_file`, but for ``precondition_failed``.
    """
    file, kept = await _seen_with_history(cmd, memory, path, None)
    return await set_content(cmd, memory, actor, file, change(file), kept=kept)


async def move_file(
    cmd: Command,
    memory: WorkspaceMemory,
    actor: Actor,
    source: str,
    destination: str,
    tags: Collection[str] | None,
) -> MemoryFile:
    """Move a file to a free path; it keeps its id (FM-54, FM-73).

    Raises:
        WorkspaceRefused: ``invalid_argument``, ``not_found``, ``precondition_failed``, ``already_exists``.
    """
    limits = cmd.deps.memory_limits
    old, new = checked_path(source, limits, "source"), checked_path(destination, limits, "destination")
    file = await seen_file(cmd, memory, old, tags)
    if await find_file(cmd.writer, memory.id, new) is not None:
        raise occupied(KIND, new)
    out = PathChange(path=old, op=RevisionOp.MOVE_OUT, previous=file.content, moved_path=new)
    into = PathChange(path=new, op=RevisionOp.MOVE_IN, moved_path=old)
    changes = (out, into)
    patch = _patch(cmd, memory, actor, changes, {"path": new})
    await write_step(
        cmd, memory, actor, FileStep(operation="memory.file.move", target=file.id, changes=changes, patch=patch)
    )
    return replace(file, **patch)


async def delete_file(
    cmd: Command, memory: WorkspaceMemory, actor: Actor, path: str, tags: Collection[str] | None
) -> None:
    """Delete the file that one of the tags names; its history stays (FM-55, FM-75).

    Raises:
        WorkspaceRefused: ``invalid_argument``, ``not_found``, ``precondition_failed``.
    """
    file = await seen_file(cmd, memory, checked_path(path, cmd.deps.memory_limits), tags)
    await remove(cmd, memory, actor, file)


async def seen_file(cmd: Command, memory: WorkspaceMemory, path: str, tags: Collection[str] | None) -> MemoryFile:
    """Return the file at a checked path if one of the tags names its version; None: whatever its version.

    Raises:
        WorkspaceRefused: ``not_found``, ``precondition_failed``.
    """
    file = await find_file(cmd.writer, memory.id, path)
    if file is None:
        raise missing(KIND, path)
    check_tags(file, tags)
    return file


async def _seen_with_history(
    cmd: Command, memory: WorkspaceMemory, path: str, tags: Collection[str] | None
) -> tuple[MemoryFile, Kept]:
    """Return `seen_file` with the history of its path, which whoever changes it needs."""
    checked = checked_path(path, cmd.deps.memory_limits)
    asked: Sequence[Callable[[], Awaitable[Any]]] = (
        lambda: seen_file(cmd, memory, checked, tags),
        lambda: kept_at(cmd.writer, memory, checked),
    )
    file, kept = await cmd.writer.together(asked)
    return file, kept


def check_tags(file: MemoryFile, tags: Collection[str] | None) -> None:
    """Refuse tags of which none names the version of the file (FM-15, FM-57).

    Raises:
        WorkspaceRefused: ``precondition_failed`` with the current file.
    """
    if tags is not None and file_tag(file) not in tags:
        raise stale_file(file)


def stale_file(file: MemoryFile | None) -> WorkspaceRefused:
    """Return the refusal of a change of another version of a file than the current one; None: no file is there."""
    if file is None:
        return stale(None, current=None)
    current = {"path": file.path, "version": file.version, "size": file.size, "content": file.content}
    return stale(file_tag(file), current=current)


async def make_at(
    cmd: Command,
    memory: WorkspaceMemory,
    actor: Actor,
    path: str,
    text: FileText,
    operation: str = "memory.file.create",
) -> MemoryFile:
    """Make a file at a checked path where none is."""
    file = MemoryFile(
        id=cmd.deps.new_id(MemoryFile.PREFIX),
        workspace=memory.workspace,
        pool=memory.id,
        created_at=cmd.at,
        memory_id=memory.id,
        path=path,
        content=text.content,
        size=text.size,
        version=memory.seq + 1,
        description=text.description,
        updated_by=actor.principal_id,
        updated_by_run=actor.run_id,
        updated_at=cmd.at,
    )
    change = PathChange(path=path, op=RevisionOp.CREATE)
    step = FileStep(
        operation=operation, target=file.id, changes=(change,), content_bytes=text.size, files=1, made=(file,)
    )
    await write_step(cmd, memory, actor, step)
    return file


async def set_content(
    cmd: Command,
    memory: WorkspaceMemory,
    actor: Actor,
    file: MemoryFile,
    content: str,
    operation: str = "memory.file.update",
    *,
    kept: Kept | None = None,
) -> MemoryFile:
    """Give a file other content; the same is no change. `kept` is the history of its path, if it was read with it."""
    if content == file.content:
        return file
    text = checked_content(content, cmd.deps.memory_limits)
    change = PathChange(path=file.path, op=RevisionOp.UPDATE, previous=file.content)
    fields = {"content": text.content, "size": text.size, "description": text.description}
    patch = _patch(cmd, memory, actor, [change], fields)
    step = FileStep(
        operation=operation,
        target=file.id,
        changes=(change,),
        content_bytes=text.size - file.size,
        patch=patch,
        known={} if kept is None else {file.path: kept},
    )
    await write_step(cmd, memory, actor, step)
    return replace(file, **patch)


async def remove(
    cmd: Command, memory: WorkspaceMemory, actor: Actor, file: MemoryFile, operation: str = "memory.file.delete"
) -> None:
    """Delete a file."""
    change = PathChange(path=file.path, op=RevisionOp.DELETE, previous=file.content)
    step = FileStep(operation=operation, target=file.id, changes=(change,), content_bytes=-file.size, files=-1)
    await write_step(cmd, memory, actor, step)
    await cmd.writer.delete([file.id])


def _under(memory_id: NodeId, prefix: str) -> Where | None:
    low, high = paths_under(prefix)
    return both(Eq("memory_id", memory_id), None if low is None else Range("path", low, high))


def _patch(
    cmd: Command, memory: WorkspaceMemory, actor: Actor, changes: Sequence[PathChange], fields: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what changes of a file; its version is the number of the last change."""
    return {
        **fields,
        "version": memory.seq + len(changes),
        "updated_by": actor.principal_id,
        "updated_by_run": actor.run_id,
        "updated_at": cmd.at,
    }
