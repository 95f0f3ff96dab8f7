"""Blocks that nobody sees because their evidence is withdrawn or erased, offered to be written anew (MA-24).

Of such a block its id, its version and what is left of its evidence are told, never its text. Only blocks of live
entries count: an entry that is hidden as a whole gives its name up and is simply made again from other evidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Source, SourceState
from graph.model.nodes.knowledge import Block, BlockVersion, Entry, KnowledgeBase
from graph.services.access.session import Session
from graph.services.knowledge.views import BlockView, CitationView
from graph.store.port import Reader
from graph.store.query import And, Direction, Eq, Find, In

HIDDEN = SystemScope(reason="which blocks nobody sees any more")
MOST = 2_000
"""So many statements that rest on withdrawn evidence are looked at."""


@dataclass(frozen=True, kw_only=True, slots=True)
class HiddenBlock:
    """A current block that nobody sees.

    Attributes:
        version: the number that an edit has to expect.
        left: citations of it that may still be seen.
    """

    id: NodeId
    entry: NodeId
    version: int
    left: tuple[CitationView, ...]


async def hidden_blocks_of(
    session: Session,
    base: KnowledgeBase,
    entries: Sequence[NodeId],
    shown: Mapping[NodeId, Sequence[BlockView]],
) -> Mapping[NodeId, tuple[HiddenBlock, ...]]:
    """Return the hidden blocks of entries of `base` that the session was found to see, by entry, in id order.

    Args:
        session: reads as the base does.
        base: whose blocks may be written.
        entries: which the session sees.
        shown: their blocks that it sees; those are not looked at.
    """
    seen = {view.current.node.id for views in shown.values() for view in views if view.current}
    where = And((In("entry_id", sorted(entries)), Eq("invalidated_at", None), Eq("pool", base.id)))
    current = (await session.reader.find(HIDDEN, Find(kind=BlockVersion, where=where))).nodes if entries else ()
    versions = await _unseen(session.reader, [version for version in current if version.id not in seen])
    left = await _left(session, [version.id for version in versions])
    found: dict[NodeId, tuple[HiddenBlock, ...]] = {}
    for version in versions:
        block = HiddenBlock(
            id=version.block_id, entry=version.entry_id, version=version.version, left=left.get(version.id, ())
        )
        found[block.entry] = (*found.get(block.entry, ()), block)
    return found


async def entries_with_hidden_blocks(reader: Reader, base: KnowledgeBase, pools: Sequence[NodeId]) -> list[NodeId]:
    """Return the live entries of a base that have blocks nobody sees, in id order.

    Args:
        reader: a worker's.
        base: whose entries.
        pools: the bases that its statements may rest on.
    """
    gone = And((In("pool", list(pools)), In("state", [str(SourceState.WITHDRAWN), str(SourceState.ERASED)])))
    sources = (await reader.find(HIDDEN, Find(kind=Source, where=gone))).nodes
    if not sources:
        return []
    reached = await reader.closure([source.id for source in sources], LAW_EDGES, Direction.IN, limit=MOST)
    above = sorted(id_ for id_ in reached.depths if prefix_of(id_) == BlockVersion.PREFIX)
    versions = [node for node in (await reader.get(HIDDEN, above)).values() if isinstance(node, BlockVersion)]
    current = [version for version in versions if version.pool == base.id and version.invalidated_at is None]
    entries = sorted({version.entry_id for version in await _unseen(reader, current)})
    live = await _live_entries(reader, entries)
    return [id_ for id_ in entries if id_ in live]


async def _unseen(reader: Reader, versions: Sequence[BlockVersion]) -> list[BlockVersion]:
    """Return those of the versions that nobody sees and whose block is not deleted."""
    audiences = await reader.audiences([version.id for version in versions]) if versions else {}
    hidden = [v for v in versions if v.id not in audiences or not audiences[v.id].live]
    blocks = await reader.get(HIDDEN, [version.block_id for version in hidden])
    there = {id_ for id_, node in blocks.items() if isinstance(node, Block) and node.deleted_at is None}
    return sorted((v for v in hidden if v.block_id in there), key=lambda v: v.block_id)


async def _live_entries(reader: Reader, entries: Sequence[NodeId]) -> frozenset[NodeId]:
    found = await reader.get(HIDDEN, entries)
    audiences = await reader.audiences(list(found))
    return frozenset(
        id_
        for id_, node in found.items()
        if isinstance(node, Entry) and node.deleted_at is None and id_ in audiences and audiences[id_].live
    )


async def _left(session: Session, versions: Sequence[NodeId]) -> Mapping[NodeId, tuple[CitationView, ...]]:
    """Return the citations of hidden versions whose sources the session sees."""
    edges = await session.reader.edges(HIDDEN, versions, [EdgeType.CITES], Direction.OUT) if versions else ()
    shown = await session.open([edge.target for edge in edges])
    found: dict[NodeId, tuple[CitationView, ...]] = {}
    for edge in edges:
        source = shown.get(edge.target)
        if isinstance(source, Source):
            found[edge.source] = (*found.get(edge.source, ()), _citation(edge, source))
    return found


def _citation(edge: Edge, source: Source) -> CitationView:
    return CitationView(
        source=source,
        quote=edge.props.get("quote", ""),
        start=edge.props.get("start", 0),
        end=edge.props.get("end", 0),
        role=edge.props.get("role", "supports"),
        speaker_id=edge.props.get("speaker_id"),
        said_at=edge.props.get("said_at"),
    )
