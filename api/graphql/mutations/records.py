"""Commands on accounts of record backends and on records (AD-22, AD-23, RM-2, RM-11, RM-13, RM-31 to RM-33)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.given import given_of, object_of
from api.graphql.scalars import JSON
from api.graphql.tagging import refusing
from api.graphql.types.records import MemoryProvider, MemoryProviderTest, MemoryRecord
from graph.model.nodes import workspace
from graph.model.nodes.people import Right
from graph.model.nodes.workspace import MemoryKind, WorkspaceMemory
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.access.session import Session, read
from graph.services.workspace import providers
from graph.services.workspace.finding import open_memory, require_readable
from graph.services.workspace.providers import KIND, Probe, backend_of
from graph.services.workspace.records_port import RecordActor, RecordBackend

T = TypeVar("T")
_Change = Callable[[RecordBackend, WorkspaceMemory, RecordActor], Awaitable[T]]


@strawberry.input
class MemoryCredentialInput:
    """The key of an account; it is never shown again."""

    api_key: str


@strawberry.type
class RecordMutations:
    """What is done to accounts, and to records: these have no ETag, the last write wins."""

    @strawberry.mutation(description="Make an account of mem0_platform or mem0_oss; nothing is connected to.")
    async def create_memory_provider(
        self,
        info: Info[Any, Any],
        type: str,
        name: str,
        config: JSON | None = None,
        credential: MemoryCredentialInput | None = None,
        enabled: bool = True,
    ) -> MemoryProvider:
        with refusing():
            new = providers.NewProvider(
                type=type,
                name=name,
                config=object_of("config", config),
                key=credential.api_key if credential else None,
                enabled=enabled,
            )
            made = await context(info).run(info, lambda cmd: providers.create_provider(cmd, new))
            return MemoryProvider.from_domain(made)

    @strawberry.mutation(description="Change what is given; a credential of null is removed, a new config needs one.")
    async def update_memory_provider(
        self,
        info: Info[Any, Any],
        provider_id: strawberry.ID,
        expected_etag: str,
        name: str | None = strawberry.UNSET,
        config: JSON | None = strawberry.UNSET,
        credential: MemoryCredentialInput | None = strawberry.UNSET,
        enabled: bool | None = strawberry.UNSET,
    ) -> MemoryProvider:
        id_ = context(info).id(provider_id)
        asked: dict[str, Any] = {"name": name, "config": config, "key": credential, "enabled": enabled}
        with refusing():
            given = given_of(asked, never_null=("name", "config", "enabled"))
            if "config" in given:
                given["config"] = object_of("config", given["config"])
            if given.get("key") is not None:
                given["key"] = given["key"].api_key

            async def work(cmd: Command) -> workspace.MemoryProvider:
                require_readable(cmd.facts, None, KIND)
                return await providers.change_provider(cmd, id_, [expected_etag], given)

            return MemoryProvider.from_domain(await context(info).run(info, work))

    @strawberry.mutation(description="See whether address and key are right; nothing is changed.")
    async def test_memory_provider(self, info: Info[Any, Any], provider_id: strawberry.ID) -> MemoryProviderTest:
        ctx = context(info)
        given = outside(ctx.id(provider_id))

        async def look(reading: Session) -> workspace.MemoryProvider:
            require_readable(reading.facts, None, KIND)
            return await providers.open_provider(reading, given, Right.RUN)

        async def act() -> Probe:
            found, _ = await read(ctx.deps, ctx.caller, look)
            return await providers.probe_provider(ctx.deps, found)

        with refusing():
            return MemoryProviderTest.from_domain(await ctx.once(info, act))

    @strawberry.mutation(description="Add a record, verbatim.")
    async def add_memory_record(self, info: Info[Any, Any], memory_id: strawberry.ID, text: str) -> MemoryRecord:
        return MemoryRecord.from_domain(
            await _changed(info, memory_id, lambda records, memory, by: records.add(memory, text, by))
        )

    @strawberry.mutation(description="Replace the whole text of a record.")
    async def update_memory_record(
        self, info: Info[Any, Any], memory_id: strawberry.ID, record_id: str, text: str
    ) -> MemoryRecord:
        return MemoryRecord.from_domain(
            await _changed(info, memory_id, lambda records, memory, by: records.update(memory, record_id, text, by))
        )

    @strawberry.mutation
    async def delete_memory_record(self, info: Info[Any, Any], memory_id: strawberry.ID, record_id: str) -> bool:
        await _changed(info, memory_id, lambda records, memory, by: records.delete(memory, record_id, by))
        return True


async def _changed(info: Info[Any, Any], memory_id: strawberry.ID, change: _Change[T]) -> T:
    """Change a record once; the verb is looked at before, and no session is open while the backend is asked."""
    ctx = context(info)

    async def act() -> T:
        memory = await _opened(ctx, memory_id)
        by = RecordActor(caller=ctx.caller, principal_id=ctx.caller.principal)
        return await change(backend_of(ctx.deps, memory), memory, by)

    with refusing():
        return await ctx.once(info, act)


async def _opened(ctx: RequestContext, memory_id: strawberry.ID) -> WorkspaceMemory:
    id_ = ctx.id(memory_id)

    async def look(reading: Session) -> WorkspaceMemory:
        require_readable(reading.facts, id_)
        return await open_memory(reading, id_, Right.RUN, MemoryKind.RECORD)

    found, _ = await read(ctx.deps, ctx.caller, look)
    return found
