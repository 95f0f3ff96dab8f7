"""Acceptance examples of file memories, over a real socket; 15 is with those of mounts.

All of them on the embedded store; on Neo4j those in which the store decides: 1, 3 and 7.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx2
import pytest

from api.settings import Settings
from graph.model.nodes.people import Right
from tests.support.memory_client import MemoryClient, key
from tests.support.world import TeamWorld

BOTH = pytest.mark.parametrize("engine", ["embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)], indirect=True)
EMBEDDED = pytest.mark.parametrize("engine", ["embedded"], indirect=True)


@pytest.fixture
def limits() -> dict[str, object]:
    """The settings `memory.*` of the server."""
    return {}


@pytest.fixture
def settings(tmp_path: Path, limits: dict[str, object]) -> Settings:
    return Settings.model_validate({"data_dir": tmp_path, "store": {"url": "memory:"}, "memory": limits})


@pytest.fixture
async def team(http: httpx2.AsyncClient, world: TeamWorld) -> MemoryClient:
    """Who holds write, in a new memory."""
    return await (await key(http, world, Right.WRITE)).make()


@BOTH
@pytest.mark.req("FM-16", "FM-49", "FM-52", "FM-53", "FM-56", "FM-57", "FM-67")
async def test_01_stale_edit(team: MemoryClient) -> None:
    first = await team.write("notes/style.md", "en\n")
    second = await team.put("notes/style.md", "zh\n", first)
    status, code, details = await team.refused("PUT", "/files/notes/style.md", {"content": "fr\n"}, tag=first)
    assert (status, code, details["current_etag"]) == (412, "precondition_failed", second)
    assert details["current"] == {"path": "notes/style.md", "version": 2, "size": 3, "content": "zh\n"}
    assert (await team.ok("GET", "/files/notes/style.md"))["content"] == "zh\n"


@EMBEDDED
@pytest.mark.req("FM-14", "FM-15")
async def test_02_no_tag(team: MemoryClient) -> None:
    await team.write("notes/style.md", "en\n")
    status, code, details = await team.refused("PUT", "/files/notes/style.md", {"content": "x"})
    assert (status, code, details) == (428, "precondition_required", {"header": "If-Match"})
    assert (await team.refused("PUT", "/files/notes/style.md", {"content": "x"}, tag="*"))[0] == 412


@BOTH
@pytest.mark.req("FM-57", "FM-56")
async def test_03_race(team: MemoryClient) -> None:
    tag = await team.write("a.md", "start\n")
    answers = await asyncio.gather(
        *(team.send("PUT", "/files/a.md", {"content": f"{number}\n"}, tag=tag) for number in range(20))
    )
    assert sorted(answer.status_code for answer in answers) == [200, *([412] * 19)]
    assert [revision["seq"] for revision in await team.revisions()] == [2, 1]
    won = next(answer for answer in answers if answer.status_code == 200)
    assert (await team.ok("GET", "/files/a.md"))["content"] == won.json()["content"]


@EMBEDDED
@pytest.mark.req("FM-74", "FM-76", "FM-82")
async def test_04_ten_revisions(team: MemoryClient) -> None:
    tag = await team.write("a.md", "0\n")
    for number in range(1, 12):
        tag = await team.put("a.md", f"{number}\n", tag)
    assert [revision["seq"] for revision in await team.revisions(path="a.md")] == list(range(12, 2, -1))
    for seq in (1, 2):
        status, code, details = await team.refused("GET", f"/revisions/{seq}")
        assert (status, code, details["kind"]) == (404, "not_found", "memory_revision")


@EMBEDDED
@pytest.mark.parametrize("limits", [{"max_total_bytes": 65_536, "max_file_bytes": 32_768}])
@pytest.mark.req("FM-26", "FM-83", "FM-84", "FM-85")
async def test_05_and_06_oldest_history_first_and_only_then_full(team: MemoryClient) -> None:
    tag = await team.write("a.md", "a" * 20_000)
    await team.put("a.md", "A" * 20_000, tag)
    tag = await team.write("b.md", "b" * 20_000)
    assert (await team.view())["history_bytes"] == 20_000
    await team.put("b.md", "B" * 20_000, tag)
    view = await team.view()
    assert (view["history_bytes"], view["content_bytes"]) == (20_000, 40_000)
    assert (await team.ok("GET", "/revisions/4"))["previous_content"] == "b" * 20_000
    assert (await team.refused("GET", "/revisions/2"))[0] == 404
    # 6
    status, code, details = await team.refused("POST", "/files", {"path": "c.md", "content": "c" * 30_000})
    assert (status, code, details["reason"], details["limit"]) == (409, "conflict", "memory_full", 65_536)
    assert (await team.view())["history_bytes"] == 20_000
    assert (await team.refused("GET", "/files/c.md"))[0] == 404


@BOTH
@pytest.mark.req("FM-55", "FM-75", "FM-78", "FM-80")
async def test_07_delete_and_bring_back(team: MemoryClient) -> None:
    tag = await team.write("a.md", "old\n")
    assert (await team.send("DELETE", "/files/a.md", tag=tag)).status_code == 204
    last = (await team.revisions(path="a.md"))[0]
    assert last["op"] == "delete"
    back = await team.send("POST", f"/revisions/{last['seq']}/restore")
    assert (back.status_code, back.json()["file"]["content"]) == (200, "old\n")
    await team.ok("DELETE", "/files/a.md", tag=back.headers["etag"])
    status, code, details = await team.refused("POST", f"/revisions/{last['seq']}/restore", tag='"mfile_x:1"')
    assert (status, code, details) == (412, "precondition_failed", {"current_etag": None, "current": None})


@EMBEDDED
@pytest.mark.req("FM-79", "FM-80")
async def test_08_restore_a_creation(team: MemoryClient) -> None:
    tag = await team.write("a.md", "new\n")
    assert (await team.refused("POST", "/revisions/1/restore"))[0] == 428
    assert await team.ok("POST", "/revisions/1/restore", tag=tag) == {"path": "a.md", "file": None}
    assert (await team.refused("GET", "/files/a.md"))[0] == 404
    assert (await team.revisions())[0]["op"] == "delete"


@EMBEDDED
@pytest.mark.req("FM-54", "FM-73")
async def test_09_move(team: MemoryClient) -> None:
    tag, other = await team.write("a.md", "a\n"), await team.write("b.md", "b\n")
    body = {"source": "a.md", "destination": "b.md"}
    status, code, details = await team.refused("POST", "/files/move", body, tag=tag)
    assert (status, code, details) == (409, "already_exists", {"kind": "memory_file", "key": "b.md"})
    assert [(await team.ok("GET", f"/files/{path}"))["content"] for path in ("a.md", "b.md")] == ["a\n", "b\n"]
    await team.ok("DELETE", "/files/b.md", tag=other)
    moved = await team.ok("POST", "/files/move", body, tag=tag)
    assert (moved["path"], f'"{moved["id"]}:1"') == ("b.md", tag)
    newest = [(r["op"], r["path"], r["moved_path"]) for r in (await team.revisions())[:2]]
    assert newest == [("move_in", "b.md", "a.md"), ("move_out", "a.md", "b.md")]


@EMBEDDED
@pytest.mark.req("FM-58", "FM-59", "FM-60", "FM-61")
async def test_10_paths(team: MemoryClient) -> None:
    for path in ("../x", "/x", "a//b", "a/./b", "a\\b", "a\0", "x" * 257):
        status, code, details = await team.refused("POST", "/files", {"path": path, "content": ""})
        assert (status, code, details["field"]) == (400, "invalid_argument", "path"), path
    assert await team.revisions() == []
    assert (await team.refused("GET", "/files/a/%2e%2e/b"))[:2] == (400, "invalid_argument")
    await team.write("cafe\u0301.md", "x")
    again = {"path": "caf\u00e9.md", "content": "x"}
    assert (await team.refused("POST", "/files", again))[:2] == (409, "already_exists")


@EMBEDDED
@pytest.mark.req("FM-68")
async def test_11_no_op(team: MemoryClient) -> None:
    tag = await team.write("a.md", "same\n")
    assert await team.put("a.md", "same\n", tag) == tag
    assert len(await team.revisions()) == 1


@EMBEDDED
@pytest.mark.req("FM-64")
async def test_12_too_large(team: MemoryClient) -> None:
    await team.write("a.md", "x" * 65_536)
    for content in ("x" * 65_537, "\u4e2d" * 30_000):
        status, code, details = await team.refused("POST", "/files", {"path": "b.md", "content": content})
        assert (status, code, details["limit"]) == (413, "payload_too_large", 65_536)


@EMBEDDED
@pytest.mark.parametrize("limits", [{"default_guide": {"file": "G"}}])
@pytest.mark.req("FM-31", "FM-32", "FM-33")
async def test_13_guide(team: MemoryClient) -> None:
    answer = await team.send("GET", "")
    assert (answer.json()["guide"], answer.json()["inherited_guide"]) == (None, "G")
    changed = await team.ok("PATCH", "", {"guide": ""}, tag=answer.headers["etag"])
    assert (changed["guide"], changed["inherited_guide"]) == ("", "G")


@EMBEDDED
@pytest.mark.req("FM-3", "FM-37", "FM-81")
async def test_14_verbs(team: MemoryClient, http: httpx2.AsyncClient, world: TeamWorld) -> None:
    tag = await team.write("a.md", "one\n")
    runner = (await key(http, world, Right.RUN)).within(team.memory)
    tag = await runner.put("a.md", "two\n", tag)
    tag = (await runner.send("POST", "/revisions/2/restore", tag=tag)).headers["etag"]
    status, code, details = await runner.refused("DELETE", "/revisions", path="a.md")
    assert (status, code, details) == (403, "forbidden", {"verb": "write"})
    version = (await team.send("GET", "")).headers["etag"]
    assert (await runner.refused("PATCH", "", {"always_load": ["a.md"]}, tag=version))[0] == 403
    assert await team.ok("DELETE", "/revisions", path="a.md") == {"purged": 3}
    kept = await team.send("GET", "/files/a.md")
    assert (kept.json()["content"], kept.headers["etag"]) == ("one\n", tag)
