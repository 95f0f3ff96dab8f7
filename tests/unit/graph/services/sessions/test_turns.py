"""The life of a turn, and the instructions it is given."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.errors import BadState, NotFound
from graph.model.ids import NodeId
from graph.model.nodes.sessions import SessionItem, Turn
from graph.rules.session_memory_text import SESSION_PREFACE
from graph.services.sessions.state import MEMORY
from graph.services.sessions.turns import (
    begin_turn,
    cancel_turn,
    complete_turn,
    queue_turn,
    resume_turn,
    suspend_turn,
    turn_id,
)
from graph.store.query import By, Eq, Find
from tests.support.clock import FakeClock
from tests.support.session_room import SessionRoom


async def turns(room: SessionRoom) -> list[Turn]:
    async with room.world.deps.store.reading() as reader:
        query = Find(kind=Turn, where=Eq("place_id", room.id("ses_41")), order=By("seq"))
        return list((await reader.find(MEMORY, query)).nodes)


@pytest.mark.req("SM-124")
async def test_a_turn_waits_runs_is_suspended_goes_on_and_ends(room: SessionRoom, clock: FakeClock) -> None:
    world, id_ = room.world, (await room.make()).id
    began = clock.now()
    await room.host(lambda cmd: queue_turn(cmd, id_, "t-1", world.ana))
    await room.host(lambda cmd: queue_turn(cmd, id_, "t-2"))
    await room.host(lambda cmd: begin_turn(cmd, id_, "t-1", world.ana))
    clock.advance(timedelta(seconds=5))
    await room.host(lambda cmd: suspend_turn(cmd, id_, "t-1", world.ana))
    await room.host(lambda cmd: resume_turn(cmd, id_, "t-1", world.ana))
    await room.host(lambda cmd: complete_turn(cmd, id_, "t-1", "quick"))
    await room.host(lambda cmd: cancel_turn(cmd, id_, "t-2"))
    first, second = await turns(room)
    assert (first.state, first.model, first.person_id, first.seq) == ("completed", "quick", world.ana, 1)
    assert (first.began_at, first.ended_at) == (began, clock.now())
    assert (second.state, second.model, second.person_id, second.seq) == ("cancelled", None, None, 2)
    session = await room.session()
    assert (session.revision, session.head) == (0, session.root_head)


@pytest.mark.req("SM-124")
async def test_a_turn_takes_only_the_steps_of_its_state(room: SessionRoom) -> None:
    id_ = (await room.make()).id
    steps = {
        "queue": lambda cmd: queue_turn(cmd, id_, "t-1"),
        "begin": lambda cmd: begin_turn(cmd, id_, "t-1"),
        "suspend": lambda cmd: suspend_turn(cmd, id_, "t-1"),
        "resume": lambda cmd: resume_turn(cmd, id_, "t-1"),
        "complete": lambda cmd: complete_turn(cmd, id_, "t-1", None),
        "cancel": lambda cmd: cancel_turn(cmd, id_, "t-1"),
    }

    async def refused(*names: str, error: type[Exception] = BadState) -> None:
        before = await turns(room)
        for name in names:
            with pytest.raises(error):
                await room.host(steps[name])
        assert await turns(room) == before

    await refused("suspend", "resume", "complete", "cancel", error=NotFound)
    await room.host(steps["queue"])
    await refused("queue", "suspend", "resume")
    await room.host(steps["begin"])
    await refused("queue", "begin", "resume")
    await room.host(steps["suspend"])
    await refused("queue", "begin", "suspend")
    await room.host(steps["resume"])
    await room.host(steps["complete"])
    await refused(*steps)


@pytest.mark.req("SM-124")
async def test_a_turn_is_for_a_person_of_the_workspace(room: SessionRoom) -> None:
    id_ = (await room.make()).id
    for person in (NodeId("prn_w/human/x"), room.world.atlas):
        for step in (queue_turn, begin_turn):
            with pytest.raises(NotFound):
                await room.host(lambda cmd, s=step, p=person: s(cmd, id_, "t-1", p))  # type: ignore[misc]
    assert await turns(room) == []


@pytest.mark.req("SM-53", "SM-75", "SM-83", "SM-85", "SM-93")
async def test_the_text_is_made_when_a_turn_starts_and_when_it_goes_on(room: SessionRoom) -> None:
    world, id_ = room.world, (await room.make()).id
    assert SESSION_PREFACE not in await room.begin("t-0")
    await room.remember("venue", "Porto.")
    await room.remember("food", "Vegan.")
    await room.forget("food")
    text = await room.begin("t-1")
    assert text.endswith(f"{SESSION_PREFACE}\n- venue (decision): Porto.")
    await room.remember("venue", "Braga.")  # while it runs
    await room.host(lambda cmd: suspend_turn(cmd, id_, "t-1", world.ana))
    again = await room.host(lambda cmd: resume_turn(cmd, id_, "t-1", world.ana))
    assert again.endswith(f"{SESSION_PREFACE}\n- venue (decision): Braga.")


@pytest.mark.req("SM-75", "SM-76", "SM-78", "SM-82")
async def test_the_switch_use_alone_decides_whether_facts_are_used(room: SessionRoom) -> None:
    organization = await room.organization(memory={"use": False})
    await room.make(organization_id=organization.id)
    await room.remember("venue", "Porto.")
    assert "Porto." not in await room.begin("t-1")
    await room.configure(use=True, generate=False)
    assert "Porto." in await room.begin("t-2")
    await room.configure(use=None)
    assert "Porto." not in await room.begin("t-3")
    await room.set_organization(organization, memory={"generate": False})
    assert "Porto." in await room.begin("t-4")


@pytest.mark.req("SM-68")
async def test_no_other_session_receives_the_facts_of_one(room: SessionRoom) -> None:
    await room.make()
    await room.make("ses_42")
    await room.remember("venue", "Porto.")
    assert "Porto." not in await room.begin("t-1", local="ses_42")
    assert "Porto." in await room.begin("t-1")


@pytest.mark.req("SM-39")
async def test_an_edit_is_no_conversation(room: SessionRoom) -> None:
    await room.make()
    await room.remember("venue", "Porto.")
    await room.forget("venue")
    assert "Porto." not in await room.begin("t-1")


@pytest.mark.req("SM-124", "AM-31")
async def test_an_item_belongs_to_the_turn_that_is_named_or_else_to_the_one_that_runs(room: SessionRoom) -> None:
    session = await room.make()
    await room.say("before")
    await room.begin("t-1")
    await room.say("during")
    await room.host(lambda cmd: queue_turn(cmd, session.id, "t-2"))
    await room.say("named", turn="t-2")
    await room.complete("t-1")
    await room.say("after")
    with pytest.raises(NotFound):
        await room.say("unknown", turn="t-9")
    async with room.world.deps.store.reading() as reader:
        query = Find(kind=SessionItem, where=Eq("session_id", session.id), order=By("depth"))
        found = [item.turn_id for item in (await reader.find(MEMORY, query)).nodes]
    assert found == [None, turn_id(session, "t-1"), turn_id(session, "t-2"), None]
