"""Sums and limits of a memory hold after any changes, whatever their order (FM-26, FM-69, FM-82 to FM-85)."""

from __future__ import annotations

from random import Random

import pytest

from api.bootstrap import Service
from api.settings import Settings
from graph.model.access import SystemScope
from graph.model.nodes.workspace import MemoryFile, MemoryRevision
from graph.rules.workspace_ids import inside
from graph.store.query import By, Eq, Find
from tests.support.memory_client import MemoryClient

LOOK = SystemScope(reason="what a test adds up")
LIMIT, KEPT, PATHS = 65_536, 3, ("a.md", "b.md", "c/d.md", "e.md")


@pytest.fixture
def settings(settings: Settings) -> Settings:
    memory = {"max_total_bytes": LIMIT, "max_file_bytes": 30_000, "revisions_per_file": KEPT}
    return Settings.model_validate({**settings.model_dump(), "memory": memory})


@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.req("FM-26", "FM-69", "FM-82", "FM-83", "FM-84", "FM-85")
async def test_sums_and_limits_hold_after_any_changes(team: MemoryClient, service: Service, seed: int) -> None:
    random, full, last = Random(seed), 0, 0
    for _ in range(60):
        answer = await _change(team, random)
        view = await team.view()
        files, revisions = await _stored(service, team.memory)
        assert view["file_count"] == len(files)
        assert view["content_bytes"] == sum(len(file.content.encode()) for file in files)
        assert view["history_bytes"] == sum(len((one.previous_content or "").encode()) for one in revisions)
        assert view["content_bytes"] + view["history_bytes"] <= LIMIT
        assert all(sum(one.path == path for one in revisions) <= KEPT for path in PATHS)
        numbers = [one.seq for one in revisions]
        assert numbers == sorted(set(numbers))
        newest = max([last, *numbers, *(file.version for file in files)])
        if answer == 409:
            full += 1
            assert newest == last
        last = newest
    assert full


async def _change(team: MemoryClient, random: Random) -> int:
    """Do something to a random file; return the state of the answer."""
    path, content = random.choice(PATHS), random.choice("x\u00e9\u4e2d") * random.randrange(10_000)
    found = await team.send("GET", f"/files/{path}")
    if found.status_code == 404:
        return (await team.send("POST", "/files", {"path": path, "content": content})).status_code
    tag = found.headers["etag"]
    if random.random() < 0.15:
        return (await team.send("DELETE", f"/files/{path}", tag=tag)).status_code
    if random.random() < 0.2:
        body = {"source": path, "destination": random.choice(PATHS)}
        return (await team.send("POST", "/files/move", body, tag=tag)).status_code
    return (await team.send("PUT", f"/files/{path}", {"content": content}, tag=tag)).status_code


async def _stored(service: Service, memory: str) -> tuple[tuple[MemoryFile, ...], tuple[MemoryRevision, ...]]:
    where = Eq("memory_id", inside("wsm", memory))
    async with service.deps.store.reading() as reader:
        files = (await reader.find(LOOK, Find(kind=MemoryFile, where=where))).nodes
        return files, (await reader.find(LOOK, Find(kind=MemoryRevision, where=where, order=By("seq")))).nodes
