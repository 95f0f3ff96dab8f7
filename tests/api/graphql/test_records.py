"""Record memories and their accounts in GraphQL: the rules of the routes; records are no nodes (AD-22 to AD-25)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from typing import Any

import pytest
from graphql import GraphQLNamedType, GraphQLObjectType

from api.bootstrap import Ports
from api.graphql.schema import build_schema
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from tests.api.clients import GraphQLClient
from tests.support.mem0_server import Fault, Mem0Server
from tests.support.memory_client import MemoryClient, allow
from tests.support.record_room import is_write, wire_to
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

PROVIDER = "id localId type name config credentialConfigured enabled version etag"
ACCOUNT = f"""mutation($config: JSON, $key: MemoryCredentialInput) {{
  it: createMemoryProvider(type: "mem0_oss", name: "Ours", config: $config, credential: $key) {{ {PROVIDER} }} }}"""
CHANGE = f"""mutation($id: ID!, $etag: String!, $config: JSON, $key: MemoryCredentialInput) {{
  it: updateMemoryProvider(providerId: $id, expectedEtag: $etag, config: $config, credential: $key) {{ {PROVIDER} }}
}}"""
MOVE = CHANGE.replace(", credential: $key", "").replace(", $key: MemoryCredentialInput", "")
SWITCH = f"""mutation($id: ID!, $etag: String!) {{
  it: updateMemoryProvider(providerId: $id, expectedEtag: $etag, enabled: false) {{ {PROVIDER} }} }}"""
TEST = """mutation($id: ID!) { it: testMemoryProvider(providerId: $id) {
  status message providerVersion provider { id } } }"""
MEMORY = """mutation($provider: ID!, $namespace: String) {
  it: createMemory(name: "Facts", type: "mem0_oss", providerId: $provider, namespace: $namespace) {
    id localId kind namespace providerId provider { id name } } }"""
RECORD = "id text score updatedAt"
ADD = f"mutation($m: ID!, $text: String!) {{ it: addMemoryRecord(memoryId: $m, text: $text) {{ {RECORD} }} }}"
UPDATE = f"""mutation($m: ID!, $id: String!, $text: String!) {{
  it: updateMemoryRecord(memoryId: $m, recordId: $id, text: $text) {{ {RECORD} }} }}"""
DELETE = "mutation($m: ID!, $id: String!) { it: deleteMemoryRecord(memoryId: $m, recordId: $id) }"
LIST = f"""query($m: ID!, $first: Int, $after: String) {{
  it: memoryRecords(memoryId: $m, first: $first, after: $after) {{
    edges {{ cursor node {{ {RECORD} }} }} pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }} }}"""
SEARCH = f"""query($m: ID!, $query: String!, $limit: Int) {{
  it: memoryRecordSearch(memoryId: $m, query: $query, limit: $limit) {{ {RECORD} }} }}"""
LOG = """query($id: ID) { it: memoryLog(targetId: $id) {
  totalCount edges { node { operation after target { __typename } } } } }"""


def nodes_among(*kinds: GraphQLNamedType) -> list[GraphQLObjectType]:
    return [kind for kind in kinds if isinstance(kind, GraphQLObjectType) and "Node" in map(str, kind.interfaces)]


@pytest.fixture
async def mem0() -> AsyncIterator[Mem0Server]:
    async with Mem0Server(key="own-key") as server:
        yield server


@pytest.fixture
def ports(ports: Ports, mem0: Mem0Server) -> Ports:
    return replace(ports, record_wire=wire_to(mem0))


@pytest.fixture
async def writer(ana: GraphQLClient, world: TeamWorld) -> GraphQLClient:
    await allow(world, world.ana, Right.WRITE)
    return ana


@pytest.fixture
async def provider(writer: GraphQLClient, mem0: Mem0Server) -> dict[str, Any]:
    config = {"base_url": mem0.url}
    return dict(await writer.it(ACCOUNT, config=config, key={"apiKey": mem0.key}))


@pytest.fixture
async def facts(writer: GraphQLClient, provider: dict[str, Any]) -> str:
    return str((await writer.it(MEMORY, provider=provider["id"]))["id"])


@pytest.mark.req("KN-121", "AD-22", "AD-23", "AD-24", "RM-2", "RM-10", "RM-11", "RM-14")
async def test_accounts_are_made_changed_tested_and_never_show_their_key(
    writer: GraphQLClient, provider: dict[str, Any], mem0: Mem0Server
) -> None:
    id_ = provider["id"]
    assert provider == {
        "id": id_,
        "localId": provider["localId"],
        "type": "mem0_oss",
        "name": "Ours",
        "config": {"base_url": mem0.url},
        "credentialConfigured": True,
        "enabled": True,
        "version": 1,
        "etag": f'"{provider["localId"]}:1"',
    }
    one = f"query($id: ID!) {{ it: memoryProvider(providerId: $id) {{ {PROVIDER} }} }}"
    assert await writer.it(one, id=id_) == provider
    listed = await writer.it(f"{{ it: memoryProviders {{ totalCount edges {{ node {{ {PROVIDER} }} }} }} }}")
    assert listed == {"totalCount": 1, "edges": [{"node": provider}]}
    found = await writer.it(TEST, id=id_)
    assert found["status"] == "succeeded"
    assert (found["providerVersion"], found["provider"]) == (1, {"id": id_})
    etag = provider["etag"]
    moved = await writer.refused(MOVE, id=id_, etag=etag, config=_elsewhere())
    assert (moved["code"], moved["status"], moved["field"]) == ("invalid_argument", 400, "credential")
    bare = await writer.it(CHANGE, id=id_, etag=etag, config=_elsewhere(), key=None)
    assert (bare["credentialConfigured"], bare["version"]) == (False, 2)
    stale = await writer.refused(SWITCH, id=id_, etag=etag)
    assert (stale["code"], stale["status"], stale["currentEtag"]) == ("precondition_failed", 412, bare["etag"])
    assert (await writer.it(SWITCH, id=id_, etag=bare["etag"]))["enabled"] is False
    wrong = await writer.refused(ACCOUNT, config={"base_url": "ftp://x"})
    assert (wrong["code"], wrong["field"]) == ("invalid_argument", "config.base_url")
    assert (await writer.refused(ACCOUNT, config=["x"]))["field"] == "config"


def _elsewhere() -> dict[str, str]:
    return {"base_url": "https://mem0.example"}


@pytest.mark.req("KN-121", "AD-22", "AD-24", "AD-25", "RM-29", "RM-30", "RM-31", "RM-32", "RM-33", "RM-35", "RM-40")
@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
async def test_records_are_added_listed_found_changed_and_deleted(
    writer: GraphQLClient, facts: str, mem0: Mem0Server
) -> None:
    tea = await writer.it(ADD, m=facts, text=" likes tea\n")
    assert (tea["text"], tea["score"]) == (" likes tea\n", None)
    assert tea["updatedAt"] is not None
    for number in range(4):
        await writer.it(ADD, m=facts, text=f"fact {number}")
    first = await writer.it(LIST, m=facts, first=2)
    assert first["pageInfo"]["hasNextPage"] is True
    seen = [edge["node"]["text"] for edge in first["edges"]]
    rest = await writer.it(LIST, m=facts, after=first["pageInfo"]["endCursor"])
    assert seen + [edge["node"]["text"] for edge in rest["edges"]] == [" likes tea\n", *(f"fact {n}" for n in range(4))]
    assert (rest["pageInfo"]["hasNextPage"], rest["pageInfo"]["hasPreviousPage"]) == (False, True)
    after_one = await writer.it(LIST, m=facts, first=1, after=first["edges"][0]["cursor"])
    assert [edge["node"]["text"] for edge in after_one["edges"]] == ["fact 0"]
    near = await writer.it(SEARCH, m=facts, query="tea", limit=2)
    assert len(near) == 2
    assert near[0]["score"] >= near[1]["score"]
    coffee = await writer.it(UPDATE, m=facts, id=tea["id"], text="likes coffee")
    assert (coffee["id"], coffee["text"]) == (tea["id"], "likes coffee")
    assert await writer.it(DELETE, m=facts, id=tea["id"]) is True
    gone = await writer.refused(DELETE, m=facts, id=tea["id"])
    assert gone == {"code": "not_found", "status": 404, "kind": "memory_record", "id": tea["id"]}
    for query, more, field in (
        (ADD, {"text": " "}, "text"),
        (SEARCH, {"query": " "}, "query"),
        (SEARCH, {"query": "x", "limit": 101}, "limit"),
        (LIST, {"first": 101}, "first"),
        (LIST, {"after": "none of ours"}, "after"),
    ):
        refused = await writer.refused(query, m=facts, **more)
        assert (refused["code"], refused["status"], refused["field"]) == ("invalid_argument", 400, field)
    log = await writer.it(LOG, id=facts)
    operations = [edge["node"]["operation"] for edge in log["edges"]]
    assert operations[:2] == ["memory.record.delete", "memory.record.update"]
    assert "coffee" not in str(log)
    assert log["totalCount"] == len(operations) == 8
    assert {edge["node"]["target"]["__typename"] for edge in log["edges"]} == {"WorkspaceMemory"}


@pytest.mark.req("AD-25")
async def test_a_record_is_no_node_and_has_neither_provenance_nor_a_proof(
    writer: GraphQLClient, facts: str, provider: dict[str, Any]
) -> None:
    record = await writer.it(ADD, m=facts, text="likes tea")
    kinds = build_schema()._schema.type_map
    assert [kind.name for kind in nodes_among(kinds["MemoryRecord"], kinds["MemoryProvider"])] == ["MemoryProvider"]
    assert await writer.it("query($id: ID!) { it: node(id: $id) { id } }", id=record["id"]) is None
    assert await writer.code("query($id: ID!) { provenance(id: $id) { truncated } }", id=record["id"]) == "NOT_FOUND"
    explain = "query($id: ID!) { it: explainVisibility(id: $id) { visible } }"
    assert await writer.it(explain, id=record["id"]) is None
    # What holds it is a node, and so is the account.
    for id_ in (facts, provider["id"]):
        assert await writer.it(explain, id=id_) == {"visible": True}


@pytest.mark.req("AD-24", "RM-18", "RM-24", "RM-28", "RM-37", "RM-38", "RM-39", "KN-121")
async def test_refusals_carry_codes_details_and_ids_of_graphql(
    writer: GraphQLClient, facts: str, provider: dict[str, Any], mem0: Mem0Server
) -> None:
    unknown = await writer.refused(MEMORY, provider="memprov_x")
    assert unknown == {"code": "not_found", "status": 404, "kind": "memory_provider"}
    await writer.it(MEMORY, provider=provider["id"], namespace="alice")
    taken = await writer.refused(MEMORY, provider=provider["id"], namespace="alice")
    assert (taken["code"], taken["status"], taken["kind"], taken["key"]) == ("already_exists", 409, "memory", "alice")
    files = (await writer.ok('mutation { createMemory(name: "Files") { id } }'))["createMemory"]["id"]
    other = await writer.refused(LIST, m=files)
    expected = {"code": "conflict", "status": 409, "kind": "memory", "reason": "memory_kind", "expected": "record"}
    assert other == {**expected, "id": files}
    mem0.fault = lambda asked: Fault(status=502, stores=True) if is_write(asked) else None
    before = len(mem0.asked)
    open_ = await writer.refused(ADD, m=facts, text="likes tea")
    assert (open_["code"], open_["reason"], open_["id"]) == ("conflict", "write_unconfirmed", facts)
    assert len(mem0.asked) == before + 1
    mem0.fault = lambda asked: Fault(status=500)
    away = await writer.refused(LIST, m=facts)
    assert away == {"code": "unavailable", "status": 503, "dependency": "memory:mem0_oss"}
    mem0.fault = lambda asked: None
    await writer.it(SWITCH, id=provider["id"], etag=provider["etag"])
    off = await writer.refused(SEARCH, m=facts, query="tea")
    assert off == {"code": "disabled", "status": 422, "kind": "memory_provider", "id": provider["id"]}


@pytest.mark.req("FM-3", "KN-60", "RM-29", "RM-31")
async def test_verbs_of_one_memory_and_of_the_workspace_are_asked_for(
    writer: GraphQLClient, facts: str, provider: dict[str, Any], world: TeamWorld, eve: GraphQLClient
) -> None:
    assert await eve.refused(LIST, m=facts) == {"code": "not_found", "status": 404, "kind": "memory"}
    local = (await writer.ok("query($m: ID!) { memory(memoryId: $m) { localId } }", m=facts))["memory"]["localId"]
    await allow(world, world.eve, Right.READ, local)
    assert (await eve.it(LIST, m=facts))["edges"] == []
    assert await eve.refused(ADD, m=facts, text="x") == {"code": "forbidden", "status": 403, "verb": "run"}
    assert (await eve.refused(TEST, id=provider["id"]))["code"] == "not_found"
    assert (await eve.refused("{ it: memoryProviders { totalCount } }"))["code"] == "forbidden"
    assert await eve.refused(LOG, id=facts) == {"code": "forbidden", "status": 403, "verb": "write"}


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
async def test_a_backend_that_hangs_keeps_nobody_else_waiting(
    writer: GraphQLClient, facts: str, mem0: Mem0Server, ben: GraphQLClient
) -> None:
    """The store has three readers; ten questions that wait for a backend hold none of them."""
    done = asyncio.Event()
    mem0.fault = lambda asked: Fault(hangs=done)
    both = """query($m: ID!) { one: memoryRecordSearch(memoryId: $m, query: "tea") { text }
      two: memoryRecords(memoryId: $m) { edges { node { text } } } }"""
    twice = """mutation($m: ID!) { one: addMemoryRecord(memoryId: $m, text: "a") { text }
      two: addMemoryRecord(memoryId: $m, text: "b") { text } }"""
    waiting = [asyncio.create_task(writer.run(query, m=facts)) for query in (both, twice) for _ in range(5)]
    await mem0.is_asked.wait()
    assert (await ben.ok("{ viewer { displayName } }"))["viewer"] == {"displayName": "Ben"}
    done.set()
    answers = await asyncio.gather(*waiting)
    assert [answer.errors for answer in answers] == [[]] * 10
    assert sorted(mem0.texts(mem0.records[0]["user_id"])) == ["a"] * 5 + ["b"] * 5


@pytest.mark.req("AD-7", "KN-116")
async def test_rights_that_go_while_a_backend_is_asked_count(
    writer: GraphQLClient, facts: str, mem0: Mem0Server, world: TeamWorld, eve: GraphQLClient
) -> None:
    local = (await writer.ok("query($m: ID!) { memory(memoryId: $m) { localId } }", m=facts))["memory"]["localId"]
    await writer.it(ADD, m=facts, text="likes tea")
    grant = await allow(world, world.eve, Right.READ, local)
    done = asyncio.Event()
    mem0.fault = lambda asked: Fault(hangs=done)
    mem0.is_asked.clear()
    asking = asyncio.create_task(eve.refused(LIST, m=facts))
    await mem0.is_asked.wait()
    await world.revoke(grant.id, world.eve)
    done.set()
    assert await asking == {"code": "not_found", "status": 404, "kind": "memory"}


@pytest.mark.req("KN-121", "MT-51", "MT-62", "RM-53")
async def test_a_client_of_rest_and_one_of_graphql_see_the_same_records(
    writer: GraphQLClient, facts: str, provider: dict[str, Any]
) -> None:
    rest = MemoryClient(http=writer.http, token=str(writer.token))
    local = (await writer.ok("query($m: ID!) { memory(memoryId: $m) { localId } }", m=facts))["memory"]["localId"]
    made = await rest.within(local).ok("POST", "/records", {"text": "likes tea"})
    [edge] = (await writer.it(LIST, m=facts))["edges"]
    assert (edge["node"]["id"], edge["node"]["text"]) == (made["id"], "likes tea")
    assert (await rest.ok("GET", f"//memory-providers/{provider['localId']}"))["name"] == "Ours"
