"""The stores under the contract. Each test keeps to a workspace of its own, so that one server serves all."""

from __future__ import annotations

import importlib
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from neo4j import AsyncGraphDatabase

from graph.store.memory import MemoryStore
from graph.store.port import Isolation, Store
from tests.contract.store.asking import Ask
from tests.support.builders import World
from tests.support.clock import FakeClock
from tests.support.neo4j_plugin import chosen_version
from tests.support.neo4j_server import Neo4jServer, start

ENGINES = ("memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j))

NEEDS_SNAPSHOT = "reads committed data statement by statement; readers compare versions (docs/design.md#consistency)"


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
    uri = request.getfixturevalue("neo4j_uri")
    return lambda: _neo4j_store(uri, clock)


@pytest.fixture(scope="session")
def second_neo4j() -> Iterator[Neo4jServer]:
    """A server that holds nothing but what one test puts there; the shared one is never empty."""
    with start(chosen_version(), heap_mb=512) as server:
        yield server


@pytest.fixture
async def empty_store(
    engine: str, new_store: Callable[[], Store], request: pytest.FixtureRequest, clock: FakeClock
) -> AsyncIterator[Store]:
    """A second store, open, that holds nothing."""
    if engine == "neo4j":
        server: Neo4jServer = request.getfixturevalue("second_neo4j")
        await _wipe(server)
        made: Store = _neo4j_store(server.uri, clock)
    else:
        made = new_store()
    await made.open()
    try:
        yield made
    finally:
        await made.close()


async def _wipe(server: Neo4jServer) -> None:
    async with AsyncGraphDatabase.driver(server.uri) as driver:
        await driver.execute_query("MATCH (n) DETACH DELETE n")


def _neo4j_store(uri: str, clock: FakeClock) -> Store:
    neo4j = importlib.import_module("graph.store.neo4j")
    made: Store = neo4j.Neo4jStore(uri, auth=("neo4j", "password"), database="neo4j", clock=clock)
    return made


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
