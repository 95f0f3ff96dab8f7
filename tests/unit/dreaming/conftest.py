"""Background work on a store each, with a clock that moves only when a test moves it."""

from __future__ import annotations

import pytest

from graph.model.nodes.work import Job
from graph.store.port import Store
from graph.store.query import In
from tests.support.held_clock import HeldClock
from tests.unit.graph.services.conftest import deps, engine, fetcher, store, world

__all__ = ["clock", "deps", "engine", "fetcher", "store", "world"]


ENGINES = ["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]


@pytest.fixture(autouse=True)
async def no_work_of_other_tests(store: Store) -> None:
    """Take jobs that other tests left on a shared server out of the way of workers, who take any of their kinds."""
    if store.engine == "neo4j":
        await store.transact(lambda w: w.patch_where(Job, In("state", ["queued", "running"]), {"state": "cancelled"}))


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()
