"""Sessions of Atlas, driven by a host."""

from __future__ import annotations

import pytest

from tests.support.learning_room import LearningRoom
from tests.support.world import TeamWorld


@pytest.fixture
async def room(world: TeamWorld) -> LearningRoom:
    made = LearningRoom(world)
    await made.make()
    return made
