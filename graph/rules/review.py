"""What a reviewer should look at among current blocks, by what each says of itself (CO-61, CO-62)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from graph.model.nodes.evidence import SourceKind
from graph.model.nodes.knowledge import Basis, BlockVersion, Standing
from graph.model.time import Millis


class ReviewView(StrEnum):
    """Prepared views of current blocks.

    OUT_OF_FORCE: it held until a day that has passed, or is stale. CONTESTED: disputed. NOTE_ONLY: a person wrote it,
    and no source but notes is behind it.
    """

    OUT_OF_FORCE = "out_of_force"
    CONTESTED = "contested"
    NOTE_ONLY = "note_only"


def has_ended(version: BlockVersion, now: Millis) -> bool:
    """Return whether what a block says is of a time that is over."""
    return version.valid_to is not None and version.valid_to <= now


def is_inferred(version: BlockVersion) -> bool:
    """Return whether a block follows from others, and so can be stale without citing anything itself."""
    return version.basis in (Basis.DEDUCED, Basis.INDUCED)


def is_contested(version: BlockVersion) -> bool:
    """Return whether sources disagree on a block."""
    return version.standing == Standing.DISPUTED


def is_authored(version: BlockVersion) -> bool:
    """Return whether a person wrote a block as his own."""
    return version.basis == Basis.AUTHORED


def rests_on_notes_alone(kinds: Iterable[str]) -> bool:
    """Return whether sources of these kinds are nothing but notes; also if there are none at all.

    >>> rests_on_notes_alone(["human_note"]), rests_on_notes_alone(["human_note", "file"]), rests_on_notes_alone([])
    (True, False, True)
    """
    return all(kind == SourceKind.HUMAN_NOTE for kind in kinds)
