"""The bot of the examples and clients of its routes, in this process."""

from __future__ import annotations

from datetime import timedelta

import httpx2
import pytest

from tests.support.bot_room import BotRoom, Rest
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld


@pytest.fixture
async def room(world: TeamWorld, clock: FakeClock) -> BotRoom:
    def tick() -> None:
        clock.advance(timedelta(seconds=1))

    return await BotRoom(world=world, tick=tick).make()


@pytest.fixture
async def u_1(room: BotRoom, http: httpx2.AsyncClient) -> Rest:
    return Rest(http=http, token=await room.token("u_1"))


@pytest.fixture
async def u_2(room: BotRoom, http: httpx2.AsyncClient) -> Rest:
    return Rest(http=http, token=await room.token("u_2"))


@pytest.fixture
async def u_9(room: BotRoom, http: httpx2.AsyncClient) -> Rest:
    """The owner of the bot, with `write`."""
    return Rest(http=http, token=await room.token("u_9"))
