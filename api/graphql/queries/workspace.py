"""Reads of workspace memory (AD-22)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import RequestContext, context
from api.graphql.tagging import refusing
from api.graphql.types.audit import AuditConnection, AuditRecord
from api.graphql.types.workspace import (
    MemoryFile,
    MemoryRevision,
    MemoryRevisionConnection,
    WorkspaceMemory,
    WorkspaceMemoryConnection,
)
from graph.model.nodes import workspace
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind
from graph.rules.memory_fields import label_filters
from graph.services.knowledge.listing import find_listing
from graph.services.workspace.audit import audit_events
from graph.services.workspace.files import read_file
from graph.services.workspace.finding import open_memory, require_readable
from graph.services.workspace.memories import memory_listing, require_some
from graph.services.workspace.revisions import revision_view, revisions_query


@strawberry.type
class WorkspaceQueries:
    """Memories of the workspace, their files and their history."""

    @strawberry.field
    async def memory(self, info: Info[Any, Any], memory_id: strawberry.ID) -> WorkspaceMemory:
        ctx = context(info)
        with refusing():
            return WorkspaceMemory.from_domain(await _opened(ctx, memory_id))

    @strawberry.field(description="By id; kind is file or record, a label key:value; all filters hold.")
    async def memories(
        self,
        info: Info[Any, Any],
        label: list[str] | None = None,
        kind: str | None = None,
        type: str | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> WorkspaceMemoryConnection:
        ctx = context(info)
        with refusing():
            require_some(ctx.session)
            labels = label_filters(label or ())
            cursors = Cursors.of("memories", {"labels": labels, "kind": kind, "type": type})
            size, place = check_first(first), cursors.decode(after)
            listing = await memory_listing(ctx.session, labels=labels, kind=kind, type_=type, first=size, after=place)
        return connection_of(WorkspaceMemoryConnection, listing, WorkspaceMemory.from_domain, cursors, after)

    @strawberry.field
    async def memory_file(self, info: Info[Any, Any], memory_id: strawberry.ID, path: str) -> MemoryFile:
        ctx = context(info)
        with refusing():
            memory = await _opened(ctx, memory_id, MemoryKind.FILE)
            return MemoryFile.from_domain(await read_file(ctx.session, memory, path))

    @strawberry.field(description="Changes of files, newest first.")
    async def memory_revisions(
        self,
        info: Info[Any, Any],
        memory_id: strawberry.ID,
        path: str | None = None,
        run_id: strawberry.ID | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> MemoryRevisionConnection:
        ctx = context(info)
        cursors = Cursors.of("memoryRevisions", {"memory": memory_id, "path": path, "run": run_id})
        with refusing():
            memory = await _opened(ctx, memory_id, MemoryKind.FILE)
            size, place = check_first(first), cursors.decode(after)
            query = revisions_query(
                ctx.session, memory, path=path, run_id=ctx.id_or_none(run_id), first=size, after=place
            )
            listing = await find_listing(ctx.session, query)
        return connection_of(MemoryRevisionConnection, listing, MemoryRevision.from_domain, cursors, after)

    @strawberry.field(description="One change by its number.")
    async def memory_revision(self, info: Info[Any, Any], memory_id: strawberry.ID, seq: int) -> MemoryRevision:
        ctx = context(info)
        with refusing():
            memory = await _opened(ctx, memory_id, MemoryKind.FILE)
            return MemoryRevision.from_domain((await revision_view(ctx.session, memory, seq)).revision)

    @strawberry.field(description="What was done to a memory, file, thread or sandbox, newest first; null: to all.")
    async def memory_log(
        self,
        info: Info[Any, Any],
        target_id: strawberry.ID | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> AuditConnection:
        ctx = context(info)
        cursors = Cursors.of("memoryLog", {"target": target_id})
        with refusing():
            size, place = check_first(first), cursors.decode(after)
            listing = await audit_events(ctx.session, ctx.id_or_none(target_id), first=size, after=place)
        return connection_of(AuditConnection, listing, AuditRecord.from_domain, cursors, after)


async def _opened(
    ctx: RequestContext, memory_id: strawberry.ID, kind: MemoryKind | None = None
) -> workspace.WorkspaceMemory:
    id_ = ctx.id(memory_id)
    require_readable(ctx.session.facts, id_)
    return await open_memory(ctx.session, id_, Right.READ, kind)
