"""Reads of workspace memory (AD-22)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import RequestContext, context
from api.graphql.tagging import tagged
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
from graph.rules.memory_paths import checked_path
from graph.services.knowledge.listing import find_listing
from graph.services.workspace.files import read_file
from graph.services.workspace.finding import open_memory, require_readable
from graph.services.workspace.memories import memories_where, require_some
from graph.services.workspace.revisions import revision_view
from graph.store.query import By, Eq, Find, both


@strawberry.type
class WorkspaceQueries:
    """Memories of the workspace, their files and their history."""

    @strawberry.field
    async def memory(self, info: Info[Any, Any], memory_id: strawberry.ID) -> WorkspaceMemory:
        ctx = context(info)
        with tagged():
            return WorkspaceMemory.from_domain(await _opened(ctx, memory_id))

    @strawberry.field(description="By id; kind is file or record.")
    async def memories(
        self,
        info: Info[Any, Any],
        kind: str | None = None,
        type: str | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> WorkspaceMemoryConnection:
        ctx = context(info)
        cursors = Cursors.of("memories", {"kind": kind, "type": type})
        with tagged():
            require_some(ctx.session)
            where = memories_where(ctx.session, kind, type)
        query = Find(kind=workspace.WorkspaceMemory, where=where, first=check_first(first), after=cursors.decode(after))
        listing = await find_listing(ctx.session, query)
        return connection_of(WorkspaceMemoryConnection, listing, WorkspaceMemory.from_domain, cursors, after)

    @strawberry.field
    async def memory_file(self, info: Info[Any, Any], memory_id: strawberry.ID, path: str) -> MemoryFile:
        ctx = context(info)
        with tagged():
            memory = await _opened(ctx, memory_id, MemoryKind.FILE)
            return MemoryFile.from_domain(await read_file(ctx.session, memory, path))

    @strawberry.field(description="Changes of files, newest first.")
    async def memory_revisions(
        self,
        info: Info[Any, Any],
        memory_id: strawberry.ID,
        path: str | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> MemoryRevisionConnection:
        ctx = context(info)
        cursors = Cursors.of("memoryRevisions", {"memory": memory_id, "path": path})
        with tagged():
            memory = await _opened(ctx, memory_id, MemoryKind.FILE)
            wanted = None if path is None else Eq("path", checked_path(path, ctx.deps.memory_limits))
        query = Find(
            kind=workspace.MemoryRevision,
            where=both(Eq("memory_id", memory.id), wanted),
            order=By("seq", descending=True),
            first=check_first(first),
            after=cursors.decode(after),
        )
        listing = await find_listing(ctx.session, query)
        return connection_of(MemoryRevisionConnection, listing, MemoryRevision.from_domain, cursors, after)

    @strawberry.field(description="One change by its number.")
    async def memory_revision(self, info: Info[Any, Any], memory_id: strawberry.ID, seq: int) -> MemoryRevision:
        ctx = context(info)
        with tagged():
            memory = await _opened(ctx, memory_id, MemoryKind.FILE)
            return MemoryRevision.from_domain((await revision_view(ctx.session, memory, seq)).revision)


async def _opened(
    ctx: RequestContext, memory_id: strawberry.ID, kind: MemoryKind | None = None
) -> workspace.WorkspaceMemory:
    id_ = ctx.id(memory_id)
    require_readable(ctx.session.facts, id_)
    return await open_memory(ctx.session, id_, Right.READ, kind)
