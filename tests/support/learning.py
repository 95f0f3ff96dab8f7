"""Short forms for Skills, lessons, memos and task results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.errors import OperationRejected, RootwardError
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Episode, Source
from graph.rules.changes import Changes
from graph.rules.ingest import in_talk_order
from graph.rules.pending import pending_item
from graph.rules.task_results import StepOutcome, TaskResult, TaskState, TaskStep
from graph.services.access.commands import Command, command
from graph.services.access.session import read
from graph.services.knowledge.task_results import record_task_result
from graph.services.learning.pending import pending_items
from graph.services.learning.resident_memo import ResidentMemoText, resident_memo
from graph.services.learning.skill_provisioning import provision_skill, set_skill_enabled
from graph.services.learning.skills import OverlayView, SkillContext, skill_context, skill_overlays
from graph.services.ledger import COMMIT_GUARD, Commit, commit, hold
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


async def episode(world: TeamWorld, topic: str, *messages: NodeId, concluded: str | None = None) -> NodeId:
    """Store an episode of these messages, as a commit of Stage A does; it concludes from the first."""

    async def work(cmd: Command) -> NodeId:
        found = await cmd.writer.get(COMMIT_GUARD, messages)
        said = in_talk_order(node for node in found.values() if isinstance(node, Source))
        pool, channel = said[0].pool, said[0].channel_id
        assert pool is not None
        assert channel is not None
        await hold(cmd.writer, pool, messages)
        made = Episode(
            id=cmd.deps.new_id(Episode.PREFIX),
            workspace=world.workspace,
            pool=pool,
            created_at=cmd.at,
            channel_id=channel,
            topic=topic,
            summary=f"They spoke about {topic}.",
            conclusions=[concluded] if concluded else [],
            from_at=said[0].occurred_at,
            to_at=said[-1].occurred_at,
        )
        links = [Edge(type=EdgeType.SUMMARIZES, source=made.id, target=message) for message in messages]
        if concluded:
            behind = Edge(
                type=EdgeType.CONCLUDES_FROM, source=made.id, target=messages[0], key="0", props={"conclusionIndex": 0}
            )
            links.append(behind)
        changes = Changes(puts=[made, pending_item(made, world.atlas, cmd.at)], links=links)
        await commit(cmd.writer, cmd.deps, Commit(pool=pool, tx_id=cmd.tx_id, at=cmd.at), changes)
        return made.id

    return await command(world.deps, world.caller(world.host), work)


async def waiting(world: TeamWorld) -> list[NodeId]:
    """What waits for Stage B of Atlas, oldest first."""
    async with world.deps.store.reading() as reader:
        return [row.item_id for row in await pending_items(reader, world.atlas)]
