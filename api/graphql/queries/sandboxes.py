"""Reads of sandbox memory (AD-22, SB-105, SB-117)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import RequestContext, context
from api.graphql.tagging import refusing
from api.graphql.types.sandboxes import SandboxFile, SandboxSession, SandboxSessionConnection
from graph.model.nodes import sandbox
from graph.model.nodes.people import Right
from graph.services.knowledge.listing import find_listing
from graph.services.sandbox.files import read_file
from graph.services.sandbox.finding import KIND, open_sandbox
from graph.services.sandbox.sessions import sandboxes_query
from graph.services.workspace.finding import require_readable


@strawberry.type
class SandboxQueries:
    """Sandboxes of the workspace."""

    @strawberry.field(description="Oldest first.")
    async def sandbox_sessions(
        self, info: Info[Any, Any], first: int | None = 20, after: str | None = None
    ) -> SandboxSessionConnection:
        ctx = context(info)
        cursors = Cursors.of("sandboxSessions", {})
        with refusing():
            query = sandboxes_query(ctx.session, first=check_first(first), after=cursors.decode(after))
            listing = await find_listing(ctx.session, query)
        return connection_of(SandboxSessionConnection, listing, SandboxSession.from_domain, cursors, after)

    @strawberry.field
    async def sandbox_session(self, info: Info[Any, Any], session_id: strawberry.ID) -> SandboxSession:
        with refusing():
            return SandboxSession.from_domain(await _opened(context(info), session_id))

    @strawberry.field
    async def sandbox_file(self, info: Info[Any, Any], session_id: strawberry.ID, path: str) -> SandboxFile:
        ctx = context(info)
        with refusing():
            file, _ = await read_file(ctx.session, await _opened(ctx, session_id), path)
        return SandboxFile.from_domain(file)


async def _opened(ctx: RequestContext, session_id: strawberry.ID) -> sandbox.SandboxSession:
    require_readable(ctx.session.facts, None, KIND)
    return await open_sandbox(ctx.session, ctx.id(session_id), Right.READ)
