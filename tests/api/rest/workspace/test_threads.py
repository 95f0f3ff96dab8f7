"""Threads and their mounts through the routes (MT-1 to MT-18)."""

from __future__ import annotations

from typing import Any

import httpx2
import pytest

from graph.model.nodes.people import Right
from graph.model.nodes.workspace import ThreadMount
from graph.services.workspace.mounts import MOUNTS
from graph.store.query import Find
from tests.support.memory_client import MemoryClient, key
from tests.support.run_client import Runtime
from tests.support.world import TeamWorld


@pytest.fixture
async def writer(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Who holds write on the workspace."""
    return await key(http, world, Right.WRITE)


@pytest.fixture
async def team(writer: MemoryClient) -> MemoryClient:
    """The same, in a new file memory."""
    return await writer.make()


@pytest.fixture
async def thread(writer: MemoryClient) -> Runtime:
    """An empty thread."""
    return await Runtime(writer).start()


def mount_of(memory: str, name: str = "team", **fields: Any) -> dict[str, Any]:
    return {"name": name, "memory_id": memory, **fields}


@pytest.mark.req("MT-1", "MT-3", "MT-4", "MT-5", "MT-12", "MT-9", "FM-8", "FM-9")
async def test_mounts_are_listed_by_name_under_the_tag_of_the_thread(thread: Runtime, team: MemoryClient) -> None:
    first = thread.tag
    made = await thread.mount("team", team.memory)
    assert made == {"name": "team", "memory_id": team.memory, "access": "write", "recall": True}
    assert thread.tag != first
    other = await team.make()
    answer = await thread.client.send("POST", thread.path("/memories"), mount_of(other.memory, "facts"), tag=thread.tag)
    assert (answer.status_code, answer.json()["access"]) == (201, "read")
    assert await thread.mounts() == ["facts", "team"]
    assert thread.tag == answer.headers["etag"]
    whole = await thread.client.ok("GET", thread.path("/memories"), limit=1)
    assert ([mount["name"] for mount in whole["items"]], whole["next_cursor"]) == (["facts", "team"], None)
    assert (await thread.client.refused("GET", thread.path("/memories"), limit=0))[2]["field"] == "limit"
    assert (await thread.client.refused("GET", thread.path("/memories"), cursor="x"))[1] == "invalid_cursor"


@pytest.mark.req("MT-2", "MT-10", "MT-14")
async def test_mounting_is_refused_for_a_reason(thread: Runtime, team: MemoryClient) -> None:
    path, client = thread.path("/memories"), thread.client
    stale = thread.tag
    await thread.mount("team", team.memory)
    again = mount_of((await team.make()).memory, "more")
    assert (await client.refused("POST", path, again))[::2] == (428, {"header": "If-Match"})
    assert (await client.refused("POST", path, again, tag=stale))[::2] == (412, {"current_etag": thread.tag})
    for name in ("Team", "", "1a", "a_b", "a" * 64, "a\n"):
        _, code, details = await client.refused("POST", path, {**again, "name": name}, tag=thread.tag)
        assert (code, details["field"]) == ("invalid_argument", "name")
    for memory in ("mem_nothing", "team", "thread_1"):
        status, code, details = await client.refused("POST", path, mount_of(memory, "more"), tag=thread.tag)
        assert (status, code, details["kind"]) == (404, "not_found", "memory")
    for field, value in (("access", "all"), ("recall", "yes"), ("guide", "")):
        assert (await client.refused("POST", path, {**again, field: value}, tag=thread.tag))[2]["field"] == field
    assert await thread.mounts() == ["team"]


@pytest.mark.req("MT-6", "MT-9")
async def test_a_thread_mounts_each_name_and_memory_once_and_eight_in_all(thread: Runtime, team: MemoryClient) -> None:
    made = [await team.make() for _ in range(9)]
    for place, memory in enumerate(made[:8]):
        await thread.mount(f"m{place}", memory.memory)
    path, client = thread.path("/memories"), thread.client
    status, code, details = await client.refused("POST", path, mount_of(made[8].memory, "m8"), tag=thread.tag)
    assert (status, code, details["reason"], details["limit"]) == (409, "conflict", "memory_mount_limit", 8)
    _, code, details = await client.refused("POST", path, mount_of(made[8].memory, "m0"), tag=thread.tag)
    assert (code, details) == ("already_exists", {"kind": "mount", "key": "m0"})
    _, code, details = await client.refused("POST", path, mount_of(made[0].memory, "m8"), tag=thread.tag)
    assert (code, details["reason"]) == ("conflict", "already_mounted")


@pytest.mark.req("MT-7", "MT-8", "MT-10", "MT-13", "FM-14", "FM-16", "FM-17")
async def test_a_mount_changes_access_and_recall_and_is_removed(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    path, client = thread.path("/memories/team"), thread.client
    before = thread.tag
    assert await client.tag("PATCH", path, {"access": "write"}, tag=before) == before
    answer = await client.send("PATCH", path, {"access": "read", "recall": False}, tag=before)
    assert answer.json() == mount_of(team.memory, access="read", recall=False)
    after = answer.headers["etag"]
    assert after != before
    for field in ("memory_id", "name"):
        assert (await client.refused("PATCH", path, {field: "x"}, tag=after))[2]["field"] == field
    for method, body in (("PATCH", {"access": "write"}), ("DELETE", None)):
        assert (await client.refused(method, path, body))[::2] == (428, {"header": "If-Match"})
        assert (await client.refused(method, path, body, tag=before))[::2] == (412, {"current_etag": after})
        unknown = await client.refused(method, thread.path("/memories/nope"), body, tag=before)
        assert unknown == (404, "not_found", {"kind": "mount", "id": "nope"})
    assert await thread.mounts() == ["team"]
    gone = await client.send("DELETE", path, tag=after)
    assert (gone.status_code, gone.headers["etag"] != after) == (204, True)
    assert await thread.mounts() == []
    await thread.mount("team", (await team.make()).memory)


@pytest.mark.req("MT-15", "MT-18")
async def test_a_new_thread_takes_mounts_or_is_not_made(
    writer: MemoryClient, team: MemoryClient, world: TeamWorld
) -> None:
    thread = await Runtime(writer).start(memories=[mount_of(team.memory)])
    assert await thread.mounts() == ["team"]
    good, other = mount_of(team.memory, "one"), await team.make()
    for bad, expected in (
        (mount_of("mem_nothing", "two"), (404, "not_found")),
        (mount_of(other.memory, "one"), (409, "already_exists")),
        (mount_of(team.memory, "two"), (409, "conflict")),
        (mount_of(other.memory, "Two"), (400, "invalid_argument")),
    ):
        assert (await writer.refused("POST", "//threads", {"memories": [good, bad]}))[:2] == expected
    empty = await writer.ok("POST", "//threads")
    assert (empty["id"].startswith("thread_"), empty["memories"]) == (True, [])
    assert (await writer.refused("POST", "//threads", []))[2]["field"] == "body"
    _, _, details = await writer.refused("POST", "//threads", {"memories": [good] * 33})
    assert details["field"] == "memories"
    many = [mount_of("mem_nothing", f"m{place}") for place in range(32)]
    assert (await writer.refused("POST", "//threads", {"memories": many}))[:2] == (404, "not_found")
    async with world.deps.store.reading() as reader:
        found = (await reader.find(MOUNTS, Find(kind=ThreadMount))).nodes
    assert [mount.name for mount in found if mount.workspace == world.workspace] == ["team"]


@pytest.mark.req("MT-17")
async def test_archiving_removes_mounts_for_good(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    before, client = thread.tag, thread.client
    archived = await client.ok("POST", thread.path("/archive"))
    assert (archived["memories"], archived["archived_at"] is None) == ([], False)
    assert await thread.mounts() == []
    assert thread.tag != before
    body = mount_of(team.memory)
    _, code, details = await client.refused("POST", thread.path("/memories"), body, tag=thread.tag)
    assert (code, details["reason"]) == ("conflict", "archived")
    back = await client.ok("POST", thread.path("/unarchive"))
    assert (back["memories"], back["archived_at"]) == ([], None)
    await thread.mounts()
    await thread.mount("team", team.memory)


@pytest.mark.req("FM-19", "FM-46", "FM-47")
async def test_deleting_a_memory_unmounts_it_and_moves_the_tag(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    before = thread.tag
    await team.ok("DELETE", "", tag=f'"{team.memory}:1"')
    assert await thread.mounts() == []
    assert thread.tag != before
    for target in (thread.thread, team.memory):
        events = (await team.ok("GET", "//audit-events", target_id=target))["items"]
        [gone] = [event for event in events if event["action"] == "thread_memory.delete"]
        assert (gone["target_id"], gone["memory_id"]) == (thread.thread, team.memory)
        assert gone["details"] == {"name": "team", "access": "write", "recall": True}


@pytest.mark.req("FM-19")
async def test_mounting_is_audited_in_the_memory(thread: Runtime, team: MemoryClient) -> None:
    await thread.mount("team", team.memory)
    path = thread.path("/memories/team")
    tag = await thread.client.tag("PATCH", path, {"access": "read"}, tag=thread.tag)
    await thread.client.ok("DELETE", path, tag=tag)
    events = (await team.ok("GET", "//audit-events", target_id=thread.thread))["items"]
    assert [event["action"] for event in events] == [
        "thread_memory.delete",
        "thread_memory.update",
        "thread_memory.create",
    ]
    assert {event["memory_id"] for event in events} == {team.memory}
    assert events[0]["details"]["name"] == "team"


@pytest.mark.req("MT-10", "MT-12", "FM-3", "FM-4")
async def test_reading_lists_mounts_and_running_changes_them(
    thread: Runtime, team: MemoryClient, http: httpx2.AsyncClient, world: TeamWorld
) -> None:
    runner, reader = await key(http, world, Right.RUN), await key(http, world, Right.READ)
    stranger = MemoryClient(http=http, token=await world.token(world.eve))
    body = mount_of(team.memory)
    assert (await reader.refused("POST", thread.path("/memories"), body, tag=thread.tag))[::2] == (
        403,
        {"verb": "run"},
    )
    assert (await reader.refused("POST", "//threads", {}))[0] == 403
    assert (await stranger.refused("GET", thread.path("/memories")))[::2] == (403, {"verb": "read"})
    await runner.tag("POST", thread.path("/memories"), body, tag=thread.tag)
    assert len((await reader.ok("GET", thread.path("/memories")))["items"]) == 1
    other = await TeamWorld(deps=world.deps).make()
    foreign = await key(http, other, Right.WRITE)
    for path in ("", "/memories"):
        assert (await foreign.refused("GET", thread.path(path)))[::2] == (404, {"kind": "thread", "id": thread.thread})
    theirs = await foreign.make()
    tag = await thread.client.tag("GET", thread.path())
    status, _, details = await thread.client.refused(
        "POST", thread.path("/memories"), mount_of(theirs.memory, "theirs"), tag=tag
    )
    assert (status, details["kind"]) == (404, "memory")
