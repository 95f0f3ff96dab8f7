"""The steps that blocks are made of: nodes, edges and keyword texts, put into a `Work`.

Nothing is checked here. Source: KN-22, KN-23, KN-30.
"""

from __future__ import annotations

from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, BlockVersion, Standing
from graph.rules.operations.content import BlockContent
from graph.rules.operations.drafting import modified, placed, supersedes
from graph.rules.operations.state import BlockState, cites, derives
from graph.rules.operations.work import Work

TEXT_OF_BLOCK = "block"


def make_block(work: Work, entry: NodeId, content: BlockContent, position: int) -> BlockState:
    """Put a new block with its first version into an entry."""
    block = Block(id=work.new_id(Block.PREFIX), **placed(work), entry_id=entry, position=position)
    work.changes.puts.append(block)
    work.changes.links.append(Edge(type=EdgeType.HAS_BLOCK, source=entry, target=block.id))
    return put_version(work, block, content, number=1)


def edit_block(work: Work, state: BlockState, content: BlockContent, *, change: str | None) -> BlockState:
    """Give a block its next version; the present one is believed no more (KN-22, KN-23)."""
    end_version(work, state)
    number = state.block.current_version + 1
    work.changes.patch(state.id, current_version=number)
    made = put_version(work, replace(state.block, current_version=number), content, number=number)
    work.changes.links.append(supersedes(made.version.id, state.version.id, change, work.reason))
    work.changes.touched.add(state.id)
    return made


def end_block(work: Work, state: BlockState) -> None:
    """End a block: it has no current version any more."""
    end_version(work, state)
    work.changes.patch(state.id, deleted_at=work.at)
    del work.blocks[state.id]


def put_version(work: Work, block: Block, content: BlockContent, *, number: int) -> BlockState:
    """Put a version of a block, with its evidence and its keyword text."""
    version = BlockVersion(
        id=work.new_id(BlockVersion.PREFIX),
        **placed(work),
        **modified(work),
        **content.validity.fields(),
        block_id=block.id,
        entry_id=block.entry_id,
        version=number,
        text=content.text,
        basis=content.basis,
        standing=content.standing,
        change=content.change,
        authority=content.authority,
        condition=content.condition,
        conclusion=content.conclusion,
        inferred_at=content.inferred_at,
        confirmed_at=content.confirmed_at,
        recorded_at=work.at,
    )
    state = BlockState(block=block, version=version, rests_on=content.rests_on)
    work.changes.puts.append(version)
    work.changes.links += [
        Edge(type=EdgeType.HAS_VERSION, source=block.id, target=version.id),
        Edge(type=EdgeType.SHOWN_BY, source=block.id, target=version.id),
        *(cites(version.id, cited, work.at) for cited in content.rests_on.citations),
        *(derives(version.id, basis) for basis in content.rests_on.derived_from),
    ]
    work.changes.text(version.id, block.entry_id, TEXT_OF_BLOCK, content.text)
    work.remember_roots(version.id, content.rests_on)
    if content.standing == Standing.UNCONFIRMED:
        work.remember_rumour(content.rests_on)
    work.blocks[block.id] = state
    work.visible.add(block.id)
    return state


def end_version(work: Work, state: BlockState) -> None:
    """Believe the current version of a block no more."""
    work.changes.patch(state.version.id, invalidated_at=work.at)
    work.changes.untext(state.version.id, TEXT_OF_BLOCK)
