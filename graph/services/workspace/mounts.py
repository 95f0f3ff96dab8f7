"""Mounts of memories on threads: keeping them, and mounting, changing, unmounting one (MT-1 to MT-14).

Who mounts or unmounts holds the memory and the thread locked, in this order (``wsm_…`` comes before ``wth_…``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from graph.model.access import SystemScope
from graph.model.ids import NodeId, node_id
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import ContextCursor, RunThread, ThreadMount, WorkspaceMemory
from graph.rules.memory_refusals import conflicting, missing
from graph.rules.run_mounts import Mount, joined
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.workspace.changing import actor_of, note
from graph.services.workspace.finding import MEMORIES
from graph.services.workspace.run_finding import check_thread_tag, find_one, open_one, put_shared, touch
from graph.store.port import Reader
from graph.store.query import By, Eq, Find

MOUNTS: Final = SystemScope(reason="mounts of threads whose verbs are checked, and those of a deleted memory")
Memories = Mapping[NodeId, WorkspaceMemory]


@dataclass(frozen=True, kw_only=True, slots=True)
class Mounted:
    """A mount with its thread as a change left it."""

    thread: RunThread
    mount: Mount


async def mount_memory(cmd: Command, thread_id: NodeId, tags: Collection[str], mount: Mount) -> Mounted:
    """Mount a memory on a thread.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``precondition_failed``; ``conflict`` with reason ``archived``;
            what `joined` refuses.
    """
    await open_one(cmd, thread_id, RunThread, Right.RUN)
    known = await live_memories(cmd, {mount.memory_id})  # nothing is locked for ids that name nothing
    await cmd.writer.lock([*known, thread_id])
    thread = await find_one(cmd, thread_id, RunThread)
    check_thread_tag(thread, tags)
    if thread.archived_at is not None:
        raise conflicting("thread", outside(thread.id), "archived")
    living = await live_memories(cmd, known)
    if not living:
        raise missing("memory", outside(mount.memory_id))
    joined(await mounts_of(cmd.writer, thread.id), [mount], thread.id, cmd.deps.memory_limits.mounts_per_thread)
    await put_mounts(cmd, thread, [mount], living)
    return Mounted(thread=await touch(cmd, thread), mount=mount)


async def change_mount(
    cmd: Command, thread_id: NodeId, name: str, tags: Collection[str], given: Mapping[str, Any]
) -> Mounted:
    """Change `access` or `recall` of a mount; what is the same is no change (MT-7, FM-13).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``precondition_failed``.
    """
    thread, mount, memories = await _hold_mount(cmd, thread_id, name, tags)
    changed = replace(mount, **given)
    if changed == mount:
        return Mounted(thread=thread, mount=mount)
    await cmd.writer.patch_many({_id_of(thread.id, name): dict(given)})
    await _note(cmd, "thread_memory.update", thread.id, changed, memories[mount.memory_id])
    return Mounted(thread=await touch(cmd, thread), mount=changed)


async def unmount_memory(cmd: Command, thread_id: NodeId, name: str, tags: Collection[str]) -> RunThread:
    """Remove a mount (MT-13).

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``precondition_failed``.
    """
    thread, mount, memories = await _hold_mount(cmd, thread_id, name, tags)
    await remove_mounts(cmd, thread, [mount], memories)
    return await touch(cmd, thread)


async def mounts_of(reader: Reader, thread_id: NodeId) -> list[Mount]:
    """Return the mounts of a thread, by name."""
    query = Find(kind=ThreadMount, where=Eq("thread_id", thread_id), order=By("name"))
    found = (await reader.find(MOUNTS, query)).nodes
    return [Mount(name=one.name, memory_id=one.memory_id, access=one.access, recall=one.recall) for one in found]


async def live_memories(cmd: Command, ids: Iterable[NodeId]) -> dict[NodeId, WorkspaceMemory]:
    """Return those of these memories that are in the caller's workspace now."""
    found = await cmd.writer.get(MEMORIES, sorted(set(ids)))
    return {
        id_: node
        for id_, node in found.items()
        if isinstance(node, WorkspaceMemory) and node.workspace == cmd.caller.workspace
    }


