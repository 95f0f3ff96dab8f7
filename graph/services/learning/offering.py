"""What is offered to Stage B anew because something it rested on is gone: the evidence that is left (MA-24).

A block that needs a withdrawn document is hidden from everyone, Dreaming included. So its other evidence waits once
more: the next batch reads it, opens the entries it belongs to and writes the block again from what there is.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Episode, Source, SourceKind, SourceState
from graph.model.nodes.knowledge import BlockVersion
from graph.model.nodes.learning import PendingState
from graph.model.time import Millis
from graph.rules.pending import pending_id, pending_item
from graph.services.audience import dependents
from graph.store.port import Reader, Writer
from graph.store.query import Direction

OFFERING = SystemScope(reason="what is left of the evidence of hidden blocks")


async def offer_hidden(writer: Writer, agent: NodeId, gone: Collection[NodeId], at: Millis) -> None:
    """Let the other evidence of all current blocks that need `gone` wait for Stage B again.

    Call it when they are hidden already. Messages wait as the episodes that tell of them.
    """
    blocks = await _hidden_blocks(writer, gone)
    left = await _evidence_left(writer, blocks, gone)
    items: list[Source | Episode] = [source for source in left if source.kind != SourceKind.MESSAGE]
    items += await _episodes(writer, left)
    for item in sorted(items, key=lambda item: item.id):
        id_ = pending_id(item.id)
        if id_ in await writer.get(OFFERING, [id_]):
            await writer.patch_many({id_: {"state": str(PendingState.PENDING), "failures": 0}})
        else:
            await writer.put([pending_item(item, agent, at)])


async def _hidden_blocks(reader: Reader, gone: Collection[NodeId]) -> list[NodeId]:
    resting = [id_ for id_ in await dependents(reader, gone) if prefix_of(id_) == BlockVersion.PREFIX]
    found = await reader.get(OFFERING, sorted(resting))
    audiences = await reader.audiences(sorted(found))
    hidden = (node for id_, node in found.items() if not (id_ in audiences and audiences[id_].live))
    return sorted(node.id for node in hidden if isinstance(node, BlockVersion) and node.invalidated_at is None)


async def _evidence_left(reader: Reader, blocks: Sequence[NodeId], gone: Collection[NodeId]) -> list[Source]:
    if not blocks:
        return []
    edges = await reader.edges(OFFERING, blocks, [EdgeType.CITES], Direction.OUT)
    others = sorted({edge.target for edge in edges} - set(gone))
    found = (await reader.get(OFFERING, others)).values()
    notes = SourceKind.HUMAN_NOTE  # what people wrote stands in an entry already (DR-31)
    return [n for n in found if isinstance(n, Source) and n.state == SourceState.LIVE and n.kind != notes]


async def _episodes(reader: Reader, left: Sequence[Source]) -> list[Episode]:
    messages = [source.id for source in left if source.kind == SourceKind.MESSAGE]
    if not messages:
        return []
    edges = await reader.edges(OFFERING, messages, [EdgeType.SUMMARIZES], Direction.IN)
    found = (await reader.get(OFFERING, sorted({edge.source for edge in edges}))).values()
    return [node for node in found if isinstance(node, Episode)]
