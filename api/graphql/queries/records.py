"""Reads of record memories and of the accounts that hold records (AD-22, RM-10, RM-29, RM-30)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.tagging import refusing
from api.graphql.types.records import MemoryProvider, MemoryProviderConnection, MemoryRecord, MemoryRecordPage
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.rules.record_texts import DEFAULT_NEAREST
from graph.rules.workspace_ids import outside
from graph.services.workspace.finding import open_memory, require_readable
from graph.services.workspace.providers import KIND, backend_of, list_providers, open_provider
from graph.services.workspace.records_port import RecordBackend

T = TypeVar("T")


@strawberry.type
class RecordQueries:
    """Providers, and the records of memories."""

    @strawberry.field(description="Accounts of record backends, by id.")
    async def memory_providers(
        self, info: Info[Any, Any], first: int | None = 20, after: str | None = None
    ) -> MemoryProviderConnection:
        ctx = context(info)
        cursors = Cursors.of("memoryProviders", {})
        with refusing():
            listing = await list_providers(ctx.session, first=check_first(first), after=cursors.decode(after))
        return connection_of(MemoryProviderConnection, listing, MemoryProvider.from_domain, cursors, after)

    @strawberry.field
    async def memory_provider(self, info: Info[Any, Any], provider_id: strawberry.ID) -> MemoryProvider:
        ctx = context(info)
        with refusing():
            require_readable(ctx.session.facts, None, KIND)
            found = await open_provider(ctx.session, outside(ctx.id(provider_id)), Right.READ)
            return MemoryProvider.from_domain(found)

    @strawberry.field(description="In the order of the backend, which is asked for each page.")
    async def memory_records(
        self, info: Info[Any, Any], memory_id: strawberry.ID, first: int | None = 20, after: str | None = None
    ) -> MemoryRecordPage:
        with refusing():
            size = check_first(first)
            page = await _asked(info, memory_id, lambda records, memory: records.list(memory, limit=size, cursor=after))
        return MemoryRecordPage.from_domain(page, after)

    @strawberry.field(description="The records nearest in meaning, nearest first; limit 1 to 100.")
    async def memory_record_search(
        self, info: Info[Any, Any], memory_id: strawberry.ID, query: str, limit: int | None = DEFAULT_NEAREST
    ) -> list[MemoryRecord]:
        most = DEFAULT_NEAREST if limit is None else limit
        with refusing():
            found = await _asked(info, memory_id, lambda records, memory: records.search(memory, query, limit=most))
        return [MemoryRecord.from_domain(record) for record in found]


async def _asked(
    info: Info[Any, Any], memory_id: strawberry.ID, ask: Callable[[RecordBackend, WorkspaceMemory], Awaitable[T]]
) -> T:
    """Return what the backend of a memory says, which is asked while no session of reading is open."""
    ctx = context(info)
    id_ = ctx.id(memory_id)
    require_readable(ctx.session.facts, id_)
    memory = await open_memory(ctx.session, id_, Right.READ, MemoryKind.RECORD)
    return await ctx.asked(info, lambda: ask(backend_of(ctx.deps, memory), memory))
