"""Commands on file memories, with the ETag of what the caller last saw (AD-22, AD-23)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.given import given_of, texts_of
from api.graphql.scalars import JSON
from api.graphql.tagging import refusing
from api.graphql.types.workspace import MemoryFile, RestoredPath, WorkspaceMemory
from graph.model.ids import NodeId
from graph.model.nodes import workspace
from graph.model.nodes.people import Right
from graph.rules.workspace_ids import outside
from graph.services.access.commands import Command
from graph.services.workspace import files, memories, revisions
from graph.services.workspace.changing import Actor, actor_of
from graph.services.workspace.finding import hold_memory, require_readable
from graph.services.workspace.kinds import FILES, NewMemory

T = TypeVar("T")
_Change = Callable[[Command, workspace.WorkspaceMemory, Actor], Awaitable[T]]


@strawberry.type
class WorkspaceMutations:
    """What is done to memories and their files."""

    @strawberry.mutation(description="Make a memory: of files, or of records at a provider.")
    async def create_memory(
        self,
        info: Info[Any, Any],
        name: str,
        description: str | None = None,
        labels: JSON | None = None,
        type: str = FILES,
        guide: str | None = None,
        always_load: list[str] | None = None,
        provider_id: strawberry.ID | None = None,
        namespace: str | None = None,
    ) -> WorkspaceMemory:
        with refusing():
            new = NewMemory(
                name=name,
                description=description,
                labels=texts_of("labels", labels),
                type=type,
                guide=guide,
                always_load=tuple(always_load or ()),
                provider_id=None if provider_id is None else outside(context(info).id(provider_id)),
                namespace=namespace,
            )
            made = await context(info).run(info, lambda cmd: memories.create_memory(cmd, new))
            return WorkspaceMemory.from_domain(made)

    @strawberry.mutation(description="Change what is given; what is left out stays.")
    async def update_memory(
        self,
        info: Info[Any, Any],
        memory_id: strawberry.ID,
        expected_etag: str,
        name: str | None = strawberry.UNSET,
        description: str | None = strawberry.UNSET,
        labels: JSON | None = strawberry.UNSET,
        guide: str | None = strawberry.UNSET,
        always_load: list[str] | None = strawberry.UNSET,
    ) -> WorkspaceMemory:
        id_ = context(info).id(memory_id)
        asked: dict[str, Any] = {
            "name": name,
            "description": description,
            "labels": labels,
            "guide": guide,
            "always_load": always_load,
        }
        with refusing():
            given = given_of(asked, never_null=("name", "labels", "always_load"))
            if "labels" in given:
                given["labels"] = texts_of("labels", given["labels"])

            async def work(cmd: Command) -> workspace.WorkspaceMemory:
                require_readable(cmd.facts, id_)
                return await memories.change_memory(cmd, id_, [expected_etag], given)

            return WorkspaceMemory.from_domain(await context(info).run(info, work))

    @strawberry.mutation(description="Delete a memory with all that is in it.")
    async def delete_memory(self, info: Info[Any, Any], memory_id: strawberry.ID, expected_etag: str) -> bool:
        id_ = context(info).id(memory_id)

        async def work(cmd: Command) -> None:
            require_readable(cmd.facts, id_)
            await memories.delete_memory(cmd, id_, [expected_etag])

        with refusing():
            await context(info).run(info, work)
        return True

    @strawberry.mutation(description="Make a file at a free path.")
    async def create_memory_file(
        self, info: Info[Any, Any], memory_id: strawberry.ID, path: str, content: str
    ) -> MemoryFile:
        return MemoryFile.from_domain(
            await _changed(info, memory_id, lambda cmd, m, by: files.create_file(cmd, m, by, path, content))
        )

    @strawberry.mutation(description="Replace the content of a file.")
    async def write_memory_file(
        self, info: Info[Any, Any], memory_id: strawberry.ID, path: str, content: str, expected_etag: str
    ) -> MemoryFile:
        return MemoryFile.from_domain(
            await _changed(
                info,
                memory_id,
                lambda cmd, m, by: files.replace_file(cmd, m, by, path, content, [expected_etag]),
            )
        )

    @strawberry.mutation(description="Move a file to a free path.")
    async def move_memory_file(
        self, info: Info[Any, Any], memory_id: strawberry.ID, source: str, destination: str, expected_etag: str
    ) -> MemoryFile:
        return MemoryFile.from_domain(
            await _changed(
                info,
                memory_id,
                lambda cmd, m, by: files.move_file(cmd, m, by, source, destination, [expected_etag]),
            )
        )

    @strawberry.mutation(description="Delete a file; its history stays.")
    async def delete_memory_file(
        self, info: Info[Any, Any], memory_id: strawberry.ID, path: str, expected_etag: str
    ) -> bool:
        await _changed(info, memory_id, lambda cmd, m, by: files.delete_file(cmd, m, by, path, [expected_etag]))
        return True

    @strawberry.mutation(description="Put back what a change replaced; expectedEtag names the file that is there now.")
    async def restore_memory_revision(
        self, info: Info[Any, Any], memory_id: strawberry.ID, seq: int, expected_etag: str | None = None
    ) -> RestoredPath:
        tags = None if expected_etag is None else [expected_etag]
        done = await _changed(info, memory_id, lambda cmd, m, by: revisions.restore_revision(cmd, m, by, seq, tags))
        return RestoredPath(path=done.path, file=None if done.file is None else MemoryFile.from_domain(done.file))

    @strawberry.mutation(description="Erase the history of one path; return how many changes went.")
    async def purge_memory_history(self, info: Info[Any, Any], memory_id: strawberry.ID, path: str) -> int:
        return await _changed(
            info, memory_id, lambda cmd, m, by: revisions.purge_history(cmd, m, by, path), Right.WRITE
        )


async def _changed(info: Info[Any, Any], memory_id: strawberry.ID, change: _Change[T], verb: Right = Right.RUN) -> T:
    id_: NodeId = context(info).id(memory_id)

    async def work(cmd: Command) -> T:
        require_readable(cmd.facts, id_)
        memory = await hold_memory(cmd, id_, verb, workspace.MemoryKind.FILE)
        return await change(cmd, memory, actor_of(cmd))

    with refusing():
        return await context(info).run(info, work)
