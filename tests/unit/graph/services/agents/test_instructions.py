"""What a turn is told about its agent and its person."""

from __future__ import annotations

import pytest

from graph.model.nodes.people import Right
from graph.rules.agent_memory_text import PREFACE, PRIVACY
from graph.rules.session_memory_text import SESSION_PREFACE
from graph.services.access.agents import set_agent
from graph.services.access.commands import command
from graph.services.sessions.turns import begin_turn
from tests.support.learning_room import LearningRoom


@pytest.mark.req("AM-30")
async def test_turn_names_its_person_and_without_one_that_of_the_session(room: LearningRoom) -> None:
    assert "You are working with Ben (ben)." in await room.begin_for("t-1", room.world.ben)
    unnamed = await room.host(lambda cmd: begin_turn(cmd, room.id("ses_41"), "t-2"))
    assert "You are working with Ana (ana)." in unnamed


@pytest.mark.req("AM-40", "AM-41", "AM-43", "AM-45", "SM-93")
async def test_parts_stand_in_one_order_and_are_made_anew_when_a_turn_resumes(room: LearningRoom) -> None:
    world = room.world
    await world.grant(world.ana, Right.WRITE, world.atlas)
    await command(world.deps, world.caller(world.dan), lambda cmd: set_agent(cmd, world.atlas, shared=True))
    await room.teach("gone", "Gone.")
    await room.unteach("gone")
    await room.teach("log", "Write the log.")
    await room.remember("venue", "Porto.")
    text = await room.begin("t-1")
    places = [text.index(part) for part in ("You are working with Ana", PRIVACY, PREFACE, SESSION_PREFACE)]
    assert places == sorted(places)
    assert "current instructions prevail" in PREFACE
    assert "Gone." not in text
    await room.suspend("t-1")
    await room.teach("log", "Write it later.")
    assert "- log (procedure): Write it later." in await room.resume("t-1")
