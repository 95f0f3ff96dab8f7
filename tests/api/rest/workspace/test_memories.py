"""Memories through the routes: making, listing, changing and deleting them (FM-20 to FM-48)."""

from __future__ import annotations

import httpx2
import pytest

from api.bootstrap import Service
from graph.model.access import SystemScope
from graph.model.nodes.people import Grant, Right
from graph.model.nodes.workspace import MemoryFile, MemoryRevision, RunThread, ThreadMount
from graph.rules.memory_guides import FILE_GUIDE
from graph.rules.workspace_ids import inside
from graph.services.access.admin_log import admin_log
from graph.services.access.commands import Command, command
from graph.services.access.session import read
from graph.services.knowledge.anchors import anchor_now, anchors
from graph.services.knowledge.audit_verify import verify_audit
from graph.store.query import Eq, Find
from tests.support.memory_client import Json, MemoryClient, allow
from tests.support.world import TeamWorld

LOOK = SystemScope(reason="what a test finds")


@pytest.mark.req("FM-20", "FM-21", "FM-22", "FM-23", "FM-24", "FM-25", "FM-38", "FM-40", "FM-12", "FM-10")
async def test_a_memory_has_the_view_of_the_contract(writer: MemoryClient, reader: MemoryClient) -> None:
    made = await writer.send("POST", "//memories", {"name": "Team"})
    view = made.json()
    assert made.status_code == 201
    assert view == {
        "id": view["id"],
        "name": "Team",
        "description": None,
        "kind": "file",
        "type": "postgres",
        "provider_id": None,
        "namespace": None,
        "guide": None,
        "inherited_guide": FILE_GUIDE,
        "always_load": [],
        "labels": {},
        "file_count": 0,
        "content_bytes": 0,
        "history_bytes": 0,
        "version": 1,
        "created_by_id": "ana",
        "updated_by_id": "ana",
        "created_at": view["created_at"],
        "updated_at": view["created_at"],
    }
    assert view["id"].startswith("mem_")
    assert made.headers["etag"] == f'"{view["id"]}:1"'
    read = await reader.send("GET", f"//memories/{view['id']}")
    assert (read.json(), read.headers["etag"]) == (view, made.headers["etag"])
    again = await writer.ok("POST", "//memories", {"name": "Team", "type": "postgres", "provider_id": None})
    assert (again["id"] != view["id"], again["kind"]) == (True, "file")


@pytest.mark.req("FM-27", "FM-28", "FM-30", "FM-34", "FM-36", "FM-39", "FM-11", "FM-21")
@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": " \n"}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": None}, "name"),
        ({"description": "x" * 2_001}, "description"),
        ({"labels": {str(n): "" for n in range(33)}}, "labels"),
        ({"labels": {"k" * 129: ""}}, "labels"),
        ({"labels": {"k": "v" * 129}}, "labels"),
        ({"labels": {"k": 1}}, "labels.k"),
        ({"guide": "\u00e9" * 2_049}, "guide"),
        ({"always_load": [f"{n}.md" for n in range(65)]}, "always_load"),
        ({"always_load": ["a.md", "../x"]}, "always_load.1"),
        ({"always_load": ["caf\u00e9.md", "cafe\u0301.md"]}, "always_load"),
        ({"provider_id": "memprov_x"}, "provider_id"),
        ({"namespace": "alice"}, "namespace"),
        ({"type": "mysql"}, "type"),
        ({"kind": "file"}, "kind"),
        ({"id": "mem_x"}, "id"),
    ],
)
async def test_fields_that_do_not_fit_are_refused(writer: MemoryClient, fields: Json, field: str) -> None:
    status, code, details = await writer.refused("POST", "//memories", {"name": "Team", **fields})
    assert (status, code, details["field"]) == (400, "invalid_argument", field)
    assert (await writer.ok("GET", "//memories"))["items"] == []


@pytest.mark.req("FM-27", "FM-28", "FM-34", "FM-35", "FM-36")
async def test_fields_at_their_bounds_are_taken(writer: MemoryClient) -> None:
    fields = {
        "name": "x" * 200,
        "description": "x" * 2_000,
        "labels": {"k" * 128: "v" * 128, **{str(n): "" for n in range(31)}},
        "guide": "g" * 4_096,
        "always_load": ["cafe\u0301.md", *(f"{n}.md" for n in range(63))],
    }
    view = await writer.ok("POST", "//memories", fields)
    assert view["always_load"][0] == "caf\u00e9.md"
    assert {name: view[name] for name in fields if name != "always_load"} == {
        name: value for name, value in fields.items() if name != "always_load"
    }


