"""What a version of a statement says, and when it holds in the world. Source: KN-73, KN-74."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from graph.model.nodes.knowledge import Attribute, BlockVersion, RelationVersion
from graph.model.time import Millis
from graph.rules.operations.state import BlockState, Support


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    """When a statement holds in the world (KN-73, KN-74)."""

    valid_from: Millis | None = None
    valid_to: Millis | None = None
    from_precision: str | None = None
    to_precision: str | None = None

    @classmethod
    def of(cls, node: BlockVersion | RelationVersion | Attribute) -> Validity:
        """Return the validity of a stored version."""
        return cls(
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            from_precision=node.from_precision,
            to_precision=node.to_precision,
        )

    def closed_at(self, end: Millis, precision: str | None) -> Validity:
        """Return the same with another end."""
        return replace(self, valid_to=end, to_precision=precision)

    def fields(self) -> dict[str, Any]:
        """Return the fields of a node."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def overlaps(self, other: Validity) -> bool:
        """True if both share a moment; a missing bound is open."""
        return _starts_before_end(self, other) and _starts_before_end(other, self)


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockContent:
    """All that a version of a block says; `confirmed_at` is when a person last said that it holds (MA-10)."""

    text: str
    basis: str
    standing: str
    change: str | None = None
    authority: str | None = None
    condition: str | None = None
    conclusion: str | None = None
    inferred_at: Millis | None = None
    confirmed_at: Millis | None = None
    validity: Validity = field(default_factory=Validity)
    rests_on: Support = field(default_factory=Support)

    @classmethod
    def of(cls, state: BlockState) -> BlockContent:
        """Return what the current version of a block says."""
        version = state.version
        return cls(
            text=version.text,
            basis=version.basis,
            standing=version.standing,
            change=version.change,
            authority=version.authority,
            condition=version.condition,
            conclusion=version.conclusion,
            inferred_at=version.inferred_at,
            confirmed_at=version.confirmed_at,
            validity=Validity.of(version),
            rests_on=state.rests_on,
        )


def _starts_before_end(one: Validity, other: Validity) -> bool:
    return one.valid_from is None or other.valid_to is None or one.valid_from < other.valid_to
