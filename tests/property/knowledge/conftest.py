"""Stores and ports for random worlds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from api.adapters.blobs import open_blobs
from api.adapters.extract import DocumentExtractor
from graph.services.deps import Deps
from graph.store.embedded import EmbeddedStore
from graph.store.memory import MemoryStore
from graph.store.port import Store
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support.clock import FakeClock
from tests.support.ids import SequentialIds
from tests.support.keyring import fixed_vault
from tests.support.pages import FakeFetcher
from tests.support.randomness import SeededRandomness

NewStore = Callable[[], Awaitable[Store]]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["memory", "embedded"])
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def new_store(engine: str, tmp_path: Path, clock: FakeClock) -> AsyncIterator[NewStore]:
    """Give a function that opens one more empty store."""
    opened: list[Store] = []

    async def make() -> Store:
        name = tmp_path / f"{len(opened)}.db"
        store: Store = MemoryStore(clock=clock) if engine == "memory" else EmbeddedStore(name, clock=clock)
        await store.open()
        opened.append(store)
        return store

    yield make
    for store in opened:
        await store.close()


def deps_of(store: Store, clock: FakeClock) -> Deps:
    """Return the ports around a store; equal calls give equal ids."""
    return Deps(
        store=store,
        clock=clock,
        ids=SequentialIds(),
        randomness=SeededRandomness(),
        tokenizer=DEFAULT_TOKENIZER,
        blobs=open_blobs("memory:///"),
        fetcher=FakeFetcher(clock),
        extractor=DocumentExtractor(),
        vault=fixed_vault(),
    )
