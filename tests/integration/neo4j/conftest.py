"""A store on the shared server; each test keeps to a workspace of its own, or says that it empties the database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from graph.store.neo4j import Neo4jStore
from tests.support import neo4j_server as launcher
from tests.support.builders import World
from tests.support.clock import FakeClock
from tests.support.neo4j_plugin import chosen_version
from tests.support.neo4j_server import Neo4jServer
from tests.support.neo4j_store import AUTH, wipe


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(neo4j_uri: str, clock: FakeClock) -> AsyncIterator[Neo4jStore]:
    made = Neo4jStore(neo4j_uri, auth=AUTH, clock=clock)
    await made.open()
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
async def empty_store(store: Neo4jStore, neo4j_uri: str) -> AsyncIterator[Neo4jStore]:
    """The store with nothing in it; the one database of the server is emptied for it."""
    await wipe(neo4j_uri)
    await store.close()
    await store.open()
    yield store
    await wipe(neo4j_uri)


@pytest.fixture
async def own_server(neo4j_server: Neo4jServer, tmp_path: Path) -> AsyncIterator[Neo4jServer]:
    """A server of this test alone, whose data outlives it; the shared one tells whether any can be started."""
    server = launcher.start(chosen_version(), home=tmp_path / "neo4j")
    yield server
    server.kill()
