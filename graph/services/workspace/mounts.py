"""Mounts of memories on threads (MT-1)."""

from __future__ import annotations

from graph.model.access import SystemScope
from graph.model.ids import NodeId
from graph.model.nodes.workspace import RunThread, ThreadMount
from graph.services.access.commands import Command
from graph.store.query import Eq, Find

MOUNTS = SystemScope(reason="mounts of a memory that is deleted")


async def unmount_everywhere(cmd: Command, memory_id: NodeId) -> None:
    """Remove every mount of a memory and move the version of each thread that had one (FM-46, FM-47).

    The caller holds the memory locked.
    """
    query = Find(kind=ThreadMount, where=Eq("memory_id", memory_id))
    threads = {mount.thread_id for mount in (await cmd.writer.find(MOUNTS, query)).nodes}
    await cmd.writer.lock(sorted(threads))
    mounts = (await cmd.writer.find(MOUNTS, query)).nodes
    await cmd.writer.delete([mount.id for mount in mounts])
    found = await cmd.writer.get(MOUNTS, sorted({mount.thread_id for mount in mounts}))
    for thread in found.values():
        if isinstance(thread, RunThread):
            await cmd.writer.patch_many({thread.id: {"version": thread.version + 1, "updated_at": cmd.at}})