async def hold_with_mounts(cmd: Command, thread_id: NodeId) -> tuple[list[Mount], Memories]:
    """Lock a thread with the memories that it mounts; return both as they are under the lock."""
    held: set[NodeId] = set()
    while True:
        mounts = await mounts_of(cmd.writer, thread_id)
        wanted = {thread_id, *(mount.memory_id for mount in mounts)}
        if wanted <= held:
            return mounts, await live_memories(cmd, wanted - {thread_id})
        await cmd.writer.lock(sorted(wanted - held))
        held |= wanted


async def put_mounts(cmd: Command, thread: RunThread, mounts: Iterable[Mount], memories: Memories) -> None:
    """Write mounts of a thread and tell the audit; no two of them are of one memory."""
    made = list(mounts)
    await put_shared(cmd, [_node(cmd, thread, mount) for mount in made])
    for mount in made:
        await _note(cmd, "thread_memory.create", thread.id, mount, memories[mount.memory_id])


async def remove_mounts(cmd: Command, thread: RunThread, mounts: Sequence[Mount], memories: Memories) -> None:
    """Remove mounts of a thread and tell the audit."""
    await cmd.writer.delete([_id_of(thread.id, mount.name) for mount in mounts])
    for mount in mounts:
        await _note(cmd, "thread_memory.delete", thread.id, mount, memories[mount.memory_id])


async def unmount_everywhere(cmd: Command, memory: WorkspaceMemory) -> WorkspaceMemory:
    """Remove every mount of a memory, tell the audit, and move the version of each thread that had one (FM-46, FM-47).

    The caller holds the memory locked; it is returned with the head of its chain.
    """
    query = Find(kind=ThreadMount, where=Eq("memory_id", memory.id))
    threads = {mount.thread_id for mount in (await cmd.writer.find(MOUNTS, query)).nodes}
    await cmd.writer.lock(sorted(threads))
    mounts = (await cmd.writer.find(MOUNTS, query)).nodes
    told = (await cmd.writer.find(MOUNTS, Find(kind=ContextCursor, where=Eq("memory_id", memory.id)))).nodes
    await cmd.writer.delete([node.id for node in (*mounts, *told)])
    found = await cmd.writer.get(MOUNTS, sorted({mount.thread_id for mount in mounts}))
    for mount in mounts:
        thread = found.get(mount.thread_id)
        if isinstance(thread, RunThread):
            await touch(cmd, thread)
        memory = await _note(cmd, "thread_memory.delete", mount.thread_id, mount, memory)
    return memory


async def _hold_mount(
    cmd: Command, thread_id: NodeId, name: str, tags: Collection[str]
) -> tuple[RunThread, Mount, Memories]:
    await open_one(cmd, thread_id, RunThread, Right.RUN)
    mounts, memories = await hold_with_mounts(cmd, thread_id)
    thread = await find_one(cmd, thread_id, RunThread)
    found = next((mount for mount in mounts if mount.name == name), None)
    if found is None:
        raise missing("mount", name)
    check_thread_tag(thread, tags)
    return thread, found, memories


def _id_of(thread_id: NodeId, name: str) -> NodeId:
    return node_id(ThreadMount.PREFIX, f"{thread_id.partition('_')[2]}/{name}")


def _node(cmd: Command, thread: RunThread, mount: Mount) -> ThreadMount:
    return ThreadMount(
        id=_id_of(thread.id, mount.name),
        workspace=thread.workspace,
        created_at=cmd.at,
        thread_id=thread.id,
        memory_id=mount.memory_id,
        name=mount.name,
        access=mount.access,
        recall=mount.recall,
    )


async def _note(
    cmd: Command, operation: str, thread_id: NodeId, mount: Mount | ThreadMount, memory: WorkspaceMemory
) -> WorkspaceMemory:
    codes = {"name": mount.name, "access": str(mount.access), "recall": mount.recall}
    return await note(cmd, memory, actor_of(cmd), operation, thread_id, codes)
