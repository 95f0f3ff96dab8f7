"""What holds at every route of memories alike: whose they are, and how collections are read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from graph.model.nodes.people import Right
from graph.rules.record_providers import SELF_HOSTED
from tests.support.mem0_server import Mem0Server
from tests.support.memory_client import MemoryClient, key
from tests.support.record_room import RecordRoom
from tests.support.world import TeamWorld

AT = "//memory-providers"


@pytest.mark.req("FM-4", "RM-17", "RM-18")
async def test_what_is_of_another_workspace_is_not_there(
    room: RecordRoom, writer: MemoryClient, world: TeamWorld, mem0: Mem0Server
) -> None:
    provider = await room.provider()
    memory = await room.memory(provider)
    stranger = await key(writer.http, await TeamWorld(deps=world.deps).make(), Right.WRITE)
    missing = (404, "not_found", {"kind": "memory_provider", "id": provider})
    for method, path in (("GET", ""), ("PATCH", ""), ("POST", "/test")):
        assert await stranger.refused(method, f"{AT}/{provider}{path}") == missing
    body = {"name": "Facts", "type": SELF_HOSTED, "provider_id": provider}
    assert await stranger.refused("POST", "//memories", body) == missing
    for method, path in (
        ("GET", ""), ("PATCH", ""), ("DELETE", ""),
        ("GET", "/files/a"), ("POST", "/files"), ("PUT", "/files/a"), ("DELETE", "/files/a"), ("POST", "/files/move"),
        ("GET", "/revisions"), ("GET", "/revisions/1"), ("POST", "/revisions/1/restore"), ("DELETE", "/revisions"),
        ("GET", "/records"), ("POST", "/records"), ("POST", "/records/search"), ("PUT", "/records/a"),
        ("DELETE", "/records/a"),
    ):  # fmt: skip
        refused = await stranger.within(memory.memory).refused(method, path)
        assert refused == (404, "not_found", {"kind": "memory", "id": memory.memory})
    for path in ("//memories", AT, f"//audit-events?target_id={memory.memory}"):
        assert (await stranger.ok("GET", path))["items"] == []
    assert mem0.asked == []


@pytest.mark.req("FM-8", "FM-9", "RM-29", "RM-41")
async def test_every_collection_takes_a_limit_and_its_own_cursors_alone(
    room: RecordRoom, writer: MemoryClient, mem0: Mem0Server
) -> None:
    facts, team = await room.memory(), await writer.make()
    for path in ("a.md", "b.md"):
        await team.write(path, "x")
        mem0.store((await facts.view())["namespace"], path)
    await room.provider()
    lists = [f"//{name}" for name in ("memories", "memory-providers", "audit-events")]
    lists += [f"//memories/{team.memory}/{name}" for name in ("files", "revisions")] + [
        f"//memories/{facts.memory}/records"
    ]
    cursors = {}
    for path in lists:
        for limit in ("0", "101", "", "1.0", "x"):
            assert (await writer.refused("GET", path, limit=limit))[2]["field"] == "limit"
        page = await writer.ok("GET", path, limit=1)
        assert len(page["items"]) == 1
        cursors[path] = page["next_cursor"]
        whole = [item async for item in _all(writer, path)]
        assert whole == (await writer.ok("GET", path, limit=100))["items"]
    for path, cursor in ((path, cursor) for path in lists for cursor in (*cursors.values(), "x")):
        if cursor != cursors[path]:
            code = "invalid_argument" if path.endswith("/records") else "invalid_cursor"
            assert (await writer.refused("GET", path, cursor=cursor))[:2] == (400, code), path


async def _all(client: MemoryClient, path: str) -> AsyncIterator[Any]:
    """Yield all of a collection, one by one."""
    more: dict[str, str] = {}
    while True:
        page = await client.ok("GET", path, limit=1, **more)
        for item in page["items"]:
            yield item
        if page["next_cursor"] is None:
            return
        more = {"cursor": page["next_cursor"]}
