"""What is believed: knowledge bases, entries, blocks, attributes, relations, facets, guides.

A facet is one name, alias or summary of an entry with its own evidence: a node of its own, so that the one law of
visibility decides about it like about any statement (docs/adr/0005-facets-are-nodes.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.time import Millis


class KbKind(StrEnum):
    """Kinds of knowledge bases."""

    SHARED = "shared"
    AGENT = "agent"
    CHANNEL = "channel"
    PRIVATE = "private"
    GUIDE = "guide"
    """The base of a human principal that holds only his Curation Guide (KN-104)."""


class Basis(StrEnum):
    """What a block rests on (KN-24)."""

    STATED = "stated"
    DEDUCED = "deduced"
    INDUCED = "induced"
    AUTHORED = "authored"


class Standing(StrEnum):
    """Whether a block is disputed (KN-24)."""

    SETTLED = "settled"
    CORRECTED = "corrected"
    DISPUTED = "disputed"
    UNCONFIRMED = "unconfirmed"
    INFERRED = "inferred"


class Precision(StrEnum):
    """How exact a validity date is (KN-74)."""

    YEAR = "year"
    MONTH = "month"
    DAY = "day"
    INSTANT = "instant"


class ModifierKind(StrEnum):
    """Who changed something; also the actor kind of audit records."""

    HUMAN = "human"
    AGENT = "agent"
    DREAMING = "dreaming"
    CONNECTOR = "connector"
    SYSTEM = "system"


class FacetField(StrEnum):
    """Which part of an entry a facet is."""

    NAME = "name"
    ALIAS = "alias"
    SUMMARY = "summary"


@dataclass(frozen=True, kw_only=True, slots=True)
class KnowledgeBase(Node):
    """A pool of knowledge; its own id is its `pool`.

    Attributes:
        version: moves with every write.
        access_version: moves with grants, membership, status, tags and withdrawals only.
        audit_seq, audit_head: the last record of its audit chain.
    """

    PREFIX: ClassVar[str] = "knb"
    owner_id: NodeId = indexed()
    kind: str = indexed()
    channel_id: NodeId | None = indexed(None)
    version: int = 1
    access_version: int = 1
    audit_seq: int = 0
    audit_head: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry(Node):
    """A stable topic. `live_name` is the normalised name while it is live (KN-18)."""

    PREFIX: ClassVar[str] = "ent"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("pool", "live_name"),)
    owner_id: NodeId = indexed()
    live_name: str | None = None
    name: str
    type: str = indexed()
    current_version: int = 1
    origin: str
    read_only: bool = False
    updated_at: Millis = indexed()
    last_modifier_id: NodeId | None = indexed(None)
    deleted_at: Millis | None = indexed(None)
    principal_id: NodeId | None = indexed(None)


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryVersion(Node):
    """One version of an entry's name, type, aliases and summary; read through the facets of its time."""

    PREFIX: ClassVar[str] = "env"
    entry_id: NodeId = indexed()
    version: int
    name: str
    norm_name: str
    type: str
    aliases: tuple[str, ...] = ()
    summary: str = ""
    recorded_at: Millis
    invalidated_at: Millis | None = indexed(None)
    modifier_id: NodeId
    modifier_kind: str
    reason: str | None = None
    dream_run_id: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Facet(Node):
    """One name, alias or summary of an entry, with its evidence, while it was believed."""

    PREFIX: ClassVar[str] = "fct"
    entry_id: NodeId = indexed()
    field: str
    value: str
    norm_value: str = indexed()
    recorded_at: Millis
    invalidated_at: Millis | None = indexed(None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Block(Node):
    """A place in the body of an entry; its text is in its versions."""

    PREFIX: ClassVar[str] = "blk"
    entry_id: NodeId = indexed()
    position: int
    current_version: int = 1
    deleted_at: Millis | None = indexed(None)


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockVersion(Node):
    """One version of a block's text; immutable but for `invalidated_at` (KN-23)."""

    PREFIX: ClassVar[str] = "blv"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("embedding_model", "id"),)
    block_id: NodeId = indexed()
    entry_id: NodeId = indexed()
    version: int
    text: str
    basis: str
    standing: str
    change: str | None = None
    authority: str | None = None
    condition: str | None = None
    conclusion: str | None = None
    inferred_at: Millis | None = None
    valid_from: Millis | None = None
    valid_to: Millis | None = None
    from_precision: str | None = None
    to_precision: str | None = None
    recorded_at: Millis = indexed()
    invalidated_at: Millis | None = indexed(None)
    modifier_id: NodeId = indexed()
    modifier_kind: str
    reason: str | None = None
    dream_run_id: NodeId | None = indexed(None)
    confirmed_at: Millis | None = None
    embedding: bytes | None = None
    embedding_model: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Attribute(Node):
    """One version of one attribute value of an entry (KN-32)."""

    PREFIX: ClassVar[str] = "att"
    entry_id: NodeId = indexed()
    key: str
    version: int = 1
    value: Json = None
    valid_from: Millis | None = None
    valid_to: Millis | None = None
    from_precision: str | None = None
    to_precision: str | None = None
    recorded_at: Millis
    invalidated_at: Millis | None = indexed(None)
    modifier_id: NodeId
    modifier_kind: str
    reason: str | None = None
    dream_run_id: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Relation(Node):
    """A directed relation between two entries, with evidence; its validity is in its versions."""

    PREFIX: ClassVar[str] = "rel"
    subject_id: NodeId = indexed()
    type: str = indexed()
    object_id: NodeId = indexed()
    current_version: int = 1
    current: bool = indexed(True)


@dataclass(frozen=True, kw_only=True, slots=True)
class RelationVersion(Node):
    """One version of a relation's validity; seen where its relation is (SHOWN_BY)."""

    PREFIX: ClassVar[str] = "rlv"
    relation_id: NodeId = indexed()
    version: int
    attributes: Json = None
    valid_from: Millis | None = None
    valid_to: Millis | None = None
    from_precision: str | None = None
    to_precision: str | None = None
    recorded_at: Millis
    invalidated_at: Millis | None = indexed(None)
    modifier_id: NodeId
    modifier_kind: str
    reason: str | None = None
    dream_run_id: NodeId | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CurationGuide(Node):
    """The text by which people steer Dreaming for one principal (KN-104 to KN-108)."""

    PREFIX: ClassVar[str] = "gui"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("principal_id",),)
    principal_id: NodeId = indexed()
    text: str
    version: int = 1
    modifier_id: NodeId
    updated_at: Millis
