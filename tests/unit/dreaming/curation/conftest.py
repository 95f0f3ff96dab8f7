"""Opening and applying on a store each, with a clock that moves only when a test moves it."""

from __future__ import annotations

import pytest

from tests.support.held_clock import HeldClock
from tests.unit.graph.services.conftest import deps, engine, fetcher, store, world

__all__ = ["clock", "deps", "engine", "fetcher", "store", "world"]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()
