"""Workspace memory in GraphQL: the same rules as the routes, with ETags as arguments (AD-22 to AD-24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.rules.workspace_ids import inside
from graph.store.observing import counting_round_trips
from tests.api.clients import GraphQLClient
from tests.support.memory_client import allow
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]
FIELDS = "id localId name kind version etag fileCount contentBytes historyBytes labels guide inheritedGuide"
MAKE = f"mutation($name: String!, $labels: JSON) {{ createMemory(name: $name, labels: $labels) {{ {FIELDS} }} }}"
FILE = "id path content size version etag updatedBy { id }"
CREATE = f"""mutation($memory: ID!, $path: String!, $content: String!) {{
  createMemoryFile(memoryId: $memory, path: $path, content: $content) {{ {FILE} }} }}"""
WRITE = f"""mutation($memory: ID!, $path: String!, $content: String!, $etag: String!) {{
  writeMemoryFile(memoryId: $memory, path: $path, content: $content, expectedEtag: $etag) {{ {FILE} }} }}"""
READ = f"query($memory: ID!, $path: String!) {{ memoryFile(memoryId: $memory, path: $path) {{ {FILE} }} }}"
REVISIONS = """query($memory: ID!, $path: String) { memoryRevisions(memoryId: $memory, path: $path) {
  totalCount edges { node { id seq op path movedPath previousContent content hunks { lines } principal { id } } } } }"""
RESTORE = """mutation($memory: ID!, $seq: Int!, $etag: String) {
  restoreMemoryRevision(memoryId: $memory, seq: $seq, expectedEtag: $etag) { path file { content etag } } }"""
NODE = "query($id: ID!) { node(id: $id) { id __typename } }"


@pytest.fixture
async def writer(ana: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    await allow(world, world.ana, Right.WRITE)
    return ana


@pytest.fixture
async def memory(writer: GraphQLClient) -> dict[str, Any]:
    return dict((await writer.ok(MAKE, name="Team", labels={"team": "red"}))["createMemory"])


@pytest.mark.req("AD-22", "AD-23", "FM-16", "FM-57")
async def test_files_are_written_with_the_tag_that_was_read(
    writer: GraphQLClient, memory: dict[str, Any], world: TeamWorld, gid: Gid
) -> None:
    id_ = memory["id"]
    made = (await writer.ok(CREATE, memory=id_, path="a.md", content="one"))["createMemoryFile"]
    assert made["updatedBy"] == {"id": gid(world.ana)}
    written = (await writer.ok(WRITE, memory=id_, path="a.md", content="two", etag=made["etag"]))["writeMemoryFile"]
    assert (written["id"], written["version"], written["content"]) == (made["id"], 2, "two")
    refused = await writer.run(WRITE, memory=id_, path="a.md", content="three", etag=made["etag"])
    extensions = refused.errors[0]["extensions"]
    assert (refused.codes, extensions["status"], extensions["currentEtag"]) == (
        ["precondition_failed"],
        412,
        written["etag"],
    )
    assert extensions["current"]["content"] == "two"
    assert (await writer.ok(READ, memory=id_, path="a.md"))["memoryFile"] == written
    without = WRITE.replace(", $etag: String!", "").replace(", expectedEtag: $etag", "")
    assert (await writer.run(without, memory=id_, path="a.md", content="x")).codes == ["BAD_INPUT"]


@pytest.mark.req("AD-22", "FM-70", "FM-76", "FM-77", "FM-78", "FM-81")
async def test_history_is_read_restored_and_purged(writer: GraphQLClient, memory: dict[str, Any]) -> None:
    id_ = memory["id"]
    made = (await writer.ok(CREATE, memory=id_, path="a.md", content="one\n"))["createMemoryFile"]
    written = (await writer.ok(WRITE, memory=id_, path="a.md", content="two\n", etag=made["etag"]))["writeMemoryFile"]
    found = (await writer.ok(REVISIONS, memory=id_, path="a.md"))["memoryRevisions"]
    assert found["totalCount"] == 2
    newest = found["edges"][0]["node"]
    assert (newest["seq"], newest["op"], newest["previousContent"], newest["content"]) == (
        2,
        "update",
        "one\n",
        "two\n",
    )
    assert newest["hunks"] == [{"lines": ["-one", "+two"]}]
    assert (await writer.run(RESTORE, memory=id_, seq=2)).codes == ["precondition_required"]
    back = (await writer.ok(RESTORE, memory=id_, seq=2, etag=written["etag"]))["restoreMemoryRevision"]
    assert (back["path"], back["file"]["content"]) == ("a.md", "one\n")
    purge = 'mutation($memory: ID!) { purgeMemoryHistory(memoryId: $memory, path: "a.md") }'
    assert (await writer.ok(purge, memory=id_))["purgeMemoryHistory"] == 3
    assert (await writer.ok(REVISIONS, memory=id_))["memoryRevisions"]["edges"] == []


@pytest.mark.req("FM-76", "FM-77")
@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
async def test_a_longer_history_costs_no_more_round_trips_and_says_what_each_change_left(
    writer: GraphQLClient, memory: dict[str, Any]
) -> None:
    id_, counts = memory["id"], []
    for round_ in range(2):
        for path in (f"a{round_}.md", f"b{round_}.md"):
            made = (await writer.ok(CREATE, memory=id_, path=path, content="one\n"))["createMemoryFile"]
            await writer.ok(WRITE, memory=id_, path=path, content="two\n", etag=made["etag"])
        with counting_round_trips() as trips:
            edges = (await writer.ok(REVISIONS, memory=id_))["memoryRevisions"]["edges"]
        counts.append(sum(trips.values()))
        left = [(edge["node"]["path"], edge["node"]["content"]) for edge in edges[:4]]
        b, a = f"b{round_}.md", f"a{round_}.md"
        assert left == [(b, "two\n"), (b, "one\n"), (a, "two\n"), (a, "one\n")]
        assert edges[0]["node"]["hunks"] == [{"lines": ["-one", "+two"]}]
    assert counts[0] == counts[1]


@pytest.mark.req("AD-22", "AD-23", "FM-43", "FM-46")
async def test_memories_are_listed_changed_moved_in_and_deleted(writer: GraphQLClient, memory: dict[str, Any]) -> None:
    id_ = memory["id"]
    assert (memory["labels"], memory["guide"], memory["kind"]) == ({"team": "red"}, None, "file")
    change = f"""mutation($memory: ID!, $etag: String!) {{
      updateMemory(memoryId: $memory, expectedEtag: $etag, guide: "", alwaysLoad: ["a.md"]) {{
        {FIELDS} alwaysLoad }} }}"""
    changed = (await writer.ok(change, memory=id_, etag=memory["etag"]))["updateMemory"]
    assert (changed["guide"], changed["alwaysLoad"], changed["version"], changed["name"]) == ("", ["a.md"], 2, "Team")
    made = (await writer.ok(CREATE, memory=id_, path="a.md", content="one"))["createMemoryFile"]
    move = """mutation($memory: ID!, $etag: String!) {
      moveMemoryFile(memoryId: $memory, source: "a.md", destination: "b/c.md", expectedEtag: $etag) { path etag } }"""
    moved = (await writer.ok(move, memory=id_, etag=made["etag"]))["moveMemoryFile"]
    listed = 'query { memories(kind: "file") { totalCount edges { node { name files { edges { node { path } } } } } } }'
    [row] = (await writer.ok(listed))["memories"]["edges"]
    assert [edge["node"]["path"] for edge in row["node"]["files"]["edges"]] == ["b/c.md"]
    gone = """mutation($memory: ID!, $etag: String!) {
      deleteMemoryFile(memoryId: $memory, path: "b/c.md", expectedEtag: $etag) }"""
    assert (await writer.ok(gone, memory=id_, etag=moved["etag"]))["deleteMemoryFile"] is True
    delete = "mutation($memory: ID!, $etag: String!) { deleteMemory(memoryId: $memory, expectedEtag: $etag) }"
    assert (await writer.run(delete, memory=id_, etag=memory["etag"])).codes == ["precondition_failed"]
    assert (await writer.ok(delete, memory=id_, etag=changed["etag"]))["deleteMemory"] is True
    one = "query($memory: ID!) { memory(memoryId: $memory) { id } }"
    assert (await writer.run(one, memory=id_)).codes == ["not_found"]


@pytest.mark.req("AD-24", "FM-3", "KN-60")
async def test_who_holds_no_verb_finds_no_node_and_reads_nothing(
    writer: GraphQLClient, memory: dict[str, Any], world: TeamWorld, eve: GraphQLClient
) -> None:
    made = (await writer.ok(CREATE, memory=memory["id"], path="a.md", content="one"))["createMemoryFile"]
    revision = (await writer.ok(REVISIONS, memory=memory["id"]))["memoryRevisions"]["edges"][0]["node"]["id"]
    ids = {memory["id"]: "WorkspaceMemory", made["id"]: "MemoryFile", revision: "MemoryRevision"}
    for id_, kind in ids.items():
        assert (await writer.ok(NODE, id=id_))["node"] == {"id": id_, "__typename": kind}
        assert (await eve.ok(NODE, id=id_))["node"] is None
    for query, more in ((READ, {"path": "a.md"}), (REVISIONS, {})):
        refused = await eve.run(query, memory=memory["id"], **more)
        assert (refused.codes, refused.errors[0]["extensions"]["status"]) == (["not_found"], 404)
    await allow(world, world.eve, Right.READ, memory["localId"])
    assert inside("wsm", memory["localId"]) is not None
    for id_, kind in ids.items():
        assert (await eve.ok(NODE, id=id_))["node"] == {"id": id_, "__typename": kind}
    assert (await eve.run(CREATE, memory=memory["id"], path="b.md", content="")).codes == ["forbidden"]
