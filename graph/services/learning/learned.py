"""Loads Skills, lessons and memos as the values that an operation list or a restore is decided on.

Under the locks that the caller holds; what is returned here decides, and is never shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, hosted_id, prefix_of
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.learning import Lesson, MemoLine, ResidentMemo, Skill, SkillOverlay
from graph.model.schema import kind_of
from graph.rules.operations.memo import memo_id
from graph.rules.operations.skills import overlay_id
from graph.rules.operations.state import LessonState, LineState, MemoState, SkillState, Support, support_of
from graph.services.access.session import Session
from graph.services.knowledge.statements import PRESENT, find_all
from graph.store.port import Reader
from graph.store.query import And, Direction, Eq, In

SUPPORT = (EdgeType.CITES, EdgeType.DERIVED_FROM)


@dataclass(frozen=True, kw_only=True, slots=True)
class Learned:
    """Lessons and memos, live or not, as far as they were asked for.

    Attributes:
        lessons: current lessons by the id of their first version.
        last: the last version of each lesson, current or not.
        memos: with the lines that are believed now.
    """

    lessons: Mapping[NodeId, LessonState] = field(default_factory=dict)
    last: Mapping[NodeId, Lesson] = field(default_factory=dict)
    memos: Mapping[NodeId, MemoState] = field(default_factory=dict)


async def load_skills(reader: Reader, base: KnowledgeBase, slugs: Collection[str]) -> dict[str, SkillState]:
    """Return those of the Skills that exist, as the owner of the base has them."""
    if not slugs:
        return {}
    by_id = {skill_id(base.workspace, slug): slug for slug in slugs if is_slug(slug)}
    overlays = {slug: overlay_id(base.workspace, base.owner_id, slug) for slug in by_id.values()}
    found = await reader.get(PRESENT, sorted({*by_id, *overlays.values()}))
    enabled = await enabled_skills(reader, base.owner_id)
    return {
        slug: SkillState(
            id=id_,
            slug=slug,
            enabled=id_ in enabled,
            overlay=overlays[slug] if isinstance(found.get(overlays[slug]), SkillOverlay) else None,
        )
        for id_, slug in by_id.items()
        if isinstance(found.get(id_), Skill)
    }


async def load_lessons(
    session: Session, overlays: Iterable[NodeId | None], pools: Collection[NodeId]
) -> dict[NodeId, LessonState]:
    """Return the current lessons of these Overlays in these bases that the actor sees."""
    wanted = sorted({overlay for overlay in overlays if overlay is not None})
    if not wanted:
        return {}
    where = And((In("overlay_id", wanted), Eq("invalidated_at", None), In("pool", sorted(pools))))
    found = await find_all(session.reader, Lesson, where)
    shown = await session.open([lesson.id for lesson in found])
    support = await _support(session.reader, shown)
    return {
        node.series: LessonState(lesson=node, rests_on=support.get(node.id, Support()))
        for node in shown.values()
        if isinstance(node, Lesson)
    }


def lessons_named(shown: Mapping[NodeId, Node]) -> dict[NodeId, NodeId]:
    """Return the lesson of each version among the nodes."""
    return {id_: node.series for id_, node in shown.items() if isinstance(node, Lesson)}


async def load_memo(reader: Reader, pool: NodeId) -> MemoState | None:
    """Return the memo of a base; None if none was written yet."""
    return (await _memos(reader, [memo_id(pool)])).get(memo_id(pool))


async def read_learned(reader: Reader, ids: Collection[NodeId]) -> Learned:
    """Return these lessons (named by their first version) and memos; ids of other kinds are left out."""
    series = sorted(id_ for id_ in ids if prefix_of(id_) == Lesson.PREFIX)
    memos = sorted(id_ for id_ in ids if (kind := kind_of(id_)) and kind.node is ResidentMemo)
    versions = await find_all(reader, Lesson, In("series", series)) if series else ()
    last: dict[NodeId, Lesson] = {}
    for lesson in sorted(versions, key=lambda v: v.version):
        last[lesson.series] = lesson
    current = {lesson.id: lesson for lesson in last.values() if lesson.invalidated_at is None}
    support = await _support(reader, current)
    return Learned(
        lessons={
            lesson.series: LessonState(lesson=lesson, rests_on=support.get(lesson.id, Support()))
            for lesson in current.values()
        },
        last=last,
        memos=await _memos(reader, memos) if memos else {},
    )


async def enabled_skills(reader: Reader, agent: NodeId) -> frozenset[NodeId]:
    """Return the ids of the Skills that are enabled for an agent."""
    edges = await reader.edges(PRESENT, [agent], [EdgeType.ENABLES], Direction.OUT)
    return frozenset(edge.target for edge in edges if edge.props.get("enabled"))


def skill_id(workspace: str, slug: str) -> NodeId:
    """Return the id of a Skill: made of its slug, which is unique in its workspace."""
    return hosted_id(Skill.PREFIX, workspace, slug)


def is_slug(text: str) -> bool:
    """True for what may name a Skill: 1 to 64 of a-z, 0-9, ``-`` and ``_``, a letter or digit first."""
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789-_")
    return 1 <= len(text) <= 64 and set(text) <= allowed and text[0] not in "-_"


async def _memos(reader: Reader, ids: Collection[NodeId]) -> dict[NodeId, MemoState]:
    found = await reader.get(PRESENT, sorted(ids))
    where = And((In("memo_id", sorted(found)), Eq("invalidated_at", None)))
    lines = await find_all(reader, MemoLine, where) if found else ()
    support = await _support(reader, [line.id for line in lines])
    by_memo: dict[NodeId, list[LineState]] = {}
    for line in sorted(lines, key=lambda line: line.position):
        by_memo.setdefault(line.memo_id, []).append(LineState(line=line, rests_on=support.get(line.id, Support())))
    return {
        id_: MemoState(memo=memo, lines=tuple(by_memo.get(id_, ())))
        for id_, memo in found.items()
        if isinstance(memo, ResidentMemo)
    }


async def _support(reader: Reader, ids: Iterable[NodeId]) -> dict[NodeId, Support]:
    wanted = sorted(ids)
    edges = await reader.edges(PRESENT, wanted, SUPPORT, Direction.OUT) if wanted else ()
    by_holder: dict[NodeId, list[Edge]] = {}
    for edge in edges:
        by_holder.setdefault(edge.source, []).append(edge)
    return {id_: support_of(own) for id_, own in by_holder.items()}
