"""The files of a memory and their history. Source: FM-49 to FM-57, FM-70 to FM-81, MT-66."""

from __future__ import annotations

from dataclasses import dataclass

from rootward.service.calls import Ask, Reply, nothing, reads
from rootward.service.operations import AsyncSurface, SyncSurface, operation
from rootward.service.pages import Page, if_match, reads_page
from rootward.service.versions import Versioned

_FILES = "/api/v1/memories/{memory_id}/files"
_FILE = f"{_FILES}/{{path}}"
_REVISIONS = "/api/v1/memories/{memory_id}/revisions"
_REVISION = f"{_REVISIONS}/{{seq}}"


@dataclass(frozen=True, kw_only=True)
class MemoryFileRow(Versioned):
    """A file without its content; `size` is in UTF-8 bytes."""

    path: str
    size: int
    description: str | None
    updated_by_principal_id: str
    updated_by_run_id: str | None


@dataclass(frozen=True, kw_only=True)
class MemoryFile(MemoryFileRow):
    """A file."""

    content: str


@dataclass(frozen=True, kw_only=True)
class MemoryRevision:
    """A change without content; `op` is ``create``, ``update``, ``delete``, ``move_out`` or ``move_in``."""

    seq: int
    path: str
    op: str
    moved_path: str | None
    principal_id: str
    run_id: str | None
    tool_call_id: str | None
    created_at: str


@dataclass(frozen=True, kw_only=True)
class Hunk:
    """Lines that changed, each after a space, ``+`` or ``-``, with three around them."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class MemoryRevisionDetail(MemoryRevision):
    """A change with its texts and difference."""

    previous_content: str | None
    content: str | None
    hunks: tuple[Hunk, ...]


@dataclass(frozen=True, kw_only=True)
class RestoredFile:
    """What is at a path after a restoration; None: no file."""

    path: str
    file: MemoryFile | None


@operation("GET", _FILES)
def list_files(
    memory_id: str, *, prefix: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Ask[Page[MemoryFileRow]]:
    """List files under a directory, by path; `prefix` ends in ``/``."""
    query = {"prefix": prefix, "limit": limit, "cursor": cursor}
    return Ask(ids=[memory_id], query=query, read=reads_page(MemoryFileRow))


@operation("POST", _FILES)
def create_file(memory_id: str, path: str, content: str) -> Ask[MemoryFile]:
    """Make a file at a free path."""
    return Ask(ids=[memory_id], body={"path": path, "content": content}, read=reads(MemoryFile))


@operation("GET", _FILE)
def read_file(memory_id: str, path: str) -> Ask[MemoryFile]:
    """Read a file."""
    return Ask(ids=[memory_id, path], read=reads(MemoryFile))


@operation("GET", _FILE)
def read_newer_file(memory_id: str, path: str, *, etag: str) -> Ask[MemoryFile | None]:
    """Read a file if it is another version than that of `etag`; None: it is this one."""
    return Ask(ids=[memory_id, path], headers={"If-None-Match": etag}, done=(200, 304), read=_newer)


@operation("PUT", _FILE)
def replace_file(memory_id: str, path: str, content: str, *, etag: str) -> Ask[MemoryFile]:
    """Replace the content of a file.

    Raises:
        PreconditionFailed: it changed since `etag`; `current` is the file as it is now.
    """
    return Ask(ids=[memory_id, path], body={"content": content}, headers=if_match(etag), read=reads(MemoryFile))


@operation("DELETE", _FILE)
def delete_file(memory_id: str, path: str, *, etag: str) -> Ask[None]:
    """Delete a file."""
    return Ask(ids=[memory_id, path], headers=if_match(etag), read=nothing)


@operation("POST", f"{_FILES}/move")
def move_file(memory_id: str, source: str, destination: str, *, etag: str) -> Ask[MemoryFile]:
    """Move a file to a free path."""
    body = {"source": source, "destination": destination}
    return Ask(ids=[memory_id], body=body, headers=if_match(etag), read=reads(MemoryFile))


@operation("GET", _REVISIONS)
def list_revisions(
    memory_id: str,
    *,
    path: str | None = None,
    run_id: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Ask[Page[MemoryRevision]]:
    """List changes, newest first."""
    query = {"path": path, "run_id": run_id, "limit": limit, "cursor": cursor}
    return Ask(ids=[memory_id], query=query, read=reads_page(MemoryRevision))


@operation("GET", _REVISION)
def read_revision(memory_id: str, seq: int) -> Ask[MemoryRevisionDetail]:
    """Read a change with its difference."""
    return Ask(ids=[memory_id, str(seq)], read=reads(MemoryRevisionDetail))


@operation("POST", f"{_REVISION}/restore")
def restore_revision(memory_id: str, seq: int, *, etag: str | None = None) -> Ask[RestoredFile]:
    """Put back what a change replaced; `etag` names the file at its path, None that there is none."""
    return Ask(ids=[memory_id, str(seq)], headers=if_match(etag), read=reads(RestoredFile))


@operation("DELETE", _REVISIONS)
def purge_history(memory_id: str, *, path: str) -> Ask[int]:
    """Erase the history of a path and return how many changes went; the file stays."""
    return Ask(ids=[memory_id], query={"path": path}, read=reads(int, "purged"))


def _newer(reply: Reply) -> MemoryFile | None:
    return None if reply.status == 304 else reads(MemoryFile)(reply)


class FileOperations:
    """What can be done with files and their history."""

    list = list_files
    create = create_file
    read = read_file
    read_newer = read_newer_file
    replace = replace_file
    delete = delete_file
    move = move_file
    revisions = list_revisions
    revision = read_revision
    restore = restore_revision
    purge_history = purge_history


class Files(FileOperations, SyncSurface):
    """Files, waiting in the thread."""


class AsyncFiles(FileOperations, AsyncSurface):
    """Files, waiting in the task."""
