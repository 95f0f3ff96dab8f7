"""Promoting a session: who may, and what the agent's memory is then."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.errors import Forbidden, MissingObject
from graph.model.nodes.people import Right
from graph.services.access.commands import command
from graph.services.agents.promotion import promote
from graph.services.sessions.turns import begin_turn
from tests.support.learning_room import LearningRoom


@pytest.mark.req("AM-47", "AM-53")
async def test_host_promotes_and_so_does_who_may_write_both(room: LearningRoom) -> None:
    world = room.world
    await room.remember("p", "First the log.", kind="procedure")
    with pytest.raises(Forbidden):
        await room.as_ana(lambda cmd: promote(cmd, room.id("ses_41")))
    await world.grant(world.ana, Right.WRITE, world.atlas)
    assert (await room.as_ana(lambda cmd: promote(cmd, room.id("ses_41")))).version == 1
    assert await room.promote() == 1
    with pytest.raises(MissingObject):
        await room.host(lambda cmd: promote(cmd, room.id("ses_nope")))
    with pytest.raises(Forbidden):
        await command(world.deps, world.caller(world.ben), lambda cmd: promote(cmd, room.id("ses_41")))


@pytest.mark.req("AM-50")
async def test_promoting_again_undoes_no_edit_of_the_agent(room: LearningRoom) -> None:
    world = room.world
    await world.grant(world.ana, Right.WRITE, world.atlas)
    await room.remember("p", "First the log.", kind="procedure")
    await room.remember("q", "ISO dates.", kind="preference")
    assert await room.promote() == 1
    await room.teach("p", "Mine.")
    assert await room.unteach("q") == 3
    assert await room.promote() == 3
    assert (await room.entry("p")).content == "Mine."
    assert (await room.entry("q")).status == "retracted"


@pytest.mark.req("AM-50", "AM-34")
async def test_of_two_promotions_at_once_one_makes_a_version(room: LearningRoom) -> None:
    await room.remember("p", "First the log.", kind="procedure")
    assert await asyncio.gather(*(room.promote() for _ in range(4))) == [1, 1, 1, 1]


@pytest.mark.req("AM-52")
async def test_promotion_needs_no_model_and_no_switch(room: LearningRoom) -> None:
    heron = await room.organization(agentMemory=False, agentMemoryModel=None)
    await room.make("ses_42", organization_id=heron.id)
    await room.remember("p", "First the log.", kind="procedure", local="ses_42")
    assert await room.promote("ses_42") == 1
    assert await room.jobs() == []
    text = await room.host(lambda cmd: begin_turn(cmd, room.id("ses_42"), "t-1", room.world.ana))
    assert "- p (procedure): First the log." in text
