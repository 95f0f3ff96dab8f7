"""Files of a memory through the routes (FM-49 to FM-68)."""

from __future__ import annotations

import httpx2
import pytest

from graph.model.nodes.people import Right
from tests.support.memory_client import MemoryClient, key
from tests.support.world import TeamWorld


@pytest.fixture
async def writer(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Who holds write on the workspace."""
    return await key(http, world, Right.WRITE)


@pytest.fixture
async def team(writer: MemoryClient) -> MemoryClient:
    """The same, in a new file memory."""
    return await writer.make()


async def test_a_stale_edit(team: MemoryClient) -> None:
    first = await team.write("notes/style.md", "en\n")
    second = await team.put("notes/style.md", "zh\n", first)
    status, code, details = await team.refused("PUT", "/files/notes/style.md", {"content": "fr\n"}, tag=first)
    assert (status, code, details["current_etag"]) == (412, "precondition_failed", second)
    assert details["current"] == {"path": "notes/style.md", "version": 2, "size": 3, "content": "zh\n"}
