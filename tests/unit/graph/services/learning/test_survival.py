"""The survival rate by the versions and the audit of a store: corrected, deleted, deleted whole, restored, hidden."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.errors import NotFound
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.rules.survival import Survival
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.knowledge.entries_write import delete_entry
from graph.services.knowledge.restore import restore
from graph.services.learning.survival import survival_rate
from tests.support.clock import FakeClock
from tests.support.operations import Json, add, apply, block, cite, create, delete, dream, edit, made, outcomes
from tests.support.world import TeamWorld


async def survived(world: TeamWorld, who: NodeId) -> Survival:
    found, _ = await read(world.deps, world.caller(who), lambda session: survival_rate(session, world.atlas))
    return found.found


async def dreamt(world: TeamWorld, name: str, *, channel: NodeId | None = None) -> tuple[NodeId, NodeId]:
    """Let Dreaming write an entry with one block, and return both."""
    text = f"{name} likes tea"
    source = await world.say(channel or world.ops, text)
    conversation = (await world.open(channel or world.ops)).id
    done = await dream(world, create(name, block(text, cite(source, text))), conversation=conversation)
    assert not done.verdicts[0].is_rejected, done.verdicts[0]
    return made(done), made(done, 0, 1)


async def correct(world: TeamWorld, block_id: NodeId, version: int = 1) -> str:
    """Let Ana correct a block; return the audit record."""
    changed: Json = {"text": "it is coffee", "basis": "authored", "standing": "corrected", "change": "correction"}
    content = {**block("it is coffee"), **changed, "citations": []}
    kb = NodeId(str((await world.open(world.ops)).pool))
    done = await apply(world, edit(block_id, version, content), by=world.ana, kb=kb)
    return done.records[0].id


@pytest.mark.req("DR-85", "DR-86")
async def test_what_people_corrected_or_deleted_did_not_survive(world: TeamWorld, clock: FakeClock) -> None:
    pages = [await dreamt(world, name) for name in ("Lin", "Kai", "Mia", "Orion")]
    clock.advance(timedelta(days=3))
    await correct(world, pages[0][1])
    await command(
        world.deps,
        world.caller(world.ana),
        lambda cmd: delete_entry(cmd, pages[1][0], expected_version=1, reason="no topic"),
    )
    assert await survived(world, world.ana) == Survival(survived=0, cohort=0)
    clock.advance(timedelta(days=12))
    assert await survived(world, world.ana) == Survival(survived=2, cohort=4)
    clock.advance(timedelta(days=90))
    assert await survived(world, world.ana) == Survival(survived=0, cohort=0)


@pytest.mark.req("DR-85")
async def test_what_people_took_back_did_not_survive(world: TeamWorld, clock: FakeClock) -> None:
    entry, _ = await dreamt(world, "Lin")
    source = await world.say(world.ops, "Lin leads Orion")
    clock.advance(timedelta(days=1))
    done = await dream(world, add(entry, block("Lin leads Orion", cite(source, "Lin leads Orion"))))
    record = done.records[0].id
    clock.advance(timedelta(days=2))
    await command(world.deps, world.caller(world.ana), lambda cmd: restore(cmd, [record], reason="not so"))
    clock.advance(timedelta(days=14))
    assert await survived(world, world.ana) == Survival(survived=1, cohort=2)


@pytest.mark.req("DR-85")
async def test_what_a_learning_task_took_away_is_in_no_cohort(world: TeamWorld, clock: FakeClock) -> None:
    """Deleted as wrong, or superseded by a correction; the same by an agent in a conversation is no learning task."""
    pages = [await dreamt(world, name) for name in ("Lin", "Kai", "Mia", "Orion")]
    source = await world.say(world.ops, "No, that is coffee, not tea")
    words = cite(source, "that is coffee", "corrects")
    clock.advance(timedelta(days=3))
    coffee = block("Likes coffee", words, change="correction", standing="corrected", supersedes=[pages[1][1]])
    learned = await dream(
        world,
        delete(pages[0][1], 1, words),
        add(pages[1][0], coffee),
        kind=ModifierKind.AGENT,
        run=NodeId("drn_learned"),
    )
    said = await dream(world, delete(pages[2][1], 1, words), kind=ModifierKind.AGENT)
    assert [outcomes(result) for result in (learned, said)] == [["accepted", "accepted"], ["accepted"]]
    clock.advance(timedelta(days=12))
    assert await survived(world, world.ana) == Survival(survived=2, cohort=2)


@pytest.mark.req("DR-86", "KN-60")
async def test_what_one_does_not_read_is_in_no_count(world: TeamWorld, clock: FakeClock) -> None:
    await dreamt(world, "Lin")
    await dreamt(world, "Salary", channel=world.chat)
    clock.advance(timedelta(days=15))
    assert await survived(world, world.ana) == Survival(survived=2, cohort=2)
    assert await survived(world, world.ben) == Survival(survived=1, cohort=1)
    with pytest.raises(NotFound):
        await survived(world, world.eve)
