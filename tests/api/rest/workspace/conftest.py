"""Keys with each verb, and a file memory, in this process."""

from __future__ import annotations

import httpx2
import pytest

from graph.model.nodes.people import Right
from tests.support.memory_client import MemoryClient, key
from tests.support.world import TeamWorld


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
