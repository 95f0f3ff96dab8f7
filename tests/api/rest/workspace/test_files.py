"""Files of a memory through the routes (FM-49 to FM-73)."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from hashlib import sha256

import httpx2
import pytest

from api.bootstrap import Service
from tests.support.memory_client import MemoryClient
from tests.support.world import TeamWorld


@pytest.mark.req("FM-50", "FM-8", "FM-9", "FM-62")
async def test_files_are_listed_by_path_under_a_directory_without_content(team: MemoryClient) -> None:
    for path in ("b.md", "a/b/c.md", "a", "a/b.md", "aa.md", "\U00010000.md", "\uff5e.md"):
        await team.write(path, "text")
    everything = await team.ok("GET", "/files")
    assert [item["path"] for item in everything["items"]] == sorted(
        ["b.md", "a/b/c.md", "a", "a/b.md", "aa.md", "\U00010000.md", "\uff5e.md"]
    )
    assert everything["next_cursor"] is None
    assert "content" not in everything["items"][0]
    first = await team.ok("GET", "/files", prefix="a/", limit=1)
    second = await team.ok("GET", "/files", prefix="a/", limit=1, cursor=first["next_cursor"])
    assert [item["path"] for page in (first, second) for item in page["items"]] == ["a/b.md", "a/b/c.md"]
    assert second["next_cursor"] is None
    for query in ({"cursor": first["next_cursor"]}, {"cursor": "x", "prefix": "a/"}):
        assert (await team.refused("GET", "/files", **query))[:2] == (400, "invalid_cursor")
    for limit in ("0", "101", "x", "1.5", "-1"):
        status, code, details = await team.refused("GET", "/files", limit=limit)
        assert (status, code, details["field"]) == (400, "invalid_argument", "limit")
    for prefix in ("a", "/", "../", "a//"):
        status, code, details = await team.refused("GET", "/files", prefix=prefix)
        assert (status, code, details["field"]) == (400, "invalid_argument", "prefix")


@pytest.mark.req("FM-9")
@pytest.mark.parametrize(
    "place",
    [[], {}, 5, "ab", [1, "x"], ["a", 2], ["a", None], [["a"], "x"], [True, "x"], [2**70, "x"], ["\ud800", "x"]],
)
async def test_a_cursor_that_somebody_made_up_is_refused(team: MemoryClient, place: object) -> None:
    bound = ("files", f"wsm_{team.memory.removeprefix('mem_')}", "")
    made_up = json.dumps(place, separators=(",", ":")).encode()
    check = sha256(sha256(repr(bound).encode()).digest() + made_up).digest()[:8]
    cursor = urlsafe_b64encode(check + made_up).decode().rstrip("=")
    assert (await team.refused("GET", "/files", cursor=cursor))[:2] == (400, "invalid_cursor")


@pytest.mark.req("FM-51", "FM-12", "FM-18", "FM-66", "FM-10")
async def test_a_file_has_the_view_of_the_contract(team: MemoryClient) -> None:
    made = await team.send("POST", "/files", {"path": "a.md", "content": "\n  How we write \r\nBriefly."})
    view = made.json()
    assert made.status_code == 201
    assert set(view) == {
        "id",
        "path",
        "content",
        "size",
        "version",
        "description",
        "updated_by_principal_id",
        "updated_by_run_id",
        "created_at",
        "updated_at",
    }
    assert view["id"].startswith("mfile_")
    assert made.headers["etag"] == f'"{view["id"]}:{view["version"]}"'
    assert (view["size"], view["description"], view["updated_by_run_id"]) == (26, "How we write", None)
    assert view["updated_by_principal_id"] == "ana"
    assert view["created_at"].endswith("Z")
    assert (await team.ok("GET", "/files/a.md")) == view
    status, code, details = await team.refused("GET", "/files/b.md")
    assert (status, code, details) == (404, "not_found", {"kind": "memory_file", "id": "b.md"})


@pytest.mark.req("FM-51")
async def test_a_version_that_is_known_already_is_not_sent_again(team: MemoryClient) -> None:
    tag = await team.write("a.md", "text")
    url, sign_in = f"/api/v1/memories/{team.memory}/files/a.md", {"Authorization": f"Bearer {team.token}"}
    known = await team.http.get(url, headers={**sign_in, "If-None-Match": f'"other:1", {tag}'})
    assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
    assert (await team.http.get(url, headers={**sign_in, "If-None-Match": '"other:1"'})).status_code == 200


@pytest.mark.req("FM-52", "FM-53", "FM-7")
async def test_creating_takes_a_free_path_and_replacing_never_creates(team: MemoryClient) -> None:
    tag = await team.write("a.md", "text")
    status, code, details = await team.refused("POST", "/files", {"path": "a.md", "content": ""})
    assert (status, code, details) == (409, "already_exists", {"kind": "memory_file", "key": "a.md"})
    assert (await team.refused("PUT", "/files/b.md", {"content": "x"}, tag=tag))[:2] == (404, "not_found")
    assert (await team.refused("DELETE", "/files/b.md", tag=tag))[:2] == (404, "not_found")


@pytest.mark.req("FM-54", "FM-59")
async def test_a_move_keeps_the_id_and_takes_a_new_tag(team: MemoryClient) -> None:
    tag = await team.write("a.md", "text")
    onto_itself = {"source": "a.md", "destination": "a.md"}
    assert (await team.refused("POST", "/files/move", onto_itself, tag=tag))[:2] == (409, "already_exists")
    for body, field in (
        ({"source": "/a.md", "destination": "b.md"}, "source"),
        ({"source": "a.md", "destination": "b/"}, "destination"),
    ):
        status, _, details = await team.refused("POST", "/files/move", body, tag=tag)
        assert (status, details["field"]) == (400, field)
    moved = await team.send("POST", "/files/move", {"source": "a.md", "destination": "b/c.md"}, tag=tag)
    assert moved.json()["id"] == tag.strip('"').partition(":")[0]
    assert (moved.headers["etag"] != tag, moved.json()["version"]) == (True, 3)
    assert (await team.refused("GET", "/files/a.md"))[0] == 404
    assert (await team.ok("GET", "/files/b/c.md"))["content"] == "text"
    stale = {"source": "b/c.md", "destination": "d.md"}
    status, _, details = await team.refused("POST", "/files/move", stale, tag=tag)
    assert (status, details["current"]["path"]) == (412, "b/c.md")


@pytest.mark.req("FM-55")
async def test_a_file_may_be_called_move(team: MemoryClient) -> None:
    tag = await team.write("move", "one")
    assert (await team.ok("GET", "/files/move"))["content"] == "one"
    tag = await team.put("move", "two", tag)
    assert (await team.send("DELETE", "/files/move", tag=tag)).status_code == 204
    assert (await team.send("POST", "/files/other", {})).status_code == 405


@pytest.mark.req("FM-49", "FM-60")
async def test_a_path_is_decoded_exactly_once(team: MemoryClient) -> None:
    await team.write("notes/style.md", "in a folder")
    await team.write("%2e%2e/x", "literal")
    assert (await team.ok("GET", "/files/notes%2Fstyle.md"))["content"] == "in a folder"
    assert (await team.ok("GET", "/files/%252e%252e/x"))["content"] == "literal"
    for path in ("%2e%2e/x", "a/%2E%2E/b", "a%2f..%2fb", "a//b", "%2Fa", "a%5Cb", "a%00", "%ff"):
        status, code, details = await team.refused("GET", f"/files/{path}")
        assert (status, code, details["field"]) == (400, "invalid_argument", "path"), path


@pytest.mark.req("FM-61")
async def test_a_path_has_256_bytes_in_nfc(team: MemoryClient) -> None:
    await team.write("e\u0301" * 128, "x")
    assert (await team.ok("GET", f"/files/{chr(0xE9) * 128}"))["path"] == "\u00e9" * 128
    for method, path, body, field in (
        ("POST", "/files", {"path": "\u00e9" * 128 + "x", "content": ""}, "path"),
        ("GET", f"/files/{'x' * 257}", None, "path"),
        ("GET", f"/files?prefix={'x' * 257}/", None, "prefix"),
        ("GET", f"/revisions?path={'x' * 257}", None, "path"),
        ("PATCH", "", {"always_load": ["x" * 257]}, "always_load.0"),
    ):
        status, code, details = await team.refused(method, path, body, tag=f'"{team.memory}:1"')
        assert (status, code, details["field"]) == (400, "invalid_argument", field)


@pytest.mark.req("FM-58")
async def test_another_form_of_a_path_addresses_the_same_file(team: MemoryClient) -> None:
    tag = await team.write("cafe\u0301.md", "x")
    found = await team.ok("GET", "/files/caf\u00e9.md")
    assert found["path"] == "caf\u00e9.md"
    assert (await team.ok("PUT", "/files/cafe\u0301.md", {"content": "y"}, tag=tag))["id"] == found["id"]
    await team.write("CAF\u00c9.md", "z")
    assert len((await team.ok("GET", "/files"))["items"]) == 2


@pytest.mark.req("FM-63")
async def test_content_comes_back_byte_for_byte(team: MemoryClient) -> None:
    for number, content in enumerate(("", "\ufeffa\r\nb\rc", "no end", "cafe\u0301", "\u2028\u0085\n\n")):
        await team.write(f"{number}.md", content)
        assert (await team.ok("GET", f"/files/{number}.md"))["content"] == content
    status, code, details = await team.refused("POST", "/files", {"path": "n.md", "content": "a\0"})
    assert (status, code, details["field"]) == (400, "invalid_argument", "content")


@pytest.mark.req("FM-11")
@pytest.mark.parametrize(
    ("raw", "field"),
    [
        (b'{"path": "a.md", "content": "\\ud800"}', "content"),
        (b'{"path": "a.md", "content": "x", "size": 1}', "size"),
        (b'{"path": "a.md"}', "content"),
        (b'{"path": "a.md", "content": 1}', "content"),
        (b"[]", "body"),
        (b"{", "body"),
        ('{"path": "a.md", "content": "é"}'.encode("latin-1"), "body"),
    ],
)
async def test_a_body_that_does_not_fit_is_refused_at_its_field(team: MemoryClient, raw: bytes, field: str) -> None:
    sign_in = {"Authorization": f"Bearer {team.token}", "Content-Type": "application/json"}
    answer = await team.http.post(f"/api/v1/memories/{team.memory}/files", content=raw, headers=sign_in)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["details"]["field"]) == (400, "invalid_argument", field)


@pytest.mark.req("FM-15", "FM-16", "FM-57")
async def test_if_match_compares_strongly_one_tag_of_several(team: MemoryClient) -> None:
    tag = await team.write("a.md", "one")
    for wrong in (f"W/{tag}", "*", '"mfile_x:1"', tag.strip('"'), ""):
        status, code, details = await team.refused("PUT", "/files/a.md", {"content": "two"}, tag=wrong)
        assert (status, code, details["current_etag"]) == (412, "precondition_failed", tag)
        assert details["current"]["content"] == "one"
    assert (await team.ok("PUT", "/files/a.md", {"content": "two"}, tag=f'"x:1", {tag}'))["content"] == "two"


@pytest.mark.req("FM-17", "FM-2", "FM-5", "FM-6")
async def test_checks_come_in_the_order_of_the_contract(team: MemoryClient, reader: MemoryClient) -> None:
    tag = await team.write("a.md", "one")
    bad = {"content": "x" * 65_537}
    nobody = MemoryClient(http=team.http, token="", memory=team.memory)
    assert (await nobody.refused("PUT", "/files/%2e%2e/x", bad))[:2] == (401, "unauthenticated")
    nowhere = team.within("mem_00000000000000000000000000")
    assert (await nowhere.refused("PUT", "/files/a.md", bad))[:2] == (404, "not_found")
    may_read = reader.within(team.memory)
    status, code, details = await may_read.refused("PUT", "/files/a.md", bad)
    assert (status, code, details) == (403, "forbidden", {"verb": "run"})
    assert (await team.refused("PUT", "/files/a.md", {"contents": ""}))[0] == 428
    assert (await team.refused("PUT", "/files/%2e%2e", {"content": "", "x": ""}, tag="*"))[2]["field"] == "x"
    assert (await team.refused("PUT", "/files/%2e%2e", bad, tag="*"))[2]["field"] == "path"
    assert (await team.refused("PUT", "/files/b.md", bad, tag="*"))[0] == 404
    assert (await team.refused("PUT", "/files/a.md", bad, tag="*"))[0] == 412
    assert (await team.refused("PUT", "/files/a.md", bad, tag=tag))[0] == 413
    body = {"source": "a.md", "destination": "a.md"}
    assert (await may_read.refused("POST", "/files/move", body))[0] == 403
    assert (await team.refused("POST", "/files/move", {}))[0] == 428
    assert (await team.refused("POST", "/files/move", {}, tag="*"))[2]["field"] == "source"
    nowhere_to_go = {**body, "destination": "/"}
    assert (await team.refused("POST", "/files/move", nowhere_to_go, tag="*"))[2]["field"] == "destination"
    assert (await team.refused("POST", "/files/move", {**body, "source": "b.md"}, tag="*"))[0] == 404
    assert (await team.refused("POST", "/files/move", body, tag="*"))[0] == 412
    assert (await team.refused("POST", "/files/move", body, tag=tag))[0] == 409
    assert (await team.refused("POST", "/files", {"path": "a.md", "content": bad["content"]}))[0] == 409


@pytest.mark.req("FM-65", "FM-66")
async def test_frontmatter_is_checked_and_its_description_shown(team: MemoryClient) -> None:
    text = "---\ndescription: How we write\ntags: [a]\n---\nBriefly.\n"
    tag = await team.write("a.md", text)
    view = await team.ok("GET", "/files/a.md")
    assert (view["content"], view["description"]) == (text, "How we write")
    for front in (
        "- a",
        "a: b: c",
        "description: [a]",
        "description: ''",
        f"description: {'x' * 201}",
        "x: " + "y" * 2_048,
    ):
        for method, path, body in (("POST", "/files", {"path": "b.md"}), ("PUT", "/files/a.md", {})):
            sent = {**body, "content": f"---\n{front}\n---\n"}
            status, code, details = await team.refused(method, path, sent, tag=tag)
            assert (status, code, details["field"]) == (400, "invalid_argument", "content"), front
    status, code, details = await team.refused("POST", "/files", {"path": "b.md", "content": "---\nno end\n"})
    assert (status, code, details["field"]) == (400, "invalid_argument", "content")
    for content, description in (
        (f"---\ndescription: {'x' * 200}\n---\n", "x" * 200),
        ("---\ntitle: &t Style\nalso: *t\n---\n\n  First line. \nSecond.", "First line."),
        ("y" * 201, "y" * 200),
        ("", None),
    ):
        tag = await team.put("a.md", content, tag)
        assert (await team.ok("GET", "/files/a.md"))["description"] == description


@pytest.mark.req("FM-64", "FM-17")
async def test_what_is_too_large_to_be_read_names_the_same_limit(team: MemoryClient) -> None:
    tag = await team.write("a.md", "one")
    body = {"content": "x" * 9_000_000}
    too_large = (413, "payload_too_large", {"limit": 65_536})
    assert await team.refused("PUT", "/files/a.md", body, tag=tag) == too_large
    assert await team.refused("POST", "/files", {**body, "path": "b.md"}) == too_large
    assert (await team.refused("PUT", "/files/a.md", body))[0] == 428


@pytest.mark.req("FM-29", "FM-26")
async def test_sums_follow_every_change(team: MemoryClient) -> None:
    async def sums() -> tuple[int, int, int]:
        view = await team.view()
        return view["file_count"], view["content_bytes"], view["history_bytes"]

    tag = await team.write("a.md", "\u00e9")
    assert await sums() == (1, 2, 0)
    tag = await team.put("a.md", "four", tag)
    assert await sums() == (1, 4, 2)
    moved = await team.send("POST", "/files/move", {"source": "a.md", "destination": "b.md"}, tag=tag)
    assert await sums() == (1, 4, 6)
    await team.ok("DELETE", "/files/b.md", tag=moved.headers["etag"])
    assert await sums() == (0, 0, 10)
    await team.ok("DELETE", "/revisions", path="a.md")
    assert await sums() == (0, 0, 4)


@pytest.mark.req("FM-69", "FM-70", "FM-71", "FM-72", "FM-73")
async def test_changes_of_all_paths_have_consecutive_numbers(team: MemoryClient) -> None:
    await team.write("a.md", "a")
    tag = await team.write("b.md", "b")
    await team.send("POST", "/files/move", {"source": "b.md", "destination": "c.md"}, tag=tag)
    rows = await team.revisions()
    assert [(row["seq"], row["op"], row["path"], row["moved_path"]) for row in rows] == [
        (4, "move_in", "c.md", "b.md"),
        (3, "move_out", "b.md", "c.md"),
        (2, "create", "b.md", None),
        (1, "create", "a.md", None),
    ]
    assert set(rows[0]) == {
        "seq",
        "path",
        "op",
        "moved_path",
        "principal_id",
        "run_id",
        "tool_call_id",
        "created_at",
    }
    assert {(row["principal_id"], row["run_id"], row["tool_call_id"]) for row in rows} == {("ana", None, None)}
    assert (await team.ok("GET", "/files/c.md"))["version"] == 4


@pytest.mark.req("FM-4")
async def test_a_memory_of_another_workspace_is_as_unknown_as_one_that_never_was(
    team: MemoryClient, service: Service
) -> None:
    other = await TeamWorld(deps=service.deps).make()
    stranger = MemoryClient(http=team.http, token=await other.token(other.ana), memory=team.memory)
    answers = [
        await stranger.within(memory).send("GET", "/files")
        for memory in (team.memory, "mem_00000000000000000000000000", "nonsense")
    ]
    assert {answer.status_code for answer in answers} == {404}
    bodies = [json.loads(answer.text)["error"] for answer in answers]
    assert {(body["code"], body["message"], body["details"]["kind"]) for body in bodies} == {
        ("not_found", "there is no such memory", "memory")
    }


@pytest.mark.req("FM-1", "FM-2")
async def test_without_a_good_key_nothing_is_told(http: httpx2.AsyncClient, team: MemoryClient) -> None:
    for sign_in in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": f"Basic {team.token}"}):
        answer = await http.get(f"/api/v1/memories/{team.memory}", headers=sign_in)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthenticated")
