"""The history of a memory through the routes, its limits, and what is audited (FM-19, FM-74 to FM-86)."""

from __future__ import annotations

import httpx2
import pytest

from api.bootstrap import Ports, Service, build
from api.settings import Settings
from graph.model.nodes.people import Right
from tests.support.memory_client import MemoryClient, key
from tests.support.run_client import Runtime
from tests.support.world import TeamWorld


@pytest.mark.req("FM-74", "FM-75", "FM-8")
async def test_changes_are_listed_newest_first_by_path_too(team: MemoryClient) -> None:
    tag = await team.write("a.md", "1")
    await team.write("b.md", "1")
    tag = await team.put("a.md", "2", tag)
    await team.ok("DELETE", "/files/a.md", tag=tag)
    assert [row["seq"] for row in await team.revisions()] == [4, 3, 2, 1]
    assert [(row["seq"], row["op"]) for row in await team.revisions(path="a.md")] == [
        (4, "delete"),
        (3, "update"),
        (1, "create"),
    ]
    page = await team.ok("GET", "/revisions", limit=3)
    rest = await team.ok("GET", "/revisions", limit=3, cursor=page["next_cursor"])
    assert [row["seq"] for row in (*page["items"], *rest["items"])] == [4, 3, 2, 1]
    assert "previous_content" not in page["items"][0]
    for run in ("run_00000000000000000000000000", "nonsense"):
        assert await team.revisions(run_id=run) == []
    assert (await team.refused("GET", "/revisions", path="../x"))[2]["field"] == "path"


@pytest.mark.req("FM-76", "FM-77")
async def test_a_change_shows_both_texts_and_their_difference(team: MemoryClient) -> None:
    tag = await team.write("a.md", "one\ntwo\n")
    tag = await team.put("a.md", "one\n2\n", tag)
    await team.ok("DELETE", "/files/a.md", tag=tag)
    made, changed, gone = [await team.ok("GET", f"/revisions/{seq}") for seq in (1, 2, 3)]
    assert (made["previous_content"], made["content"]) == (None, "one\ntwo\n")
    assert made["hunks"] == [
        {"old_start": 0, "old_count": 0, "new_start": 1, "new_count": 2, "lines": ["+one", "+two"]}
    ]
    assert (changed["previous_content"], changed["content"]) == ("one\ntwo\n", "one\n2\n")
    assert changed["hunks"] == [
        {"old_start": 1, "old_count": 2, "new_start": 1, "new_count": 2, "lines": [" one", "-two", "+2"]}
    ]
    assert (gone["previous_content"], gone["content"]) == ("one\n2\n", None)
    for seq in ("4", "0", "-1", "x", "9" * 40):
        status, code, details = await team.refused("GET", f"/revisions/{seq}")
        assert (status, code, details) == (404, "not_found", {"kind": "memory_revision", "id": seq})


@pytest.mark.req("FM-78", "FM-80")
async def test_a_change_is_undone_as_a_new_change(team: MemoryClient) -> None:
    tag = await team.write("a.md", "one")
    tag = await team.put("a.md", "two", tag)
    assert (await team.refused("POST", "/revisions/2/restore"))[0] == 428
    status, _, details = await team.refused("POST", "/revisions/2/restore", tag='"x:1"')
    assert (status, details["current"]["content"]) == (412, "two")
    restored = await team.send("POST", "/revisions/2/restore", tag=tag)
    assert (restored.json()["path"], restored.json()["file"]["content"]) == ("a.md", "one")
    assert restored.headers["etag"] == f'"{restored.json()["file"]["id"]}:3"'
    assert [row["op"] for row in await team.revisions()] == ["update", "update", "create"]
    again = await team.send("POST", "/revisions/2/restore", tag=restored.headers["etag"])
    assert (again.headers["etag"], len(await team.revisions())) == (restored.headers["etag"], 3)
    assert (await team.refused("POST", "/revisions/9/restore"))[:2] == (404, "not_found")


