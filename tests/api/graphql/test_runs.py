"""Threads, mounts, agents and runs in GraphQL: driven like over the routes, by the same rules (AD-22 to AD-24)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.support.memory_client import MemoryClient, allow
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

MOUNT = "name memoryId access recall memory { name }"
THREAD = f"id localId archivedAt version etag mounts {{ {MOUNT} }} parentRun {{ id }}"
AGENT = f"id localId name memoryMounts {{ {MOUNT} }} toolsets version etag"
RUN = f"id localId threadId agentId status endedAt memoryMounts {{ {MOUNT} }} thread {{ id }} agent {{ name }}"

FILES = 'mutation($always: [String!]) { it: createMemory(name: "Team", alwaysLoad: $always) { id localId } }'
WRITE = """mutation($m: ID!, $path: String!, $content: String!) {
  it: createMemoryFile(memoryId: $m, path: $path, content: $content) { id } }"""
CREATE = f"""mutation($memories: [MemoryMountInput!], $parent: ID) {{
  it: createRunThread(memories: $memories, parentRunId: $parent) {{ {THREAD} }} }}"""
READ = f"query($id: ID!) {{ it: runThread(threadId: $id) {{ {THREAD} }} }}"
ON = f"""mutation($t: ID!, $etag: String!, $name: String!, $m: ID!, $access: String! = "read") {{
  it: mountMemory(threadId: $t, expectedEtag: $etag, name: $name, memoryId: $m, access: $access) {{ {THREAD} }} }}"""
CHANGE = f"""mutation($t: ID!, $etag: String!, $name: String!, $access: String, $recall: Boolean) {{
  it: updateMemoryMount(threadId: $t, expectedEtag: $etag, name: $name, access: $access, recall: $recall) {{
    {THREAD} }} }}"""
OFF = f"""mutation($t: ID!, $etag: String!, $name: String!) {{
  it: unmountMemory(threadId: $t, expectedEtag: $etag, name: $name) {{ {THREAD} }} }}"""
ARCHIVE = f"mutation($t: ID!) {{ it: archiveRunThread(threadId: $t) {{ {THREAD} }} }}"
UNARCHIVE = ARCHIVE.replace("archiveRunThread", "unarchiveRunThread")
COMPACT = "mutation($t: ID!) { it: compactRunThread(threadId: $t) }"
MAKE_AGENT = f"""mutation($name: String!, $mounts: [MemoryMountInput!], $tools: JSON) {{
  it: createAgentProfile(name: $name, memoryMounts: $mounts, toolsets: $tools) {{ {AGENT} }} }}"""
CHANGE_AGENT = f"""mutation($id: ID!, $etag: String!, $name: String, $mounts: [MemoryMountInput!], $tools: JSON) {{
  it: updateAgentProfile(agentId: $id, expectedEtag: $etag, name: $name, memoryMounts: $mounts, toolsets: $tools) {{
    {AGENT} }} }}"""
READ_AGENT = f"query($id: ID!) {{ it: agentProfile(agentId: $id) {{ {AGENT} }} }}"
ACCEPT = f"""mutation($t: ID!, $a: ID!, $input: String! = "Go on.") {{
  it: acceptRun(threadId: $t, agentId: $a, input: $input) {{ {RUN} }} }}"""
READ_RUN = f"query($id: ID!) {{ it: workspaceRun(runId: $id) {{ {RUN} }} }}"
ATTEMPT = """mutation($r: ID!) { it: startRunAttempt(runId: $r) { number instructions preamble
  tools { name key permissionId description inputSchema } reports { memory status }
  unknownCalls { toolCallId tool attempt } } }"""
CALL = """mutation($r: ID!, $tool: String!, $id: String!, $arguments: JSON) {
  it: callRunTool(runId: $r, tool: $tool, toolCallId: $id, arguments: $arguments) { output error } }"""
CHECKPOINT = f"mutation($r: ID!) {{ it: checkpointRun(runId: $r) {{ {RUN} }} }}"
COMPLETE = f"""mutation($r: ID!, $status: String! = "completed") {{
  it: completeRun(runId: $r, status: $status) {{ {RUN} }} }}"""
FORK = f"""mutation($r: ID!, $memories: [MemoryMountInput!]) {{
  it: forkRun(runId: $r, memories: $memories) {{ {THREAD} }} }}"""


def mount(name: str, memory: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "memoryId": memory, **fields}


@pytest.fixture
async def writer(ana: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    await allow(world, world.ana, Right.WRITE)
    return ana


@pytest.fixture
async def team(writer: GraphQLClient) -> str:
    """A file memory with one file that is always loaded."""
    id_ = str((await writer.it(FILES, always=["a.md"]))["id"])
    await writer.it(WRITE, m=id_, path="a.md", content="likes tea\n")
    return id_


@pytest.fixture
async def agent(writer: GraphQLClient) -> str:
    return str((await writer.it(MAKE_AGENT, name="Scout"))["id"])


@pytest.mark.req("KN-121", "AD-22", "AD-23", "MT-5", "MT-6", "MT-7", "MT-10", "MT-12", "MT-13", "MT-17")
async def test_memories_are_mounted_changed_and_unmounted_under_the_etag_of_the_thread(
    writer: GraphQLClient, team: str
) -> None:
    made = await writer.it(CREATE)
    t, etag = made["id"], made["etag"]
    assert (made["mounts"], made["archivedAt"], etag) == ([], None, f'"{made["localId"]}:1"')
    on = await writer.it(ON, t=t, etag=etag, name="team", m=team, access="write")
    shown = {"name": "team", "memoryId": team, "access": "write", "recall": True, "memory": {"name": "Team"}}
    assert (on["mounts"], on["version"]) == ([shown], 2)
    assert await writer.it(READ, id=t) == on
    stale = await writer.refused(ON, t=t, etag=etag, name="more", m=team)
    assert (stale["code"], stale["status"], stale["currentEtag"]) == ("precondition_failed", 412, on["etag"])
    again = await writer.refused(ON, t=t, etag=on["etag"], name="team", m=team)
    assert (again["code"], again["kind"], again["key"]) == ("already_exists", "mount", "team")
    other = await writer.refused(ON, t=t, etag=on["etag"], name="other", m=team)
    assert (other["code"], other["reason"], other["id"]) == ("conflict", "already_mounted", team)
    for wrong, field in (({"name": "Team"}, "name"), ({"name": "x", "access": "all"}, "access")):
        refused = await writer.refused(ON, t=t, etag=on["etag"], m=team, **wrong)
        assert (refused["code"], refused["field"]) == ("invalid_argument", field)
    changed = await writer.it(CHANGE, t=t, etag=on["etag"], name="team", access="read")
    assert changed["mounts"] == [{**shown, "access": "read"}]
    nulled = await writer.refused(CHANGE, t=t, etag=changed["etag"], name="team", recall=None)
    assert (nulled["code"], nulled["field"]) == ("invalid_argument", "recall")
    missing = await writer.refused(OFF, t=t, etag=changed["etag"], name="none")
    assert (missing["code"], missing["kind"], missing["id"]) == ("not_found", "mount", "none")
    off = await writer.it(OFF, t=t, etag=changed["etag"], name="team")
    assert (off["mounts"], off["version"]) == ([], 4)
    back = await writer.it(ON, t=t, etag=off["etag"], name="team", m=team)
    archived = await writer.it(ARCHIVE, t=t)
    assert archived["archivedAt"] is not None
    assert (archived["mounts"], archived["version"]) == ([], back["version"] + 1)
    gone = await writer.refused(ON, t=t, etag=archived["etag"], name="team", m=team)
    assert (gone["code"], gone["reason"], gone["id"]) == ("conflict", "archived", t)
    assert (await writer.it(UNARCHIVE, t=t))["mounts"] == []
    for left_out in ("mountMemory", "updateMemoryMount", "unmountMemory"):
        call = f'{left_out}(threadId: "x", name: "n"{", memoryId: 1" if left_out == "mountMemory" else ""})'
        assert await writer.code(f"mutation {{ {call} {{ id }} }}") == "BAD_INPUT"


@pytest.mark.req("KN-121", "AD-23", "AD-24", "MT-15", "MT-18", "MT-19", "MT-28", "MT-49", "MT-52")
async def test_agents_keep_mounts_and_toolsets_and_threads_begin_with_mounts(writer: GraphQLClient, team: str) -> None:
    default = {"memory": {"enabled": True, "disabled_tools": []}}
    made = await writer.it(MAKE_AGENT, name="Scout", mounts=[mount("team", team, access="write")])
    assert [one["name"] for one in made["memoryMounts"]] == ["team"]
    assert (made["toolsets"], made["version"]) == (default, 1)
    assert await writer.it(READ_AGENT, id=made["id"]) == made
    off = {"memory": {"enabled": False}}
    changed = await writer.it(CHANGE_AGENT, id=made["id"], etag=made["etag"], tools=off)
    assert (changed["toolsets"]["memory"]["enabled"], changed["version"], changed["name"]) == (False, 2, "Scout")
    assert changed["memoryMounts"] == made["memoryMounts"]
    stale = await writer.refused(CHANGE_AGENT, id=made["id"], etag=made["etag"], name="Other")
    assert (stale["code"], stale["currentEtag"]) == ("precondition_failed", changed["etag"])
    for query, given, field in (
        (MAKE_AGENT, {"name": "A", "mounts": [mount("t", team), mount("t", team)]}, "memoryMounts.1.name"),
        (MAKE_AGENT, {"name": "A", "mounts": [mount("t", team), mount("u", team)]}, "memoryMounts.1.memoryId"),
        (MAKE_AGENT, {"name": "A", "tools": {"memory": {"disabled_tools": ["x"]}}}, "toolsets.memory.disabled_tools.0"),
        (MAKE_AGENT, {"name": "A", "tools": "all"}, "toolsets"),
        (MAKE_AGENT, {"name": " "}, "name"),
        (CREATE, {"memories": [mount("Team", team)]}, "memories.0.name"),
        (CREATE, {"memories": [mount("team", team)] * 33}, "memories"),
    ):
        refused = await writer.refused(query, **given)
        assert (refused["code"], refused["status"], refused["field"]) == ("invalid_argument", 400, field)
    unknown = await writer.refused(CREATE, memories=[mount("team", "none")])
    assert unknown == {"code": "not_found", "status": 404, "kind": "memory"}
    thread = await writer.it(CREATE, memories=[mount("team", team)])
    assert [(one["name"], one["access"], one["recall"]) for one in thread["mounts"]] == [("team", "read", True)]


@pytest.mark.req(
    "KN-121", "AD-22", "MT-25", "MT-27", "MT-29", "MT-30", "MT-31", "MT-32", "MT-33", "MT-36", "MT-54", "MT-64"
)
@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
async def test_a_run_is_driven_from_acceptance_to_its_end(writer: GraphQLClient, team: str, agent: str) -> None:
    thread = await writer.it(CREATE, memories=[mount("team", team, access="write")])
    run = await writer.it(ACCEPT, t=thread["id"], a=agent)
    r = run["id"]
    assert (run["status"], run["threadId"], run["agentId"], run["endedAt"]) == ("accepted", thread["id"], agent, None)
    assert (run["thread"], run["agent"]) == ({"id": thread["id"]}, {"name": "Scout"})
    assert run["memoryMounts"] == thread["mounts"]
    active = await writer.refused(ACCEPT, t=thread["id"], a=agent)
    assert (active["code"], active["reason"], active["id"]) == ("conflict", "run_active", thread["id"])
    first = await writer.it(ATTEMPT, r=r)
    assert (first["number"], first["unknownCalls"]) == (1, [])
    assert first["reports"] == [{"memory": "team", "status": "full"}]
    assert "likes tea" in first["preamble"][0]
    assert "## team" in first["instructions"]
    tools = {tool["name"]: tool for tool in first["tools"]}
    assert tools["memory_file_edit"]["permissionId"] == "memory.file.edit"
    assert tools["memory_file_edit"]["inputSchema"]["properties"]["memory"]["enum"] == ["team"]
    edit = {"memory": "team", "path": "a.md", "old_string": "tea", "new_string": "coffee"}
    done = await writer.it(CALL, r=r, tool="memory_file_edit", id="c-1", arguments=edit)
    assert (done["error"], done["output"]["path"]) == (None, "a.md")
    failed = await writer.it(CALL, r=r, tool="memory_file_edit", id="c-2", arguments=edit)
    assert (failed["output"], failed["error"]["error"]) == (None, "no_match")
    assert failed["error"]["current"]["content"] == "likes coffee\n"
    begun = await writer.refused(CALL, r=r, tool="memory_file_edit", id="c-1", arguments=edit)
    assert (begun["code"], begun["reason"], begun["id"]) == ("conflict", "already_begun", r)
    for wrong, code, about in (
        ({"tool": "memory_file_rename", "arguments": {"memory": "team"}}, "not_found", ("kind", "tool")),
        ({"tool": "memory_file_view", "arguments": {}}, "invalid_argument", ("field", "arguments.memory")),
        ({"tool": "memory_file_view", "arguments": ["x"]}, "invalid_argument", ("field", "arguments")),
        ({"tool": "memory_file_view", "id": "x" * 257}, "invalid_argument", ("field", "toolCallId")),
    ):
        refused = await writer.refused(CALL, **{"r": r, "id": "c-3", **wrong})
        assert (refused["code"], refused[about[0]]) == (code, about[1])
    second = await writer.it(ATTEMPT, r=r)
    assert [call["toolCallId"] for call in second["unknownCalls"]] == ["c-1", "c-2"]
    assert (await writer.it(CHECKPOINT, r=r))["status"] == "accepted"
    wrong_end = await writer.refused(COMPLETE, r=r, status="done")
    assert (wrong_end["code"], wrong_end["field"]) == ("invalid_argument", "status")
    ended = await writer.it(COMPLETE, r=r, status="failed")
    assert ended["status"] == "failed"
    assert ended["endedAt"] is not None
    assert await writer.it(READ_RUN, id=r) == ended
    over = await writer.refused(ATTEMPT, r=r)
    assert (over["code"], over["reason"], over["id"]) == ("conflict", "run_ended", r)
    fork = await writer.it(FORK, r=r)
    assert fork["mounts"] == thread["mounts"]
    assert await writer.it(COMPACT, t=thread["id"]) is True
    child = await writer.it(CREATE, parent=r)
    assert (child["parentRun"], child["mounts"]) == ({"id": r}, thread["mounts"])


@pytest.mark.req("KN-121", "FM-71", "FM-72", "FM-74", "MT-65")
async def test_from_a_file_and_its_history_one_gets_to_the_run_that_wrote_it(
    writer: GraphQLClient, team: str, agent: str, world: TeamWorld, eve: GraphQLClient
) -> None:
    thread = await writer.it(CREATE, memories=[mount("team", team, access="write")])
    r = (await writer.it(ACCEPT, t=thread["id"], a=agent))["id"]
    written = {"memory": "team", "path": "b.md", "content": "x"}
    await writer.it(CALL, r=r, tool="memory_file_create", id="c-1", arguments=written)
    file = 'query($m: ID!) { it: memoryFile(memoryId: $m, path: "b.md") { runId run { status agent { name } } } }'
    assert await writer.it(file, m=team) == {"runId": r, "run": {"status": "accepted", "agent": {"name": "Scout"}}}
    history = """query($m: ID!, $r: ID) { it: memoryRevisions(memoryId: $m, runId: $r) {
      totalCount edges { node { path toolCallId runId run { id } } } } }"""
    found = await writer.it(history, m=team, r=r)
    assert [edge["node"] for edge in found["edges"]] == [
        {"path": "b.md", "toolCallId": "c-1", "runId": r, "run": {"id": r}}
    ]
    assert (await writer.it(history, m=team, r=None))["totalCount"] == 2
    local = (await writer.ok("query($m: ID!) { memory(memoryId: $m) { localId } }", m=team))["memory"]["localId"]
    await allow(world, world.eve, Right.READ, local)
    assert await eve.it(file, m=team) == {"runId": r, "run": None}


@pytest.mark.req("KN-60", "KN-120", "KN-121", "MT-28", "FM-3")
async def test_threads_agents_and_runs_are_nodes_for_who_reads_the_workspace_and_for_nobody_else(
    writer: GraphQLClient, team: str, agent: str, world: TeamWorld, eve: GraphQLClient, ben: GraphQLClient
) -> None:
    await allow(world, world.ben, Right.READ)
    thread = await writer.it(CREATE, memories=[mount("team", team)])
    r = (await writer.it(ACCEPT, t=thread["id"], a=agent))["id"]
    seen = "query($id: ID!) { it: node(id: $id) { id __typename } }"
    root = "query($id: ID!) { it: provenance(id: $id) { root { __typename } nodes { id } } }"
    explain = "query($id: ID!) { it: explainVisibility(id: $id) { visible nodes { rules { kind objectId } } } }"
    for id_, kind in ((thread["id"], "RunThread"), (agent, "AgentProfile"), (r, "WorkspaceRun")):
        for who in (writer, ben):
            assert await who.it(seen, id=id_) == {"id": id_, "__typename": kind}
            assert (await who.it(root, id=id_))["root"] == {"__typename": kind}
            assert (await who.it(explain, id=id_))["visible"] is True
        assert await eve.it(seen, id=id_) is None
        assert await eve.code(root, id=id_) == "NOT_FOUND"
        assert await eve.it(explain, id=id_) is None
    for query, given, kind in (
        (READ, {"id": thread["id"]}, "thread"),
        (READ_AGENT, {"id": agent}, "agent"),
        (READ_RUN, {"id": r}, "run"),
        (ACCEPT, {"t": thread["id"], "a": agent}, "thread"),
        (ATTEMPT, {"r": r}, "run"),
        (CALL, {"r": r, "tool": "memory_file_view", "id": "c"}, "run"),
    ):
        assert await eve.refused(query, **given) == {"code": "not_found", "status": 404, "kind": kind}
        if query not in (READ, READ_AGENT, READ_RUN):
            assert await ben.refused(query, **given) == {"code": "forbidden", "status": 403, "verb": "run"}
    stranger = {"id": thread["id"], "etag": agent}
    assert (await ben.refused(CHANGE_AGENT, **{**stranger, "id": agent}))["verb"] == "write"


@pytest.mark.req("KN-120", "KN-121")
async def test_an_auditor_is_told_why_somebody_sees_a_memory_and_reads_nothing_of_it(
    writer: GraphQLClient, team: str, agent: str, world: TeamWorld, cleo: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    thread = await writer.it(CREATE, memories=[mount("team", team)])
    r = (await writer.it(ACCEPT, t=thread["id"], a=agent))["id"]
    explain = """query($id: ID!, $v: ID) { it: explainVisibility(id: $id, viewerId: $v) {
      visible failure { reason } } }"""
    for id_ in (team, thread["id"], r):
        assert await cleo.it(explain, id=id_, v=gid(world.ana)) == {"visible": True, "failure": None}
        hidden = {"visible": False, "failure": {"reason": "RULE_NOT_PASSED"}}
        assert await cleo.it(explain, id=id_, v=gid(world.ben)) == hidden
        assert await ben.it(explain, id=id_, v=gid(world.ana)) is None
        assert await cleo.it("query($id: ID!) { it: node(id: $id) { id } }", id=id_) is None


@pytest.mark.req("MT-55", "AD-7", "KN-121")
async def test_a_principal_who_lost_his_rights_hears_it_call_by_call(
    writer: GraphQLClient, team: str, agent: str, world: TeamWorld, ben: GraphQLClient
) -> None:
    grant = await allow(world, world.ben, Right.RUN)
    thread = await ben.it(CREATE, memories=[mount("team", team, access="write")])
    r = (await ben.it(ACCEPT, t=thread["id"], a=agent))["id"]
    view = {"memory": "team", "path": "a.md"}
    assert (await ben.it(CALL, r=r, tool="memory_file_view", id="c-1", arguments=view))["error"] is None
    await world.revoke(grant.id, world.ben)
    lost = await ben.it(CALL, r=r, tool="memory_file_view", id="c-2", arguments=view)
    assert (lost["output"], lost["error"]["error"]) == (None, "forbidden")
    assert (await ben.refused(READ_RUN, id=r))["code"] == "not_found"


@pytest.mark.req("KN-121", "FM-42", "FM-9", "FM-19")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_lists_take_the_filters_of_the_routes_and_the_audit_names_threads(
    writer: GraphQLClient, team: str
) -> None:
    make = 'mutation($labels: JSON) { it: createMemory(name: "M", labels: $labels) { id } }'
    red = [(await writer.it(make, labels={"team": "red", "n": str(number)}))["id"] for number in range(3)]
    listed = """query($label: [String!], $first: Int, $after: String) {
      it: memories(label: $label, first: $first, after: $after) {
        totalCount pageInfo { hasNextPage endCursor } edges { node { id } } } }"""
    page = await writer.it(listed, label=["team:red"], first=2)
    rest = await writer.it(listed, label=["team:red"], first=2, after=page["pageInfo"]["endCursor"])
    assert [edge["node"]["id"] for edge in (*page["edges"], *rest["edges"])] == red
    assert (page["totalCount"], page["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasNextPage"]) == (3, True, False)
    assert (await writer.it(listed, label=["team:red", "n:1"]))["totalCount"] == 1
    elsewhere = await writer.refused(listed, label=["n:1"], after=page["pageInfo"]["endCursor"])
    assert (elsewhere["code"], elsewhere["status"]) == ("invalid_cursor", 400)
    for label in (["team"], ["a:b"] * 9):
        assert (await writer.refused(listed, label=label))["field"] == "label"
    thread = await writer.it(CREATE, memories=[mount("team", team)])
    log = """query($id: ID, $first: Int, $after: String) { it: memoryLog(targetId: $id, first: $first, after: $after) {
      totalCount pageInfo { endCursor } edges { node { operation targetId actor { displayName } } } } }"""
    found = await writer.it(log, id=thread["id"])
    assert found["edges"] == [
        {"node": {"operation": "thread_memory.create", "targetId": thread["id"], "actor": {"displayName": "Ana"}}}
    ]
    everything = await writer.it(log, first=2)
    more = await writer.it(log, first=100, after=everything["pageInfo"]["endCursor"])
    assert everything["totalCount"] == len(everything["edges"]) + len(more["edges"]) == 6


@pytest.mark.req("KN-121")
async def test_a_runtime_over_rest_goes_on_with_what_a_client_of_graphql_began(
    writer: GraphQLClient, team: str, agent: str
) -> None:
    thread = await writer.it(CREATE, memories=[mount("team", team, access="write")])
    run = await writer.it(ACCEPT, t=thread["id"], a=agent)
    rest = MemoryClient(http=writer.http, token=str(writer.token))
    given = await rest.ok("POST", f"//runs/{run['localId']}/attempts", {})
    again = await writer.it(ATTEMPT, r=run["id"])
    assert (given["number"], again["number"]) == (1, 2)
    assert given["preamble"] == again["preamble"]
    assert given["instructions"] == again["instructions"]
    assert [tool["input_schema"] for tool in given["tools"]] == [tool["inputSchema"] for tool in again["tools"]]
    await rest.ok("POST", f"//runs/{run['localId']}/complete", {"status": "completed"})
    assert (await writer.it(READ_RUN, id=run["id"]))["status"] == "completed"
