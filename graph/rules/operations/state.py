"""What an operation list is decided on: the present of the objects it names, as values.

A loader fills a `KnowledgeState` in a few round trips; tests build it by hand. Nothing here is ever changed: the
planner works on a copy (`work`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import (
    Attribute,
    Block,
    BlockVersion,
    Entry,
    EntryVersion,
    Facet,
    KnowledgeBase,
    Relation,
    RelationVersion,
)
from graph.model.nodes.learning import Lesson, MemoLine, ResidentMemo
from graph.model.time import Millis
from graph.rules.names import NamedEntry
from graph.rules.scopes import KbScope

GATHERED = "gathered"
"""Key (or mark in the properties) of support that a name gained after it was given; images leave it out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cited:
    """A citation that was checked: words of a source and where they stand in its normalised text."""

    source: NodeId
    quote: str
    start: int
    end: int
    role: str = "supports"
    speaker_id: NodeId | None = None
    said_at: Millis | None = None

    @property
    def span(self) -> tuple[NodeId, int, int]:
        """What makes two citations the same evidence."""
        return (self.source, self.start, self.end)

    def overlaps(self, other: Cited) -> bool:
        """True if both quote a common stretch of one source."""
        return self.source == other.source and self.start < other.end and other.start < self.end


@dataclass(frozen=True, kw_only=True, slots=True)
class Support:
    """What a statement rests on."""

    citations: tuple[Cited, ...] = ()
    derived_from: tuple[NodeId, ...] = ()

    def union(self, other: Support) -> Support:
        """Return both together, each piece once."""
        spans = {cited.span for cited in self.citations}
        more = tuple(cited for cited in other.citations if cited.span not in spans)
        further = tuple(id_ for id_ in other.derived_from if id_ not in self.derived_from)
        return Support(citations=self.citations + more, derived_from=self.derived_from + further)

    @property
    def is_empty(self) -> bool:
        """True if it rests on nothing."""
        return not self.citations and not self.derived_from