@pytest.mark.req("FM-79")
async def test_undoing_a_move_brings_the_source_back_and_leaves_the_destination(team: MemoryClient) -> None:
    tag = await team.write("a.md", "one")
    moved = await team.send("POST", "/files/move", {"source": "a.md", "destination": "b.md"}, tag=tag)
    back = await team.ok("POST", "/revisions/2/restore")
    assert (back["path"], back["file"]["content"]) == ("a.md", "one")
    assert (await team.send("GET", "/files/b.md")).headers["etag"] == moved.headers["etag"]
    gone = await team.ok("POST", "/revisions/3/restore", tag=moved.headers["etag"])
    assert gone == {"path": "b.md", "file": None}
    assert (await team.ok("POST", "/revisions/3/restore")) == {"path": "b.md", "file": None}
    assert (await team.revisions())[0]["seq"] == 5


@pytest.mark.req("FM-81")
async def test_purging_erases_the_history_of_one_path(team: MemoryClient) -> None:
    tag = await team.write("a.md", "one")
    tag = await team.put("a.md", "two", tag)
    await team.write("b.md", "x")
    assert await team.ok("DELETE", "/revisions", path="a.md") == {"purged": 2}
    assert await team.ok("DELETE", "/revisions", path="a.md") == {"purged": 0}
    kept = await team.send("GET", "/files/a.md")
    assert (kept.json()["content"], kept.headers["etag"]) == ("two", tag)
    assert [row["path"] for row in await team.revisions()] == ["b.md"]
    assert (await team.refused("DELETE", "/revisions"))[2]["field"] == "path"
    assert (await team.refused("DELETE", "/revisions", path="a//b"))[2]["field"] == "path"
    await team.put("a.md", "three", tag)
    assert (await team.revisions())[0]["seq"] == 4


@pytest.mark.req("FM-81", "FM-50", "FM-74")
async def test_blank_and_wildcard_scopes_name_nothing_else(team: MemoryClient) -> None:
    """Bug case 11: a path is that path alone, and an empty one is refused."""
    await team.write("a/b.md", "text")
    for path in ("", "/", "*/"):
        assert (await team.refused("DELETE", "/revisions", path=path))[2]["field"] == "path"
    for path in ("*", "%", "_", "a", "a/*", "A/b.md", "a/b.md "):
        assert await team.ok("DELETE", "/revisions", path=path) == {"purged": 0}
        assert await team.revisions(path=path) == []
        assert (await team.ok("GET", "/files", prefix=f"{path}x/"))["items"] == []
    assert (await team.refused("DELETE", "", tag="*"))[0] == 412
    assert [row["path"] for row in await team.revisions()] == ["a/b.md"]


@pytest.mark.req("FM-82", "FM-83", "FM-84", "FM-85", "FM-86", "MT-57", "MT-58")
async def test_lowered_limits_count_from_the_next_change(
    settings: Settings, ports: Ports, service: Service, team: MemoryClient, world: TeamWorld
) -> None:
    tags = {path: await team.write(path, path[0] * 40_000) for path in ("a.md", "b.md")}
    for text in ("1", "2", "3"):
        tags["a.md"] = await team.put("a.md", text * 40_000, tags["a.md"])
    lower = {"revisions_per_file": 2, "max_total_bytes": 65_536, "max_file_bytes": 30_000}
    changed = build(Settings.model_validate({**settings.model_dump(), "memory": lower}), ports=ports)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=changed.app), base_url="http://x") as http:
        low = MemoryClient(http=http, token=await world.token(world.ana), memory=team.memory)
        assert (await low.ok("GET", "/files/b.md"))["size"] == 40_000
        assert len(await low.revisions()) == 5
        status, _, details = await low.refused("PUT", "/files/b.md", {"content": "b" * 30_001}, tag=tags["b.md"])
        assert (status, details["limit"]) == (413, 30_000)
        status, _, details = await low.refused("POST", "/files", {"path": "c.md", "content": "x"})
        assert (status, details["reason"], details["limit"]) == (409, "memory_full", 65_536)
        run = await Runtime(low).start(memories=[{"name": "team", "memory_id": low.memory, "access": "write"}])
        new = {"memory": "team", "path": "c.md", "content": "x"}
        failed = (await run.call(await run.accept(), "memory_file_create", **new))["error"]
        assert (failed["error"], failed["current"]) == ("memory_full", None)
        assert len(await low.revisions()) == 5
        await low.put("a.md", "short", tags["a.md"])
        view = await low.view()
        assert view["content_bytes"] + view["history_bytes"] <= 65_536
        assert [row["seq"] for row in await low.revisions(path="a.md")] == []
        assert (await low.ok("GET", "/files/a.md"))["version"] == 6


