"""The stores under the contract. Each test keeps to a workspace of its own, so that one server serves all."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from graph.store.memory import MemoryStore
from graph.store.port import Isolation, Store
from tests.contract.store.asking import Ask
from tests.support.builders import World
from tests.support.clock import FakeClock

ENGINES = ("memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j))

NEEDS_SNAPSHOT = "reads committed data statement by statement: readers compare accessVersion instead (design section 3)"
NEEDS_EMPTY = "one server is shared by all tests, so it is never empty; tests/unit/graph/store/neo4j covers import"


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def new_store(engine: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> Callable[[], Store]:
    """Return a function that makes a store, not opened yet; on a server it is the same place each time."""
    if engine == "memory":
        return lambda: MemoryStore(clock=clock)
    if engine == "embedded":
        embedded = importlib.import_module("graph.store.embedded")
        numbers = iter(range(1_000_000))
        return lambda: embedded.EmbeddedStore(tmp_path / f"{next(numbers)}.db", clock=clock)
    neo4j = importlib.import_module("graph.store.neo4j")
    uri = request.getfixturevalue("neo4j_uri")
    return lambda: neo4j.Neo4jStore(uri, auth=("neo4j", "password"), database="neo4j", clock=clock)


@pytest.fixture
async def store(new_store: Callable[[], Store]) -> AsyncIterator[Store]:
    made = new_store()
    await made.open()
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def ask(store: Store) -> Ask:
    return Ask(store)


@pytest.fixture
def snapshot_store(store: Store) -> Store:
    """The store, if its readers keep one state; the others declare that they do not."""
    if store.isolation is not Isolation.SNAPSHOT:
        pytest.skip(f"{store.engine} {NEEDS_SNAPSHOT}")
    return store