@pytest.mark.req("FM-41", "FM-42", "FM-8", "FM-9")
async def test_memories_are_listed_by_id_and_all_filters_hold(writer: MemoryClient) -> None:
    for number in range(5):
        labels = {"team": "red" if number % 2 else "blue", "n": str(number), "all": ""}
        await writer.ok("POST", "//memories", {"name": f"{number}", "labels": labels})
    found = (await writer.ok("GET", "//memories"))["items"]
    assert [item["id"] for item in found] == sorted(item["id"] for item in found)
    first = await writer.ok("GET", "//memories", label="team:blue", limit=2)
    rest = await writer.ok("GET", "//memories", label="team:blue", limit=2, cursor=first["next_cursor"])
    assert sorted(item["name"] for page in (first, rest) for item in page["items"]) == ["0", "2", "4"]
    assert rest["next_cursor"] is None
    assert (await writer.refused("GET", "//memories", limit=2, cursor=first["next_cursor"]))[1] == "invalid_cursor"
    one = await writer.ok("GET", "//memories", label=["team:blue", "all:"], limit=1)
    another = await writer.ok("GET", "//memories", label=["all:", "team:blue"], limit=1, cursor=one["next_cursor"])
    assert [page["items"][0]["name"] for page in (one, another)] == ["0", "2"]
    both = await writer.ok("GET", "//memories", label=["team:blue", "n:2"], kind="file", type="postgres")
    assert [item["name"] for item in both["items"]] == ["2"]
    assert (await writer.ok("GET", "//memories", label=["team:blue", "n:1"]))["items"] == []
    assert (await writer.ok("GET", "//memories", kind="record"))["items"] == []
    assert (await writer.refused("GET", "//memories", kind="files"))[2]["field"] == "kind"
    assert (await writer.refused("GET", "//memories", label=["a:b"] * 9))[2]["field"] == "label"
    assert (await writer.refused("GET", "//memories", label="blue"))[2]["field"] == "label"


@pytest.mark.req("FM-43", "FM-44", "FM-13", "FM-14", "FM-16", "FM-12")
async def test_a_patch_changes_what_it_names(team: MemoryClient) -> None:
    fields = {"description": "d", "labels": {"a": "1"}, "guide": "g", "always_load": ["a.md"]}
    first = (await team.send("GET", "")).headers["etag"]
    changed = await team.send("PATCH", "", fields, tag=first)
    view = changed.json()
    assert {name: view[name] for name in fields} == fields
    assert (view["name"], view["version"]) == ("Team", 2)
    same = await team.send("PATCH", "", fields, tag=changed.headers["etag"])
    assert (same.json(), same.headers["etag"]) == (view, changed.headers["etag"])
    events = (await team.ok("GET", "//audit-events", target_id=team.memory))["items"]
    assert [event["action"] for event in events] == ["memory.update", "memory.create"]
    cleared = await team.ok(
        "PATCH",
        "",
        {"description": None, "labels": {"b": "2"}, "guide": None, "always_load": []},
        tag=changed.headers["etag"],
    )
    assert (cleared["description"], cleared["labels"], cleared["guide"]) == (None, {"b": "2"}, None)
    assert cleared["always_load"] == []
    assert (await team.refused("PATCH", "", {"name": "x"}))[:2] == (428, "precondition_required")
    status, _, details = await team.refused("PATCH", "", {"name": "x"}, tag=first)
    assert (status, details) == (412, {"current_etag": f'"{team.memory}:3"'})
    for body, field in (({"type": "postgres"}, "type"), ({"name": None}, "name"), ({"labels": None}, "labels")):
        assert (await team.refused("PATCH", "", body, tag=f'"{team.memory}:3"'))[2]["field"] == field


@pytest.mark.req("FM-46", "FM-47", "FM-29")
async def test_a_deleted_memory_leaves_nothing_behind(team: MemoryClient, world: TeamWorld, service: Service) -> None:
    tag = await team.write("a.md", "one")
    await team.put("a.md", "two", tag)
    await allow(world, world.eve, Right.READ, team.memory)
    thread = await _mounted(world, team.memory)
    assert (await team.refused("DELETE", ""))[0] == 428
    assert (await team.refused("DELETE", "", tag='"x:1"'))[0] == 412
    assert (await team.send("DELETE", "", tag=f'"{team.memory}:1"')).status_code == 204
    assert (await team.refused("GET", ""))[:2] == (404, "not_found")
    memory = inside("wsm", team.memory)
    async with service.deps.store.reading() as reader:
        for kind, field in ((MemoryFile, "memory_id"), (MemoryRevision, "memory_id"), (ThreadMount, "memory_id")):
            assert not (await reader.find(LOOK, Find(kind=kind, where=Eq(field, memory)))).nodes
        assert not (await reader.find(LOOK, Find(kind=Grant, where=Eq("object_id", memory)))).nodes
        found = (await reader.get(LOOK, [thread.id]))[thread.id]
    assert isinstance(found, RunThread)
    assert found.version == thread.version + 1
    events = (await team.ok("GET", "//audit-events", target_id=team.memory))["items"]
    assert events[0]["action"] == "memory.delete"


