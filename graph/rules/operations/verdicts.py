"""What became of each operation of a list. Source: DR-54, KN-30, KN-112."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from graph.model.errors import OperationRejected
from graph.model.ids import NodeId
from graph.rules.changes import Changes


class Outcome(StrEnum):
    """What an operation did."""

    ACCEPTED = "accepted"
    MERGED = "merged"
    """What it says was there; its evidence was added."""
    NOOP = "noop"
    """What it says was there with this evidence; nothing was written."""
    REJECTED = "rejected"


@dataclass(frozen=True, kw_only=True, slots=True)
class PartRejection:
    """A block or attribute of a `createEntry` that was left out while the entry was made.

    Attributes:
        part: ``blocks`` or ``attributes``.
        index: place in that list.
    """

    part: str
    index: int
    code: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """The verdict on one operation.

    Attributes:
        index: place in the list, from 0.
        op: its name as given, or "" if it gives none.
        code, reason: of a rejection; the reason holds no content.
        created: ids of what it made or changed, its main object first.
        details: typed data of a rejection, such as `current` of a version conflict.
        left_out: parts of a created entry that were refused.
    """

    index: int
    op: str
    outcome: Outcome
    code: str | None = None
    reason: str | None = None
    created: tuple[NodeId, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[PartRejection, ...] = ()

    @property
    def is_rejected(self) -> bool:
        """True if nothing of the operation is written."""
        return self.outcome is Outcome.REJECTED


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What a carried out operation did."""

    outcome: Outcome = Outcome.ACCEPTED
    created: tuple[NodeId, ...] = ()
    left_out: tuple[PartRejection, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """The verdicts in the order of the list, and what to write."""

    verdicts: tuple[Verdict, ...]
    changes: Changes

    @property
    def first_rejection(self) -> Verdict | None:
        """The first refused operation, if any."""
        return next((verdict for verdict in self.verdicts if verdict.is_rejected), None)


def refuse(code: str, reason: str, **details: Any) -> OperationRejected:
    """Return the error that refuses an operation, with the contract's code and a reason without content."""
    return OperationRejected(code, reason, **details)


def rejected(index: int, op: str, error: OperationRejected) -> Verdict:
    """Return the verdict that an error leads to."""
    return Verdict(
        index=index,
        op=op,
        outcome=Outcome.REJECTED,
        code=error.rule_code,
        reason=error.message,
        details=error.details,
    )


def counts(verdicts: Sequence[Verdict]) -> Mapping[Outcome, int]:
    """Return how many verdicts have each outcome; outcomes that do not occur have 0."""
    return {outcome: sum(verdict.outcome is outcome for verdict in verdicts) for outcome in Outcome}
