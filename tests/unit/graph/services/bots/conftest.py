"""The bot of the examples on each store."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.bot_room import BotRoom
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld


@pytest.fixture
async def room(world: TeamWorld, clock: FakeClock) -> BotRoom:
    def tick() -> None:
        clock.advance(timedelta(seconds=1))

    return await BotRoom(world=world, tick=tick).make()
