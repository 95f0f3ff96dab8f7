"""Enums: values are the upper-case form of the stored lower-case values."""

from __future__ import annotations

from enum import StrEnum

import strawberry

from graph.model.nodes.evidence import ChannelKind, LearningState, SourceKind, SourceState
from graph.model.nodes.knowledge import Basis, FacetField, KbKind, Precision, Standing
from graph.model.nodes.knowledge import ModifierKind as ActorKind
from graph.model.nodes.learning import LessonOrigin, RunState
from graph.model.nodes.learning import Stage as DreamStage
from graph.model.nodes.learning import Trigger as DreamTrigger
from graph.model.nodes.people import PrincipalKind, Right
from graph.rules.alerts import Severity
from graph.rules.embedding import VectorKind
from graph.rules.ingest import Arrival
from graph.rules.jobs import JobState
from graph.rules.knowledge_settings import SettingType
from graph.rules.lint import LintRule
from graph.rules.proof import Reason as ProofReason
from graph.rules.provenance import Direction as ProvenanceDirection
from graph.rules.review import ReviewView
from graph.rules.scopes import MemoryScope
from graph.services.knowledge.provenance_export import ProvenanceFormat
from graph.services.knowledge.relations import RelationDirection
from graph.services.learning.stuck import StuckAction

SHOWN = (
    strawberry.enum(Basis),
    strawberry.enum(Standing),
    strawberry.enum(Precision),
    strawberry.enum(FacetField),
    strawberry.enum(KbKind),
    strawberry.enum(ActorKind, name="ActorKind"),
    strawberry.enum(PrincipalKind),
    strawberry.enum(Right),
    strawberry.enum(SourceKind),
    strawberry.enum(SourceState),
    strawberry.enum(ChannelKind),
    strawberry.enum(LearningState),
    strawberry.enum(LessonOrigin),
    strawberry.enum(RunState),
    strawberry.enum(JobState),
    strawberry.enum(DreamStage, name="DreamStage"),
    strawberry.enum(DreamTrigger, name="DreamTrigger"),
    strawberry.enum(Severity),
    strawberry.enum(LintRule),
    strawberry.enum(SettingType),
    strawberry.enum(ReviewView),
    strawberry.enum(StuckAction),
    strawberry.enum(VectorKind),
    strawberry.enum(MemoryScope),
    strawberry.enum(Arrival),
    strawberry.enum(ProvenanceFormat),
    strawberry.enum(RelationDirection),
    strawberry.enum(ProofReason, name="ProofReason"),
    strawberry.enum(ProvenanceDirection, name="ProvenanceDirection"),
)
"""Enums of the core, as they are."""


@strawberry.enum
class CitationRole(StrEnum):
    """What a citation does for a statement."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CORRECTS = "corrects"


@strawberry.enum
class ResultKind(StrEnum):
    """What a recalled item is: believed now, or once said (KN-8)."""

    ENTRY = "entry"
    EPISODE = "episode"
    MESSAGE = "message"


__all__ = [
    "ActorKind",
    "Arrival",
    "Basis",
    "ChannelKind",
    "CitationRole",
    "DreamStage",
    "DreamTrigger",
    "FacetField",
    "JobState",
    "KbKind",
    "LearningState",
    "LessonOrigin",
    "LintRule",
    "MemoryScope",
    "Precision",
    "PrincipalKind",
    "ProofReason",
    "ProvenanceDirection",
    "ProvenanceFormat",
    "RelationDirection",
    "ResultKind",
    "ReviewView",
    "Right",
    "RunState",
    "SettingType",
    "Severity",
    "SourceKind",
    "SourceState",
    "Standing",
    "StuckAction",
    "VectorKind",
]
