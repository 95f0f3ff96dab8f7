"""Workspace memory: memories, their files, and the history of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection, Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.scalars import JSON
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from api.graphql.types.records import MemoryProvider
from graph.model.ids import NodeId
from graph.model.nodes import workspace
from graph.model.time import Millis
from graph.rules.memory_diff import Hunk, hunks
from graph.rules.memory_guides import inherited_guide
from graph.rules.memory_paths import checked_prefix, paths_under
from graph.rules.workspace_ids import outside
from graph.services.access.session import Session
from graph.services.knowledge.listing import find_listing
from graph.services.workspace.files import file_tag
from graph.services.workspace.memories import memory_tag
from graph.services.workspace.revisions import contents_after
from graph.store.query import By, Eq, Find, Range, both

if TYPE_CHECKING:
    from api.graphql.types.runs import WorkspaceRun

Run = Annotated["WorkspaceRun", strawberry.lazy("api.graphql.types.runs")]
"""Runs have mounts, and these have memories with files that runs wrote."""


@strawberry.type
class MemoryFile(Node):
    """A file of a memory as it is now."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    path: str
    content: str
    size: int = strawberry.field(description="UTF-8 bytes.")
    version: int = strawberry.field(description="The last change that touched it.")
    etag: str
    description: str | None
    run_id: strawberry.ID | None = strawberry.field(description="Of the run that changed it last.")
    created_at: Millis
    updated_at: Millis
    node: strawberry.Private[workspace.MemoryFile]

    @classmethod
    def from_domain(cls, node: workspace.MemoryFile) -> MemoryFile:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            path=node.path,
            content=node.content,
            size=node.size,
            version=node.version,
            etag=file_tag(node),
            description=node.description,
            run_id=to_global(node.updated_by_run, node.workspace) if node.updated_by_run else None,
            created_at=node.created_at,
            updated_at=node.updated_at,
            node=node,
        )

    @strawberry.field(description="Who changed it last.")
    async def updated_by(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.updated_by)

    @strawberry.field(description="The run that changed it last; null for who does not see runs.")
    async def run(self, info: Info[Any, Any]) -> Run | None:
        return await _run(info, self.node.updated_by_run)


@strawberry.type
class MemoryFileConnection(Connection[MemoryFile]):
    """A page of files, by path."""


@strawberry.type
class DiffHunk:
    """Lines that changed, with three around them."""

    old_start: int
    old_count: int
    new_start: int
    new_count: int
    lines: list[str] = strawberry.field(description="Each with a blank, + or - before it.")

    @classmethod
    def from_domain(cls, hunk: Hunk) -> DiffHunk:
        return cls(
            old_start=hunk.old_start,
            old_count=hunk.old_count,
            new_start=hunk.new_start,
            new_count=hunk.new_count,
            lines=list(hunk.lines),
        )


@strawberry.type
class MemoryRevision(Node):
    """One change of one path."""

    seq: int
    path: str
    op: str = strawberry.field(description="create, update, delete, move_out or move_in.")
    moved_path: str | None
    run_id: strawberry.ID | None
    tool_call_id: str | None
    created_at: Millis
    previous_content: str | None
    node: strawberry.Private[workspace.MemoryRevision]

    @classmethod
    def from_domain(cls, node: workspace.MemoryRevision) -> MemoryRevision:
        return cls(
            id=to_global(node.id, node.workspace),
            seq=node.seq,
            path=node.path,
            op=node.op,
            moved_path=node.moved_path,
            run_id=to_global(node.run_id, node.workspace) if node.run_id else None,
            tool_call_id=node.tool_call_id,
            created_at=node.created_at,
            previous_content=node.previous_content,
            node=node,
        )

    @strawberry.field
    async def principal(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.principal_id)

    @strawberry.field(description="The run that made it; null for who does not see runs.")
    async def run(self, info: Info[Any, Any]) -> Run | None:
        return await _run(info, self.node.run_id)

    @strawberry.field(description="What the change left; null where no file was left.")
    async def content(self, info: Info[Any, Any]) -> str | None:
        return await _content_after(info, self.node)

    @strawberry.field(description="The change as a unified diff.")
    async def hunks(self, info: Info[Any, Any]) -> list[DiffHunk]:
        after = await _content_after(info, self.node)
        return [DiffHunk.from_domain(hunk) for hunk in hunks(self.node.previous_content, after)]


