"""Reading Skills: what a conversation loads, and the Overlays of an agent with their lessons (SK-6 to SK-8, SK-18)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from graph.model.access import Viewer
from graph.model.edges import EdgeType
from graph.model.errors import BadState, OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.learning import Lesson, Skill, SkillOverlay
from graph.rules.ingest import content_hash
from graph.rules.operations.skills import overlay_id
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, find_listing
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import SupportView
from graph.services.learning.learned import is_slug, skill_id
from graph.services.search.scope import searched
from graph.services.settings import load_settings
from graph.store.query import After, And, By, Direction, Eq, Find, In

HEADING = "## Experience"


@dataclass(frozen=True, kw_only=True, slots=True)
class LessonView:
    """A version of a lesson with what it rests on."""

    node: Lesson
    support: SupportView


@dataclass(frozen=True, kw_only=True, slots=True)
class SkillContext:
    """A Skill as an agent loads it; of a disabled one the base text alone.

    Attributes:
        text: the base text, then the lessons under a heading.
        tokens: what the text costs.
        lessons: oldest first.
    """

    skill: Skill
    enabled: bool
    text: str
    tokens: int
    lessons: tuple[LessonView, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class OverlayView:
    """An agent's Overlay with the lessons that the caller sees.

    Attributes:
        lessons: current ones, oldest first.
        tokens: what these cost; `budget` is what an Overlay may cost.
    """

    node: SkillOverlay
    skill: Skill | None
    enabled: bool
    lessons: tuple[LessonView, ...]
    tokens: int
    budget: int


async def skill_context(session: Session, conversation_id: NodeId, slug: str) -> SkillContext:
    """Return a Skill with its experience, as far as the conversation reads it.

    Raises:
        NotFound: no such conversation for the caller.
        OperationRejected: ``SKILL_NOT_FOUND``.
        BadState: the base text is not the one that was provisioned.
    """
    settings = await load_settings(session.reader, session.caller.workspace)
    viewer = await searched(session, settings, conversation_id=conversation_id, owner_id=None, kb_ids=None)
    assert session.conversation is not None
    agent = session.conversation.channel.owner
    skill = await _skill(session, slug)
    if skill.id not in await _enabled(session, agent):
        return SkillContext(skill=skill, enabled=False, text=skill.base_text, tokens=_tokens(session, skill.base_text))
    overlay = overlay_id(skill.workspace, agent, skill.slug)
    lessons = (await _lessons(session, [overlay], viewer)).get(overlay, ())
    text = context_text(skill.base_text, [view.node.text for view in lessons])
    return SkillContext(skill=skill, enabled=True, text=text, tokens=_tokens(session, text), lessons=lessons)


async def skill_overlays(
    session: Session, owner_id: NodeId, *, first: int, after: After | None = None
) -> Listing[OverlayView]:
    """Return the Overlays of an agent, by slug; disabled ones too, since their lessons are kept."""
    query = Find(kind=SkillOverlay, where=Eq("agent_id", owner_id), order=By("id"), first=first, after=after)
    listing = await find_listing(session, query)
    views = {view.node.id: view for view in await overlay_views(session, listing.items)}
    return listing.mapped(lambda node: views.get(node.id))


async def overlay_views(session: Session, overlays: Sequence[SkillOverlay]) -> list[OverlayView]:
    """Return Overlays that the caller was found to see, with their lessons."""
    if not overlays:
        return []
    lessons = await _lessons(session, [overlay.id for overlay in overlays], None)
    skills = await session.open([skill_id(overlay.workspace, overlay.skill_slug) for overlay in overlays])
    agents = list(dict.fromkeys(overlay.agent_id for overlay in overlays))
    enabled = {agent: await _enabled(session, agent) for agent in agents}
    budgets = {a: await load_settings(session.reader, session.caller.workspace, a) for a in agents}
    made = []
    for overlay in overlays:
        skill = skills.get(skill_id(overlay.workspace, overlay.skill_slug))
        own = lessons.get(overlay.id, ())
        made.append(
            OverlayView(
                node=overlay,
                skill=skill if isinstance(skill, Skill) else None,
                enabled=skill is not None and skill.id in enabled[overlay.agent_id],
                lessons=own,
                tokens=sum(_tokens(session, view.node.text) for view in own),
                budget=budgets[overlay.agent_id]["skills.overlay_token_budget"],
            )
        )
    return made


async def skills_of(session: Session) -> Sequence[Skill]:
    """Return the Skills of the workspace, by slug."""
    page = await session.page(Find(kind=Skill, order=By("slug")))
    return page.nodes


async def overlay_views_by_id(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, OverlayView]:
    """Return those of the Overlays that the caller sees."""
    nodes = [node for node in (await session.open(ids)).values() if isinstance(node, SkillOverlay)]
    return {view.node.id: view for view in await overlay_views(session, nodes)}


async def lesson_views(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, LessonView]:
    """Return those of the versions of lessons that the caller sees."""
    nodes = [node for node in (await session.open(ids)).values() if isinstance(node, Lesson)]
    supports = await supports_of(session, nodes)
    return {node.id: LessonView(node=node, support=supports[node.id]) for node in nodes}


async def lesson_versions(session: Session, series: Sequence[NodeId]) -> Mapping[NodeId, tuple[LessonView, ...]]:
    """Return all versions of each lesson that the caller sees, newest first."""
    page = await session.page(Find(kind=Lesson, where=In("series", series)))
    nodes = sorted(page.nodes, key=lambda lesson: -lesson.version)
    supports = await supports_of(session, nodes)
    found: dict[NodeId, tuple[LessonView, ...]] = {}
    for node in nodes:
        found[node.series] = (*found.get(node.series, ()), LessonView(node=node, support=supports[node.id]))
    return found


def context_text(base_text: str, lessons: Sequence[str]) -> str:
    r"""Return what an agent reads of an enabled Skill (SK-7).

    >>> context_text("Deploy with care.", ["Run migrations first."])
    'Deploy with care.\n\n## Experience\n\n- Run migrations first.'
    """
    listed = "\n".join(f"- {lesson}" for lesson in lessons)
    return "\n\n".join(part for part in (base_text, HEADING, listed) if part)


async def _skill(session: Session, slug: str) -> Skill:
    id_ = skill_id(session.caller.workspace, slug) if is_slug(slug) else None
    skill = (await session.open([id_])).get(id_) if id_ else None
    if not isinstance(skill, Skill):
        raise OperationRejected("SKILL_NOT_FOUND", "name a Skill that exists")
    if content_hash(skill.base_text) != skill.base_hash:
        raise BadState("the base text of this Skill was changed outside of the service: provision it again")
    return skill


async def _enabled(session: Session, agent: NodeId) -> frozenset[NodeId]:
    edges = await session.reader.edges(session.viewer, [agent], [EdgeType.ENABLES], Direction.OUT)
    return frozenset(edge.target for edge in edges if edge.props.get("enabled"))


async def _lessons(
    session: Session, overlays: Sequence[NodeId], viewer: Viewer | None
) -> Mapping[NodeId, tuple[LessonView, ...]]:
    """Return the current lessons of each Overlay that the viewer sees, oldest first: ids sort by time."""
    where = And((In("overlay_id", overlays), Eq("invalidated_at", None)))
    page = await session.page(Find(kind=Lesson, where=where), viewer)
    nodes = sorted(page.nodes, key=lambda lesson: lesson.series)
    supports = await supports_of(session, nodes)
    found: dict[NodeId, tuple[LessonView, ...]] = {}
    for node in nodes:
        view = LessonView(node=node, support=supports[node.id])
        found[node.overlay_id] = (*found.get(node.overlay_id, ()), view)
    return found


def _tokens(session: Session, text: str) -> int:
    return session.deps.tokenizer.count(text)
