"""The places of blocks in the body of their entry: sparse numbers, so that few have to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.model.ids import NodeId
from graph.rules.audit_operations import AuditOperation
from graph.rules.operations import imaging
from graph.rules.operations.drafting import draft
from graph.rules.operations.entry_writing import touch_entry
from graph.rules.operations.state import BlockState
from graph.rules.operations.targets import block_of
from graph.rules.operations.work import Work

GAP: Final = 1 << 32
"""Distance between the positions of neighbours, so that a block can come between without moving others."""


def next_position(work: Work, entry: NodeId, after: str | None = None) -> int:
    """Return the place behind a block of the entry, or behind all of them."""
    blocks = work.blocks_of(entry)
    if after is None:
        return blocks[-1].block.position + GAP if blocks else GAP
    before = block_of(work, entry, after)
    later = [state for state in blocks if state.block.position > before.block.position]
    if not later:
        return before.block.position + GAP
    low, high = before.block.position, later[0].block.position
    if high - low > 1:
        return (low + high) // 2
    _make_room(work, later)
    return low + GAP


def move(work: Work, state: BlockState, after: str | None) -> bool:
    """Put a block behind another one of its entry; return whether it moved."""
    if after is None or after == state.id:
        return False
    order = [block.id for block in work.blocks_of(state.entry_id)]
    before = block_of(work, state.entry_id, after)
    if order.index(before.id) + 1 == order.index(state.id):
        return False
    _place(work, state, next_position(work, state.entry_id, after))
    touch_entry(work, state.entry_id)
    return True


def _make_room(work: Work, later: Sequence[BlockState]) -> None:
    """Move all later blocks on, in the rare case that no place is left before them."""
    for state in later:
        _place(work, state, state.block.position + 2 * GAP)


def _place(work: Work, state: BlockState, position: int) -> None:
    moved = replace(state, block=replace(state.block, position=position))
    work.changes.patch(state.id, position=position)
    work.blocks[state.id] = moved
    draft(work, AuditOperation.BLOCK_MOVE, state.id, before=imaging.place(state), after=imaging.place(moved))