@strawberry.type
class MemoryRevisionConnection(Connection[MemoryRevision]):
    """A page of changes, newest first."""


@strawberry.type
class WorkspaceMemory(Node):
    """A memory of a workspace: versioned files, or records in a backend."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    name: str
    description: str | None
    kind: str = strawberry.field(description="file or record.")
    type: str
    provider_id: strawberry.ID | None
    namespace: str | None
    guide: str | None = strawberry.field(description='Null inherits, "" is none.')
    always_load: list[str]
    labels: JSON
    file_count: int | None
    content_bytes: int | None
    history_bytes: int | None
    version: int
    etag: str
    created_at: Millis
    updated_at: Millis
    node: strawberry.Private[workspace.WorkspaceMemory]

    @classmethod
    def from_domain(cls, node: workspace.WorkspaceMemory) -> WorkspaceMemory:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            name=node.name,
            description=node.description,
            kind=node.kind,
            type=node.type,
            provider_id=to_global(node.provider_id, node.workspace) if node.provider_id else None,
            namespace=node.namespace,
            guide=node.guide,
            always_load=list(node.always_load),
            labels=_labels(node),
            file_count=node.file_count,
            content_bytes=node.content_bytes,
            history_bytes=node.history_bytes,
            version=node.version,
            etag=memory_tag(node),
            created_at=node.created_at,
            updated_at=node.updated_at,
            node=node,
        )

    @strawberry.field(description="What a guide of null resolves to.")
    async def inherited_guide(self, info: Info[Any, Any]) -> str:
        return inherited_guide(self.node.kind, context(info).deps.memory_limits)

    @strawberry.field(description="The account that holds its records; null for who does not see accounts.")
    async def provider(self, info: Info[Any, Any]) -> MemoryProvider | None:
        named = self.node.provider_id
        node = await context(info).loaders.nodes.load(named) if named else None
        return MemoryProvider.from_domain(node) if isinstance(node, workspace.MemoryProvider) else None

    @strawberry.field
    async def created_by(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.created_by)

    @strawberry.field
    async def updated_by(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.updated_by)

    @strawberry.field(description="Files at any depth under a directory, by path.")
    async def files(
        self, info: Info[Any, Any], prefix: str = "", first: int | None = 20, after: str | None = None
    ) -> MemoryFileConnection:
        low, high = paths_under(checked_prefix(prefix, context(info).deps.memory_limits))
        cursors = Cursors.of("WorkspaceMemory.files", {"memory": self.node.id, "prefix": prefix})
        query = Find(
            kind=workspace.MemoryFile,
            where=both(Eq("memory_id", self.node.id), None if low is None else Range("path", low, high)),
            order=By("path"),
            first=check_first(first),
            after=cursors.decode(after),
        )
        listing = await find_listing(context(info).session, query)
        return connection_of(MemoryFileConnection, listing, MemoryFile.from_domain, cursors, after)


def _labels(node: workspace.WorkspaceMemory) -> Any:
    return node.labels or {}


async def _content_after(info: Info[Any, Any], revision: workspace.MemoryRevision) -> str | None:
    async def many(
        session: Session, revisions: Sequence[workspace.MemoryRevision]
    ) -> Mapping[workspace.MemoryRevision, str | None]:
        found = await contents_after(session.reader, revisions)
        return {one: found[one.id] for one in revisions}

    return await context(info).loaders.get("contents_after", many, _nothing).load(revision)


def _nothing() -> None:
    return None


async def _run(info: Info[Any, Any], id_: NodeId | None) -> WorkspaceRun | None:
    from api.graphql.types.runs import workspace_run_of

    return await workspace_run_of(info, id_)


@strawberry.type
class WorkspaceMemoryConnection(Connection[WorkspaceMemory]):
    """A page of memories, by id."""


@strawberry.type
class RestoredPath:
    """What is at a path after a change was undone."""

    path: str
    file: MemoryFile | None
