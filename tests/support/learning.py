"""Short forms for Skills, lessons, memos and task results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graph.model.errors import OperationRejected, RootwardError
from graph.model.ids import NodeId
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.task_results import record_task_result
from graph.services.learning.resident_memo import ResidentMemoText, resident_memo
from graph.services.learning.skill_provisioning import provision_skill, set_skill_enabled
from graph.services.learning.skills import OverlayView, SkillContext, skill_context, skill_overlays
from tests.support.operations import Json, apply
from tests.support.world import TeamWorld

BASE_TEXT = "Deploy with care."


async def provision(world: TeamWorld, slug: str, *, enabled: bool = True, text: str = BASE_TEXT) -> None:
    """Make a Skill as the admin, enabled for Atlas or not."""
    admin = world.caller(world.dan)
    await command(world.deps, admin, lambda cmd: provision_skill(cmd, slug, slug.title(), text))
    if enabled:
        await enable(world, slug)


async def enable(world: TeamWorld, slug: str, enabled: bool = True) -> None:
    admin = world.caller(world.dan)
    await command(world.deps, admin, lambda cmd: set_skill_enabled(cmd, world.atlas, slug, enabled))


def lesson(skill: str, text: str, *citations: Json, **fields: Any) -> Json:
    return {
        "op": "updateSkillOverlay",
        "skill": skill,
        "action": "add",
        "text": text,
        "citations": list(citations),
        **fields,
    }


def replace_lesson(skill: str, lesson_id: str, text: str, *citations: Json, **fields: Any) -> Json:
    return lesson(skill, text, *citations, action="replace", lesson=lesson_id, **fields)


def remove_lesson(skill: str, lesson_id: str, *citations: Json, **fields: Any) -> Json:
    given = lesson(skill, "", *citations, action="remove", lesson=lesson_id, **fields)
    del given["text"]
    return given


def memo(version: int, *lines: tuple[str, Sequence[Json]], **fields: Any) -> Json:
    written = [{"text": text, "citations": list(citations)} for text, citations in lines]
    return {"op": "writeMemo", "expectedVersion": version, "lines": written, **fields}


async def task(
    world: TeamWorld, *steps: tuple[str, str], state: TaskState = TaskState.SUCCEEDED, task_id: str = "t1"
) -> NodeId:
    """Record a task result in the channel; each step is an outcome and its text."""
    conversation = await world.open(world.ops)
    taken = tuple(TaskStep(action="run", outcome=StepOutcome(outcome), text=text) for outcome, text in steps)
    result = TaskResult(task_id=task_id, state=state, steps=taken, final="all done")
    receipt = await command(
        world.deps,
        world.caller(world.host),
        lambda cmd: record_task_result(cmd, result, conversation_id=conversation.id),
    )
    return receipt.source_ids[0]


async def load(world: TeamWorld, slug: str, channel: NodeId | None = None, *, by: NodeId | None = None) -> SkillContext:
    """Load a Skill as Atlas in a conversation of the channel."""
    conversation = (await world.open(channel or world.ops)).id
    caller = world.caller(by or world.atlas)
    found, _ = await read(world.deps, caller, lambda session: skill_context(session, conversation, slug))
    return found


async def overlays(world: TeamWorld, by: NodeId) -> dict[str, OverlayView]:
    """The Overlays of Atlas by slug, as somebody sees them."""
    page, _ = await read(world.deps, world.caller(by), lambda s: skill_overlays(s, world.atlas, first=100))
    return {view.node.skill_slug: view for view in page.items}


async def carried(world: TeamWorld, channel: NodeId | None = None, *, by: NodeId | None = None) -> ResidentMemoText:
    """What the turns of a channel's conversation carry."""
    conversation = (await world.open(channel or world.ops)).id
    found, _ = await read(world.deps, world.caller(by or world.atlas), lambda s: resident_memo(s, conversation))
    return found


async def code_of(world: TeamWorld, *operations: Json, **how: Any) -> str:
    """The code by which a list is refused, or the outcome of its first operation."""
    try:
        return str((await apply(world, *operations, **how)).verdicts[0].outcome)
    except OperationRejected as error:
        return error.rule_code
    except RootwardError as error:
        return error.code