@pytest.mark.req("FM-19")
async def test_changes_are_audited_without_content(team: MemoryClient) -> None:
    tag = await team.write("a.md", "SECRET1")
    tag = await team.put("a.md", "SECRET2", tag)
    tag = await team.put("a.md", "SECRET2", tag)
    moved = await team.send("POST", "/files/move", {"source": "a.md", "destination": "b.md"}, tag=tag)
    await team.ok("POST", "/revisions/4/restore", tag=moved.headers["etag"])
    back = await team.send("POST", "/revisions/3/restore")
    await team.ok("DELETE", "/files/a.md", tag=back.headers["etag"])
    await team.ok("DELETE", "/revisions", path="b.md")
    answer = await team.send("GET", "//audit-events", target_id=team.memory)
    events = answer.json()["items"]
    assert [event["action"] for event in events] == [
        "memory.history.purge",
        "memory.file.delete",
        "memory.file.restore",
        "memory.file.restore",
        "memory.file.move",
        "memory.file.update",
        "memory.file.create",
        "memory.create",
    ]
    assert "SECRET" not in answer.text
    assert {event["actor_id"] for event in events} == {"ana"}
    file = moved.json()["id"]
    assert (events[5]["target_id"], events[5]["details"]) == (file, {"path": "a.md", "seq": 2})
    assert events[4]["details"] == {"path": "b.md", "seq": 4, "moved_path": "a.md"}
    assert (events[1]["target_id"], events[1]["details"]) == (back.json()["file"]["id"], {"path": "a.md", "seq": 7})
    assert events[0]["details"] == {"path": "b.md", "purged": 2}
    of_file = (await team.ok("GET", "//audit-events", target_id=moved.json()["id"], limit=2))["items"]
    assert {event["target_id"] for event in of_file} == {file}
    assert (await team.ok("GET", "//audit-events", target_id="nonsense"))["items"] == []
    assert len((await team.ok("GET", "//audit-events"))["items"]) == len(events)


@pytest.mark.req("FM-19")
async def test_the_audit_goes_on_page_by_page(team: MemoryClient) -> None:
    for number in range(4):
        await team.write(f"{number}.md", "x")
    page = await team.ok("GET", "//audit-events", target_id=team.memory, limit=3)
    rest = await team.ok("GET", "//audit-events", target_id=team.memory, limit=3, cursor=page["next_cursor"])
    numbers = [event["details"].get("seq") for event in (*page["items"], *rest["items"])]
    assert numbers == [4, 3, 2, 1, None]


@pytest.mark.req("FM-71")
async def test_each_change_names_who_made_it(team: MemoryClient, world: TeamWorld) -> None:
    tag = await team.write("a.md", "one")
    runner = (await key(team.http, world, Right.RUN)).within(team.memory)
    await runner.put("a.md", "two", tag)
    assert [row["principal_id"] for row in await team.revisions()] == ["ben", "ana"]
    assert (await team.ok("GET", "/files/a.md"))["updated_by_principal_id"] == "ben"
