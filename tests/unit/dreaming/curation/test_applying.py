"""What both learners do with an answer: names back to ids, one transaction, everything or nothing."""

from __future__ import annotations

from typing import Any

import pytest

from dreaming.curation import (
    AllRejected,
    Opened,
    Report,
    Wanted,
    agent_caller,
    commit_answer,
    on_fresh_state,
    open_material,
)
from dreaming.jobs import WorkContext, no_models
from graph.model.errors import VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry, KbKind, KnowledgeBase, ModifierKind
from graph.model.nodes.learning import PendingItem
from graph.rules.operations.actors import ActorRules
from graph.rules.pools import base_id
from graph.services.access.commands import Command
from graph.services.access.session import read
from graph.services.ledger import COMMIT_GUARD
from graph.store.query import Eq, Find
from tests.support.operations import add, apply, block, cite, create, edit, made
from tests.support.working import Workshop
from tests.support.world import TeamWorld


async def base_of(world: TeamWorld, kind: KbKind = KbKind.CHANNEL, channel: NodeId | None = None) -> KnowledgeBase:
    id_ = base_id(world.name, world.atlas, kind, channel or world.ops)
    async with world.deps.store.reading() as reader:
        found = (await reader.get(COMMIT_GUARD, [id_]))[id_]
    assert isinstance(found, KnowledgeBase)
    return found


async def opened_for(world: TeamWorld, base: KnowledgeBase, **wanted: Any) -> Opened:
    found, _ = await read(world.deps, agent_caller(base), lambda s: open_material(s, base, Wanted(**wanted)))
    return found


async def working(world: TeamWorld) -> WorkContext:
    """A job under a lease."""
    await Workshop(world).ask()
    now = world.deps.now()
    job = await world.deps.store.transact(lambda writer: writer.claim(["stage_b"], "me", now, 600_000))
    assert job is not None
    return WorkContext(deps=world.deps, job=job, models=no_models)


async def commit(work: WorkContext, opened: Opened, *operations: Any, fails: bool = False) -> Report:
    async def also(cmd: Command, report: Report) -> None:
        await cmd.writer.put([_row(cmd, opened)])
        if fails:
            raise RuntimeError("the end of the batch could not be written")

    actor = ActorRules(id=opened.base.owner_id, kind=ModifierKind.DREAMING, name="Dreaming")
    return await commit_answer(work, opened, operations, actor, also=also)


def _row(cmd: Command, opened: Opened) -> PendingItem:
    return PendingItem(
        id=cmd.deps.new_id(PendingItem.PREFIX),
        workspace=opened.base.workspace,
        created_at=cmd.at,
        agent_id=opened.base.owner_id,
        item_id=cmd.deps.new_id("src"),
        item_kind="written",
    )


async def entries(world: TeamWorld) -> list[str]:
    async with world.deps.store.reading() as reader:
        found = (await reader.find(COMMIT_GUARD, Find(kind=Entry, where=Eq("deleted_at", None)))).nodes
    return sorted(entry.name for entry in found if entry.workspace == world.workspace)


async def written(world: TeamWorld) -> int:
    async with world.deps.store.reading() as reader:
        rows = (await reader.find(COMMIT_GUARD, Find(kind=PendingItem, where=Eq("item_kind", "written")))).nodes
    return sum(row.workspace == world.workspace for row in rows)


def orion(source: str = "s1", **fields: Any) -> dict[str, Any]:
    return create(
        "Orion", block("Orion ships on Friday.", cite(source, "Orion ships on Friday")), type="project", **fields
    )


@pytest.mark.req("DR-76", "DR-54", "DR-81")
async def test_operations_speak_of_shown_names_and_what_is_refused_is_told(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Orion ships on Friday")
    opened = await opened_for(world, await base_of(world), sources=(said,))
    invented = create("Helio", block("Helio grows.", cite("s1", "Helio grows")))
    report = await commit(await working(world), opened, orion(), invented, {"op": "dance"})
    assert (report.operations, report.skill_updates, report.rejected) == (1, 0, 2)
    assert [(row["index"], row["op"], row["code"]) for row in report.rejections if "." not in row["op"]] == [
        (1, "createEntry", "QUOTE_NOT_VERBATIM"),
        (2, "", "UNKNOWN_OPERATION"),
    ]
    assert await entries(world) == ["Orion"]
    assert await written(world) == 1
    assert {record.actor_kind for record in report.records} == {"dreaming"}


@pytest.mark.req("DR-45")
async def test_what_was_not_opened_is_no_evidence(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Orion ships on Friday")
    other = await world.say(world.ops, "lunch?")
    opened = await opened_for(world, await base_of(world), sources=(other,))
    with pytest.raises(AllRejected) as refused:
        await commit(await working(world), opened, orion(said))
    assert refused.value.report.rejections[-1]["code"] == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("DR-55", "DR-77")
async def test_nothing_is_written_if_every_operation_was_refused(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Orion ships on Friday")
    opened = await opened_for(world, await base_of(world), sources=(said,))
    work = await working(world)
    with pytest.raises(AllRejected):
        await commit(work, opened, {"op": "dance"})
    assert await written(world) == 0
    assert (await commit(work, opened)).operations == 0
    assert await written(world) == 1, "an empty list is a success"


@pytest.mark.req("DR-76", "DR-77")
async def test_nothing_is_written_if_the_progress_cannot_be(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Orion ships on Friday")
    opened = await opened_for(world, await base_of(world), sources=(said,))
    with pytest.raises(RuntimeError):
        await commit(await working(world), opened, orion(), fails=True)
    assert await entries(world) == []
    assert await written(world) == 0


@pytest.mark.req("DR-78")
async def test_answer_about_the_past_is_not_applied(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Orion ships on Friday")
    first = await apply(world, create("Orion", block("Orion is planned.", cite(said, "Orion ships"))))
    entry, place = made(first), made(first, place=1)
    opened = await opened_for(world, await base_of(world), sources=(said,), entries=(entry,))
    assert "Orion is planned." in opened.text
    human = edit(place, 1, block("Orion is planned and paid.", change="correction", standing="corrected"))
    await apply(world, human, by=world.ana)
    work = await working(world)
    answer = add("e1", block("Orion ships on Friday.", cite("s1", "Orion ships on Friday")))
    with pytest.raises(VersionConflict):
        await commit(work, opened, answer)
    fresh = await opened_for(world, await base_of(world), sources=(said,), entries=(entry,))
    assert "Orion is planned and paid." in fresh.text
    assert (await commit(work, fresh, answer)).operations == 1


@pytest.mark.req("DR-78")
async def test_what_moves_again_and_again_is_tried_three_times() -> None:
    tries: list[int] = []

    async def attempt() -> None:
        tries.append(1)
        raise VersionConflict("it moved")

    with pytest.raises(VersionConflict):
        await on_fresh_state(attempt)
    assert len(tries) == 3


@pytest.mark.req("KN-54", "DR-10", "DR-33")
async def test_prompt_of_one_base_shows_nothing_of_another_chat(world: TeamWorld) -> None:
    shared = await world.say(world.ops, "Orion ships on Friday")
    private = await world.say(world.chat, "my salary is 90k")
    channel = await opened_for(world, await base_of(world), sources=(shared, private))
    assert ("Orion" in channel.text, "90k" in channel.text) == (True, False)
    chat = await opened_for(world, await base_of(world, KbKind.PRIVATE, world.chat), sources=(shared, private))
    assert ("Orion" in chat.text, "90k" in chat.text) == (False, True)
