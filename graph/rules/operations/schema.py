"""The operation list as it arrives: JSON objects, checked into typed operations. Source: DR-42, DR-43, KN-78.

Lengths are not checked here but by `limits`, since they have a code of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from graph.model.nodes.learning import LessonOrigin
from graph.rules.operations.schema_parts import Attributes, BlockIn, CitationIn, Part, ValidityIn
from graph.rules.operations.schema_values import HowIn, Id, PrecisionIn, Version, When, lowered


class _Operation(Part):
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


class AddRelation(ValidityIn):
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


class MemoLineIn(Part):
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
    action: Annotated[SkillAction, BeforeValidator(lowered)]
    lesson: Id | None = None
    expectedVersion: Version | None = None
    text: str | None = None
    origin: Annotated[LessonOrigin | None, BeforeValidator(lowered)] = None
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
