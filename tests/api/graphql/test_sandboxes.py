"""Sandbox memory in GraphQL: the rules of the routes, the same files, the same report (AD-22 to AD-24)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from api.bootstrap import Ports
from graph.model.nodes.people import Right
from graph.services.deps import Deps
from graph.store.observing import counting_round_trips
from rootward.sandbox.memory import MemoryLimits
from tests.api.clients import GraphQLClient
from tests.support.memory_client import MemoryClient, allow
from tests.support.sandbox_client import Sandbox, Scripted, segment
from tests.support.world import TeamWorld

SESSION = "id localId status report closedAt createdBy { displayName }"
CREATE = f"""mutation($manifest: SandboxManifestInput, $from: ID) {{
  it: createSandboxSession(manifest: $manifest, snapshotId: $from) {{
    {SESSION} files {{ totalCount edges {{ node {{ path content }} }} }} }} }}"""
READ = f"query($s: ID!) {{ it: sandboxSession(sessionId: $s) {{ {SESSION} }} }}"
DELETE = "mutation($s: ID!) { it: deleteSandboxSession(sessionId: $s) }"
BEGIN = """mutation($s: ID!, $memory: SandboxMemoryInput!) {
  it: beginSandboxRun(sessionId: $s, memory: $memory) { developerPrompt capabilitiesRequired } }"""
ROLLOUT = "recorded rolloutId path segmentCount updatedAt"
RECORD = f"""mutation($s: ID!, $rollout: SandboxRolloutInput!) {{
  it: recordSandboxRun(sessionId: $s, rollout: $rollout) {{ {ROLLOUT} }} }}"""
UPLOAD = f"""mutation($s: ID!, $file: Upload) {{
  it: recordSandboxRun(sessionId: $s, rollout: {{conversationId: "desk"}}, segmentFile: $file) {{ {ROLLOUT} }} }}"""
CLOSE = f"mutation($s: ID!) {{ it: closeSandboxSession(sessionId: $s) {{ {SESSION} }} }}"
ASK = CLOSE.replace("sessionId: $s", "sessionId: $s, wait: false")
FILE = "id path content size version etag"
MAKE_FILE = f"""mutation($s: ID!, $path: String!, $content: String!) {{
  it: createSandboxFile(sessionId: $s, path: $path, content: $content) {{ {FILE} }} }}"""
WRITE = f"""mutation($s: ID!, $path: String!, $content: String!, $etag: String!) {{
  it: writeSandboxFile(sessionId: $s, path: $path, content: $content, expectedEtag: $etag) {{ {FILE} }} }}"""
READ_FILE = f"query($s: ID!, $path: String!) {{ it: sandboxFile(sessionId: $s, path: $path) {{ {FILE} }} }}"
DELETE_FILE = """mutation($s: ID!, $path: String!, $etag: String!) {
  it: deleteSandboxFile(sessionId: $s, path: $path, expectedEtag: $etag) }"""
SNAP = """mutation($s: ID!) { it: takeSandboxSnapshot(sessionId: $s) {
  id localId sessionId createdBy { displayName } } }"""
DROP = "mutation($id: ID!) { it: deleteSandboxSnapshot(snapshotId: $id) }"


def said(text: str = "Tabs, please.", **members: Any) -> dict[str, Any]:
    """Return a finished run, with the names of GraphQL."""
    answer = {"role": "assistant", "content": "Done."}
    return {"input": text, "generatedItems": [answer], "terminalMetadata": {"terminalState": "completed"}, **members}


@pytest.fixture
def script() -> Scripted:
    return Scripted(limits=MemoryLimits(max_segment_bytes=2_000_000))


@pytest.fixture
def ports(ports: Ports, script: Scripted) -> Ports:
    return replace(ports, sandbox=script.rules)


@pytest.fixture
async def writer(ana: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    await allow(world, world.ana, Right.WRITE)
    return ana


@pytest.fixture
async def session(writer: GraphQLClient) -> str:
    return str((await writer.it(CREATE))["id"])


def over_rest(client: GraphQLClient, local: str) -> Sandbox:
    return Sandbox(client=MemoryClient(http=client.http, token=str(client.token)), id=local)


@pytest.mark.req("KN-121", "AD-22", "SB-104", "SB-105", "SB-106", "SB-108", "SB-109", "SB-113", "SB-114")
@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
async def test_runs_are_begun_recorded_and_closed_into_memory_that_the_next_run_is_told(
    writer: GraphQLClient, script: Scripted
) -> None:
    manifest = {"entries": [{"path": "notes/a.md", "content": "kept"}]}
    made = await writer.it(CREATE, manifest=manifest)
    s = made["id"]
    assert (made["status"], made["report"], made["closedAt"]) == ("open", None, None)
    assert made["createdBy"] == {"displayName": "Ana"}
    assert made["files"]["edges"] == [{"node": {"path": "notes/a.md", "content": "kept"}}]
    first = await writer.it(BEGIN, s=s, memory={})
    assert first["developerPrompt"] is None
    assert first["capabilitiesRequired"]
    recorded = await writer.it(RECORD, s=s, rollout={"conversationId": "desk", "segment": said()})
    assert (recorded["recorded"], recorded["rolloutId"], recorded["segmentCount"]) == (True, "desk", 1)
    assert recorded["path"] == "sessions/desk.jsonl"
    off = await writer.it(RECORD, s=s, rollout={"conversationId": "desk", "generate": None, "segment": said()})
    assert off == dict.fromkeys(("rolloutId", "path", "segmentCount", "updatedAt")) | {"recorded": False}
    closed = await writer.it(CLOSE, s=s)
    [layout] = closed["report"]["layouts"]
    assert layout["phase_one"] == [{"rollout_id": "desk", "status": "extracted"}]
    assert layout["phase_two"]["status"] == "completed"
    assert closed["status"] == "closed"
    assert closed["closedAt"] is not None
    assert await writer.it(READ, s=s) == closed
    assert (await writer.it(CLOSE, s=s)) == closed
    assert script.calls == (1, 2)
    other = (await writer.it(CREATE))["id"]
    assert (await writer.it(ASK, s=other))["status"] == "closing"
    over = await writer.refused(RECORD, s=s, rollout={"conversationId": "desk", "segment": said()})
    assert (over["code"], over["kind"], over["reason"], over["id"]) == (
        "conflict",
        "sandbox_session",
        "session_closed",
        s,
    )
    later = await writer.it(CREATE, **{"from": (await writer.it(SNAP, s=s))["id"]})
    told = await writer.it(BEGIN, s=later["id"], memory={"generate": None})
    assert told["developerPrompt"]
    rest = over_rest(writer, later["localId"])
    assert told["developerPrompt"] == await rest.prompt(generate=False)
    assert await rest.text("notes/a.md") == "kept"


@pytest.mark.req("AD-22", "AD-23", "AD-24", "SB-117", "KN-121")
@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
async def test_files_are_made_read_replaced_and_deleted_with_the_tag_that_was_read(
    writer: GraphQLClient, session: str
) -> None:
    made = await writer.it(MAKE_FILE, s=session, path="a/b.md", content="one")
    assert (made["path"], made["content"], made["size"], made["version"]) == ("a/b.md", "one", 3, 1)
    again = await writer.refused(MAKE_FILE, s=session, path="a/b.md", content="two")
    assert (again["code"], again["status"], again["header"]) == ("precondition_required", 428, "If-Match")
    written = await writer.it(WRITE, s=session, path="a/b.md", content="two", etag=made["etag"])
    assert (written["content"], written["version"], written["id"]) == ("two", 2, made["id"])
    stale = await writer.refused(WRITE, s=session, path="a/b.md", content="three", etag=made["etag"])
    assert (stale["code"], stale["status"], stale["currentEtag"]) == ("precondition_failed", 412, written["etag"])
    assert await writer.it(READ_FILE, s=session, path="a/b.md") == written
    node = "query($id: ID!) { it: node(id: $id) { ... on SandboxFile { path content } } }"
    assert await writer.it(node, id=made["id"]) == {"path": "a/b.md", "content": "two"}
    for query, more in ((READ_FILE, {}), (WRITE, {"content": "x", "etag": "x"}), (DELETE_FILE, {"etag": "x"})):
        missing = await writer.refused(query, s=session, path="none", **more)
        assert missing == {"code": "not_found", "status": 404, "kind": "sandbox_file", "id": "none"}
    climbing = await writer.refused(MAKE_FILE, s=session, path="../x", content="x")
    assert (climbing["code"], climbing["field"]) == ("invalid_argument", "path")
    listed = """query($s: ID!, $prefix: String!, $after: String) { it: sandboxSession(sessionId: $s) {
      files(prefix: $prefix, first: 1, after: $after) {
        totalCount pageInfo { endCursor } edges { node { path } } } } }"""
    await writer.it(MAKE_FILE, s=session, path="a/c.md", content="c")
    page = (await writer.it(listed, s=session, prefix="a/"))["files"]
    rest = (await writer.it(listed, s=session, prefix="a/", after=page["pageInfo"]["endCursor"]))["files"]
    assert page["totalCount"] == 2
    assert [edge["node"]["path"] for edge in (*page["edges"], *rest["edges"])] == ["a/b.md", "a/c.md"]
    assert (await writer.refused(listed, s=session, prefix="a"))["field"] == "prefix"
    assert await writer.it(DELETE_FILE, s=session, path="a/b.md", etag=written["etag"]) is True
    for call in ('writeSandboxFile(sessionId: "x", path: "p", content: "c") { id }', 'deleteSandboxFile(path: "p")'):
        assert await writer.code(f"mutation {{ {call} }}") == "BAD_INPUT"


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
async def test_more_files_cost_no_more_round_trips(writer: GraphQLClient, session: str) -> None:
    query = """query($s: ID!) { it: sandboxSession(sessionId: $s) {
      files(first: 100) { edges { node { path content } } } } }"""
    counts = []
    for number in range(9):
        await writer.it(MAKE_FILE, s=session, path=f"{number}.md", content=str(number))
        if number in (0, 8):
            with counting_round_trips() as trips:
                edges = (await writer.it(query, s=session))["files"]["edges"]
            assert [edge["node"]["content"] for edge in edges] == [str(one) for one in range(number + 1)]
            counts.append(sum(trips.values()))
    assert counts[0] == counts[1]


@pytest.mark.req("SB-118", "KN-121", "SB-100", "FM-19")
async def test_snapshots_outlive_their_session_until_they_are_deleted(writer: GraphQLClient, session: str) -> None:
    await writer.it(MAKE_FILE, s=session, path="a.md", content="kept")
    snapshot = await writer.it(SNAP, s=session)
    assert (snapshot["sessionId"], snapshot["createdBy"]) == (session, {"displayName": "Ana"})
    listed = "query($s: ID!) { it: sandboxSession(sessionId: $s) { snapshots { totalCount edges { node { id } } } } }"
    assert (await writer.it(listed, s=session))["snapshots"]["edges"] == [{"node": {"id": snapshot["id"]}}]
    everything = await writer.it("{ it: sandboxSessions { totalCount edges { node { id } } } }")
    assert everything == {"totalCount": 1, "edges": [{"node": {"id": session}}]}
    log = "query($id: ID) { it: memoryLog(targetId: $id) { edges { node { operation } } } }"
    operations = [edge["node"]["operation"] for edge in (await writer.it(log, id=session))["edges"]]
    assert operations == ["sandbox.snapshot.create", "sandbox.file.create", "sandbox.create"]
    assert await writer.it(DELETE, s=session) is True
    gone = await writer.refused(READ, s=session)
    assert gone == {"code": "not_found", "status": 404, "kind": "sandbox_session", "id": session}
    again = await writer.it(CREATE, **{"from": snapshot["id"]})
    assert [edge["node"]["content"] for edge in again["files"]["edges"]] == ["kept"]
    assert await writer.it(DROP, id=snapshot["id"]) is True
    missing = await writer.refused(CREATE, **{"from": snapshot["id"]})
    assert missing == {"code": "not_found", "status": 404, "kind": "snapshot", "id": snapshot["id"]}


@pytest.mark.req("AD-24", "SB-107", "SB-110", "SB-112", "KN-121")
async def test_refusals_name_the_argument_and_carry_the_codes_of_the_routes(
    writer: GraphQLClient, session: str
) -> None:
    fine = {"conversationId": "desk", "segment": said()}
    for query, given, field in (
        (BEGIN, {"memory": {"read": None, "generate": None}}, "memory"),
        (BEGIN, {"memory": {"generate": {"maxRawMemoriesForConsolidation": 0}}}, "generate"),
        (BEGIN, {"memory": {"layout": {"memoriesDir": "../x"}}}, "layout.memoriesDir"),
        (RECORD, {"rollout": {**fine, "conversationId": "a b"}}, "conversationId"),
        (RECORD, {"rollout": {**fine, "segment": None}}, "segment"),
        (RECORD, {"rollout": {**fine, "segment": said(input=3)}}, "segment"),
        (RECORD, {"rollout": {**fine, "segment": said(terminalMetadata={"terminalState": "lost"})}}, "segment"),
    ):
        refused = await writer.refused(query, s=session, **given)
        assert (refused["code"], refused["status"], refused["field"]) == ("invalid_argument", 400, field), given
    twice = {"entries": [{"path": "a.md"}, {"path": "a.md"}]}
    assert (await writer.refused(CREATE, manifest=twice))["field"] == "manifest.entries"
    clash = {"layout": {"memoriesDir": "memories", "sessionsDir": "elsewhere"}}
    await writer.it(BEGIN, s=session, memory={})
    refused = await writer.refused(BEGIN, s=session, memory=clash)
    assert (refused["code"], refused["reason"], refused["id"]) == ("conflict", "memory_layout", session)


@pytest.mark.req("SB-108", "SB-110", "KN-121")
async def test_a_segment_that_is_larger_than_variables_may_be_is_uploaded(writer: GraphQLClient, session: str) -> None:
    long = "x" * 1_500_000
    inline = await writer.run(RECORD, s=session, rollout={"conversationId": "desk", "segment": said(long)})
    assert (inline.status, inline.codes) == (413, ["LIMIT_EXCEEDED"])
    body = json.dumps(segment(long)).encode()
    made = await writer.upload(UPLOAD, "segment.json", body, s=session)
    assert (made.errors, made.data["it"]["segmentCount"]) == ([], 1)
    too_long = await writer.upload(UPLOAD, "segment.json", json.dumps(segment("x" * 2_000_000)).encode(), s=session)
    [error] = too_long.errors
    assert error["extensions"] == {"code": "payload_too_large", "status": 413, "limit": 2_000_000}
    for data in (b"{", b"[]", b'{"input": 3}'):
        [error] = (await writer.upload(UPLOAD, "segment.json", data, s=session)).errors
        assert error["extensions"]["code"] == "invalid_argument"


@pytest.mark.req("KN-60", "KN-120", "KN-121", "SB-100", "FM-3")
async def test_sandboxes_are_nodes_for_who_reads_the_workspace_and_for_nobody_else(
    writer: GraphQLClient, session: str, world: TeamWorld, eve: GraphQLClient, ben: GraphQLClient
) -> None:
    await allow(world, world.ben, Right.READ)
    file = await writer.it(MAKE_FILE, s=session, path="a.md", content="kept")
    snapshot = await writer.it(SNAP, s=session)
    seen = "query($id: ID!) { it: node(id: $id) { id __typename } }"
    root = "query($id: ID!) { it: provenance(id: $id) { root { __typename } } }"
    explain = "query($id: ID!) { it: explainVisibility(id: $id) { visible } }"
    kinds = {session: "SandboxSession", file["id"]: "SandboxFile", snapshot["id"]: "SandboxSnapshot"}
    for id_, kind in kinds.items():
        assert await ben.it(seen, id=id_) == {"id": id_, "__typename": kind}
        assert await ben.it(root, id=id_) == {"root": {"__typename": kind}}
        assert await ben.it(explain, id=id_) == {"visible": True}
        assert await eve.it(seen, id=id_) is None
        assert await eve.code(root, id=id_) == "NOT_FOUND"
        assert await eve.it(explain, id=id_) is None
    assert await ben.it(READ_FILE, s=session, path="a.md") == file
    hidden = {"code": "not_found", "status": 404, "kind": "sandbox_session"}
    for query, more in ((READ, {}), (READ_FILE, {"path": "a.md"}), (CLOSE, {}), (BEGIN, {"memory": {}})):
        assert await eve.refused(query, s=session, **more) == hidden
    for query, more in ((CLOSE, {}), (BEGIN, {"memory": {}}), (MAKE_FILE, {"path": "b.md", "content": "x"})):
        assert await ben.refused(query, s=session, **more) == {"code": "forbidden", "status": 403, "verb": "run"}
    assert await ben.refused(DELETE, s=session) == {"code": "forbidden", "status": 403, "verb": "write"}
    assert await eve.refused(CREATE) == {"code": "forbidden", "status": 403, "verb": "run"}


@pytest.mark.req("AD-32", "SB-117")
async def test_bytes_are_read_again_if_the_file_changed_meanwhile(
    writer: GraphQLClient, session: str, world: TeamWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = await writer.it(MAKE_FILE, s=session, path="a.md", content="one")
    deps: Deps = world.deps
    read_blob = deps.blobs.read
    changed: list[bool] = []

    async def slow(sha256: str) -> bytes:
        """Change the file between the look at its parts and at their bytes."""
        if not changed:
            changed.append(True)
            await writer.it(WRITE, s=session, path="a.md", content="two", etag=made["etag"])
        return bytes(await read_blob(sha256))

    monkeypatch.setattr(type(deps.blobs), "read", lambda self, sha256: slow(sha256))
    assert (await writer.it(READ_FILE, s=session, path="a.md"))["content"] == "two"
    assert changed
