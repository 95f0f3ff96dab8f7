"""Memories of a workspace: making, listing, changing and deleting them (FM-20 to FM-48)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.people import Grant, Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.rules.admin_chain import AdminOperation
from graph.rules.memory_fields import (
    checked_always_load,
    checked_description,
    checked_guide,
    checked_labels,
    checked_name,
)
from graph.rules.memory_refusals import forbidden, invalid, stale
from graph.rules.workspace_ids import tag_of
from graph.services.access.admin_log import record_admin
from graph.services.access.commands import Command
from graph.services.access.people import move_access
from graph.services.access.session import Session as Reading
from graph.services.knowledge.anchors import write_anchor
from graph.services.knowledge.listing import Listing
from graph.services.workspace.changing import actor_of, note, put_in
from graph.services.workspace.finding import MEMORIES, hold_memory, require_verb, verbs_on
from graph.services.workspace.kinds import ENDINGS, MAKERS, NewMemory
from graph.services.workspace.mounts import unmount_everywhere
from graph.store.query import After, And, Eq, Find, Page, Where

_SCAN: Final = 100


def memory_tag(memory: WorkspaceMemory) -> str:
    """Return the ETag of a memory."""
    return tag_of(memory.id, memory.version)


async def create_memory(cmd: Command, new: NewMemory) -> WorkspaceMemory:
    """Make a memory in the caller's workspace.

    Raises:
        WorkspaceRefused: ``forbidden``; ``invalid_argument`` at the field; what the maker of the type refuses.
    """
    require_verb(cmd.facts, None, Right.WRITE)
    limits = cmd.deps.memory_limits
    fields: dict[str, Any] = {
        "name": checked_name(new.name),
        "description": checked_description(new.description),
        "labels": checked_labels(new.labels),
        "guide": checked_guide(new.guide, limits),
        "always_load": checked_always_load(new.always_load, limits),
    }
    make = MAKERS.get(new.type)
    if make is None:
        raise invalid("type", f"is one of {', '.join(sorted(MAKERS))}")
    id_ = cmd.deps.new_id(WorkspaceMemory.PREFIX)
    fields |= await make(cmd, id_, new)
    memory = WorkspaceMemory(
        id=id_,
        workspace=cmd.caller.workspace,
        pool=id_,
        created_at=cmd.at,
        type=new.type,
        created_by=cmd.facts.principal,
        updated_by=cmd.facts.principal,
        updated_at=cmd.at,
        **fields,
    )
    await put_in(cmd, memory, [memory])
    return await note(cmd, memory, actor_of(cmd), "memory.create", id_, {"type": new.type})


async def list_memories(
    reading: Reading,
    *,
    labels: Sequence[tuple[str, str]] = (),
    kind: str | None = None,
    type_: str | None = None,
    first: int,
    after: After | None = None,
) -> Page[WorkspaceMemory]:
    """Return memories by id; all filters hold (FM-41, FM-42).

    Who holds the verb on single memories only is shown these.

    Raises:
        WorkspaceRefused: ``forbidden``, ``invalid_argument`` at `kind`.
    """
    require_some(reading)
    where = memories_where(reading, kind, type_)
    query = Find(kind=WorkspaceMemory, where=where, first=_SCAN if labels else first, after=after)
    return await (_labelled(reading, query, labels, first) if labels else reading.page(query))


async def memory_listing(
    reading: Reading,
    *,
    labels: Sequence[tuple[str, str]] = (),
    kind: str | None = None,
    type_: str | None = None,
    first: int,
    after: After | None = None,
) -> Listing[WorkspaceMemory]:
    """Return the page of `list_memories` with what counts them all.

    Raises:
        WorkspaceRefused: as for `list_memories`.
    """
    page = await list_memories(reading, labels=labels, kind=kind, type_=type_, first=first, after=after)
    where = memories_where(reading, kind, type_)

    async def count() -> int:
        if not labels:
            return (await reading.reader.aggregate(reading.viewer, WorkspaceMemory, where)).get(None, 0)
        every = Find(kind=WorkspaceMemory, where=where, first=_SCAN)
        return len((await _labelled(reading, every, labels, None)).nodes)

    return Listing(items=page.nodes, places=page.places, more=page.more, count=count)


def memories_where(reading: Reading, kind: str | None, type_: str | None) -> Where:
    """Return the condition of a list of memories.

    Raises:
        WorkspaceRefused: ``invalid_argument`` at `kind`.
    """
    if kind is not None and kind not in set(MemoryKind):
        raise invalid("kind", "is file or record")
    parts: list[Where] = [Eq("workspace", reading.facts.workspace)]
    parts += [Eq(name, value) for name, value in (("kind", kind), ("type", type_)) if value is not None]
    return And(tuple(parts))


async def change_memory(cmd: Command, id_: NodeId, tags: Collection[str], given: Mapping[str, Any]) -> WorkspaceMemory:
    """Change some of `name`, `description`, `labels`, `guide`, `always_load`; what is the same is no change.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``precondition_failed``, ``invalid_argument`` at the field.
    """
    memory = await hold_memory(cmd, id_, Right.WRITE)
    _check_tag(memory, tags)
    if memory.kind == MemoryKind.RECORD and given.get("always_load"):
        raise invalid("always_load", "is for file memories only")
    new = {name: value for name, value in _checked(cmd, given).items() if value != _held(memory, name)}
    if not new:
        return memory
    fields = {**new, "version": memory.version + 1, "updated_by": cmd.facts.principal, "updated_at": cmd.at}
    await cmd.writer.patch_many({memory.id: fields})
    codes = {"fields": sorted(new)}
    return await note(cmd, replace(memory, **fields), actor_of(cmd), "memory.update", memory.id, codes)


async def delete_memory(cmd: Command, id_: NodeId, tags: Collection[str]) -> None:
    """Delete a memory with all that is in it, its mounts and the grants on it, in one transaction (FM-46).

    Its audit stays for who could read it.

    Raises:
        WorkspaceRefused: ``not_found``, ``forbidden``, ``precondition_failed``.
    """
    memory = await hold_memory(cmd, id_, Right.WRITE)
    _check_tag(memory, tags)
    memory = await unmount_everywhere(cmd, memory)
    await ENDINGS[memory.kind](cmd, memory)
    await _end_grants(cmd, memory)
    ended = await note(cmd, memory, actor_of(cmd), "memory.delete", memory.id)
    await cmd.writer.delete([memory.id])
    # The chain ends with its pool: its last record is kept where nobody can cut it unnoticed (AD-27).
    codes = {"seq": ended.audit_seq, "hash": ended.audit_head}
    await record_admin(cmd, AdminOperation.MEMORY_DELETE, memory.id, codes)
    await write_anchor(cmd.writer, cmd.caller.workspace, cmd.at)  # from here on the chain is not missed


def _check_tag(memory: WorkspaceMemory, tags: Collection[str]) -> None:
    if memory_tag(memory) not in tags:
        raise stale(memory_tag(memory))


def _checked(cmd: Command, given: Mapping[str, Any]) -> dict[str, Any]:
    limits = cmd.deps.memory_limits
    checks: dict[str, Callable[[Any], Any]] = {
        "name": checked_name,
        "description": checked_description,
        "labels": checked_labels,
        "guide": lambda guide: checked_guide(guide, limits),
        "always_load": lambda paths: checked_always_load(paths, limits),
    }
    return {name: check(given[name]) for name, check in checks.items() if name in given}


def _held(memory: WorkspaceMemory, name: str) -> Any:
    return (memory.labels or {}) if name == "labels" else getattr(memory, name)


async def _end_grants(cmd: Command, memory: WorkspaceMemory) -> None:
    grants = (await cmd.writer.find(MEMORIES, Find(kind=Grant, where=Eq("object_id", memory.id)))).nodes
    await cmd.writer.delete([grant.id for grant in grants])
    await move_access(cmd, {grant.principal_id for grant in grants})


def require_some(reading: Reading) -> None:
    """Refuse who holds a verb neither on the workspace nor on any memory.

    Raises:
        WorkspaceRefused: ``forbidden``.
    """
    objects = {grant.object_id for grant in reading.facts.grants}
    memories = [object_id for object_id in objects if prefix_of(object_id) == WorkspaceMemory.PREFIX]
    if not any(verbs_on(reading.facts, memory) for memory in (None, *memories)):
        raise forbidden(Right.READ)


async def _labelled(
    reading: Reading, query: Find[WorkspaceMemory], labels: Sequence[tuple[str, str]], first: int | None
) -> Page[WorkspaceMemory]:
    """Return memories with all of these labels, up to `first`; labels are no index, so the rest is passed over."""
    found: list[tuple[WorkspaceMemory, After]] = []
    while first is None or len(found) <= first:
        page = await reading.page(query)
        found += [(m, place) for m, place in zip(page.nodes, page.places, strict=True) if _has_labels(m, labels)]
        if not page.more or not page.places:
            break
        query = replace(query, after=page.places[-1])
    shown = found[:first]
    return Page(nodes=tuple(m for m, _ in shown), places=tuple(p for _, p in shown), more=len(found) > len(shown))


def _has_labels(memory: WorkspaceMemory, labels: Sequence[tuple[str, str]]) -> bool:
    held = memory.labels or {}
    return all(held.get(key) == value for key, value in labels)
