"""The edge types, and which of them the law walks. Source: KN-11."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from graph.model.ids import NodeId


class EdgeType(StrEnum):
    """Relationship types."""

    OWNS = "OWNS"
    READS_SHARED = "READS_SHARED"
    MEMBER_OF = "MEMBER_OF"
    CONTAINS = "CONTAINS"
    HAS_BLOCK = "HAS_BLOCK"
    HAS_VERSION = "HAS_VERSION"
    HAS_ATTRIBUTE = "HAS_ATTRIBUTE"
    HAS_FACET = "HAS_FACET"
    SHOWN_BY = "SHOWN_BY"
    SUPERSEDES = "SUPERSEDES"
    SUBJECT = "SUBJECT"
    OBJECT = "OBJECT"
    RELATES = "RELATES"
    SAME_AS = "SAME_AS"
    DISTINCT_FROM = "DISTINCT_FROM"
    IDENTIFIES = "IDENTIFIES"
    CITES = "CITES"
    DERIVED_FROM = "DERIVED_FROM"
    SUMMARIZES = "SUMMARIZES"
    CONCLUDES_FROM = "CONCLUDES_FROM"
    SCOPED_TO = "SCOPED_TO"
    IN_CHANNEL = "IN_CHANNEL"
    IN_THREAD = "IN_THREAD"
    IN_CONVERSATION = "IN_CONVERSATION"
    ROUTES = "ROUTES"
    ENABLES = "ENABLES"
    OVERLAYS = "OVERLAYS"
    HAS_LESSON = "HAS_LESSON"
    HAS_MEMO = "HAS_MEMO"
    HAS_LINE = "HAS_LINE"
    GUIDES = "GUIDES"
    CONSUMED = "CONSUMED"
    PRODUCED = "PRODUCED"
    TARGETS = "TARGETS"
    IMAGES = "IMAGES"
    RESTORES = "RESTORES"
    SERVES = "SERVES"


LAW_SOURCES = frozenset(
    {EdgeType.CITES, EdgeType.DERIVED_FROM, EdgeType.SUMMARIZES, EdgeType.SHOWN_BY, EdgeType.IMAGES}
)
"""From a statement to what it rests on."""

LAW_ENDS = frozenset({EdgeType.SUBJECT, EdgeType.OBJECT})
"""From a relation to its two ends, both always demanded."""

LAW_EDGES = LAW_SOURCES | LAW_ENDS

PROVENANCE_EDGES = frozenset(
    {
        EdgeType.CITES,
        EdgeType.DERIVED_FROM,
        EdgeType.SUMMARIZES,
        EdgeType.SUPERSEDES,
        EdgeType.CONSUMED,
        EdgeType.PRODUCED,
        EdgeType.TARGETS,
    }
)
"""What `provenance` walks (KN-79)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Edge:
    """A link between two nodes. The same type, source, target and key is the same edge: linking again replaces it.

    Attributes:
        key: tells apart several edges of a type between the same nodes, such as two quotes of one source.
        props: JSON scalars; for CITES: quote, start, end, role, speaker_id, said_at, recorded_at.
        record: access record of the link (see `graph.model.access.LawEdge`), encoded rules.
    """

    type: EdgeType
    source: NodeId
    target: NodeId
    key: str = ""
    props: Mapping[str, Any] = field(default_factory=dict)
    record: tuple[str, ...] | None = ()

    @property
    def identity(self) -> tuple[str, NodeId, NodeId, str]:
        """What makes it this edge."""
        return (self.type, self.source, self.target, self.key)
