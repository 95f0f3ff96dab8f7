"""Atlas, whom an organization lets learn, with a scripted model and a clock that a test moves."""

from __future__ import annotations

import pytest

from graph.model.nodes.people import Organization, Right
from tests.support.learning_room import SESSION, LearningRoom, says
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import clock, deps, engine, fetcher, no_work_of_other_tests, store, world

__all__ = ["clock", "deps", "engine", "fetcher", "no_work_of_other_tests", "store", "world"]


@pytest.fixture
async def room(world: TeamWorld) -> LearningRoom:
    """Ana may write Atlas; what its sessions learn is nothing."""
    await world.grant(world.ana, Right.WRITE, world.atlas)
    made = LearningRoom(world)
    made.model.on(SESSION, says())
    return made


@pytest.fixture
async def heron(room: LearningRoom) -> Organization:
    """The organization of ``ses_41``."""
    made = await room.teaching()
    await room.make(organization_id=made.id)
    return made