@pytest.mark.req("AD-26", "AD-27", "FM-19")
async def test_the_chain_of_a_memory_is_followed_and_ends_with_it(
    team: MemoryClient, world: TeamWorld, service: Service
) -> None:
    await team.write("a.md", "one")
    for _ in range(2):
        await _mounted(world, team.memory)
    memory = inside("wsm", team.memory)
    await command(service.deps, world.caller(world.dan), anchor_now)
    ana, dan = world.caller(world.ana), world.caller(world.dan)
    followed, _ = await read(service.deps, ana, lambda reading: verify_audit(reading))
    assert {report.pool: report.report.ok for report in followed.pools} == {memory: True}
    assert (await team.send("DELETE", "", tag=f'"{team.memory}:1"')).status_code == 204
    bound, _ = await read(service.deps, dan, lambda reading: anchors(reading))
    assert [memory in one.heads for one in bound] == [True, False]
    whole, _ = await read(service.deps, dan, lambda reading: verify_audit(reading))
    assert whole.ok
    steps, _ = await read(service.deps, dan, lambda reading: admin_log(reading, first=1))
    assert (steps.records[0].operation, steps.records[0].target_id) == ("memory.delete", memory)


@pytest.mark.req("FM-3")
async def test_each_route_asks_for_its_verb(team: MemoryClient, runner: MemoryClient, reader: MemoryClient) -> None:
    tag = await team.write("a.md", "one")
    body = {"path": "b.md", "content": ""}
    writes: tuple[tuple[str, str, Json | None], ...] = (
        ("PATCH", "", {}),
        ("DELETE", "", None),
        ("DELETE", "/revisions?path=a.md", None),
    )
    runs: tuple[tuple[str, str, Json | None], ...] = (
        ("POST", "/files", body),
        ("PUT", "/files/a.md", body),
        ("DELETE", "/files/a.md", None),
        ("POST", "/files/move", body),
        ("POST", "/revisions/1/restore", None),
    )
    for client, refused in ((runner, writes), (reader, (*writes, *runs))):
        for method, path, sent in refused:
            status, code, details = await client.within(team.memory).refused(method, path, sent, tag=tag)
            verb = "write" if (method, path, sent) in writes else "run"
            assert (status, code, details) == (403, "forbidden", {"verb": verb}), (method, path)
        assert (await client.refused("POST", "//memories", {"name": "x"}))[2] == {"verb": "write"}
        assert (await client.refused("GET", "//audit-events"))[2] == {"verb": "write"}
    for path in ("", "/files", "/files/a.md", "/revisions", "/revisions/1"):
        assert (await reader.within(team.memory).send("GET", path)).status_code == 200


@pytest.mark.req("FM-3")
async def test_a_verb_may_be_held_on_one_memory_alone(
    team: MemoryClient, http: httpx2.AsyncClient, world: TeamWorld
) -> None:
    other = await team.make(name="Other")
    await team.write("a.md", "one")
    eve = MemoryClient(http=http, token=await world.token(world.eve), memory=team.memory)
    for path in ("", "/files/a.md", "//memories"):
        assert (await eve.refused("GET", path))[2] == {"verb": "read"}
    await allow(world, world.eve, Right.RUN, team.memory)
    assert (await eve.ok("GET", "/files/a.md"))["content"] == "one"
    await eve.write("b.md", "two")
    assert [item["id"] for item in (await eve.ok("GET", "//memories"))["items"]] == [team.memory]
    assert (await eve.refused("PATCH", "", {}))[2] == {"verb": "write"}
    assert (await eve.within(other.memory).refused("GET", "/files"))[2] == {"verb": "read"}
    await allow(world, world.eve, Right.WRITE, team.memory)
    await eve.ok("PATCH", "", {"name": "Mine"}, tag=f'"{team.memory}:1"')
    assert (await eve.ok("GET", "//audit-events", target_id=team.memory))["items"]
    assert (await eve.refused("GET", "//audit-events", target_id=other.memory))[2] == {"verb": "write"}


async def _mounted(world: TeamWorld, memory: str) -> RunThread:
    """Return a thread on which a memory is mounted."""

    async def work(cmd: Command) -> RunThread:
        deps, at = cmd.deps, cmd.at
        thread = RunThread(
            id=deps.new_id(RunThread.PREFIX), workspace=world.workspace, created_at=at, updated_at=at, version=4
        )
        mount = ThreadMount(
            id=deps.new_id(ThreadMount.PREFIX),
            workspace=world.workspace,
            created_at=at,
            thread_id=thread.id,
            memory_id=inside("wsm", memory) or thread.id,
            name="team",
            access="write",
        )
        await cmd.writer.put([thread, mount])
        return thread

    return await command(world.deps, world.caller(world.dan), work)
