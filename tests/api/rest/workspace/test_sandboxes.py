"""Sandbox sessions, their files and snapshots, over HTTP (SB-100, SB-104, SB-105, SB-117, SB-118)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from api.adapters.blobs import open_blobs
from graph.model.access import SystemScope
from graph.model.nodes.people import Right
from graph.model.nodes.sandbox import SandboxFile, SandboxPart, SandboxSession
from graph.rules.workspace_ids import inside
from graph.services.access.admin_log import admin_log
from graph.services.access.session import read
from graph.services.admin.archive import export_archive, import_archive
from graph.services.knowledge.audit_verify import verify_audit
from graph.store.embedded import EmbeddedStore
from graph.store.query import Find
from tests.support.memory_client import MemoryClient, key
from tests.support.sandbox_client import Sandbox, make
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
LOOKING = SystemScope(reason="looking in a test")


@pytest.fixture
async def sandbox(writer: MemoryClient) -> Sandbox:
    return await make(writer, {"README.md": "# Desk\n", "notes/b.md": "b"})


async def blobs(world: TeamWorld) -> set[str]:
    return {sha256 async for sha256, _ in world.deps.blobs.list()}


@pytest.mark.req("SB-104", "SB-105")
async def test_a_session_starts_open_with_the_files_of_its_manifest(sandbox: Sandbox) -> None:
    view = await sandbox.view()
    assert view == {
        "id": sandbox.id, "status": "open", "created_at": view["created_at"], "closed_at": None, "report": None,
    }  # fmt: skip
    assert sandbox.id.startswith("sbx_")
    assert await sandbox.paths() == ["README.md", "notes/b.md"]
    assert await sandbox.text("README.md") == "# Desk\n"
    empty = await sandbox.client.send("POST", "//sandbox-sessions")
    assert (empty.status_code, set(empty.json())) == (201, {"id", "status", "created_at"}), (
        "both members may be left out"
    )


@pytest.mark.req("SB-104", "SB-98", "SB-118")
async def test_a_snapshot_is_where_a_session_starts_and_the_manifest_fills_what_is_free(
    sandbox: Sandbox, writer: MemoryClient
) -> None:
    snapshot = await sandbox.snapshot()
    assert snapshot.startswith("snap_")
    await sandbox.ok(
        "DELETE", "/files/notes/b.md", tag=(await sandbox.send("GET", "/files/notes/b.md")).headers["etag"]
    )
    other = await make(writer, {"README.md": "other", "new.md": "new"}, snapshot_id=snapshot)
    assert await other.paths() == ["README.md", "new.md", "notes/b.md"]
    assert (await other.text("README.md"), await other.text("new.md")) == ("# Desk\n", "new")
    await sandbox.ok("DELETE")
    assert await (await make(writer, snapshot_id=snapshot)).text("notes/b.md") == "b", "snapshots outlive sessions"
    assert (await writer.send("DELETE", f"//snapshots/{snapshot}")).status_code == 204
    assert (await writer.refused("POST", "//sandbox-sessions", {"snapshot_id": snapshot}))[0:2] == (404, "not_found")
    assert (await writer.refused("DELETE", f"//snapshots/{snapshot}"))[2]["kind"] == "snapshot"
    assert await other.text("notes/b.md") == "b"


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "a\\b", ""])
@pytest.mark.req("SB-104")
async def test_a_manifest_names_paths_inside_the_workspace(writer: MemoryClient, path: str) -> None:
    body = {"manifest": {"entries": {path: {"type": "file", "content": ""}}}}
    status, code, details = await writer.refused("POST", "//sandbox-sessions", body)
    assert (status, code, details["field"]) == (400, "invalid_argument", "manifest.entries")


@pytest.mark.req("SB-104")
async def test_a_manifest_holds_files_alone_and_each_path_once(writer: MemoryClient) -> None:
    body = {"manifest": {"entries": {"a": {"type": "directory"}}}}
    assert (await writer.refused("POST", "//sandbox-sessions", body))[2]["field"] == "manifest.entries.a.type"
    twice = {"caf\u00e9": {"type": "file"}, "cafe\u0301": {"type": "file"}}
    assert (await writer.refused("POST", "//sandbox-sessions", {"manifest": {"entries": twice}}))[0] == 400


@pytest.mark.req("SB-117")
async def test_a_file_is_made_without_a_tag_and_replaced_with_its_own(sandbox: Sandbox) -> None:
    made = await sandbox.send("PUT", "/files/a/b.md", {"content": "one"})
    assert (made.status_code, made.json()["version"], made.json()["size"]) == (201, 1, 3)
    first = made.headers["etag"]
    assert first == f'"{made.json()["id"]}:1"'
    status, code, details = await sandbox.refused("PUT", "/files/a/b.md", {"content": "two"})
    assert (status, code, details) == (428, "precondition_required", {"header": "If-Match"})
    second = await sandbox.put("a/b.md", "two", first)
    status, code, details = await sandbox.refused("PUT", "/files/a/b.md", {"content": "three"}, tag=first)
    assert (status, code, details["current_etag"]) == (412, "precondition_failed", second)
    assert await sandbox.text("a/b.md") == "two"
    assert await sandbox.put("a/b.md", "two", second) == second, "the same content is no change (FM-13)"
    assert (await sandbox.refused("PUT", "/files/none.md", {"content": ""}, tag=first))[:2] == (404, "not_found")
    assert (await sandbox.refused("DELETE", "/files/a/b.md"))[0] == 428
    assert (await sandbox.refused("DELETE", "/files/a/b.md", tag=first))[0] == 412
    assert (await sandbox.send("DELETE", "/files/a/b.md", tag=second)).status_code == 204
    assert (await sandbox.refused("GET", "/files/a/b.md"))[2] == {"kind": "sandbox_file", "id": "a/b.md"}


@pytest.mark.req("SB-117")
async def test_files_are_listed_by_prefix_in_pages(sandbox: Sandbox) -> None:
    for number in range(3):
        await sandbox.put(f"notes/{number}.md", "")
    first = await sandbox.ok("GET", "/files", prefix="notes/", limit=3)
    rest = await sandbox.ok("GET", "/files", prefix="notes/", limit=3, cursor=first["next_cursor"])
    paths = [item["path"] for item in (*first["items"], *rest["items"])]
    assert (paths, rest["next_cursor"]) == (["notes/0.md", "notes/1.md", "notes/2.md", "notes/b.md"], None)
    assert "content" not in first["items"][0]
    assert (await sandbox.refused("GET", "/files", prefix="notes"))[2]["field"] == "prefix"
    assert (await sandbox.refused("GET", "/files", cursor=first["next_cursor"]))[1] == "invalid_cursor"


@pytest.mark.req("SB-117")
async def test_paths_are_decoded_once_and_never_lead_out(sandbox: Sandbox) -> None:
    for path in ("..%2Fx", "a/%2e%2e/b", "a%5Cb"):
        assert (await sandbox.refused("GET", f"/files/{path}"))[2]["field"] == "path", path
    await sandbox.put("caf%65%CC%81.md", "nfc")
    assert await sandbox.text("caf%C3%A9.md") == "nfc"


@pytest.mark.req("SB-117")
async def test_files_can_be_read_and_changed_after_closing(sandbox: Sandbox) -> None:
    await sandbox.close()
    await sandbox.put("after.md", "closed")
    assert "after.md" in await sandbox.paths()
    assert await (await sandbox.later()).text("after.md") == "closed"


@pytest.mark.req("SB-117")
async def test_a_known_version_is_not_sent_again(sandbox: Sandbox) -> None:
    seen = await sandbox.send("GET", "/files/README.md")
    headers = {"Authorization": f"Bearer {sandbox.client.token}", "If-None-Match": seen.headers["etag"]}
    url = f"/api/v1/sandbox-sessions/{sandbox.id}/files/README.md"
    assert (await sandbox.client.http.get(url, headers=headers)).status_code == 304


@pytest.mark.req("SB-118", "SB-100")
async def test_what_is_deleted_leaves_no_bytes_behind(sandbox: Sandbox, world: TeamWorld) -> None:
    tag = await sandbox.put("a.md", "one")
    before = await blobs(world)
    await sandbox.put("a.md", "two", tag)
    assert len(await blobs(world)) == len(before), "replaced bytes went"
    await sandbox.record()
    snapshot = await sandbox.snapshot()
    assert (await sandbox.send("DELETE")).status_code == 204
    assert await blobs(world) != set(), "the snapshot keeps its own"
    await sandbox.client.ok("DELETE", f"//snapshots/{snapshot}")
    assert await blobs(world) == set()
    async with world.deps.store.reading() as reader:
        for kind in (SandboxSession, SandboxFile, SandboxPart):
            assert (await reader.find(LOOKING, Find(kind=kind))).nodes == ()
    assert (await sandbox.refused("GET"))[:2] == (404, "not_found")


@pytest.mark.req("SB-100", "SB-104", "SB-105", "SB-117", "SB-118")
async def test_each_route_needs_its_verb(
    sandbox: Sandbox, reader: MemoryClient, runner: MemoryClient, http: httpx2.AsyncClient, world: TeamWorld
) -> None:
    seen = Sandbox(client=reader, id=sandbox.id)
    assert await seen.text("README.md") == "# Desk\n"
    assert (await seen.view())["status"] == "open"
    tag = (await seen.send("GET", "/files/README.md")).headers["etag"]
    for method, path in (
        ("POST", "/runs"), ("POST", "/rollouts"), ("POST", "/close"), ("POST", "/snapshots"), ("PUT", "/files/x"),
        ("DELETE", "/files/README.md"),
    ):  # fmt: skip
        assert (await seen.refused(method, path, tag=tag))[1:] == ("forbidden", {"verb": "run"}), path
    assert (await reader.refused("POST", "//sandbox-sessions", {}))[1:] == ("forbidden", {"verb": "run"})
    running = Sandbox(client=runner, id=sandbox.id)
    snapshot = await running.snapshot()
    assert (await running.refused("DELETE"))[1:] == ("forbidden", {"verb": "write"})
    assert (await runner.refused("DELETE", f"//snapshots/{snapshot}"))[1:] == ("forbidden", {"verb": "write"})
    eve = Sandbox(client=MemoryClient(http=http, token=await world.token(world.eve)), id=sandbox.id)
    assert (await eve.refused("GET"))[1:] == ("forbidden", {"verb": "read"})
    assert (await eve.refused("GET", "/files"))[1:] == ("forbidden", {"verb": "read"})


@pytest.mark.req("SB-100")
async def test_sessions_of_another_workspace_are_not_there(
    sandbox: Sandbox, http: httpx2.AsyncClient, world: TeamWorld
) -> None:
    elsewhere = await key(http, await TeamWorld(deps=world.deps).make(), Right.WRITE)
    snapshot = await sandbox.snapshot()
    other = Sandbox(client=elsewhere, id=sandbox.id)
    for method, path in (("GET", ""), ("GET", "/files/README.md"), ("POST", "/close"), ("DELETE", "")):
        assert (await other.refused(method, path))[:2] == (404, "not_found"), path
    assert (await elsewhere.refused("DELETE", f"//snapshots/{snapshot}"))[:2] == (404, "not_found")
    assert (await elsewhere.refused("GET", "//sandbox-sessions/mem_1"))[2]["id"] == "mem_1"


@pytest.mark.req("SB-100")
async def test_an_archive_holds_the_files(sandbox: Sandbox, world: TeamWorld, tmp_path: Path) -> None:
    await sandbox.record()
    wanted = await blobs(world)
    await export_archive(world.deps, tmp_path / "archive")
    copy = EmbeddedStore(tmp_path / "copy.db", clock=world.deps.clock)
    other = replace(world.deps, store=copy, blobs=open_blobs("memory:///"))
    await copy.open()
    try:
        await import_archive(other, tmp_path / "archive")
        assert {sha256 async for sha256, _ in other.blobs.list()} == wanted
        async with copy.reading() as reader:
            files = (await reader.find(LOOKING, Find(kind=SandboxFile))).nodes
        assert {file.path for file in files} == set(await sandbox.paths())
    finally:
        await copy.close()


@pytest.mark.req("SB-100")
async def test_changes_are_audited_without_content(sandbox: Sandbox, world: TeamWorld) -> None:
    await sandbox.put("a.md", "secret words")
    await sandbox.record(said="secret words")
    await sandbox.snapshot()
    events = (await sandbox.client.ok("GET", "//audit-events", target_id=sandbox.id))["items"]
    assert [event["action"] for event in events][::-1] == [
        "sandbox.create", "sandbox.file.create", "sandbox.rollout", "sandbox.snapshot.create",
    ]  # fmt: skip
    assert "secret words" not in str(events)
    assert events[1]["details"] == {"path": "sessions/desk.jsonl", "version": 1}


@pytest.mark.req("SB-100", "AD-26", "AD-27")
async def test_the_chain_of_a_session_is_followed_and_ends_with_it(sandbox: Sandbox, world: TeamWorld) -> None:
    await sandbox.record()
    await sandbox.close()
    session = inside("sbx", sandbox.id)
    ana, dan = world.caller(world.ana), world.caller(world.dan)
    followed, _ = await read(world.deps, ana, lambda reading: verify_audit(reading))
    assert {report.pool: report.report.ok for report in followed.pools} == {session: True}
    events = (await sandbox.client.ok("GET", "//audit-events", target_id=sandbox.id))["items"]
    assert [event["action"] for event in events][:2] == ["sandbox.closed", "sandbox.memory.write"]
    await sandbox.ok("DELETE")
    whole, _ = await read(world.deps, dan, lambda reading: verify_audit(reading))
    assert whole.ok
    steps, _ = await read(world.deps, dan, lambda reading: admin_log(reading, first=1))
    assert (steps.records[0].operation, steps.records[0].target_id) == ("sandbox.delete", session)
