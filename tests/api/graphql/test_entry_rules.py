"""Rules of entries, memos and grants as clients meet them: codes, who is named, what is left as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.rules.pools import base_id
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_entries import create_entry
from tests.support.operations import Json, add, block, cite, create, deduction, relate
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

APPLY = """
mutation($kb: ID, $conversation: ID, $operations: [JSON!]!, $reason: String! = "noted") {
  it: applyOperations(kbId: $kb, conversationId: $conversation, operations: $operations, reason: $reason) {
    results { createdIds outcome } records { id operation txId } } }
"""
SHOWN = """query($id: ID!) { it: entry(id: $id) {
  name aliases version blocks { id current { text } } relations { totalCount } } }"""
MERGE = """mutation($keep: ID!, $other: ID!, $reason: String! = "the same") {
  it: mergeEntries(keepId: $keep, otherId: $other, reason: $reason) { id name aliases } }"""
LOG = "query($f: AuditFilter!) { it: auditLog(filter: $f, first: 50) { edges { node { id operation txId } } } }"
RESTORE = 'mutation($ids: [ID!]!) { it: restoreBatch(auditIds: $ids, reason: "undone") { records { operation } } }'
PREVIEW = "query($ids: [ID!]!) { it: restorePreview(auditIds: $ids) { restorable } }"
GRANT = """mutation($kb: ID!, $agent: ID!, $granted: Boolean! = true) {
  it: grantShared(kbId: $kb, agentId: $agent, granted: $granted) { id } }"""
SEARCH = "query($input: MemorySearchInput!) { it: memorySearch(input: $input) { items { ref } } }"
MEMO = "query($c: ID!) { it: residentMemo(conversationId: $c) { text tokens } }"
DELETE = (
    'mutation($id: ID!, $v: Int!) { it: deleteEntry(id: $id, expectedVersion: $v, reason: "r") { records { id } } }'
)


def memo(version: int, *lines: str) -> Json:
    return {"op": "writeMemo", "expectedVersion": version, "lines": [{"text": line} for line in lines]}


@pytest.fixture
async def kb(world: TeamWorld, gid: Gid) -> str:
    """The knowledge base of the channel."""
    return gid(NodeId(str((await world.open(world.ops)).pool)))


@pytest.fixture
async def said(world: TeamWorld, gid: Gid) -> str:
    return gid(await world.say(world.ops, "Ana leads Helio, and Helio builds kilns."))


async def made(who: GraphQLClient, kb: str, *operations: Json) -> list[str]:
    """Return the id of the main thing that each operation made."""
    answer = await who.it(APPLY, kb=kb, operations=list(operations))
    return [result["createdIds"][0] for result in answer["results"]]


@pytest.mark.req("KN-18", "KN-110")
@pytest.mark.parametrize("name", ["Helio GmbH", " helio  gmbh ", "ＨＥＬＩＯ GmbH", "Helio\u3000GMBH"])
async def test_a_taken_name_tells_whose_it_is_until_that_entry_is_deleted(
    ana: GraphQLClient, kb: str, said: str, name: str
) -> None:
    (first,) = await made(ana, kb, create_entry("Helio GmbH", said, "Helio builds kilns"))
    again = create_entry(name, said, "Ana leads Helio")
    refused = await ana.refused(APPLY, kb=kb, operations=[again])
    assert (refused["code"], refused["entryId"], refused["index"]) == ("NAME_TAKEN", first, 0)
    deleted = await ana.it(DELETE, id=first, v=1)
    await made(ana, kb, again)
    assert await ana.code(RESTORE, ids=[deleted["records"][-1]["id"]]) == "NAME_TAKEN"


@pytest.mark.req("KN-35", "KN-83", "KN-100")
async def test_a_merge_moves_all_in_one_transaction_that_can_be_undone(
    world: TeamWorld, ana: GraphQLClient, client: GraphQLClient, kb: str, said: str
) -> None:
    quote = cite(said, "Helio builds kilns")
    keep, other, person = await made(
        ana,
        kb,
        create("Helio", block("Builds kilns.", quote), aliases=["HG"]),
        create("Helio Ltd", block("Builds ovens.", quote), aliases=["HL"], ref="l"),
        create("Ana", block("Leads it.", cite(said, "Ana leads Helio")), type="person", ref="a"),
    )
    await made(ana, kb, relate(person, "leads", other, quote="Ana leads Helio Ltd"))
    agent = client.as_(await world.token(world.atlas))
    before = [await ana.it(SHOWN, id=id_) for id_ in (keep, other)]
    assert await agent.code(MERGE, keep=keep, other=other) == "FORBIDDEN"
    assert await ana.code(MERGE, keep=keep, other=other, reason=" ") == "REASON_REQUIRED"
    assert await ana.code(MERGE, keep=keep, other=keep) == "BAD_INPUT"
    merged = await ana.it(MERGE, keep=keep, other=other)
    assert merged == {"id": keep, "name": "Helio", "aliases": ["HG", "Helio Ltd", "HL"]}
    shown = await ana.it(SHOWN, id=keep)
    assert [one["current"]["text"] for one in shown["blocks"]] == ["Builds kilns.", "Builds ovens."]
    assert shown["blocks"][1] == before[1]["blocks"][0]
    assert shown["relations"]["totalCount"] == 1
    assert await ana.it(SHOWN, id=other) is None
    records = [edge["node"] for edge in (await ana.it(LOG, f={"kbIds": [kb]}))["edges"]]
    own = [record for record in records if record["txId"] == records[0]["txId"]]
    wanted = ["block.move", "entry.delete", "entry.set_aliases", "relation.add", "relation.remove"]
    assert sorted(record["operation"] for record in own) == wanted
    await ana.it(RESTORE, ids=[record["id"] for record in own])
    for entry, old in zip((keep, other), before, strict=True):
        now = await ana.it(SHOWN, id=entry)
        assert {**now, "version": 0} == {**old, "version": 0}


@pytest.mark.req("KN-72", "KN-110")
async def test_a_derivation_is_at_most_sixteen_edges_deep(ana: GraphQLClient, kb: str, said: str) -> None:
    made_first = await ana.it(APPLY, kb=kb, operations=[create("Helio", block("x", cite(said, "Helio builds kilns")))])
    entry, basis = made_first["results"][0]["createdIds"][:2]
    for depth in range(1, 17):
        (basis,) = await made(ana, kb, add(entry, deduction(f"step {depth}", "so it goes", basis)))
    too_deep = add(entry, deduction("one more", "so it goes", basis))
    assert await ana.code(APPLY, kb=kb, operations=[too_deep]) == "PROVENANCE_CYCLE"


@pytest.mark.req("KN-103", "KN-59", "KN-81")
async def test_what_follows_the_world_or_a_reader_cannot_be_restored(
    world: TeamWorld, ana: GraphQLClient, cleo: GraphQLClient, dan: GraphQLClient, kb: str, said: str, gid: Gid
) -> None:
    private = gid(await world.say(world.chat, "I like tea"))
    await cleo.ok("query($id: ID!) { node(id: $id) { id } }", id=private)
    await dan.ok('mutation($id: ID!) { eraseSource(id: $id, reason: "asked for") { id } }', id=said)
    await dan.ok('mutation { setSetting(name: "search.rrf_k", value: 60) { value } }')
    for operation in ("access.read", "source.erase"):
        (edge,) = (await ana.it(LOG, f={"operations": [operation]}))["edges"]
        for document in (PREVIEW, RESTORE):
            assert await ana.code(document, ids=[edge["node"]["id"]]) == "NOT_RESTORABLE"
    (record,) = (await dan.ok("{ adminLog(first: 1) { id operation } }"))["adminLog"]
    assert record["operation"] == "settings.write"
    assert await dan.code(PREVIEW, ids=[record["id"]]) == "NOT_RESTORABLE"


@pytest.mark.req("KN-55", "KN-56", "RE-4")
async def test_granted_shared_knowledge_is_read_and_nothing_else(
    world: TeamWorld, ana: GraphQLClient, dan: GraphQLClient, host: GraphQLClient, client: GraphQLClient, gid: Gid
) -> None:
    await dan.ok("mutation($c: ID!) { setRoutingRule(channelId: $c, memoryScope: SHARED) { id } }", c=gid(world.ops))
    source = gid(await world.say(world.ops, "The glaze holds tin."))
    shared = gid(base_id(world.name, world.atlas, KbKind.SHARED))
    (entry,) = await made(ana, shared, create_entry("Glaze", source, "The glaze holds tin"))
    await made(ana, shared, memo(0, "Tin is dear."))
    orb = (await dan.ok('mutation { createAgent(displayName: "Orb", localId: "orb") { id } }'))["createAgent"]["id"]
    channel = "mutation($a: ID!) { it: createChannel(agentId: $a, kind: SHARED_CHANNEL) { id } }"
    opened = "mutation($c: ID!) { it: openConversation(channelId: $c) { id } }"
    conversation = (await host.it(opened, c=(await dan.it(channel, a=orb))["id"]))["id"]
    token = 'mutation($p: ID!) { it: createToken(principalId: $p, expiresAt: "2099-01-01T00:00:00Z") { text } }'
    agent = client.as_((await dan.it(token, p=orb))["text"])
    asked: dict[str, Any] = {"input": {"query": "tin", "conversationId": conversation}}
    assert (await agent.it(SEARCH, **asked))["items"] == []
    assert await dan.code(GRANT, kb=gid(base_id(world.name, world.atlas, KbKind.AGENT)), agent=orb) == "NOT_FOUND"
    await dan.ok(GRANT, kb=shared, agent=orb)
    assert [item["ref"] for item in (await agent.it(SEARCH, **asked))["items"]] == [entry, source]
    assert (await agent.it(MEMO, c=conversation))["text"] == ""
    evidence = create("Tin", block("Is in the glaze.", cite(source, "The glaze holds tin")))
    for operations in ([evidence], [add(entry, block("x", cite(source, "The glaze holds tin")))]):
        assert await agent.code(APPLY, conversation=conversation, operations=operations) == "SCOPE_FORBIDDEN"
    assert await agent.code(APPLY, conversation=conversation, kb=shared, operations=[]) == "SCOPE_FORBIDDEN"
    await dan.ok(GRANT, kb=shared, agent=orb, granted=False)
    assert (await agent.it(SEARCH, **asked))["items"] == []


@pytest.mark.req("RE-1", "RE-3", "RE-4", "RE-5")
async def test_a_turn_carries_the_memos_of_what_it_reads_in_their_order(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, eve: GraphQLClient, kb: str, gid: Gid
) -> None:
    own = gid(base_id(world.name, world.atlas, KbKind.AGENT))
    conversation = gid((await world.open(world.ops)).id)
    await made(ana, kb, memo(0, "Be brief.", "Use tin."))
    over = await ana.refused(APPLY, kb=kb, operations=[memo(1, "word " * 201)])
    assert (over["code"], over["tokens"], over["budget"]) == ("MEMO_OVER_BUDGET", 201, 200)
    assert await ana.code(APPLY, kb=kb, operations=[memo(0, "Late.")]) == "VERSION_CONFLICT"
    assert await ben.code(APPLY, kb=kb, operations=[memo(1, "Mine.")]) == "SCOPE_FORBIDDEN"
    assert await ben.it(MEMO, c=conversation) == {"text": "Be brief.\nUse tin.", "tokens": 7}
    assert await eve.code(MEMO, c=conversation) == "NOT_FOUND"
    assert await ana.code(APPLY, kb=own, operations=[]) == "NOT_FOUND"


@pytest.mark.req("RE-31", "KN-110")
async def test_a_search_without_any_route_says_so(
    world: TeamWorld, ana: GraphQLClient, gid: Gid, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: object) -> None:
        raise StoreUnavailable("away")

    for route in ("entry_keyword", "message_keyword"):
        monkeypatch.setattr(f"graph.services.search.routes.{route}", fails)
    refused = await ana.refused(SEARCH, input={"query": "tin", "ownerId": gid(world.atlas)})
    assert refused["code"] == "SEARCH_UNAVAILABLE"
    assert set(refused["routes"]) >= {"entry_keyword", "message_keyword"}
