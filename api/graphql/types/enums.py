"""Enums: values are the upper-case form of the stored lower-case values."""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import TypeVar

import strawberry

from graph.model.nodes import evidence, knowledge, people
from graph.rules import ingest, proof, scopes
from graph.rules import provenance as walks

E = TypeVar("E", bound=Enum)

KbKind = strawberry.enum(knowledge.KbKind, name="KbKind")
Basis = strawberry.enum(knowledge.Basis, name="Basis")
Standing = strawberry.enum(knowledge.Standing, name="Standing")
Precision = strawberry.enum(knowledge.Precision, name="Precision")
ActorKind = strawberry.enum(knowledge.ModifierKind, name="ActorKind")
FacetField = strawberry.enum(knowledge.FacetField, name="FacetField")
PrincipalKind = strawberry.enum(people.PrincipalKind, name="PrincipalKind")
Right = strawberry.enum(people.Right, name="Right")
SourceKind = strawberry.enum(evidence.SourceKind, name="SourceKind")
SourceState = strawberry.enum(evidence.SourceState, name="SourceState")
ChannelKind = strawberry.enum(evidence.ChannelKind, name="ChannelKind")
LearningState = strawberry.enum(evidence.LearningState, name="LearningState")
MemoryScope = strawberry.enum(scopes.MemoryScope, name="MemoryScope")
Arrival = strawberry.enum(ingest.Arrival, name="Arrival")
ProofReason = strawberry.enum(proof.Reason, name="ProofReason")
ProvenanceDirection = strawberry.enum(walks.Direction, name="ProvenanceDirection")


@strawberry.enum
class CitationRole(StrEnum):
    """What a citation does for a statement."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CORRECTS = "corrects"


@strawberry.enum
class RelationDirection(StrEnum):
    """Which relations of an entry: those it is the subject of, the object of, or both."""

    OUT = "out"
    IN = "in"
    BOTH = "both"


@strawberry.enum
class ProvenanceFormat(StrEnum):
    """In which form provenance is exported."""

    PROV_JSON = "prov_json"
    GRAPHML = "graphml"
