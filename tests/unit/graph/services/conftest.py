"""The services on a store each: the reference and the embedded one; a few tests ask for Neo4j too.

A test module picks other engines with ``pytestmark = pytest.mark.parametrize("engine", ENGINES, indirect=True)``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from secrets import randbits

import pytest

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from graph.services.deps import Deps
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.neo4j import Neo4jStore
from graph.store.port import Store
from graph.store.sealing import Vault
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.keyring import FixedKeyring
from tests.support.pages import FakeFetcher
from tests.support.randomness import SeededRandomness
from tests.support.world import TeamWorld


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "embedded"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def store(engine: str, request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> AsyncIterator[Store]:
    made: Store = MemoryStore(clock=clock)
    if engine == "embedded":
        made = EmbeddedStore(tmp_path / "graph.db", clock=clock)
    if engine == "neo4j":
        made = Neo4jStore(request.getfixturevalue("neo4j_uri"), auth=("neo4j", "password"), clock=clock)
    await made.open()
    try:
        yield made
    finally:
        await made.close()


@pytest.fixture
def fetcher(clock: FakeClock) -> FakeFetcher:
    return FakeFetcher(clock)


@pytest.fixture
def deps(store: Store, clock: FakeClock, fetcher: FakeFetcher) -> Deps:
    return Deps(
        store=store,
        clock=clock,
        ids=SequentialIds(randbits(60) if store.engine == "neo4j" else 1),  # one server serves all tests
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=fetcher,
        extractor=DocumentExtractor(),
        vault=Vault(FixedKeyring(), SeededRandomness()),
    )


@pytest.fixture
async def world(deps: Deps) -> TeamWorld:
    return await TeamWorld(deps=deps).make()
