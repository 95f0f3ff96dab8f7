"""A host and sessions of Atlas."""

from __future__ import annotations

import pytest

from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld


@pytest.fixture
def room(world: TeamWorld) -> SessionRoom:
    return SessionRoom(world)
