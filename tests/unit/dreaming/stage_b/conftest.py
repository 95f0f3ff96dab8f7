"""An agent with a scripted model, on a store each."""

from __future__ import annotations

import pytest

from tests.support.held_clock import HeldClock
from tests.support.night import Night
from tests.support.world import TeamWorld
from tests.unit.graph.services.conftest import deps, engine, fetcher, store, world

__all__ = ["clock", "deps", "engine", "fetcher", "store", "world"]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def night(world: TeamWorld, clock: HeldClock) -> Night:
    return await Night(world, clock).make()
