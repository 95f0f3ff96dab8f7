"""The entries around an entry."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.types.inputs import AsOf, as_of_of
from api.graphql.types.knowledge import Entry, Relation
from graph.services.knowledge.neighborhood import MAX_NODES, neighborhood


@strawberry.type
class Neighbour:
    """An entry and how far away it is."""

    entry: Entry
    depth: int


@strawberry.type
class Neighborhood:
    """Entries, nearest first, and the relations between them (KN-118)."""

    entries: list[Entry]
    neighbours: list[Neighbour]
    relations: list[Relation]
    truncated: bool


@strawberry.type
class NeighborhoodQueries:
    """The entries around an entry."""

    @strawberry.field
    async def neighborhood(
        self,
        info: Info[Any, Any],
        entry_id: strawberry.ID,
        depth: int | None = 1,
        types: list[str] | None = None,
        limit: int | None = MAX_NODES,
        as_of: AsOf | None = None,
    ) -> Neighborhood:
        ctx = context(info)
        moment = as_of_of(as_of)
        found = await neighborhood(
            ctx.session,
            ctx.id(entry_id),
            depth=1 if depth is None else depth,
            types=types,
            limit=MAX_NODES if limit is None else limit,
            as_of=moment,
        )
        entries = [Entry.from_domain(ctx, view) for view in found.nodes]
        return Neighborhood(
            entries=entries,
            neighbours=[
                Neighbour(entry=entry, depth=found.depths.get(view.id, 0))
                for entry, view in zip(entries, found.nodes, strict=True)
            ],
            relations=[Relation.from_domain(view, moment) for view in found.relations],
            truncated=found.truncated,
        )
