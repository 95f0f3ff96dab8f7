"""Threads and the memories that they mount. Source: MT-1 to MT-18, MT-28, MT-33, MT-66."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rootward.service.calls import KEEP, Ask, Reply, Unset, given, nothing, present, reads
from rootward.service.operations import AsyncSurface, SyncSurface, operation
from rootward.service.pages import Page, if_match, reads_page
from rootward.service.versions import Versioned

_THREADS = "/api/v1/threads"
_THREAD = f"{_THREADS}/{{thread_id}}"
_MOUNTS = f"{_THREAD}/memories"
_MOUNT = f"{_MOUNTS}/{{name}}"


@dataclass(frozen=True, kw_only=True)
class Mount:
    """A memory by the name that models know; `access` is ``read`` or ``write``."""

    name: str
    memory_id: str
    access: str = "read"
    recall: bool = True

    def body(self) -> Mapping[str, Any]:
        """Return it as it is sent."""
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class Thread(Versioned):
    """A thread of runs, its mounts ordered by name."""

    parent_run_id: str | None
    archived_at: str | None
    memories: tuple[Mount, ...]


@dataclass(frozen=True, kw_only=True)
class Mounted:
    """A mount after a change, and the new tag of its thread."""

    mount: Mount
    thread_etag: str | None


@operation("POST", _THREADS)
def create_thread(*, memories: Sequence[Mount] = (), parent_run_id: str | None = None) -> Ask[Thread]:
    """Make a thread with its first mounts, or neither."""
    body = present(memories=[mount.body() for mount in memories], parent_run_id=parent_run_id)
    return Ask(body=body, read=reads(Thread))


@operation("GET", _THREAD)
def read_thread(thread_id: str) -> Ask[Thread]:
    """Read a thread."""
    return Ask(ids=[thread_id], read=reads(Thread))


@operation("POST", f"{_THREAD}/archive")
def archive_thread(thread_id: str) -> Ask[Thread]:
    """Archive a thread, which removes its mounts."""
    return Ask(ids=[thread_id], read=reads(Thread))


@operation("POST", f"{_THREAD}/unarchive")
def unarchive_thread(thread_id: str) -> Ask[Thread]:
    """Take a thread back; its mounts stay removed."""
    return Ask(ids=[thread_id], read=reads(Thread))


@operation("POST", f"{_THREAD}/compact")
def compact_thread(thread_id: str) -> Ask[None]:
    """Report that the history of a thread was compacted: its next run gets full context."""
    return Ask(ids=[thread_id], read=nothing)


@operation("GET", _MOUNTS)
def list_mounts(thread_id: str) -> Ask[Page[Mount]]:
    """List all mounts of a thread by name; the page has the thread's tag."""
    return Ask(ids=[thread_id], read=reads_page(Mount))


@operation("POST", _MOUNTS)
def mount_memory(thread_id: str, mount: Mount, *, etag: str) -> Ask[Mounted]:
    """Mount a memory; `etag` is the thread's."""
    return Ask(ids=[thread_id], body=mount.body(), headers=if_match(etag), read=_mounted)


@operation("PATCH", _MOUNT)
def change_mount(
    thread_id: str, name: str, *, etag: str, access: str | Unset = KEEP, recall: bool | Unset = KEEP
) -> Ask[Mounted]:
    """Change what is named of a mount; `etag` is the thread's."""
    body = given(access=access, recall=recall)
    return Ask(ids=[thread_id, name], body=body, headers=if_match(etag), read=_mounted)


@operation("DELETE", _MOUNT)
def unmount_memory(thread_id: str, name: str, *, etag: str) -> Ask[str | None]:
    """Remove a mount and return the new tag of its thread; `etag` is the thread's."""
    return Ask(ids=[thread_id, name], headers=if_match(etag), read=lambda reply: reply.headers.get("etag"))


def _mounted(reply: Reply) -> Mounted:
    return Mounted(mount=reads(Mount)(reply), thread_etag=reply.headers.get("etag"))


class ThreadOperations:
    """What can be done with threads and mounts."""

    create = create_thread
    read = read_thread
    archive = archive_thread
    unarchive = unarchive_thread
    compact = compact_thread
    mounts = list_mounts
    mount = mount_memory
    change_mount = change_mount
    unmount = unmount_memory


class Threads(ThreadOperations, SyncSurface):
    """Threads, waiting in the thread."""


class AsyncThreads(ThreadOperations, AsyncSurface):
    """Threads, waiting in the task."""
