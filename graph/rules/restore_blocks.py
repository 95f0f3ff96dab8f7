"""Restoring a block: its text and its place. Source: KN-22, KN-23, KN-94."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block
from graph.rules.images import Image
from graph.rules.operations.block_writing import TEXT_OF_BLOCK, edit_block, end_block, put_version
from graph.rules.operations.drafting import supersedes
from graph.rules.operations.entry_writing import touch_entry
from graph.rules.operations.facet_writing import gather
from graph.rules.operations.state import BlockState, Support
from graph.rules.restore_past import content_of_image
from graph.rules.restore_step import Step
from graph.rules.restore_world import is_edit


class BlockStep(Step):
    """A step on a block."""

    def run(self) -> None:
        """End, edit or revive the block."""
        restored = self.step.restored
        if restored is None:
            state = self.work.blocks[self.target]
            self.past.note_block(state)
            end_block(self.work, state)
            touch_entry(self.work, state.entry_id)
        elif is_edit(self.step.record):
            self._edit_block(self.work.blocks[self.target], restored)
        else:
            self.revive(self.target, restored)
            touch_entry(self.work, NodeId(restored["entryId"]))

    def revive(self, id_: NodeId, image: Mapping[str, Any]) -> None:
        """Give a block that ended its next version."""
        known = self.past.blocks[id_]
        number, entry = known.version.version + 1, NodeId(image["entryId"])
        block = replace(
            known.block, entry_id=entry, position=image["position"], current_version=number, deleted_at=None
        )
        self._belong(known.block, entry)
        self.work.changes.patch(id_, entry_id=entry, position=block.position, current_version=number, deleted_at=None)
        made = put_version(self.work, block, content_of_image(image), number=number)
        self.work.changes.links.append(supersedes(made.version.id, known.version.id, None, self.work.reason))
        self.work.changes.touched.add(id_)
        self._said_by(made)

    def _edit_block(self, state: BlockState, image: Image) -> None:
        if "text" in image:
            state = edit_block(self.work, state, content_of_image(image), change=None)
            self._said_by(state)
        if "position" in image:
            self._move_block(state, NodeId(image["entryId"]), image["position"])
        touch_entry(self.work, self.work.blocks[self.target].entry_id)

    def _move_block(self, state: BlockState, entry: NodeId, position: int) -> None:
        block = replace(state.block, entry_id=entry, position=position)
        version = replace(state.version, entry_id=entry)
        self._belong(state.block, entry)
        self.work.changes.patch(state.id, entry_id=entry, position=position)
        if entry != state.entry_id:
            for id_ in self.past.blocks[state.id].versions:
                self.work.changes.patch(id_, entry_id=entry)
            self.work.changes.text(version.id, entry, TEXT_OF_BLOCK, version.text)
            touch_entry(self.work, state.entry_id)
        self.work.blocks[state.id] = replace(state, block=block, version=version)

    def _belong(self, block: Block, entry: NodeId) -> None:
        if block.entry_id != entry:
            changes = self.work.changes
            changes.unlinks.append(Edge(type=EdgeType.HAS_BLOCK, source=block.entry_id, target=block.id))
            changes.links.append(Edge(type=EdgeType.HAS_BLOCK, source=entry, target=block.id))

    def _said_by(self, made: BlockState) -> None:
        """Let the name of the entry rest on the returning block too, as after every write of one."""
        self.past.note_block(made)
        entry = self.work.entries[made.entry_id]
        gather(self.work, made.entry_id, entry.name, Support(derived_from=(made.version.id,)))
