"""The history of a memory: reading it, putting back what a change replaced, erasing it (FM-74 to FM-81)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.model.ids import NodeId
from graph.model.nodes.workspace import MemoryFile, MemoryRevision, WorkspaceMemory
from graph.rules.memory_diff import Hunk, hunks
from graph.rules.memory_files import checked_content
from graph.rules.memory_history import OPS_WITH_CONTENT, OPS_WITH_PREVIOUS
from graph.rules.memory_paths import checked_path
from graph.rules.memory_refusals import missing, untagged
from graph.services.access.commands import Command
from graph.services.access.session import Session as Reading
from graph.services.workspace.changing import Actor, note
from graph.services.workspace.files import check_tags, find_file, make_at, remove, set_content, stale_file
from graph.services.workspace.finding import MEMORIES
from graph.store.port import Reader
from graph.store.query import After, And, By, Eq, Find, In, Page, Range, both

KIND: Final = "memory_revision"
RESTORE: Final = "memory.file.restore"
_BATCH: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class RevisionView:
    """A change with what it did.

    Attributes:
        content: what the change left; None where no file was left.
    """

    revision: MemoryRevision
    content: str | None
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
    """What is at a path after a change was undone; None: no file."""

    path: str
    file: MemoryFile | None


async def list_revisions(
    reading: Reading,
    memory: WorkspaceMemory,
    *,
    path: str | None = None,
    run_id: NodeId | None = None,
    first: int,
    after: After | None = None,
) -> Page[MemoryRevision]:
    """Return the changes of a `revisions_query`.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `path`.
    """
    return await reading.page(revisions_query(reading, memory, path=path, run_id=run_id, first=first, after=after))


def revisions_query(
    reading: Reading,
    memory: WorkspaceMemory,
    *,
    path: str | None = None,
    run_id: NodeId | None = None,
    first: int,
    after: After | None = None,
) -> Find[MemoryRevision]:
    """Return the question for changes, newest first; both filters hold (FM-74).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `path`.
    """
    at_path = None if path is None else Eq("path", checked_path(path, reading.deps.memory_limits))
    by_run = None if run_id is None else Eq("run_id", run_id)
    where = both(Eq("memory_id", memory.id), at_path, by_run)
    order = By("seq", descending=True)
    return Find(kind=MemoryRevision, where=where, order=order, first=first, after=after)


async def changes_since(reader: Reader, memory_id: NodeId, seq: int) -> tuple[MemoryRevision, ...]:
    """Return the retained changes after a number, oldest first; for the context of runs."""
    where = And((Eq("memory_id", memory_id), Range("seq", seq + 1)))
    return (await reader.find(MEMORIES, Find(kind=MemoryRevision, where=where, order=By("seq")))).nodes


async def revision_view(reading: Reading, memory: WorkspaceMemory, seq: int) -> RevisionView:
    """Return one change with its texts and difference (FM-76, FM-77).

    Raises:
        WorkspaceRefused: ``not_found`` of kind ``memory_revision``: unknown or pruned.
    """
    where = And((Eq("memory_id", memory.id), Eq("seq", seq)))
    found = (await reading.page(Find(kind=MemoryRevision, where=where))).nodes
    if not found:
        raise missing(KIND, str(seq))
    content = await content_after(reading.reader, found[0])
    return RevisionView(revision=found[0], content=content, hunks=hunks(found[0].previous_content, content))


async def content_after(reader: Reader, revision: MemoryRevision) -> str | None:
    """Return what a change left: what the next change of its path replaced, or what the file there holds now.

    The next change is there as long as this one is: history goes oldest first, or a path at a time.
    """
    if revision.op not in OPS_WITH_CONTENT:
        return None
    later = And((Eq("memory_id", revision.memory_id), Eq("path", revision.path), Range("seq", revision.seq + 1)))
    query = Find(kind=MemoryRevision, where=later, order=By("seq"), first=1)
    following = (await reader.find(MEMORIES, query)).nodes
    if following:
        return following[0].previous_content
    file = await find_file(reader, revision.memory_id, revision.path)
    return None if file is None else file.content


async def contents_after(reader: Reader, revisions: Sequence[MemoryRevision]) -> Mapping[NodeId, str | None]:
    """Return what `content_after` says of many changes, by their ids: two questions a memory, however many."""
    found: dict[NodeId, str | None] = dict.fromkeys(revision.id for revision in revisions)
    left = [revision for revision in revisions if revision.op in OPS_WITH_CONTENT]
    for memory_id in dict.fromkeys(revision.memory_id for revision in left):
        asked = [revision for revision in left if revision.memory_id == memory_id]
        at_paths = And((Eq("memory_id", memory_id), In("path", sorted({revision.path for revision in asked}))))
        since = And((at_paths, Range("seq", min(revision.seq for revision in asked) + 1)))
        later = (await reader.find(MEMORIES, Find(kind=MemoryRevision, where=since, order=By("seq")))).nodes
        files = (await reader.find(MEMORIES, Find(kind=MemoryFile, where=at_paths))).nodes
        contents = {file.path: file.content for file in files}
        for revision in asked:
            following = next((one for one in later if one.path == revision.path and one.seq > revision.seq), None)
            found[revision.id] = contents.get(revision.path) if following is None else following.previous_content
    return found


async def restore_revision(
    cmd: Command, memory: WorkspaceMemory, actor: Actor, seq: int, tags: Collection[str] | None
) -> Restored:
    """Put back, as a new change, what a change replaced; what made a file is undone by deleting it (FM-78, FM-79).

    Args:
        cmd: of the change.
        memory: held locked.
        actor: who restores.
        seq: number of the change.
        tags: name the file that is at its path; None if none is (FM-80).

    Raises:
        WorkspaceRefused: ``not_found``, ``precondition_required``, ``precondition_failed``, ``payload_too_large``,
            ``conflict`` (``memory_full``).
    """
    revision = await _find(cmd, memory, seq)
    file = await find_file(cmd.writer, memory.id, revision.path)
    _check_seen(file, tags)
    if revision.op not in OPS_WITH_PREVIOUS or revision.previous_content is None:
        if file is not None:
            await remove(cmd, memory, actor, file, RESTORE)
        return Restored(path=revision.path, file=None)
    if file is not None:
        put = await set_content(cmd, memory, actor, file, revision.previous_content, RESTORE)
        return Restored(path=revision.path, file=put)
    text = checked_content(revision.previous_content, cmd.deps.memory_limits)
    return Restored(path=revision.path, file=await make_at(cmd, memory, actor, revision.path, text, RESTORE))


async def purge_history(cmd: Command, memory: WorkspaceMemory, actor: Actor, path: str) -> int:
    """Erase the retained history of one path, the file stays as it is; return how many changes went (FM-81).

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `path`.
    """
    wanted = checked_path(path, cmd.deps.memory_limits)
    where = And((Eq("memory_id", memory.id), Eq("path", wanted)))
    purged = freed = 0
    while found := (await cmd.writer.find(MEMORIES, Find(kind=MemoryRevision, where=where, first=_BATCH))).nodes:
        await cmd.writer.delete([revision.id for revision in found])
        purged += len(found)
        freed += sum(revision.previous_bytes for revision in found)
    if purged:
        await cmd.writer.patch_many({memory.id: {"history_bytes": (memory.history_bytes or 0) - freed}})
        await note(cmd, memory, actor, "memory.history.purge", memory.id, {"path": wanted, "purged": purged})
    return purged


async def _find(cmd: Command, memory: WorkspaceMemory, seq: int) -> MemoryRevision:
    where = And((Eq("memory_id", memory.id), Eq("seq", seq)))
    found = (await cmd.writer.find(MEMORIES, Find(kind=MemoryRevision, where=where))).nodes
    if not found:
        raise missing(KIND, str(seq))
    return found[0]


def _check_seen(file: MemoryFile | None, tags: Collection[str] | None) -> None:
    if file is None and tags is not None:
        raise stale_file(None)
    if file is not None and tags is None:
        raise untagged()
    if file is not None:
        check_tags(file, tags)
