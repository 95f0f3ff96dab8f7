"""The bot of the examples with a host, a scripted model and a clock that a test moves."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.support.bot_room import BotRoom
from tests.support.bot_talk import BotTalk
from tests.support.held_clock import HeldClock
from tests.support.world import TeamWorld
from tests.unit.dreaming.conftest import clock, deps, engine, fetcher, no_work_of_other_tests, store, world

__all__ = ["clock", "deps", "engine", "fetcher", "no_work_of_other_tests", "store", "world"]


@pytest.fixture
async def room(world: TeamWorld, clock: HeldClock) -> BotRoom:
    return await BotRoom(world=world, tick=lambda: _tick(clock)).make()


@pytest.fixture
async def talk(room: BotRoom) -> BotTalk:
    return await BotTalk(room=room).make()


def _tick(clock: HeldClock) -> None:
    clock.advance(timedelta(seconds=1))
