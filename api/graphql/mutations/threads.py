"""Commands on threads and their mounts, under the ETag of the thread (AD-22, AD-23, MT-5 to MT-17, MT-28, MT-33)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.acting import run_on
from api.graphql.context import context
from api.graphql.given import given_of
from api.graphql.tagging import refusing
from api.graphql.types.runs import MemoryMountInput, RunThread, mounts_named
from graph.model.nodes import workspace
from graph.rules.run_mounts import Access, checked_access, named_mount
from graph.services.access.commands import Command
from graph.services.workspace import mounts, threads


@strawberry.type
class ThreadMutations:
    """What is done to threads of runs."""

    @strawberry.mutation(description="Make a thread; that of an async subagent begins with the mounts of its parent.")
    async def create_run_thread(
        self,
        info: Info[Any, Any],
        memories: list[MemoryMountInput] | None = None,
        parent_run_id: strawberry.ID | None = None,
    ) -> RunThread:
        ctx = context(info)
        with refusing():
            named = mounts_named(ctx, memories, "memories")
            made = await ctx.run(info, lambda cmd: threads.create_thread(cmd, named, ctx.id_or_none(parent_run_id)))
        return RunThread.from_domain(made.thread)

    @strawberry.mutation(description="Archive a thread; its mounts go.")
    async def archive_run_thread(self, info: Info[Any, Any], thread_id: strawberry.ID) -> RunThread:
        return await _archived(info, thread_id, archived=True)

    @strawberry.mutation(description="Take an archived thread back; no mount comes back with it.")
    async def unarchive_run_thread(self, info: Info[Any, Any], thread_id: strawberry.ID) -> RunThread:
        return await _archived(info, thread_id, archived=False)

    @strawberry.mutation(description="Tell that its history was compacted: the next run is told everything anew.")
    async def compact_run_thread(self, info: Info[Any, Any], thread_id: strawberry.ID) -> bool:
        id_ = context(info).id(thread_id)
        await run_on(info, workspace.RunThread, lambda cmd: threads.compact_thread(cmd, id_))
        return True

    @strawberry.mutation(description="Mount a memory on a thread; expectedEtag is the thread's.")
    async def mount_memory(
        self,
        info: Info[Any, Any],
        thread_id: strawberry.ID,
        expected_etag: str,
        name: str,
        memory_id: strawberry.ID,
        access: str = Access.READ.value,
        recall: bool = True,
    ) -> RunThread:
        ctx = context(info)
        id_, memory = ctx.id(thread_id), ctx.id(memory_id)

        async def work(cmd: Command) -> workspace.RunThread:
            mount = named_mount(name, memory, access, recall=recall)
            return (await mounts.mount_memory(cmd, id_, [expected_etag], mount)).thread

        return RunThread.from_domain(await run_on(info, workspace.RunThread, work))

    @strawberry.mutation(description="Change what is given of a mount; expectedEtag is the thread's.")
    async def update_memory_mount(
        self,
        info: Info[Any, Any],
        thread_id: strawberry.ID,
        name: str,
        expected_etag: str,
        access: str | None = strawberry.UNSET,
        recall: bool | None = strawberry.UNSET,
    ) -> RunThread:
        id_ = context(info).id(thread_id)

        async def work(cmd: Command) -> workspace.RunThread:
            given = given_of({"access": access, "recall": recall}, never_null=("access", "recall"))
            checked_access(given.get("access", Access.READ.value))
            return (await mounts.change_mount(cmd, id_, name, [expected_etag], given)).thread

        return RunThread.from_domain(await run_on(info, workspace.RunThread, work))

    @strawberry.mutation(description="Remove a mount; expectedEtag is the thread's.")
    async def unmount_memory(
        self, info: Info[Any, Any], thread_id: strawberry.ID, name: str, expected_etag: str
    ) -> RunThread:
        id_ = context(info).id(thread_id)
        return RunThread.from_domain(
            await run_on(info, workspace.RunThread, lambda cmd: mounts.unmount_memory(cmd, id_, name, [expected_etag]))
        )


async def _archived(info: Info[Any, Any], thread_id: strawberry.ID, *, archived: bool) -> RunThread:
    id_ = context(info).id(thread_id)
    view = await run_on(info, workspace.RunThread, lambda cmd: threads.archive_thread(cmd, id_, archived=archived))
    return RunThread.from_domain(view.thread)
