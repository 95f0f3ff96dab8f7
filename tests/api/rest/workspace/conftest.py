"""Keys with each verb, and a file memory, in this process."""

from __future__ import annotations

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from api.bootstrap import Ports
from graph.model.nodes.people import Right
from graph.store.port import Store
from tests.support.clock import FakeClock
from tests.support.keyring import FixedKeyring
from tests.support.memory_client import MemoryClient, key
from tests.support.sandbox_client import Scripted
from tests.support.world import TeamWorld


@pytest.fixture
def script() -> Scripted:
    """The models of sandbox memory."""
    return Scripted()


@pytest.fixture
def ports(store: Store, clock: FakeClock, script: Scripted) -> Ports:
    return Ports(clock=clock, store=store, blobs=open_blobs("memory:///"), keyring=FixedKeyring(), sandbox=script.rules)


@pytest.fixture
async def writer(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Ana, who holds write on the workspace."""
    return await key(http, world, Right.WRITE)


@pytest.fixture
async def runner(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Ben, who holds run on the workspace."""
    return await key(http, world, Right.RUN)


@pytest.fixture
async def reader(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Cleo, who holds read on the workspace."""
    return await key(http, world, Right.READ)


@pytest.fixture
async def team(writer: MemoryClient) -> MemoryClient:
    """Ana, in a new file memory."""
    return await writer.make()