@dataclass(frozen=True, kw_only=True, slots=True)
class FacetState:
    """A name, alias or summary; `gathered` is support that a name or alias gained later."""

    facet: Facet
    rests_on: Support = field(default_factory=Support)
    gathered: Support = field(default_factory=Support)


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributeState:
    """A value of an attribute that is current."""

    attribute: Attribute
    rests_on: Support = field(default_factory=Support)


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockState:
    """A block that is not deleted, with its current version."""

    block: Block
    version: BlockVersion
    rests_on: Support = field(default_factory=Support)

    @property
    def id(self) -> NodeId:
        """Id of the block."""
        return self.block.id

    def seen_in(self, visible: Collection[NodeId]) -> bool:
        """True if the actor sees what it says now; `visible` is that of the state."""
        return self.block.id in visible or self.version.id in visible

    @property
    def entry_id(self) -> NodeId:
        """The entry it stands in."""
        return self.block.entry_id


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationState:
    """A current relation with its current version."""

    relation: Relation
    version: RelationVersion
    evidence: tuple[Cited, ...] = ()

    @property
    def id(self) -> NodeId:
        """Id of the relation."""
        return self.relation.id


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryState:
    """A live entry with its current names, summary and attributes.

    Attributes:
        aliases: in the order of the entry's current version.
        attributes: the present value of each key.
        closed_attributes: current values that hold no more, such as a former place of work.
    """

    entry: Entry
    version: EntryVersion
    name: FacetState
    aliases: tuple[FacetState, ...] = ()
    summary: FacetState | None = None
    attributes: Mapping[str, AttributeState] = field(default_factory=dict)
    closed_attributes: tuple[AttributeState, ...] = ()
    distinct_from: tuple[NodeId, ...] = ()
    same_as: tuple[NodeId, ...] = ()

    @property
    def id(self) -> NodeId:
        """Id of the entry."""
        return self.entry.id

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and aliases."""
        return (self.entry.name, *(alias.facet.value for alias in self.aliases))

    @property
    def values(self) -> tuple[AttributeState, ...]:
        """Its attributes, those that hold no more included."""
        return (*self.attributes.values(), *self.closed_attributes)

    @property
    def facets(self) -> tuple[FacetState, ...]:
        """Its name and aliases with what they rest on."""
        return (self.name, *self.aliases)


@dataclass(frozen=True, kw_only=True, slots=True)
class NameOwner:
    """The entry that has a normalised name; `live` is false if its evidence is gone, so that it gives the name up."""

    entry: NodeId
    live: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class GuideLimits:
    """What the Curation Guide adds: entry types, and distinct sources needed for a new entry (KN-107)."""

    types: frozenset[str] = frozenset()
    min_evidence: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillState:
    """A Skill as the owner of the base has it.

    Attributes:
        overlay: where his lessons about it hang; None if it was never enabled for him.
    """

    id: NodeId
    slug: str
    enabled: bool = False
    overlay: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class LessonState:
    """A lesson that is current, in its current version."""

    lesson: Lesson
    rests_on: Support = field(default_factory=Support)

    @property
    def id(self) -> NodeId:
        """Id of the lesson through all its versions: that of its first."""
        return self.lesson.series


@dataclass(frozen=True, kw_only=True, slots=True)
class LineState:
    """A line of a memo that is believed now."""

    line: MemoLine
    rests_on: Support = field(default_factory=Support)


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoState:
    """The resident memo of a base with its lines in order."""

    memo: ResidentMemo
    lines: tuple[LineState, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class KnowledgeState:
    """The present, as far as a list needs it.

    Attributes:
        base: the knowledge base that is written.
        visible: ids that the actor may see: of what the list names, of whatever kind, and of versions of blocks.
        scopes: what identifies each pool seen.
        entries, blocks, relations: of this and of readable bases, whether visible or not.
        sources: visible ones.
        names: owner of each normalised name that the list wants.
        same_names: entry of the base by `name_key` of its name, for the names that the list wants.
        readable: names and aliases of all readable entries; filled only where DR-65 asks for it.
        rumours: by source, what unconfirmed blocks quote of it.
        derivations: DERIVED_FROM edges below the statements seen.
        block_of: block of each version at the ends of `derivations`.
        roots: raw sources behind each statement seen.
        principals: principals of the workspace named by the list.
        skills: by slug, those that the list names and that exist.
        lessons: current lessons of their Overlays that the base reads and the actor sees.
        lesson_of: the lesson of each version that the list names and the actor sees.
        memo: of the base; None if it has none yet.
    """

    base: KnowledgeBase
    visible: frozenset[NodeId] = frozenset()
    scopes: Mapping[NodeId, KbScope] = field(default_factory=dict)
    entries: Mapping[NodeId, EntryState] = field(default_factory=dict)
    blocks: Mapping[NodeId, BlockState] = field(default_factory=dict)
    relations: Mapping[NodeId, RelationState] = field(default_factory=dict)
    sources: Mapping[NodeId, Source] = field(default_factory=dict)
    names: Mapping[str, NameOwner] = field(default_factory=dict)
    same_names: Mapping[str, NodeId] = field(default_factory=dict)
    readable: tuple[NamedEntry, ...] = ()
    guide: GuideLimits = field(default_factory=GuideLimits)
    rumours: Mapping[NodeId, tuple[Cited, ...]] = field(default_factory=dict)
    derivations: tuple[Edge, ...] = ()
    block_of: Mapping[NodeId, NodeId] = field(default_factory=dict)
    roots: Mapping[NodeId, frozenset[NodeId]] = field(default_factory=dict)
    principals: frozenset[NodeId] = frozenset()
    skills: Mapping[str, SkillState] = field(default_factory=dict)
    lessons: Mapping[NodeId, LessonState] = field(default_factory=dict)
    lesson_of: Mapping[NodeId, NodeId] = field(default_factory=dict)
    memo: MemoState | None = None


def cites(holder: NodeId, cited: Cited, at: Millis, *, gathered: bool = False) -> Edge:
    """Return the CITES edge of a statement."""
    props: dict[str, Any] = {
        "quote": cited.quote,
        "start": cited.start,
        "end": cited.end,
        "role": cited.role,
        "speaker_id": cited.speaker_id,
        "said_at": cited.said_at,
        "recorded_at": at,
    }
    if gathered:
        props[GATHERED] = True
    key = f"{cited.start}-{cited.end}-{cited.role}"
    return Edge(type=EdgeType.CITES, source=holder, target=cited.source, key=key, props=props)


def derives(holder: NodeId, basis: NodeId, *, gathered: bool = False) -> Edge:
    """Return the DERIVED_FROM edge of a statement."""
    return Edge(type=EdgeType.DERIVED_FROM, source=holder, target=basis, key=GATHERED if gathered else "")


def support_edges(holder: NodeId, support: Support, at: Millis, *, gathered: bool = False) -> list[Edge]:
    """Return the edges by which a statement rests on something."""
    quoted = [cites(holder, cited, at, gathered=gathered) for cited in support.citations]
    return quoted + [derives(holder, basis, gathered=gathered) for basis in support.derived_from]


def cited_of(edge: Edge) -> Cited:
    """Return the citation that a CITES edge stands for."""
    props = edge.props
    return Cited(
        source=edge.target,
        quote=props["quote"],
        start=props["start"],
        end=props["end"],
        role=props.get("role", "supports"),
        speaker_id=props.get("speaker_id"),
        said_at=props.get("said_at"),
    )


def support_of(edges: Iterable[Edge], *, gathered: bool = False) -> Support:
    """Return what the CITES and DERIVED_FROM edges of one statement say, either those of its making or the later."""
    wanted = [edge for edge in edges if is_gathered(edge) is gathered]
    return Support(
        citations=tuple(cited_of(edge) for edge in wanted if edge.type is EdgeType.CITES),
        derived_from=tuple(edge.target for edge in wanted if edge.type is EdgeType.DERIVED_FROM),
    )


def is_gathered(edge: Edge) -> bool:
    """True for support that a name or alias gained after it was given."""
    return edge.key == GATHERED or bool(edge.props.get(GATHERED))
