"""Memories of a workspace and what was done in them. Source: FM-19, FM-24, FM-38 to FM-48, MT-66."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rootward.service.calls import KEEP, Ask, Unset, given, nothing, present, reads
from rootward.service.operations import AsyncSurface, SyncSurface, operation
from rootward.service.pages import Page, if_match, reads_page
from rootward.service.versions import Versioned

_MEMORIES = "/api/v1/memories"
_MEMORY = f"{_MEMORIES}/{{memory_id}}"


@dataclass(frozen=True, kw_only=True)
class WorkspaceMemory(Versioned):
    """A memory of a workspace; times are RFC 3339 in UTC.

    Attributes:
        kind: ``file`` or ``record``.
        guide: what agents shall store; None inherits `inherited_guide`, ``""`` is none.
        file_count: with `content_bytes` and `history_bytes`: None for a record memory.
    """

    name: str
    description: str | None
    kind: str
    type: str
    provider_id: str | None
    namespace: str | None
    guide: str | None
    inherited_guide: str
    always_load: tuple[str, ...]
    labels: Mapping[str, str]
    file_count: int | None
    content_bytes: int | None
    history_bytes: int | None
    created_by_id: str
    updated_by_id: str


@dataclass(frozen=True, kw_only=True)
class AuditEvent:
    """A step that was audited; `details` are ids, paths and numbers, never content."""

    id: str
    action: str
    actor_id: str
    target_id: str
    memory_id: str | None
    details: Mapping[str, object]
    created_at: str


@operation("GET", _MEMORIES)
def list_memories(
    *,
    labels: Mapping[str, str] | None = None,
    kind: str | None = None,
    type: str | None = None,
    limit: int | None = None,
    cursor: str | None = None,
) -> Ask[Page[WorkspaceMemory]]:
    """List memories by id; filters combine with AND."""
    wanted = [f"{key}:{value}" for key, value in (labels or {}).items()]
    query = {"label": wanted, "kind": kind, "type": type, "limit": limit, "cursor": cursor}
    return Ask(query=query, read=reads_page(WorkspaceMemory))


@operation("POST", _MEMORIES)
def create_memory(
    name: str,
    *,
    description: str | None = None,
    labels: Mapping[str, str] | None = None,
    type: str | None = None,
    guide: str | None = None,
    always_load: Sequence[str] | None = None,
    provider_id: str | None = None,
    namespace: str | None = None,
) -> Ask[WorkspaceMemory]:
    """Make a memory: of files, unless `type` names a provider's."""
    body = present(
        name=name,
        description=description,
        labels=labels,
        type=type,
        guide=guide,
        always_load=None if always_load is None else list(always_load),
        provider_id=provider_id,
        namespace=namespace,
    )
    return Ask(body=body, read=reads(WorkspaceMemory))


@operation("GET", _MEMORY)
def read_memory(memory_id: str) -> Ask[WorkspaceMemory]:
    """Read a memory."""
    return Ask(ids=[memory_id], read=reads(WorkspaceMemory))


@operation("PATCH", _MEMORY)
def update_memory(
    memory_id: str,
    *,
    etag: str,
    name: str | Unset = KEEP,
    description: str | Unset | None = KEEP,
    labels: Mapping[str, str] | Unset = KEEP,
    guide: str | Unset | None = KEEP,
    always_load: Sequence[str] | Unset = KEEP,
) -> Ask[WorkspaceMemory]:
    """Change what is named.

    Raises:
        PreconditionFailed: it changed since `etag`.
    """
    body: dict[str, Any] = given(name=name, description=description, labels=labels, guide=guide)
    body |= {} if isinstance(always_load, Unset) else {"always_load": list(always_load)}
    return Ask(ids=[memory_id], body=body, headers=if_match(etag), read=reads(WorkspaceMemory))


@operation("DELETE", _MEMORY)
def delete_memory(memory_id: str, *, etag: str) -> Ask[None]:
    """Delete a memory with its files, its history and all its mounts."""
    return Ask(ids=[memory_id], headers=if_match(etag), read=nothing)


@operation("GET", "/api/v1/audit-events")
def list_audit_events(
    *, target_id: str | None = None, limit: int | None = None, cursor: str | None = None
) -> Ask[Page[AuditEvent]]:
    """List what was done, newest first."""
    return Ask(query={"target_id": target_id, "limit": limit, "cursor": cursor}, read=reads_page(AuditEvent))


class MemoryOperations:
    """What can be done with memories."""

    list = list_memories
    create = create_memory
    read = read_memory
    update = update_memory
    delete = delete_memory
    audit_events = list_audit_events


class Memories(MemoryOperations, SyncSurface):
    """Memories, waiting in the thread."""


class AsyncMemories(MemoryOperations, AsyncSurface):
    """Memories, waiting in the task."""
