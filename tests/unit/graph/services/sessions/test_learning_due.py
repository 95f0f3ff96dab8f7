"""Which jobs a completed turn asks for."""

from __future__ import annotations

from typing import Any

import pytest

from graph.rules.jobs import JobState
from tests.support.learning_room import LearningRoom
from tests.support.world import TeamWorld


@pytest.fixture
async def room(world: TeamWorld) -> LearningRoom:
    return LearningRoom(world)


async def asked(room: LearningRoom) -> dict[str, Any]:
    return {job.kind: job.arguments for job in await room.jobs() if job.state == JobState.QUEUED}


@pytest.mark.req("SM-95", "SM-97", "SM-120", "AM-22", "AM-24")
@pytest.mark.parametrize(
    ("settings", "model", "kinds"),
    [
        ({}, "m-1", {"learn_session"}),
        ({}, None, set()),
        ({"memory": {"generate": False}}, "m-1", set()),
        ({"agentMemoryModel": "m-mem"}, "m-1", {"learn_agent", "learn_session"}),
        ({"agentMemoryModel": "m-mem"}, None, {"learn_agent"}),
        ({"agentMemoryModel": "m-mem", "agentMemory": False}, "m-1", {"learn_session"}),
    ],
)
async def test_completed_turn_asks_for_what_is_due(
    room: LearningRoom, settings: dict[str, Any], model: str | None, kinds: set[str]
) -> None:
    heron = await room.organization(**settings)
    await room.make(organization_id=heron.id)
    await room.turn("t-1", "i-20", model=model)
    found = await asked(room)
    assert found.keys() == kinds
    turn = f"trn_{room.world.name}/ses:ses_41/t-1"
    assert all(arguments == {"turn": turn, "model": model} for arguments in found.values())


@pytest.mark.req("SM-119", "AM-22")
async def test_other_ends_of_a_turn_ask_for_nothing(room: LearningRoom) -> None:
    heron = await room.teaching()
    await room.make(organization_id=heron.id)
    await room.begin("t-1")
    await room.say("i-20")
    await room.suspend("t-1")
    await room.cancel("t-1")
    assert await asked(room) == {}


@pytest.mark.req("AM-22", "AM-23")
async def test_agent_waits_until_no_turn_of_it_waits_in_any_session(room: LearningRoom) -> None:
    heron = await room.teaching()
    for session in ("ses_41", "ses_42"):
        await room.make(session, organization_id=heron.id)
    await room.queue("t-9", local="ses_42")
    await room.turn("t-1", "i-20", model=None)
    assert await asked(room) == {}
    await room.cancel("t-9", local="ses_42")
    await room.turn("t-2", "i-21", model=None)
    assert set(await asked(room)) == {"learn_agent"}
