"""Past names, versions of entries and of relations: what the history of an entry is made of."""

from __future__ import annotations

import strawberry

from api.graphql.ids import to_global
from api.graphql.types import enums
from api.graphql.types.node import Node
from graph.model.nodes import knowledge
from graph.model.time import Millis


@strawberry.type
class Facet(Node):
    """One name, alias or summary of an entry, with its own evidence, while it was believed."""

    field: enums.FacetField
    value: str
    recorded_at: Millis
    invalidated_at: Millis | None

    @classmethod
    def from_domain(cls, node: knowledge.Facet) -> Facet:
        return cls(
            id=to_global(node.id, node.workspace),
            field=enums.FacetField(node.field),
            value=node.value,
            recorded_at=node.recorded_at,
            invalidated_at=node.invalidated_at,
        )


@strawberry.type
class EntryVersion(Node):
    """One version of what an entry is called; its values are read through `entry(asOf)`."""

    version: int
    type: str
    recorded_at: Millis
    invalidated_at: Millis | None
    entry_id: strawberry.ID

    @classmethod
    def from_domain(cls, node: knowledge.EntryVersion) -> EntryVersion:
        return cls(
            id=to_global(node.id, node.workspace),
            version=node.version,
            type=node.type,
            recorded_at=node.recorded_at,
            invalidated_at=node.invalidated_at,
            entry_id=to_global(node.entry_id, node.workspace),
        )


@strawberry.type
class RelationVersion(Node):
    """One version of a relation's validity."""

    version: int
    valid_from: Millis | None
    valid_to: Millis | None
    recorded_at: Millis
    invalidated_at: Millis | None
    relation_id: strawberry.ID

    @classmethod
    def from_domain(cls, node: knowledge.RelationVersion) -> RelationVersion:
        return cls(
            id=to_global(node.id, node.workspace),
            version=node.version,
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            recorded_at=node.recorded_at,
            invalidated_at=node.invalidated_at,
            relation_id=to_global(node.relation_id, node.workspace),
        )
