from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from graph.store.embedded import EmbeddedStore
from tests.support.builders import World
from tests.support.clock import FakeClock
from tests.unit.graph.store.embedded.disk import Disk


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
async def store(path: Path, clock: FakeClock) -> AsyncIterator[EmbeddedStore]:
    made = EmbeddedStore(path, clock=clock)
    await made.open()
    yield made
    await made.close()


@pytest.fixture
def disk() -> Iterator[Disk]:
    disk = Disk()
    yield disk
    disk.unregister()
