"""Which guard a node of each kind gets: the law's own facts, from the node and the rule of its pool.

Source: KN-62, KN-124; docs/design.md#the-law-of-visibility.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from graph.model.access import Audience, Clause, Clauses, Guard, Need
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.making import maker
from graph.model.nodes.bots import BotEntry, Layer
from graph.model.nodes.evidence import Source, SourceState
from graph.model.nodes.knowledge import Entry, Facet, FacetField
from graph.model.nodes.learning import DreamRun, Stage
from graph.model.nodes.sessions import EntryStatus
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.rules.audience import multiply, spelled_out

SCHEDULED = "scheduled"
"""Trigger of a run that nobody asked for."""

LIVE_ENTRY = "live"
"""Tag of entries that are not deleted; lists filter by it inside the index."""

_GUARD = maker(Guard)
_NO_ONE: frozenset[NodeId] = frozenset()

_NEEDS: Mapping[str, Need] = {
    "Source": Need.SOURCE,
    "MessageVector": Need.SOURCE,
    "WindowVector": Need.SOURCE,
    "Episode": Need.ALL,
    "Entry": Need.ANY,
    "EntryVersion": Need.ALL,
    "Block": Need.ANY,
    "BlockVersion": Need.ALL,
    "Attribute": Need.ALL,
    "Relation": Need.ANY,
    "RelationVersion": Need.ALL,
    "Lesson": Need.ALL,
    "MemoLine": Need.ALL,
    "SessionItem": Need.SOURCE,
    "ChatItem": Need.SOURCE,
}


def guard_of(node: Node, rules: Clause) -> Guard:
    """Return the guard of `node`, whose own rule is `rules` (that of its pool)."""
    live = not isinstance(node, Source) or node.state == SourceState.LIVE
    held = not isinstance(node, BotEntry) or is_held(node)
    kind, pool = type(node).__name__, node.pool
    made: Guard = _GUARD(
        node.id, kind, node.workspace, pool, need_of(node), rules, live, held, _NO_ONE, _tags(node), _sort_at(node)
    )
    return made


def need_of(node: Node) -> Need:
    """Return what a node needs of its sources before it is readable."""
    if isinstance(node, Facet):
        return Need.ALL if node.field == FacetField.SUMMARY else Need.ANY
    if isinstance(node, AuditRecord):
        return Need.ALL if node.image_sources else Need.NONE
    if isinstance(node, BotEntry):
        return Need.NONE if node.layer == Layer.PINNED else Need.ALL
    if isinstance(node, DreamRun):
        return Need.ANY if _is_shown_by_batches(node) else Need.NONE
    return _NEEDS.get(type(node).__name__, Need.NONE)


def is_held(entry: BotEntry) -> bool:
    """Return whether an entry of a bot still supports conclusions: "active" in the words of BM-17."""
    return entry.status == EntryStatus.ACTIVE and entry.invalidated_at is None


def _is_shown_by_batches(run: DreamRun) -> bool:
    """A run over all bases of an agent that nobody asked for is told of to who sees one of its batches (DR-33)."""
    return run.stage == Stage.B and run.trigger == SCHEDULED


def own_audience(guard: Guard) -> Audience:
    """Return the audience of a node that rests on nothing else: a source, or a node that needs nothing."""
    readable = guard.live and guard.need in (Need.SOURCE, Need.NONE)
    clauses = _demanded_by(guard.rules) if readable and guard.rules else frozenset()
    return Audience(node=guard.node, clauses=clauses, excluded=guard.excluded)


@lru_cache(maxsize=1_000)
def _demanded_by(rules: Clause) -> Clauses:
    """Return what rules demand; all that lives in a pool has the same ones."""
    return multiply(spelled_out(rules))


def channel_tag(channel: NodeId) -> str:
    """Return the tag by which the messages of a channel are listed."""
    return f"in:{channel}"


def operation_tag(operation: str) -> str:
    """Return the tag by which the audit records of an operation are listed."""
    return f"op:{operation}"


def _tags(node: Node) -> tuple[str, ...]:
    if isinstance(node, Entry):
        return (LIVE_ENTRY, f"type:{node.type}") if node.deleted_at is None else ()
    if isinstance(node, Source):
        return (f"kind:{node.kind}",)
    if isinstance(node, AuditRecord):
        return (operation_tag(node.operation),)
    if isinstance(node, BotEntry):
        return node.tags
    return ()


def _sort_at(node: Node) -> Millis:
    if isinstance(node, Entry):
        return node.updated_at
    if isinstance(node, Source):
        return node.occurred_at
    return node.created_at
