"""The session of the examples with a scripted model and a clock that a test moves."""

from __future__ import annotations

import pytest

from tests.support.learning_room import LearningRoom
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import clock, deps, engine, fetcher, no_work_of_other_tests, store, world

__all__ = ["clock", "deps", "engine", "fetcher", "no_work_of_other_tests", "store", "world"]


@pytest.fixture
async def room(world: TeamWorld) -> LearningRoom:
    made = LearningRoom(world)
    await made.start(model="m-1")
    return made
