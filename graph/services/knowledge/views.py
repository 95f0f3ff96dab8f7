"""What readers of knowledge get: frozen values that hold only what the caller may see."""

from __future__ import annotations

from dataclasses import dataclass

from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Attribute, Block, BlockVersion, Relation, RelationVersion
from graph.model.time import Millis
from graph.rules.as_of import AsOf


@dataclass(frozen=True, kw_only=True, slots=True)
class CitationView:
    """Words of a source that a statement rests on, with who said them and when (KN-69)."""

    source: Source
    quote: str
    start: int
    end: int
    role: str
    speaker_id: NodeId | None
    said_at: Millis | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SupportView:
    """What a statement rests on, as far as the caller sees it, and whether it is stale (`graph.rules.staleness`)."""

    citations: tuple[CitationView, ...] = ()
    derived_from: tuple[NodeId, ...] = ()
    stale: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryView:
    """An entry at a time: its name, aliases and summary are those whose evidence the caller sees (KN-124).

    Attributes:
        pool: its knowledge base.
        version: number of the entry version of that time, believed since `recorded_at`.
        aliases: in the order of that version.
        summary: None if there is none or its evidence is hidden.
        deleted_at: set only in reads of a time before the deletion.
        principal_id: the one whom an entry about a person stands for (KN-33).
        as_of: the time that was asked for; blocks and relations are to be read at the same.
    """

    id: NodeId
    owner_id: NodeId
    pool: NodeId
    name: str
    type: str
    aliases: tuple[str, ...]
    summary: str | None
    version: int
    recorded_at: Millis
    origin: str
    read_only: bool
    created_at: Millis
    updated_at: Millis
    deleted_at: Millis | None
    last_modifier_id: NodeId | None
    principal_id: NodeId | None
    as_of: AsOf


@dataclass(frozen=True, kw_only=True, slots=True)
class AttributeView:
    """One value of an attribute with what it rests on."""

    node: Attribute
    support: SupportView


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockVersionView:
    """One version of a block with what it rests on."""

    node: BlockVersion
    support: SupportView

    @property
    def stale(self) -> bool:
        """True if it needs another look."""
        return self.support.stale


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockView:
    """A block with its version of the asked time; None only where a block is opened by its id."""

    node: Block
    current: BlockVersionView | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationView:
    """A relation with its version of the asked time and its evidence that the caller sees (KN-29)."""

    node: Relation
    version: RelationVersion
    support: SupportView

    @property
    def id(self) -> NodeId:
        """Id of the relation."""
        return self.node.id
