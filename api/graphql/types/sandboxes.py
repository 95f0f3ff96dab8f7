"""Sandbox memory: sessions, their files, snapshots, and what runtimes say and are told (SB-104 to SB-118)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection, Cursors, check_first, connection_of
from api.graphql.context import RequestContext, context
from api.graphql.ids import to_global
from api.graphql.scalars import JSON, Long
from api.graphql.tagging import refusing
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from dreaming.sandbox.recording import BegunRun
from graph.model.errors import NotFound, StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes import sandbox
from graph.model.time import Millis
from graph.rules.workspace_ids import outside
from graph.services.access.session import Session
from graph.services.knowledge.listing import find_listing
from graph.services.sandbox.files import file_tag, files_query
from graph.services.sandbox.snapshots import snapshots_query
from graph.services.sandbox.stored import bytes_of, parts_of
from rootward.sandbox.engine import Recorded


@strawberry.type
class SandboxFile(Node):
    """A file of a sandbox, or of a snapshot of one."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    path: str
    size: Long = strawberry.field(description="Bytes.")
    version: int
    etag: str
    created_at: Millis
    updated_at: Millis
    node: strawberry.Private[sandbox.SandboxFile]

    @classmethod
    def from_domain(cls, node: sandbox.SandboxFile) -> SandboxFile:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            path=node.path,
            size=Long(node.size),
            version=node.version,
            etag=file_tag(node),
            created_at=node.created_at,
            updated_at=node.updated_at,
            node=node,
        )

    @strawberry.field(description="What it holds; bytes that are no UTF-8 are replaced by U+FFFD.")
    async def content(self, info: Info[Any, Any]) -> str:
        ctx = context(info)
        parts = await ctx.loaders.get("sandbox_parts", _parts, _no_parts).load(self.node.id)
        with refusing():
            return await ctx.asked(info, lambda: _content(ctx, parts), of=[part.id for part in parts])


async def _parts(session: Session, files: Sequence[NodeId]) -> Mapping[NodeId, Sequence[sandbox.SandboxPart]]:
    return await parts_of(session.reader, files)


def _no_parts() -> Sequence[sandbox.SandboxPart]:
    return ()


async def _content(ctx: RequestContext, parts: Sequence[sandbox.SandboxPart]) -> str:
    try:
        return (await bytes_of(ctx.deps, parts)).decode(errors="replace")
    except NotFound as error:
        raise StoreUnavailable("the file changed while it was read: read it again") from error


@strawberry.type
class SandboxFileConnection(Connection[SandboxFile]):
    """A page of files, by path."""


@strawberry.type
class SandboxSnapshot(Node):
    """A copy of a workspace, which outlives its session."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    session_id: strawberry.ID
    created_at: Millis
    node: strawberry.Private[sandbox.SandboxSnapshot]

    @classmethod
    def from_domain(cls, node: sandbox.SandboxSnapshot) -> SandboxSnapshot:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            session_id=to_global(node.session_id, node.workspace),
            created_at=node.created_at,
            node=node,
        )

    @strawberry.field
    async def created_by(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.created_by)


@strawberry.type
class SandboxSnapshotConnection(Connection[SandboxSnapshot]):
    """A page of snapshots, oldest first."""


@strawberry.type
class SandboxSession(Node):
    """A sandbox workspace of the service."""

    local_id: str = strawberry.field(description="Its id in the REST routes.")
    status: str = strawberry.field(description="open, closing or closed.")
    report: JSON | None = strawberry.field(description="Of its close: what each phase did, by layout.")
    created_at: Millis
    closed_at: Millis | None
    node: strawberry.Private[sandbox.SandboxSession]

    @classmethod
    def from_domain(cls, node: sandbox.SandboxSession) -> SandboxSession:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=outside(node.id),
            status=node.status,
            report=_report(node),
            created_at=node.created_at,
            closed_at=node.closed_at,
            node=node,
        )

    @strawberry.field
    async def created_by(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.created_by)

    @strawberry.field(description="Files at any depth under a directory, by path.")
    async def files(
        self, info: Info[Any, Any], prefix: str = "", first: int | None = 20, after: str | None = None
    ) -> SandboxFileConnection:
        cursors = Cursors.of("SandboxSession.files", {"session": self.node.id, "prefix": prefix})
        with refusing():
            query = files_query(self.node.id, prefix, first=check_first(first), after=cursors.decode(after))
            listing = await find_listing(context(info).session, query)
        return connection_of(SandboxFileConnection, listing, SandboxFile.from_domain, cursors, after)

    @strawberry.field(description="Copies of it, oldest first.")
    async def snapshots(
        self, info: Info[Any, Any], first: int | None = 20, after: str | None = None
    ) -> SandboxSnapshotConnection:
        session = context(info).session
        cursors = Cursors.of("SandboxSession.snapshots", {"session": self.node.id})
        with refusing():
            query = snapshots_query(session, self.node.id, first=check_first(first), after=cursors.decode(after))
            listing = await find_listing(session, query)
        return connection_of(SandboxSnapshotConnection, listing, SandboxSnapshot.from_domain, cursors, after)


@strawberry.type
class SandboxSessionConnection(Connection[SandboxSession]):
    """A page of sessions, oldest first."""


@strawberry.type
class SandboxRunStart:
    """What a run in a sandbox starts with."""

    developer_prompt: str | None = strawberry.field(description="What it is told of memory, if anything.")
    capabilities_required: list[str] = strawberry.field(description="What its agent must have beside memory.")

    @classmethod
    def from_domain(cls, begun: BegunRun) -> SandboxRunStart:
        return cls(developer_prompt=begun.developer_prompt, capabilities_required=list(begun.capabilities_required))


@strawberry.type
class SandboxRollout:
    """What was recorded of a run; nothing if its memory generates nothing."""

    recorded: bool
    rollout_id: str | None = None
    path: str | None = None
    segment_count: int | None = None
    updated_at: str | None = None

    @classmethod
    def from_domain(cls, made: Recorded | None) -> SandboxRollout:
        if made is None:
            return cls(recorded=False)
        return cls(
            recorded=True,
            rollout_id=made.rollout_id,
            path=made.path,
            segment_count=made.segment_count,
            updated_at=made.updated_at,
        )


def _report(node: sandbox.SandboxSession) -> Any:
    return node.report
