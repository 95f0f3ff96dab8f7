"""A host, sessions and clients of the REST routes, in this process."""

from __future__ import annotations

import httpx2
import pytest

from tests.support.session_room import SessionClient, SessionRoom
from tests.support.world import TeamWorld


@pytest.fixture
def room(world: TeamWorld) -> SessionRoom:
    return SessionRoom(world)


@pytest.fixture
async def person(http: httpx2.AsyncClient, world: TeamWorld) -> SessionClient:
    """Ana, the person of the sessions."""
    return SessionClient(http=http, token=await world.token(world.ana))
