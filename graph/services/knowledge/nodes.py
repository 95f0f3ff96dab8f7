"""Any node by its id, as a reader sees it; what is missing and what is hidden are alike (KN-60, KN-121)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Attribute, Block, BlockVersion, Entry, Relation
from graph.model.nodes.learning import DreamRun, Lesson, MemoLine, ResidentMemo, SkillOverlay
from graph.model.nodes.sessions import AgentEntry
from graph.model.schema import kind_of
from graph.rules.as_of import NOW
from graph.services.access.session import Session
from graph.services.agents.memory import AgentEntryView, agent_entry_views
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
    | AgentEntryView
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
    by_kind: dict[type[Node], list[NodeId]] = {}
    for id_ in dict.fromkeys(ids):
        if kind := kind_of(id_):
            by_kind.setdefault(kind.node, []).append(id_)
    found: dict[NodeId, NodeView] = {}
    for kind_, wanted in by_kind.items():
        found.update(await _VIEWS.get(kind_, _as_stored)(session, wanted))
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


async def _agent_entries(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await agent_entry_views(session, ids))


async def _as_stored(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, NodeView]:
    return dict(await session.open(ids))


_VIEWS: Mapping[type[Node], Callable[[Session, Sequence[NodeId]], Awaitable[Mapping[NodeId, NodeView]]]] = {
    Entry: _entries,
    Block: _blocks,
    BlockVersion: _block_versions,
    Attribute: _attributes,
    Relation: _relations,
    Lesson: _lessons,
    SkillOverlay: _overlays,
    ResidentMemo: _memos,
    MemoLine: _memo_lines,
    DreamRun: _runs,
    AgentEntry: _agent_entries,
}
