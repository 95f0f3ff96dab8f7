"""The shapes of memories, files and revisions, as the contract writes them (FM-24, FM-51, FM-70, FM-76)."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from api.rest.said import FilePath, Name, Text, one_of
from graph.model.ids import NodeId, local_part
from graph.model.nodes.work import AuditRecord
from graph.model.nodes.workspace import MemoryFile, MemoryRevision, WorkspaceMemory
from graph.model.time import render
from graph.rules.memory_diff import Hunk
from graph.rules.memory_guides import inherited_guide
from graph.rules.memory_limits import MemoryLimits
from graph.rules.record_providers import TYPES
from graph.rules.workspace_ids import outside
from graph.services.workspace.revisions import RevisionView

MEMORIES: Final = "/memories"
MEMORY: Final = "/memories/{memory_id}"
FILES: Final = "/memories/{memory_id}/files"
MOVE: Final = "/memories/{memory_id}/files/move"
FILE: Final = "/memories/{memory_id}/files/{path:path}"
REVISIONS: Final = "/memories/{memory_id}/revisions"
REVISION: Final = "/memories/{memory_id}/revisions/{seq}"
RESTORE: Final = "/memories/{memory_id}/revisions/{seq}/restore"
AUDIT: Final = "/audit-events"


class Shape(BaseModel):
    """A body; what it does not name is refused (FM-11)."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NewMemoryBody(Shape):
    """What a memory is made of."""

    name: Name = Field(description="1 to 200 characters; need not be unique")
    description: Text | None = Field(default=None, description="up to 2000 characters")
    labels: dict[str, str] = Field(default_factory=dict, description="up to 32, of up to 128 characters")
    type: Annotated[Text, one_of(["postgres", *TYPES])] = Field(default="postgres", description="never changes")
    guide: Text | None = Field(default=None, description='null inherits, "" is none')
    always_load: list[FilePath] = Field(default_factory=list, description="up to 64 paths")
    provider_id: Text | None = Field(default=None, description="of a record memory")
    namespace: Text | None = Field(default=None, description="of a record memory")


class MemoryPatch(Shape):
    """What changes; what is left out stays (FM-44)."""

    name: Name = Field(default_factory=str)
    description: Text | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    guide: Text | None = None
    always_load: list[FilePath] = Field(default_factory=list)


class NewFileBody(Shape):
    """A file to make."""

    path: FilePath
    content: Text


class ContentBody(Shape):
    """The new content of a file."""

    content: Text


class MoveBody(Shape):
    """Where a file goes."""

    source: FilePath
    destination: FilePath


def memory_json(memory: WorkspaceMemory, limits: MemoryLimits) -> dict[str, Any]:
    """Return the view of a memory (FM-24)."""
    return {
        "id": outside(memory.id),
        "name": memory.name,
        "description": memory.description,
        "kind": memory.kind,
        "type": memory.type,
        "provider_id": outside(memory.provider_id) if memory.provider_id else None,
        "namespace": memory.namespace,
        "guide": memory.guide,
        "inherited_guide": inherited_guide(memory.kind, limits),
        "always_load": list(memory.always_load),
        "labels": memory.labels or {},
        "file_count": memory.file_count,
        "content_bytes": memory.content_bytes,
        "history_bytes": memory.history_bytes,
        "version": memory.version,
        "created_by_id": principal_json(memory.created_by),
        "updated_by_id": principal_json(memory.updated_by),
        "created_at": render(memory.created_at),
        "updated_at": render(memory.updated_at),
    }


def file_row(file: MemoryFile) -> dict[str, Any]:
    """Return a file without its content, as lists show it."""
    return {
        "id": outside(file.id),
        "path": file.path,
        "size": file.size,
        "version": file.version,
        "description": file.description,
        "updated_by_principal_id": principal_json(file.updated_by),
        "updated_by_run_id": outside(file.updated_by_run) if file.updated_by_run else None,
        "created_at": render(file.created_at),
        "updated_at": render(file.updated_at),
    }


def file_json(file: MemoryFile) -> dict[str, Any]:
    """Return the view of a file (FM-51)."""
    return {**file_row(file), "content": file.content}


def revision_row(revision: MemoryRevision) -> dict[str, Any]:
    """Return a change without content, as lists show it (FM-70)."""
    return {
        "seq": revision.seq,
        "path": revision.path,
        "op": revision.op,
        "moved_path": revision.moved_path,
        "principal_id": principal_json(revision.principal_id),
        "run_id": outside(revision.run_id) if revision.run_id else None,
        "tool_call_id": revision.tool_call_id,
        "created_at": render(revision.created_at),
    }


def revision_json(view: RevisionView) -> dict[str, Any]:
    """Return a change with its texts and difference (FM-76)."""
    return {
        **revision_row(view.revision),
        "previous_content": view.revision.previous_content,
        "content": view.content,
        "hunks": [_hunk_json(hunk) for hunk in view.hunks],
    }


def audit_json(record: AuditRecord) -> dict[str, Any]:
    """Return an audited step; its details are ids, paths and numbers, never content (FM-19)."""
    return {
        "id": record.id,
        "action": record.operation,
        "actor_id": principal_json(record.actor_id),
        "target_id": outside(record.target_id),
        "memory_id": outside(record.pool) if record.pool else None,
        "details": record.after or {},
        "created_at": render(record.recorded_at),
    }


def principal_json(principal: NodeId) -> str:
    """Return how these routes name a principal: by its local id."""
    return local_part(principal)


def _hunk_json(hunk: Hunk) -> dict[str, Any]:
    return {
        "old_start": hunk.old_start,
        "old_count": hunk.old_count,
        "new_start": hunk.new_start,
        "new_count": hunk.new_count,
        "lines": list(hunk.lines),
    }
