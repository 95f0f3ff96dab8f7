"""Skills with the experience of an agent, and the resident memo (sections 15 and 16)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.dataloader import DataLoader
from strawberry.types import Info

from api.graphql.connection import Connection
from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.types import enums
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal, base_of, principal_of
from api.graphql.types.statements import Citation
from graph.model.ids import NodeId
from graph.model.nodes import learning
from graph.model.time import Millis
from graph.services.learning import resident_memo, skills


@strawberry.type
class Skill(Node):
    """A built-in Skill; lessons never change its base text (SK-3)."""

    slug: str
    name: str
    base_text: str
    base_version: int
    base_hash: str

    @classmethod
    def from_domain(cls, node: learning.Skill) -> Skill:
        return cls(
            id=to_global(node.id, node.workspace),
            slug=node.slug,
            name=node.name,
            base_text=node.base_text,
            base_version=node.base_version,
            base_hash=node.base_hash,
        )


@strawberry.type
class Lesson(Node):
    """One version of a lesson of a Skill Overlay, with who wrote it and what it rests on (SK-18)."""

    lesson_id: strawberry.ID = strawberry.field(description="Names the lesson through all its versions.")
    text: str
    origin: enums.LessonOrigin
    version: int
    recorded_at: Millis
    invalidated_at: Millis | None
    modifier_kind: enums.ActorKind
    reason: str | None
    stale: bool
    citations: list[Citation]
    modifier_id: strawberry.Private[NodeId]
    overlay_id: strawberry.Private[NodeId]
    series: strawberry.Private[NodeId]
    pool: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, view: skills.LessonView) -> Lesson:
        node = view.node
        return cls(
            id=to_global(node.id, node.workspace),
            lesson_id=to_global(node.series, node.workspace),
            text=node.text,
            origin=enums.LessonOrigin(node.origin),
            version=node.version,
            recorded_at=node.recorded_at,
            invalidated_at=node.invalidated_at,
            modifier_kind=enums.ActorKind(node.modifier_kind),
            reason=node.reason,
            stale=view.support.stale,
            citations=[Citation.from_domain(one) for one in view.support.citations],
            modifier_id=node.modifier_id,
            overlay_id=node.overlay_id,
            series=node.series,
            pool=node.pool,
        )

    @strawberry.field
    async def modifier(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.modifier_id)

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.pool)

    @strawberry.field(description="Slug of the Skill it is about; null for who does not see the Overlay.")
    async def skill(self, info: Info[Any, Any]) -> str | None:
        node = await context(info).loaders.nodes.load(self.overlay_id)
        return node.skill_slug if isinstance(node, learning.SkillOverlay) else None

    @strawberry.field(description="All its versions, newest first.")
    async def versions(self, info: Info[Any, Any]) -> list[Lesson]:
        loader: DataLoader[NodeId, tuple[skills.LessonView, ...]] = context(info).loaders.get(
            "lesson_versions", skills.lesson_versions, tuple
        )
        return [Lesson.from_domain(view) for view in await loader.load(self.series)]


@strawberry.type
class SkillOverlay(Node):
    """What one agent learned about one Skill, as far as the caller sees it; a disabled Skill keeps it (SK-17)."""

    slug: str
    skill: Skill | None
    enabled: bool
    lessons: list[Lesson]
    tokens: int
    token_budget: int
    agent_id: strawberry.Private[NodeId]

    @classmethod
    def from_domain(cls, view: skills.OverlayView) -> SkillOverlay:
        return cls(
            id=to_global(view.node.id, view.node.workspace),
            slug=view.node.skill_slug,
            skill=None if view.skill is None else Skill.from_domain(view.skill),
            enabled=view.enabled,
            lessons=[Lesson.from_domain(one) for one in view.lessons],
            tokens=view.tokens,
            token_budget=view.budget,
            agent_id=view.node.agent_id,
        )

    @strawberry.field
    async def agent(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.agent_id)


@strawberry.type
class SkillOverlayConnection(Connection[SkillOverlay]):
    """A page of Overlays."""


@strawberry.type
class SkillContext:
    """A Skill as an agent loads it: base text, then the lessons that its conversation reads (SK-7)."""

    skill: Skill
    enabled: bool
    text: str
    tokens: int
    lessons: list[Lesson]

    @classmethod
    def from_domain(cls, found: skills.SkillContext) -> SkillContext:
        return cls(
            skill=Skill.from_domain(found.skill),
            enabled=found.enabled,
            text=found.text,
            tokens=found.tokens,
            lessons=[Lesson.from_domain(one) for one in found.lessons],
        )


@strawberry.type
class MemoLine(Node):
    """A line of a resident memo with its evidence (RE-5)."""

    text: str
    position: int
    recorded_at: Millis
    invalidated_at: Millis | None
    modifier_kind: enums.ActorKind
    stale: bool
    citations: list[Citation]
    modifier_id: strawberry.Private[NodeId]

    @classmethod
    def from_domain(cls, view: resident_memo.MemoLineView) -> MemoLine:
        node = view.node
        return cls(
            id=to_global(node.id, node.workspace),
            text=node.text,
            position=node.position,
            recorded_at=node.recorded_at,
            invalidated_at=node.invalidated_at,
            modifier_kind=enums.ActorKind(node.modifier_kind),
            stale=view.support.stale,
            citations=[Citation.from_domain(one) for one in view.support.citations],
            modifier_id=node.modifier_id,
        )

    @strawberry.field
    async def modifier(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.modifier_id)


@strawberry.type
class ResidentMemo(Node):
    """The memo of one knowledge base, as far as the caller sees it."""

    version: int
    updated_at: Millis
    text: str
    tokens: int
    token_budget: int
    lines: list[MemoLine]
    pool: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, view: resident_memo.MemoView) -> ResidentMemo:
        return cls(
            id=to_global(view.node.id, view.node.workspace),
            version=view.node.version,
            updated_at=view.node.updated_at,
            text=view.text,
            tokens=view.tokens,
            token_budget=view.budget,
            lines=[MemoLine.from_domain(one) for one in view.lines],
            pool=view.node.pool,
        )

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.pool)


@strawberry.type
class ResidentMemoText:
    """What every turn of a conversation carries: the memos of its read set, in order (RE-4)."""

    text: str
    tokens: int
    memos: list[ResidentMemo]

    @classmethod
    def from_domain(cls, found: resident_memo.ResidentMemoText) -> ResidentMemoText:
        return cls(
            text=found.text,
            tokens=found.tokens,
            memos=[ResidentMemo.from_domain(one) for one in found.memos],
        )
