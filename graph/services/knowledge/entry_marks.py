"""What a list says of an entry beside its name: how much of its body is seen, and what in it needs a look. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from graph.model.nodes.knowledge import Standing
from graph.services.knowledge.views import BlockView


@dataclass(frozen=True, kw_only=True, slots=True)
class EntryMarks:
    """The marks of an entry for one reader (CO-13).

    Attributes:
        blocks: number of its blocks that he sees.
        disputed: one of them is disputed.
        stale: one of them needs another look.
    """

    blocks: int
    disputed: bool
    stale: bool


def marks_of(blocks: Collection[BlockView]) -> EntryMarks:
    """Return the marks of an entry whose visible blocks these are."""
    versions = [block.current for block in blocks if block.current is not None]
    return EntryMarks(
        blocks=len(versions),
        disputed=any(version.node.standing == Standing.DISPUTED for version in versions),
        stale=any(version.stale for version in versions),
    )
