"""Which evidence waits for Stage B, and the row that says so. Pure. Source: DR-31, DR-79."""

from __future__ import annotations

from typing import Final

from graph.model.ids import NodeId, node_id
from graph.model.nodes.evidence import Episode, Source, SourceKind
from graph.model.nodes.learning import PendingItem
from graph.model.time import Millis

EPISODE: Final = "episode"
MAX_FAILURES: Final = 3
"""A single item that fails so often is parked (DR-79)."""

_AT_ONCE: Final = frozenset({SourceKind.TASK_RESULT, SourceKind.SIGNAL, SourceKind.CONNECTOR_DOC})
_UNLESS_LEARNED: Final = frozenset({SourceKind.FILE, SourceKind.TEXT, SourceKind.URL})


def waits(source: Source) -> bool:
    """True for a source that Stage B looks at itself.

    Messages reach it as episodes, what people hand in by a learning task where there is one, and notes not at all:
    what they say is in the entry already.
    """
    if source.kind in _AT_ONCE:
        return True
    return source.kind in _UNLESS_LEARNED and source.learning_state is None


def pending_id(item: NodeId) -> NodeId:
    """Return the id of the row of an item.

    >>> pending_id(NodeId("src_01"))
    'pit_src.01'
    """
    return node_id(PendingItem.PREFIX, item.replace("_", ".", 1))


def pending_item(item: Source | Episode, agent: NodeId, at: Millis) -> PendingItem:
    """Return the row that lets an item wait for Stage B of its agent."""
    return PendingItem(
        id=pending_id(item.id),
        workspace=item.workspace,
        pool=item.pool,
        created_at=at,
        agent_id=agent,
        item_id=item.id,
        item_kind=item.kind if isinstance(item, Source) else EPISODE,
    )
