"""The operation list as it arrives: JSON objects, checked into typed operations. Source: DR-42, DR-43, KN-78.

Lengths are not checked here but by `limits`, since they have a code of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from graph.model.errors import BadInput
from graph.model.nodes.knowledge import Basis, Precision, Standing
from graph.model.nodes.learning import LessonOrigin
from graph.rules.operations.dates import Date, parse_date


class Change(StrEnum):
    """Why a statement is made or changed (DR-42)."""

    ADDITION = "addition"
    EVOLUTION = "evolution"
    CORRECTION = "correction"
    DISPUTE = "dispute"
    RUMOUR = "rumour"
    INFERENCE = "inference"
    COMPRESSION = "compression"


class Role(StrEnum):
    """What a citation does for its statement (KN-11)."""

    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    CORRECTS = "corrects"


class How(StrEnum):
    """How a relation is removed (KN-31)."""

    ENDED = "ended"
    RETRACTED = "retracted"


def _read_date(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return parse_date(value)
    except BadInput as error:
        raise ValueError("a date is written as RFC 3339 or as YYYY-MM-DD") from error


def _lower(value: Any) -> Any:
    """GraphQL writes enumerations in upper case, the stored values are lower case; both are taken."""
    return value.lower() if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    """Take attributes as a list of objects with a `key`, or as one object with a member per key."""
    if not isinstance(value, Mapping):
        return value
    return [{**given, "key": key} if isinstance(given, Mapping) else given for key, given in value.items()]


Id = Annotated[str, StringConstraints(min_length=1, max_length=1_024)]
Version = Annotated[int, Field(strict=True, ge=0)]
When = Annotated[Date | None, BeforeValidator(_read_date)]
ChangeIn = Annotated[Change, BeforeValidator(_lower)]
BasisIn = Annotated[Basis, BeforeValidator(_lower)]
StandingIn = Annotated[Standing, BeforeValidator(_lower)]
PrecisionIn = Annotated[Precision | None, BeforeValidator(_lower)]
RoleIn = Annotated[Role, BeforeValidator(_lower)]
HowIn = Annotated[How, BeforeValidator(_lower)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class CitationIn(_Model):
    """A citation: which source, its words, and what they do."""

    source: Id
    quote: str
    role: RoleIn = Role.SUPPORTS


class DeductionIn(_Model):
    """A conditional judgement; what must not be empty is judged by its own rule (DR-58)."""

    condition: str = ""
    conclusion: str = ""
    basis: tuple[Id, ...] = ()
    date: str = ""


class _Validity(_Model):
    validFrom: When = None
    validTo: When = None
    fromPrecision: PrecisionIn = None
    toPrecision: PrecisionIn = None


class BlockIn(_Validity):
    """The content of a block, as `addBlock`, `editBlock` and `createEntry` give it."""

    text: str | None = None
    deduction: DeductionIn | None = None
    basis: BasisIn
    standing: StandingIn
    change: ChangeIn
    durability: str | None = None
    citations: tuple[CitationIn, ...] = ()
    authority: str | None = None
    supersedes: tuple[Id, ...] = ()
    after: Id | None = None
    reason: str | None = None

    @model_validator(mode="after")
    def _one_content(self) -> Self:
        if (self.text is None) == (self.deduction is None):
            raise ValueError("give text or deduction")
        return self


class AttributeIn(_Validity):
    """One value of one attribute."""

    key: str
    value: Any
    citations: tuple[CitationIn, ...] = ()
    change: ChangeIn = Change.ADDITION

    @model_validator(mode="after")
    def _known_type(self) -> Self:
        if not _is_attribute_value(self.value):
            raise ValueError("a value is a text, number, boolean, date or list of texts")
        return self


Attributes = Annotated[tuple[AttributeIn, ...], BeforeValidator(_listed)]


class _Operation(_Model):
    reason: str | None = None


class CreateEntry(_Operation):
    """Make an entry with its first blocks."""

    op: Literal["createEntry"]
    ref: Id | None = None
    name: str
    type: str
    summary: str = ""
    blocks: tuple[BlockIn, ...] = Field(min_length=1)
    aliases: tuple[str, ...] = ()
    attributes: Attributes = ()
    sameAs: Id | None = None
    principal: Id | None = None


class _EntryEdit(_Operation):
    entry: Id
    expectedVersion: Version


class RenameEntry(_EntryEdit):
    """Give an entry another name."""

    op: Literal["renameEntry"]
    name: str


class SetType(_EntryEdit):
    """Give an entry another type."""

    op: Literal["setType"]
    type: str


class SetSummary(_EntryEdit):
    """Write the summary of an entry from some of its blocks."""

    op: Literal["setSummary"]
    summary: str
    fromBlocks: tuple[Id, ...] = ()


class SetAliases(_EntryEdit):
    """Set all aliases of an entry."""

    op: Literal["setAliases"]
    aliases: tuple[str, ...]


class SetAttributes(_EntryEdit):
    """Set and unset attributes of an entry."""

    op: Literal["setAttributes"]
    set: Attributes = ()
    unset: tuple[str, ...] = ()


class AddBlock(BlockIn):
    """Add a block to an entry."""

    op: Literal["addBlock"]
    entry: Id


class EditBlock(BlockIn):
    """Give a block another version."""

    op: Literal["editBlock"]
    block: Id
    expectedVersion: Version


class DeleteBlock(_Operation):
    """End a block, because evidence says so or because another one says the same."""

    op: Literal["deleteBlock"]
    block: Id
    expectedVersion: Version
    citations: tuple[CitationIn, ...] = ()
    duplicateOf: Id | None = None


class AddRelation(_Validity):
    """State a relation that a source says."""

    op: Literal["addRelation"]
    subject: Id
    type: str
    object: Id
    source: Id | None = None
    quote: str | None = None
    reason: str | None = None


class RemoveRelation(_Operation):
    """End a relation in the world, or take it back as wrong."""

    op: Literal["removeRelation"]
    relation: Id
    expectedVersion: Version
    how: HowIn
    citations: tuple[CitationIn, ...] = ()
    validTo: When = None
    toPrecision: PrecisionIn = None


class SkillAction(StrEnum):
    """What is done to a lesson of a Skill Overlay."""

    ADD = "add"
    REPLACE = "replace"
    REMOVE = "remove"


class MemoLineIn(_Model):
    """One line of a resident memo."""

    text: str
    citations: tuple[CitationIn, ...] = ()


class WriteMemo(_Operation):
    """Write the whole resident memo of the base (RE-4, RE-5); version 0 is that of a memo not written yet."""

    op: Literal["writeMemo"]
    expectedVersion: Version
    lines: tuple[MemoLineIn, ...]


class UpdateSkillOverlay(_Operation):
    """Add, replace or remove a lesson of a Skill (section 15)."""

    op: Literal["updateSkillOverlay"]
    skill: Id
    action: Annotated[SkillAction, BeforeValidator(_lower)]
    lesson: Id | None = None
    expectedVersion: Version | None = None
    text: str | None = None
    origin: Annotated[LessonOrigin | None, BeforeValidator(_lower)] = None
    citations: tuple[CitationIn, ...] = ()

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.lesson is None) != (self.action is SkillAction.ADD):
            raise ValueError("name the lesson to replace or remove, and none to add one")
        if (self.text is None) != (self.action is SkillAction.REMOVE):
            raise ValueError("give the text to add or to replace with")
        return self


Operation = (
    CreateEntry
    | RenameEntry
    | SetType
    | SetSummary
    | SetAliases
    | SetAttributes
    | AddBlock
    | EditBlock
    | DeleteBlock
    | AddRelation
    | RemoveRelation
    | WriteMemo
    | UpdateSkillOverlay
)

KINDS: Mapping[str, type[Operation]] = {
    "createEntry": CreateEntry,
    "renameEntry": RenameEntry,
    "setType": SetType,
    "setSummary": SetSummary,
    "setAliases": SetAliases,
    "setAttributes": SetAttributes,
    "addBlock": AddBlock,
    "editBlock": EditBlock,
    "deleteBlock": DeleteBlock,
    "addRelation": AddRelation,
    "removeRelation": RemoveRelation,
    "writeMemo": WriteMemo,
    "updateSkillOverlay": UpdateSkillOverlay,
}


def citations_in(operation: Operation) -> Iterator[CitationIn]:
    """Yield every citation of an operation, those of its parts included."""
    match operation:
        case CreateEntry():
            for block in operation.blocks:
                yield from block.citations
            for attribute in operation.attributes:
                yield from attribute.citations
        case SetAttributes():
            for attribute in operation.set:
                yield from attribute.citations
        case WriteMemo():
            for line in operation.lines:
                yield from line.citations
        case AddBlock() | EditBlock() | DeleteBlock() | RemoveRelation() | UpdateSkillOverlay():
            yield from operation.citations
        case AddRelation() if operation.source is not None:
            yield CitationIn(source=operation.source, quote=operation.quote or "")
        case _:
            return


def blocks_in(operation: Operation) -> tuple[BlockIn, ...]:
    """Return the block contents of an operation."""
    if isinstance(operation, BlockIn):
        return (operation,)
    return operation.blocks if isinstance(operation, CreateEntry) else ()


def _is_attribute_value(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | bool | int)
