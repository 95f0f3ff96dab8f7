"""Steps of an agent's learning: what is read, what is asked, and what becomes of the answer."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from dreaming.models.port import ModelUnavailable, Role
from graph.model.nodes.people import Organization, Right
from graph.model.nodes.work import AuditRecord
from graph.rules.jobs import DROPPED
from graph.services.access.people import ADMINISTRATION
from graph.services.agents.state import memory_id
from graph.services.sessions.deleting import delete_session
from graph.store.query import By, Eq, Find
from tests.support.held_clock import HeldClock
from tests.support.learning_room import AGENT, LearningRoom, change, gone, names, says
from tests.support.two_services import Meeting, MeetingModel, two_services
from tests.unit.dreaming.conftest import ENGINES


@pytest.fixture
def uri(engine: str, request: pytest.FixtureRequest) -> str | None:
    return str(request.getfixturevalue("neo4j_uri")) if engine == "neo4j" else None


def at(item: str, session: str = "ses_41") -> dict[str, str]:
    return {"session": session, "item": item}


def lesson(key: str, *items: str, content: str = "Write it.", session: str = "ses_41") -> dict[str, Any]:
    return change(key, content, kind="procedure", sources=[at(item, session) for item in items])


def asked(room: LearningRoom) -> list[list[str]]:
    """Return the items of each question about the agent."""
    return [names(request) for request in room.model.asked_for(AGENT)]


async def keys(room: LearningRoom) -> dict[str, str]:
    return {entry.key: entry.status for entry in (await room.agent()).entries}


@pytest.mark.req("AM-1", "AM-4", "AM-5", "AM-7", "AM-33")
async def test_several_changes_of_a_step_are_one_version(room: LearningRoom, heron: Organization) -> None:
    room.model.on(AGENT, says(lesson("a", "i-20"), lesson("b", "i-20"), lesson("a", "i-20", content="Again.")), says())
    await room.learned("t-1", "i-20")
    memory = await room.agent()
    assert (memory.version, [entry.key for entry in memory.entries]) == (1, ["a", "b"])
    assert memory.entries[0].content == "Write it."
    await room.learned("t-2", "i-21")
    assert (await room.agent()).version == 1, "a step that changes nothing makes no version"
    assert asked(room) == [["i-20"], ["i-21"]]
    [told, *_] = [m.text for m in room.model.asked_for(AGENT)[0].messages if m.role is Role.SYSTEM]
    assert "belongs in the memory of its session and not here" in told
    assert "no password, no key, no token, and no link whose holder gains access" in told


@pytest.mark.req("AM-33")
async def test_agent_does_not_touch_what_a_session_has_read(room: LearningRoom, heron: Organization) -> None:
    room.model.on(AGENT, says(lesson("a", "i-20")))
    await room.turn("t-1", "i-20", model=None)
    before = await room.session()
    assert await room.work() == ["learn_agent done"], "the model of the agent is asked whatever ran in the turn"
    assert (await room.session(), await room.processed()) == (before, [])


@pytest.mark.req("AM-28", "AM-29")
async def test_sources_must_be_read_known_and_the_agents_own(room: LearningRoom, heron: Organization) -> None:
    await room.make("ses_other", agent_id=room.world.atlas, organization_id=(await room.teaching()).id)
    await room.say("i-90", local="ses_other")
    room.model.on(AGENT, says())
    await room.learned("t-1", "i-19")
    room.model.on(
        AGENT,
        says(
            lesson("old", "i-19"),
            lesson("unknown", "i-20", "i-99"),
            change("foreign", kind="decision", sources=[at("i-20"), at("i-90", "ses_other")]),
            change("none", kind="decision", sources=[]),
            change("text", kind="decision", sources=["i-20"]),
            lesson("both", "i-20", "i-19"),
        ),
    )
    await room.learned("t-2", "i-20")
    assert sorted(await keys(room)) == ["both", "text"]
    assert [source.item for source in (await room.entry("both")).sources] == ["i-19", "i-20"]


@pytest.mark.req("AM-29")
async def test_outside_data_alone_waits_for_a_turn_that_says_more(room: LearningRoom, heron: Organization) -> None:
    await room.turn("t-1", "i-20", model=None, type="app_result", person_id=None)
    await room.work()
    assert asked(room) == []
    room.model.on(AGENT, says(lesson("x", "i-20"), lesson("y", "i-20", "i-21")))
    await room.learned("t-2", "i-21")
    assert asked(room) == [["i-20", "i-21"]]
    assert list(await keys(room)) == ["y"]


@pytest.mark.req("SM-39", "AM-33")
async def test_edits_of_a_session_are_no_conversation(room: LearningRoom, heron: Organization) -> None:
    room.model.on(AGENT, says())
    await room.remember("venue", "MARMALADE.")
    await room.learned("t-1", "i-20")
    assert asked(room) == [["i-20"]]
    assert "MARMALADE" not in "".join(m.text for m in room.model.asked_for(AGENT)[0].messages)


@pytest.mark.req("AM-24", "AM-33")
async def test_failure_leaves_the_items_to_the_next_turn(room: LearningRoom, heron: Organization) -> None:
    room.model.on(AGENT, ModelUnavailable("network"), says(lesson("a", "i-20")))
    assert "learn_agent failed" in await room.learned("t-1", "i-20")
    assert (await room.agent()).version == 0
    await room.learned("t-2", "i-21")
    assert asked(room) == [["i-20"], ["i-20", "i-21"]]
    assert await room.endings("agent") == [("failed", "MODEL_NETWORK"), ("applied", None)]


@pytest.mark.req("AM-33", "AD-34")
async def test_step_whose_worker_died_is_not_resumed(room: LearningRoom, heron: Organization, clock: HeldClock) -> None:
    room.model.on(AGENT, says())
    await room.turn("t-1", "i-20", model=None)
    await room.die()
    clock.advance(timedelta(minutes=10))
    assert await room.work() == ["learn_agent dropped"]
    assert await room.endings("agent") == [("failed", DROPPED)]
    await room.learned("t-2", "i-21")
    assert asked(room) == [["i-20", "i-21"]]


@pytest.mark.req("AM-36")
@pytest.mark.parametrize("switch", ["agentMemory", "generate"])
async def test_switch_that_goes_off_meanwhile_discards_the_answer(
    room: LearningRoom, heron: Organization, switch: str
) -> None:
    room.model.on(AGENT, says(lesson("a", "i-20")))
    await room.turn("t-1", "i-20", model=None)
    async with room.held():
        if switch == "generate":
            await room.configure(generate=False)
        else:
            heron = await room.set_organization(heron, agentMemory=False)
    assert (await room.agent()).version == 0
    assert await room.endings("agent") == [("discarded", None)]
    if switch == "generate":
        await room.configure(generate=True)
    else:
        await room.set_organization(heron, agentMemory=True)
    await room.learned("t-2", "i-21")
    assert asked(room)[-1] == ["i-20", "i-21"], "the items stayed unread"


@pytest.mark.req("AM-26", "AM-37")
async def test_session_that_did_not_teach_is_learned_from_once_it_does(room: LearningRoom, heron: Organization) -> None:
    room.model.on(AGENT, says())
    await room.make("ses_review", organization_id=heron.id, review=True)
    await room.learned("t-1", "i-01", local="ses_review")
    await room.configure(generate=False)
    await room.learned("t-1", "i-20")
    assert asked(room) == []
    await room.configure(generate=True)
    await room.learned("t-2", "i-21")
    assert asked(room) == [["i-20", "i-21"]]


@pytest.mark.req("AM-23", "AM-27")
async def test_turn_of_a_session_that_does_not_teach_lets_the_others_be_read(
    room: LearningRoom, heron: Organization
) -> None:
    room.model.on(AGENT, says())
    await room.make("ses_42", organization_id=heron.id)
    await room.configure(generate=False, local="ses_42")
    await room.begin("t-1")
    await room.say("i-20")
    await room.queue("t-2", local="ses_42")
    await room.complete("t-1", "m-1")
    assert "learn_agent done" not in await room.work()
    await room.begin("t-2", local="ses_42")
    await room.say("i-21", local="ses_42")
    await room.complete("t-2", "m-1", local="ses_42")
    await room.work()
    assert asked(room) == [["i-20"]]


@pytest.mark.req("AM-20")
async def test_each_organization_has_a_step_of_its_own(room: LearningRoom, heron: Organization) -> None:
    other = await room.teaching(agentMemory=False)
    await room.make("ses_42", organization_id=other.id)
    room.model.on(AGENT, says())
    await room.learned("t-1", "i-30", local="ses_42")
    await room.learned("t-1", "i-20")
    assert asked(room) == [["i-20"]]


async def test_items_of_a_turn_that_still_runs_wait_for_its_end(room: LearningRoom, heron: Organization) -> None:
    room.model.on(AGENT, says())
    await room.make("ses_42", organization_id=heron.id)
    await room.begin("t-1", local="ses_42")
    await room.say("i-30", local="ses_42")
    await room.learned("t-1", "i-20")
    assert asked(room) == [["i-20"]]
    await room.complete("t-1", "m-1", local="ses_42")
    await room.work()
    assert asked(room) == [["i-20"], ["i-30"]]


@pytest.mark.req("AM-35")
async def test_copy_counts_as_read_once_its_original_was(room: LearningRoom, heron: Organization) -> None:
    room.model.on(AGENT, says())
    await room.say("i-20")
    await room.fork("ses_42")
    await room.fork("ses_43", local="ses_42")
    await room.learned("t-1", "i-21")
    await room.learned("t-1", "i-21", local="ses_43")
    assert asked(room) == [["i-20", "i-21"], ["i-21"]], "what the fork said itself is new, whatever it is called"


@pytest.mark.req("AM-39", "AM-44")
async def test_sources_are_shown_to_who_may_see_them_and_outlive_their_session(
    room: LearningRoom, heron: Organization
) -> None:
    world = room.world
    await world.grant(world.ben, Right.READ, world.atlas)
    room.model.on(AGENT, says(lesson("a", "i-20")))
    await room.learned("t-1", "i-20")
    assert [source.item for source in (await room.entry("a")).sources] == ["i-20"]
    of_ben = await room.entry("a", world.ben)
    assert (of_ben.content, of_ben.sources) == ("Write it.", ())
    await world.grant(world.ben, Right.READ, room.id("ses_41"))
    assert [source.item for source in (await room.entry("a", world.ben)).sources] == ["i-20"]
    await room.as_ana(lambda cmd: delete_session(cmd, room.id("ses_41")))
    after = await room.entry("a")
    assert [(source.session, source.item) for source in after.sources] == [("ses_41", "i-20")]
    assert (await room.entry("a", world.ben)).sources == ()
    assert (await room.agent()).version == 1


@pytest.mark.req("AM-32", "AM-33")
async def test_person_has_the_last_word(room: LearningRoom, heron: Organization) -> None:
    await room.teach("mine", "Mine.")
    await room.teach("gone")
    await room.unteach("gone")
    room.model.on(AGENT, says(lesson("mine", "i-20"), lesson("gone", "i-20"), lesson("late", "i-20")))
    await room.turn("t-1", "i-20", model=None)
    async with room.held():
        await room.teach("late", "Late.")
        await room.unteach("late")
    assert await keys(room) == {"gone": "retracted", "late": "retracted", "mine": "active"}
    assert (await room.entry("mine")).content == "Write it.", "an edit from before the step is open to change"
    assert (await room.entry("late")).content == "Late."


async def test_learned_forget_retracts(room: LearningRoom, heron: Organization) -> None:
    await room.teach("old", "Old.")
    room.model.on(AGENT, says(gone("old", sources=[at("i-20")])))
    await room.learned("t-1", "i-20")
    entry = await room.entry("old")
    assert (entry.status, entry.content) == ("retracted", "Old.")
    assert [source.item for source in entry.sources] == ["i-20"]


@pytest.mark.req("AM-18", "AD-26", "AD-27")
async def test_every_version_is_audited_without_content(room: LearningRoom, heron: Organization) -> None:
    world = room.world
    room.model.on(AGENT, says(lesson("MARMALADE", "i-20")))
    await room.learned("t-1", "i-20")
    await room.teach("MARMALADE", "MARMALADE.")
    await room.unteach("MARMALADE")
    async with world.deps.store.reading() as reader:
        where = Eq("pool", memory_id(world.atlas))
        records = (await reader.find(ADMINISTRATION, Find(kind=AuditRecord, where=where, order=By("seq")))).nodes
    assert [(record.operation, record.actor_id) for record in records] == [
        ("agent.learn", world.atlas),
        ("agent.remember", world.ana),
        ("agent.forget", world.ana),
    ]
    assert [record.seq for record in records] == [1, 2, 3]
    assert "MARMALADE" not in repr(records)


@pytest.mark.parametrize("engine", ENGINES, indirect=True)
@pytest.mark.req("AM-34")
async def test_steps_of_two_sessions_in_two_processes_both_count(
    room: LearningRoom, heron: Organization, uri: str | None
) -> None:
    await room.make("ses_43", organization_id=heron.id)
    await room.turn("t-1", "i-20", model=None)
    await room.turn("t-1", "i-21", local="ses_43", model=None)
    for item, session in (("i-20", "ses_41"), ("i-21", "ses_43")):
        room.model.on(
            lambda request, item=item: names(request) == [item],  # type: ignore[misc]
            says(lesson(f"own-{item}", item, session=session), lesson("k", item, session=session)),
        )
    together = Meeting(2)
    async with two_services(room.world.deps, uri=uri) as both:
        workers = [room.worker(deps=deps, model=MeetingModel(room.model, together)) for deps in both]
        assert await asyncio.gather(*(worker.step() for worker in workers)) == [True, True]
    memory = await room.agent()
    assert (memory.version, [entry.key for entry in memory.entries]) == (2, ["k", "own-i-20", "own-i-21"])
    assert sorted(asked(room) or [names(request) for request in room.model.asked]) == [["i-20"], ["i-21"]]
