"""The operation `updateSkillOverlay`: lessons of one agent about one Skill. Source: SK-1 to SK-18, DR-43.

A lesson lives in the base that is written, which is that of its evidence or one that reads it, and is loaded only
where that base is read. So one Overlay is judged (repetitions, limits) by the lessons that the written base reads.
Any version of a lesson names it; without an expected version only the current one does (KN-87).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId, local_part, node_id
from graph.model.nodes.evidence import Source, SourceKind
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.learning import Lesson, LessonOrigin, SkillOverlay
from graph.rules import images
from graph.rules.audit_operations import AuditOperation
from graph.rules.images import Image
from graph.rules.operations import imaging
from graph.rules.operations.drafting import draft, supersedes
from graph.rules.operations.evidence import check_citations, cite_or_note, is_human_word, not_found
from graph.rules.operations.limits import PRACTICE, check_length
from graph.rules.operations.schema import SkillAction, UpdateSkillOverlay
from graph.rules.operations.state import Cited, LessonState, SkillState, Support, support_edges
from graph.rules.operations.targets import expect_version, require_reason
from graph.rules.operations.verdicts import Done, Outcome, refuse
from graph.rules.operations.work import Work
from graph.rules.task_results import is_recovery, is_success
from graph.text.similarity import word_overlap

MAX_LESSON: Final = 600
MAX_LESSONS: Final = 20
SAME_WORDS: Final = 0.8
"""From this share of common words on, two lessons say the same (SK-13)."""

_OWN_ORIGIN: Final = {
    ModifierKind.HUMAN: LessonOrigin.HUMAN_EDIT,
    ModifierKind.AGENT: LessonOrigin.AGENT_ADDED,
}
"""The origin that only writers of this kind may give, and that they give by default."""


def overlay_id(workspace: str, agent: NodeId, slug: str) -> NodeId:
    """Return the id of the one Overlay of an agent on a Skill (SK-2).

    >>> overlay_id("w", NodeId("prn_w/agent/atlas"), "deploy")
    'sko_w/atlas/deploy'
    """
    return node_id(SkillOverlay.PREFIX, f"{workspace}/{local_part(agent)}/{slug}")


def update_overlay(work: Work, op: UpdateSkillOverlay) -> Done:
    """Add, replace or remove one lesson.

    Raises:
        OperationRejected: ``SKILL_NOT_FOUND``, ``SKILL_NOT_ENABLED``, ``ORDINARY_SUCCESS``, ``DUPLICATE_LESSON``
            (details: `lesson`), ``LIMIT_EXCEEDED``, ``VERSION_CONFLICT``, ``REASON_REQUIRED``, ``SCOPE_FORBIDDEN``,
            or that of a citation.
    """
    overlay = _overlay(work, op)
    if op.action is SkillAction.ADD:
        return _add(work, op, overlay)
    lesson = _own_lesson(work, op, overlay)
    if op.action is SkillAction.REPLACE:
        return _replace(work, op, lesson)
    return _remove(work, op, lesson)


def lesson_image(state: LessonState) -> Image:
    """Return the image of a lesson."""
    lesson = state.lesson
    return images.lesson_image(
        lesson.text, overlay_id=lesson.overlay_id, origin=lesson.origin, rests_on=imaging.support(state.rests_on)
    )


def put_lesson(
    work: Work, overlay: NodeId, text: str, origin: str, rests_on: Support, *, before: Lesson | None = None
) -> LessonState:
    """Put a lesson, or the next version of the one whose last version is `before`."""
    id_ = work.new_id(Lesson.PREFIX)
    lesson = Lesson(
        id=id_,
        workspace=work.state.base.workspace,
        pool=work.pool,
        created_at=work.at,
        overlay_id=overlay,
        series=before.series if before else id_,
        text=text,
        origin=origin,
        version=before.version + 1 if before else 1,
        recorded_at=work.at,
        modifier_id=work.actor.id,
        modifier_kind=work.actor.kind,
        reason=work.reason,
        dream_run_id=work.actor.dream_run_id,
    )
    work.changes.puts.append(lesson)
    work.changes.links += [
        Edge(type=EdgeType.HAS_LESSON, source=overlay, target=id_),
        Edge(type=EdgeType.SCOPED_TO, source=id_, target=work.pool),
        *support_edges(id_, rests_on, work.at),
    ]
    if before is not None:
        work.changes.links.append(supersedes(id_, before.id, None, work.reason))
    state = LessonState(lesson=lesson, rests_on=rests_on)
    work.lessons[lesson.series] = state
    work.visible.add(id_)
    return state


def end_lesson(work: Work, state: LessonState) -> None:
    """Believe a lesson no more; it stays readable as history."""
    work.changes.patch(state.lesson.id, invalidated_at=work.at)
    work.lessons.pop(state.id, None)


def check_room(work: Work, overlay: NodeId) -> None:
    """Refuse more lessons than an Overlay may hold where it is loaded.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED`` (SK-16).
    """
    texts = [state.lesson.text for state in work.lessons.values() if state.lesson.overlay_id == overlay]
    budget = work.settings["skills.overlay_token_budget"]
    if len(texts) > MAX_LESSONS:
        raise refuse(
            "LIMIT_EXCEEDED", f"an Overlay has at most {MAX_LESSONS} lessons", field="lessons", limit=MAX_LESSONS
        )
    if sum(map(work.count_tokens, texts)) > budget:
        raise refuse("LIMIT_EXCEEDED", f"an Overlay has at most {budget} tokens", field="text", limit=budget)


def _overlay(work: Work, op: UpdateSkillOverlay) -> NodeId:
    """Return the Overlay of a Skill that may be written; a person may mend what is kept of a disabled one (SK-18)."""
    skill: SkillState | None = work.state.skills.get(op.skill)
    if skill is None:
        raise refuse("SKILL_NOT_FOUND", "name a Skill that exists; lessons make none")
    mending = work.actor.is_human and op.action is not SkillAction.ADD
    if skill.overlay is None or not (skill.enabled or mending):
        raise refuse("SKILL_NOT_ENABLED", "the Skill is not enabled for this agent")
    return skill.overlay


def _own_lesson(work: Work, op: UpdateSkillOverlay, overlay: NodeId) -> LessonState:
    named = NodeId(op.lesson or "")
    series = work.state.lesson_of.get(named)
    state = work.lessons.get(series) if series is not None else None
    if state is None or state.lesson.overlay_id != overlay:
        raise not_found()
    if state.lesson.pool != work.pool:
        raise refuse("SCOPE_FORBIDDEN", "write to lessons of this knowledge base alone")
    require_reason(work)
    current = {"lesson": state.lesson.id, "text": state.lesson.text}
    if op.expectedVersion is not None:
        expect_version(op.expectedVersion, state.lesson.version, current)
    elif named != state.lesson.id:
        expect_version(0, state.lesson.version, current)
    return state


def _add(work: Work, op: UpdateSkillOverlay, overlay: NodeId) -> Done:
    text, origin = _text(op), _origin(work, op)
    rests_on = _evidence(work, op, text, origin)
    _check_new(work, overlay, text)
    made = put_lesson(work, overlay, text, origin, rests_on)
    check_room(work, overlay)
    _draft(work, AuditOperation.LESSON_ADD, None, made)
    return Done(created=(made.lesson.id,))


def _replace(work: Work, op: UpdateSkillOverlay, old: LessonState) -> Done:
    text, origin = _text(op), _origin(work, op)
    rests_on = old.rests_on.union(_evidence(work, op, text, origin, already=old.rests_on))
    retyped = work.actor.is_human and not op.citations  # his note would say the same once more
    if text == old.lesson.text and (retyped or rests_on == old.rests_on):
        return Done(outcome=Outcome.NOOP, created=(old.lesson.id,))
    end_lesson(work, old)
    made = put_lesson(work, old.lesson.overlay_id, text, origin, rests_on, before=old.lesson)
    check_room(work, old.lesson.overlay_id)
    _draft(work, AuditOperation.LESSON_EDIT, old, made)
    return Done(created=(made.lesson.id,))


def _remove(work: Work, op: UpdateSkillOverlay, old: LessonState) -> Done:
    if not op.citations and not work.actor.is_human:
        raise refuse("SCHEMA_INVALID", "cite at least one source", field="citations")
    because = check_citations(work, op.citations, entry_type=PRACTICE, already=old.rests_on)
    end_lesson(work, old)
    _draft(work, AuditOperation.LESSON_DELETE, old, None, Support(citations=because))
    return Done(created=(old.lesson.id,))


def _text(op: UpdateSkillOverlay) -> str:
    text = (op.text or "").strip()
    check_length(text, "text", 1, MAX_LESSON)
    return text


def _origin(work: Work, op: UpdateSkillOverlay) -> LessonOrigin:
    own = _OWN_ORIGIN.get(work.actor.kind)
    origin = op.origin or own
    if origin is None or (origin in _OWN_ORIGIN.values() and origin is not own):
        raise refuse("SCHEMA_INVALID", "say what the lesson was learned from", field="origin")
    return origin


def _evidence(
    work: Work, op: UpdateSkillOverlay, text: str, origin: LessonOrigin, *, already: Support | None = None
) -> Support:
    """Return what a lesson rests on, if that is more than an ordinary success (SK-14, SK-15)."""
    if op.citations:
        citations = check_citations(work, op.citations, entry_type=PRACTICE, already=already)
    else:
        citations = cite_or_note(work, (), text, entry_type=PRACTICE)
    if not _fits(work, origin, citations):
        raise refuse("ORDINARY_SUCCESS", "learn from a correction, a failure overcome or a hard success")
    return Support(citations=citations)


def _fits(work: Work, origin: LessonOrigin, citations: Iterable[Cited]) -> bool:
    sources = [work.sources[cited.source] for cited in citations]
    match origin:
        case LessonOrigin.HUMAN_CORRECTION:
            return any(map(is_human_word, sources))
        case LessonOrigin.FAILURE_RECOVERY:
            return any(map(_is_recovery, sources))
        case LessonOrigin.NONOBVIOUS_SUCCESS:
            return any(_is_long_success(work, source) for source in sources)
        case LessonOrigin.AGENT_ADDED:
            return any(_teaches(work, source) for source in sources)
        case LessonOrigin.HUMAN_EDIT:
            return True


def _teaches(work: Work, source: Source) -> bool:
    """True for what an agent may learn from: anything but his own words and what went well as expected."""
    if source.kind == SourceKind.TASK_RESULT:
        return _is_recovery(source) or _is_long_success(work, source)
    return is_human_word(source) or source.kind != SourceKind.MESSAGE


def _is_recovery(source: Source) -> bool:
    return source.kind == SourceKind.TASK_RESULT and is_recovery(source.meta)


def _is_long_success(work: Work, source: Source) -> bool:
    return source.kind == SourceKind.TASK_RESULT and is_success(source.meta, work.settings["skills.min_steps"])


def _check_new(work: Work, overlay: NodeId, text: str) -> None:
    """Refuse what another lesson says already.

    Raises:
        OperationRejected: ``DUPLICATE_LESSON``, the nearest one in `lesson` (SK-13).
    """
    others = [state for state in work.lessons.values() if state.lesson.overlay_id == overlay]
    near = [(word_overlap(text, state.lesson.text), state) for state in others]
    same = [(share, state.id, state) for share, state in near if share >= SAME_WORDS]
    if same:
        _, _, found = max(same, key=lambda one: (one[0], one[1]))
        raise refuse("DUPLICATE_LESSON", "a lesson says this already: replace it", lesson=found.lesson.id)


def _draft(
    work: Work,
    operation: AuditOperation,
    old: LessonState | None,
    new: LessonState | None,
    because: Support | None = None,
) -> None:
    states = [state for state in (old, new) if state is not None]
    supports = [state.rests_on for state in states] + ([because] if because else [])
    draft(
        work,
        operation,
        states[0].id,
        before=lesson_image(old) if old else None,
        after=lesson_image(new) if new else None,
        sources=work.sources_behind(*supports),
    )
