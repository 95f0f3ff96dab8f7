"""What the acceptance tests of learning share: a model that the test puts in, and the room that it works in."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from dreaming.models.making import OneModel
from dreaming.models.scripted import ScriptedModel
from graph.store.port import Store
from tests.support.held_clock import HeldClock
from tests.support.keyring import FixedKeyring
from tests.support.learning_room import LearningRoom, Stand
from tests.support.world import TeamWorld


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def stand() -> Stand:
    """The model of the server."""
    return Stand(ScriptedModel())


@pytest.fixture
def ports(store: Store, clock: HeldClock, stand: Stand) -> Ports:
    return Ports(
        clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring(), models=OneModel(model=stand)
    )


@pytest.fixture
async def room(world: TeamWorld, stand: Stand) -> LearningRoom:
    made = LearningRoom(world)
    stand.inner = made.model
    made.stand = stand
    return made


@pytest.fixture
async def http(server: str) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=server, timeout=600) as client:
        yield client
