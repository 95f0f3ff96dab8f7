"""Owners, knowledge bases and entries."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.types.guide import CurationGuide
from api.graphql.types.inputs import AsOf, EntryFilter, as_of_of, entry_filter_of
from api.graphql.types.knowledge import Entry, EntryConnection
from api.graphql.types.people import (
    KnowledgeBase,
    KnowledgeBaseConnection,
    Principal,
    PrincipalConnection,
)
from graph.services.knowledge.entry_choices import Draft, DraftWarning, draft_warnings, entry_authors, entry_types
from graph.services.knowledge.entry_list import entries
from graph.services.knowledge.guide import curation_guide
from graph.services.knowledge.owners import knowledge_bases, owners


@strawberry.type
class EntryQueries:
    """Owners, knowledge bases and entries."""

    @strawberry.field
    async def owners(
        self, info: Info[Any, Any], first: int | None = 20, after: str | None = None
    ) -> PrincipalConnection:
        ctx = context(info)
        cursors = Cursors.of("owners", {"caller": ctx.caller.principal})
        listing = await owners(ctx.session, first=check_first(first), after=cursors.decode(after))
        return connection_of(PrincipalConnection, listing, Principal.from_domain, cursors, after)

    @strawberry.field
    async def knowledge_bases(
        self, info: Info[Any, Any], owner_id: strawberry.ID, first: int | None = 20, after: str | None = None
    ) -> KnowledgeBaseConnection:
        ctx = context(info)
        cursors = Cursors.of("knowledgeBases", {"owner": owner_id, "caller": ctx.caller.principal})
        listing = await knowledge_bases(
            ctx.session, ctx.id(owner_id), first=check_first(first), after=cursors.decode(after)
        )
        return connection_of(KnowledgeBaseConnection, listing, KnowledgeBase.from_domain, cursors, after)

    @strawberry.field
    async def entries(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        filter: EntryFilter | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> EntryConnection:
        ctx = context(info)
        wanted = entry_filter_of(ctx, filter)
        cursors = Cursors.of("entries", {"owner": owner_id, "filter": repr(wanted), "caller": ctx.caller.principal})
        listing = await entries(
            ctx.session, ctx.id(owner_id), wanted, first=check_first(first), after=cursors.decode(after)
        )
        return connection_of(EntryConnection, listing, lambda view: Entry.from_domain(ctx, view), cursors, after)

    @strawberry.field
    async def entry(self, info: Info[Any, Any], id: strawberry.ID, as_of: AsOf | None = None) -> Entry | None:
        ctx = context(info)
        view = await ctx.loaders.entries(as_of_of(as_of)).load(ctx.id(id))
        return None if view is None else Entry.from_domain(ctx, view)

    @strawberry.field(description="Types that entries of an owner may have: the built-in ones and those of its guide.")
    async def entry_types(self, info: Info[Any, Any], owner_id: strawberry.ID) -> list[str]:
        ctx = context(info)
        return list(await entry_types(ctx.session, ctx.id(owner_id)))

    @strawberry.field(description="Who last changed an entry or block that the caller sees at an owner, by name.")
    async def entry_authors(self, info: Info[Any, Any], owner_id: strawberry.ID) -> list[Principal]:
        ctx = context(info)
        return [Principal.from_domain(who) for who in await entry_authors(ctx.session, ctx.id(owner_id))]

    @strawberry.field(description="Rules that bind agents and that these words would break; people may go on.")
    async def draft_warnings(
        self,
        info: Info[Any, Any],
        owner_id: strawberry.ID,
        name: str | None = None,
        type: str | None = None,
        text: str | None = None,
    ) -> list[DraftWarning]:
        ctx = context(info)
        draft = Draft(name=name, type=type, text=text)
        return list(await draft_warnings(ctx.session, ctx.id(owner_id), draft))

    @strawberry.field
    async def curation_guide(self, info: Info[Any, Any], principal_id: strawberry.ID) -> CurationGuide | None:
        ctx = context(info)
        guide = await curation_guide(ctx.session, ctx.id(principal_id))
        return None if guide is None else CurationGuide.from_domain(guide)
