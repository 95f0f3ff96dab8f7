"""Any node by its id, as a reader sees it; what is missing and what is hidden are alike (KN-60, KN-121)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Attribute, Block, BlockVersion, Entry, Relation
from graph.model.nodes.learning import DreamRun, Lesson, MemoLine, ResidentMemo, SkillOverlay
from graph.rules.as_of import NOW
from graph.services.access.session import Session
from graph.services.knowledge.blocks import block_views, with_support
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.relations import last_relation_views
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import AttributeView, BlockVersionView, BlockView, EntryView, RelationView
from graph.services.learning.dream_runs import run_views
from graph.services.learning.resident_memo import MemoLineView, MemoView, memo_line_views, memo_views_by_id
from graph.services.learning.skills import LessonView, OverlayView, lesson_views, overlay_views_by_id

NodeView = (
    EntryView
    | BlockView
    | BlockVersionView
    | AttributeView
    | RelationView
    | LessonView
    | OverlayView
    | MemoView
    | MemoLineView
    | Node
)
"""What a node looks like: pages and statements with what they rest on, all else as it is stored."""


async def node_view(session: Session, node_id: NodeId) -> NodeView | None:
    """Return a node of any kind as the caller sees it, or None.

    An entry that was deleted is gone (KN-36); its blocks, versions and relations stay readable as history (KN-125).
    """
    return (await node_views(session, [node_id])).get(node_id)


async def node_views(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    """Return those of the nodes that the caller sees, in the order of `ids`; round trips grow with kinds alone."""
    by_prefix: dict[str, list[NodeId]] = {}
    for id_ in dict.fromkeys(ids):
        by_prefix.setdefault(prefix_of(id_), []).append(id_)
    found: dict[NodeId, NodeView] = {}
    for prefix, wanted in by_prefix.items():
        found.update(await _VIEWS.get(prefix, _as_stored)(session, wanted))
    return {id_: found[id_] for id_ in ids if id_ in found}


async def _entries(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await entry_views(session, ids, NOW))


async def _blocks(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await block_views(session, ids, NOW))


async def _block_versions(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    opened = await session.open(ids)
    return dict(await with_support(session, [node for node in opened.values() if isinstance(node, BlockVersion)]))


async def _attributes(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    opened = [node for node in (await session.open(ids)).values() if isinstance(node, Attribute)]
    supports = await supports_of(session, opened)
    return {node.id: AttributeView(node=node, support=supports[node.id]) for node in opened}


async def _relations(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await last_relation_views(session, ids))


async def _lessons(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await lesson_views(session, ids))


async def _overlays(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await overlay_views_by_id(session, ids))


async def _memos(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await memo_views_by_id(session, ids))


async def _memo_lines(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await memo_line_views(session, ids))


async def _runs(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await run_views(session, ids))


async def _as_stored(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await session.open(ids))


_VIEWS: Mapping[str, Callable[[Session, Sequence[NodeId]], Awaitable[Mapping[NodeId, NodeView]]]] = {
    Entry.PREFIX: _entries,
    Block.PREFIX: _blocks,
    BlockVersion.PREFIX: _block_versions,
    Attribute.PREFIX: _attributes,
    Relation.PREFIX: _relations,
    Lesson.PREFIX: _lessons,
    SkillOverlay.PREFIX: _overlays,
    ResidentMemo.PREFIX: _memos,
    MemoLine.PREFIX: _memo_lines,
    DreamRun.PREFIX: _runs,
}
