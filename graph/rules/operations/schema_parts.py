"""The parts that operations are made of: citations, deductions, blocks, attributes."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from graph.model.errors import BadInput
from graph.rules.canonical import canonical_json
from graph.rules.operations.schema_values import (
    BasisIn,
    Change,
    ChangeIn,
    Id,
    PrecisionIn,
    Role,
    RoleIn,
    StandingIn,
    When,
    listed,
)


class Part(BaseModel):
    """A JSON object with exactly these fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class CitationIn(Part):
    """A citation: which source, its words, and what they do."""

    source: Id
    quote: str
    role: RoleIn = Role.SUPPORTS


class DeductionIn(Part):
    """A conditional judgement; what must not be empty is judged by its own rule (DR-58)."""

    condition: str = ""
    conclusion: str = ""
    basis: tuple[Id, ...] = ()
    date: str = ""


class ValidityIn(Part):
    """When a statement holds in the world."""

    validFrom: When = None
    validTo: When = None
    fromPrecision: PrecisionIn = None
    toPrecision: PrecisionIn = None


class BlockIn(ValidityIn):
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


class AttributeIn(ValidityIn):
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


Attributes = Annotated[tuple[AttributeIn, ...], BeforeValidator(listed)]


def _is_attribute_value(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    if isinstance(value, str | bool):
        return True
    return isinstance(value, int | float) and _can_be_kept(value)


def _can_be_kept(number: float) -> bool:
    """Return whether the record of a change can hold a number: a record that cannot would end the whole list."""
    try:
        canonical_json(number)
    except BadInput:
        return False
    return True
