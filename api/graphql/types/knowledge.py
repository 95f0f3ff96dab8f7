"""Entries, their blocks and their relations, as they are believed at a moment (KN-109)."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.connection import Connection, Cursors, check_first, connection_of
from api.graphql.context import RequestContext, context
from api.graphql.ids import to_global
from api.graphql.types import enums
from api.graphql.types.audit import AuditConnection, AuditRecord
from api.graphql.types.entry_marks import EntryMarks, EntryMirror
from api.graphql.types.evidence import Source, SourceConnection
from api.graphql.types.inputs import AsOf, as_of_of
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal, base_of, principal_of
from api.graphql.types.statements import (
    Attribute,
    BlockVersion,
    BlockVersionConnection,
    Citation,
    citations_of,
    precision_of,
)
from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules import as_of as times
from graph.services.knowledge import views
from graph.services.knowledge.audit_log import entry_audit
from graph.services.knowledge.blocks import block_versions
from graph.services.knowledge.entry_marks import marks_of
from graph.services.knowledge.projection import projection
from graph.services.knowledge.relations import relations
from graph.services.knowledge.sources import entry_sources


@strawberry.type
class Block(Node):
    """A place in the body of an entry."""

    current: BlockVersion | None
    node_id: strawberry.Private[NodeId]
    entry_id: strawberry.Private[NodeId]
    ordinal: strawberry.Private[int | None]

    @classmethod
    def from_domain(cls, view: views.BlockView, ordinal: int | None = None) -> Block:
        node = view.node
        return cls(
            id=to_global(node.id, node.workspace),
            current=None if view.current is None else BlockVersion.from_domain(view.current),
            node_id=node.id,
            entry_id=node.entry_id,
            ordinal=ordinal,
        )

    @strawberry.field(
        description="Its place, from 0, among the blocks of the entry that the caller sees.", graphql_type=int
    )
    def position(self, info: Info[Any, Any]) -> int | Awaitable[int]:
        return self._place(info) if self.ordinal is None else self.ordinal

    @strawberry.field(description="The entry whose body it is in; null where that is deleted.")
    async def entry(self, info: Info[Any, Any]) -> Entry | None:
        ctx = context(info)
        found = await ctx.loaders.entries(times.NOW).load(self.entry_id)
        return None if found is None else Entry.from_domain(ctx, found)

    async def _place(self, info: Info[Any, Any]) -> int:
        beside = await context(info).loaders.blocks(times.NOW).load(self.entry_id)
        return next((place for place, view in enumerate(beside) if view.node.id == self.node_id), len(beside))

    @strawberry.field
    async def versions(
        self, info: Info[Any, Any], first: int | None = 20, after: str | None = None
    ) -> BlockVersionConnection:
        ctx = context(info)
        cursors = Cursors.of("Block.versions", {"block": self.node_id})
        size, place = check_first(first), cursors.decode(after)
        if place is None:
            listing = await ctx.loaders.block_versions(size).load(self.node_id)
        else:
            listing = await block_versions(ctx.session, self.node_id, first=size, after=place)
        return connection_of(BlockVersionConnection, listing, BlockVersion.from_domain, cursors, after)


@strawberry.type
class Relation(Node):
    """A directed relation between two entries, with its evidence (KN-26 to KN-31)."""

    type: str
    evidence: list[Citation]
    valid_from: Millis | None
    valid_to: Millis | None
    from_precision: enums.Precision | None
    to_precision: enums.Precision | None
    recorded_at: Millis
    invalidated_at: Millis | None
    version: int
    stale: bool
    subject_id: strawberry.Private[NodeId]
    object_id: strawberry.Private[NodeId]
    as_of: strawberry.Private[times.AsOf]

    @classmethod
    def from_domain(cls, view: views.RelationView, as_of: times.AsOf = times.NOW) -> Relation:
        node, version = view.node, view.version
        return cls(
            id=to_global(node.id, node.workspace),
            type=node.type,
            evidence=citations_of(view.support),
            valid_from=version.valid_from,
            valid_to=version.valid_to,
            from_precision=precision_of(version.from_precision),
            to_precision=precision_of(version.to_precision),
            recorded_at=version.recorded_at,
            invalidated_at=version.invalidated_at,
            version=version.version,
            stale=view.support.stale,
            subject_id=node.subject_id,
            object_id=node.object_id,
            as_of=as_of,
        )

    @strawberry.field
    async def subject(self, info: Info[Any, Any]) -> Entry:
        return await entry_at(context(info), self.subject_id, self.as_of)

    @strawberry.field
    async def object(self, info: Info[Any, Any]) -> Entry:
        return await entry_at(context(info), self.object_id, self.as_of)


@strawberry.type
class RelationConnection(Connection[Relation]):
    """A page of relations."""


@strawberry.type
class Entry(Node):
    """A stable topic; name, aliases and summary are those whose evidence the caller sees (KN-124)."""

    name: str
    type: str
    aliases: list[str]
    summary: str
    origin: str = strawberry.field(description="dreaming, human, agent, submission or mirror.")
    read_only: bool
    version: int
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None
    view: strawberry.Private[views.EntryView]

    @classmethod
    def from_domain(cls, ctx: RequestContext, view: views.EntryView) -> Entry:
        return cls(
            id=ctx.out(view.id),
            name=view.name,
            type=view.type,
            aliases=list(view.aliases),
            summary=view.summary or "",
            origin=view.origin,
            read_only=view.read_only,
            version=view.version,
            created_at=view.created_at,
            updated_at=view.updated_at,
            deleted_at=view.deleted_at,
            view=view,
        )

    @strawberry.field
    async def owner(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.view.owner_id)

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase:
        found = await base_of(info, self.view.pool)
        if found is None:
            raise NotFound
        return found

    @strawberry.field(description="Who changed it last.")
    async def last_modifier(self, info: Info[Any, Any]) -> Principal | None:
        return None if self.view.last_modifier_id is None else await principal_of(info, self.view.last_modifier_id)

    @strawberry.field(description="Whom an entry about a person stands for (KN-33).")
    async def principal(self, info: Info[Any, Any]) -> Principal | None:
        return None if self.view.principal_id is None else await principal_of(info, self.view.principal_id)

    @strawberry.field(description="Entries of wider knowledge bases on the same topic (KN-34).")
    async def same_as(self, info: Info[Any, Any]) -> list[Entry]:
        ctx = context(info)
        found = await ctx.loaders.wider_entries(self.view.as_of).load(self.view.id)
        return [Entry.from_domain(ctx, view) for view in found]

    @strawberry.field
    async def marks(self, info: Info[Any, Any]) -> EntryMarks:
        return EntryMarks.from_domain(marks_of(await context(info).loaders.blocks(self.view.as_of).load(self.view.id)))

    @strawberry.field(description="The document that it mirrors; null for entries of its own.")
    async def mirror(self, info: Info[Any, Any]) -> EntryMirror | None:
        found = await context(info).loaders.mirrored.load(self.view.id) if self.view.read_only else None
        return None if found is None else EntryMirror.from_domain(found)

    @strawberry.field
    async def attributes(self, info: Info[Any, Any]) -> list[Attribute]:
        found = await context(info).loaders.attributes(self.view.as_of).load(self.view.id)
        return [Attribute.from_domain(view) for view in found]

    @strawberry.field
    async def blocks(self, info: Info[Any, Any], as_of: AsOf | None = None) -> list[Block]:
        ctx = context(info)
        moment = as_of_of(as_of) if as_of else self.view.as_of
        found = await ctx.loaders.blocks(moment).load(self.view.id)
        return [Block.from_domain(view, place) for place, view in enumerate(found)]

    @strawberry.field(description="What agents read; with kbId, as an agent that writes to that knowledge base does.")
    async def projection(self, info: Info[Any, Any], kb_id: strawberry.ID | None = None) -> str:
        if kb_id is not None:
            ctx = context(info)
            return await projection(ctx.session, self.view.id, self.view.as_of, read_set_of=ctx.id(kb_id))
        return await context(info).loaders.projections(self.view.as_of).load(self.view.id)

    @strawberry.field
    async def relations(
        self,
        info: Info[Any, Any],
        direction: enums.RelationDirection | None = enums.RelationDirection.BOTH,
        types: list[str] | None = None,
        as_of: AsOf | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> RelationConnection:
        ctx = context(info)
        way = direction or enums.RelationDirection.BOTH
        moment = as_of_of(as_of) if as_of else self.view.as_of
        cursors = Cursors.of(
            "Entry.relations", {"entry": self.view.id, "way": way, "types": types, "asOf": str(moment)}
        )
        size, place = check_first(first), cursors.decode(after)
        if place is None and moment == times.NOW:
            kinds = None if types is None else tuple(types)
            listing = await ctx.loaders.relations(way, kinds, size).load(self.view.id)
        else:
            listing = await relations(
                ctx.session, self.view.id, direction=way, types=types, as_of=moment, first=size, after=place
            )
        return connection_of(
            RelationConnection, listing, lambda view: Relation.from_domain(view, moment), cursors, after
        )

    @strawberry.field
    async def sources(self, info: Info[Any, Any], first: int | None = 20, after: str | None = None) -> SourceConnection:
        ctx = context(info)
        cursors = Cursors.of("Entry.sources", {"entry": self.view.id, "asOf": str(self.view.as_of)})
        size, place = check_first(first), cursors.decode(after)
        if place is None:
            listing = await ctx.loaders.sources(self.view.as_of, size).load(self.view.id)
        else:
            listing = await entry_sources(ctx.session, self.view.id, self.view.as_of, first=size, after=place)
        return connection_of(SourceConnection, listing, Source.from_domain, cursors, after)

    @strawberry.field
    async def audit(self, info: Info[Any, Any], first: int | None = 20, after: str | None = None) -> AuditConnection:
        ctx = context(info)
        cursors = Cursors.of("Entry.audit", {"entry": self.view.id})
        size, place = check_first(first), cursors.decode(after)
        if place is None:
            listing = await ctx.loaders.audit(size).load(self.view.id)
        else:
            listing = await entry_audit(ctx.session, self.view.id, first=size, after=place)
        return connection_of(AuditConnection, listing, AuditRecord.from_domain, cursors, after)


@strawberry.type
class EntryConnection(Connection[Entry]):
    """A page of entries."""


async def entry_at(ctx: RequestContext, entry: NodeId, as_of: times.AsOf = times.NOW) -> Entry:
    """Return an entry as it was at a moment.

    Raises:
        NotFound: missing and hidden alike.
    """
    view = await ctx.loaders.entries(as_of).load(entry)
    if view is None:
        raise NotFound
    return Entry.from_domain(ctx, view)
