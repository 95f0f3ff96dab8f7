"""Acceptance examples 11, 12 and 19: who sees what, under which scope, on which sources."""

from __future__ import annotations

import json

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from tests.acceptance.stage import NODE, OPEN, PROVENANCE, Stage, made
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.support.operations import add, block, cite, create, deduction, relate

pytestmark = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)

COUNTS = """
query($owner: ID!) {
  entries(ownerId: $owner) { totalCount edges { cursor node { id } } }
  auditLog(filter: {}) { totalCount edges { cursor node { id seq hash } } }
  knowledgeBases(ownerId: $owner) { totalCount edges { node { id kind } } }
}
"""
EXPLAIN = "query($id: ID!) { explainVisibility(id: $id) { visible } }"
RULE = """
mutation($channel: ID!, $isolated: Boolean) {
  setRoutingRule(channelId: $channel, memoryScope: SHARED, isolated: $isolated) { memoryScope version }
}
"""
SOURCE_BASE = "query($id: ID!) { node(id: $id) { ... on Source { knowledgeBase { kind } } } }"
CLOSE = "mutation($id: ID!) { closeConversation(id: $id) { closedAt } }"
SUBMIT = """
mutation($owner: ID!, $kb: ID!, $file: Upload!) {
  submitFile(ownerId: $owner, kbId: $kb, file: $file) { source { id } }
}
"""
RELATION = "query($id: ID!) { node(id: $id) { ... on Relation { evidence { source { id } } } } }"
GRAPH = "query($id: ID!) { neighborhood(entryId: $id) { relations { id } entries { id } } }"
EXPORT = "query($id: ID!) { provenanceExport(id: $id, format: PROV_JSON) }"


@pytest.mark.req("KN-60", "KN-61", "KN-44", "KN-43", "KN-114", "RE-6")
async def test_11_private_chat_never_leaks(stage: Stage) -> None:
    # Given a shared channel with what everybody knows
    open_ = await stage.say("Helio builds kilns.")
    await stage.write(create("Helio", block("Builds kilns.", cite(open_, "builds kilns"))))
    owner = stage.gid(stage.world.atlas)
    before = await stage.ben.ok(COUNTS, owner=owner)
    shared = await stage.open()
    found_before = await stage.search("salary 90k", by=stage.agent(shared), conversationId=shared)
    # When a private chat says what is private, and Atlas writes it down there
    secret = await stage.say("my salary is 90k", channel=stage.world.chat)
    pay = await stage.write(create("Pay", block("Earns 90k.", cite(secret, "salary is 90k"))), channel=stage.world.chat)
    # Then the shared conversation finds nothing, and nobody's figures moved
    found = await stage.search("salary 90k", by=stage.agent(shared), conversationId=shared)
    assert found == found_before
    assert found["items"] == []
    assert await stage.ben.ok(COUNTS, owner=owner) == before
    # and every id of it answers to Ben, and to Atlas elsewhere, like one that never was
    unknown = stage.gid(NodeId("ent_" + "0" * 26))
    for who in (stage.ben, stage.agent(shared)):
        for hidden in (made(pay), made(pay, place=1), secret, stage.kb(KbKind.PRIVATE, stage.world.chat)):
            for query in (NODE, PROVENANCE, EXPLAIN, GRAPH, EXPORT):
                assert await told(who, query, hidden) == await told(who, query, unknown)
    # while Ana finds it
    assert {item["ref"] for item in (await stage.search("salary 90k"))["items"]} == {made(pay), secret}


async def told(who: GraphQLClient, query: str, id_: str) -> str:
    """Return an answer without the id that was asked for."""
    answer = await who.run(query, id=id_)
    return json.dumps([answer.status, answer.data, answer.errors], sort_keys=True).replace(id_, "?")


@pytest.mark.req("KN-49", "KN-50", "KN-52", "KN-46", "KN-47")
async def test_12_scope_changes_during_a_conversation(stage: Stage) -> None:
    await stage.set_to(search__neighbours=0)
    # Given an open conversation with channel memory
    channel = stage.gid(stage.world.ops)
    opened = (await stage.host.ok(OPEN, channel=channel))["openConversation"]
    assert opened["memoryScope"] == "CHANNEL"
    first = await stage.say("The zeppelin lands at noon.")
    entry = await stage.write(create("Zeppelin", block("Lands at noon.", cite(first, "lands at noon"))))
    # When the rule becomes shared and one more message arrives
    await stage.dan.ok(RULE, channel=channel)
    second = await stage.say("The zeppelin is grey.")
    # Then it is stored in the channel's knowledge base
    shown = await stage.ana.ok(SOURCE_BASE, id=second)
    assert shown["node"]["knowledgeBase"]["kind"] == "CHANNEL"
    # and the next conversation uses shared, and finds neither messages nor entries of the old one
    await stage.host.ok(CLOSE, id=opened["id"])
    then = (await stage.host.ok(OPEN, channel=channel))["openConversation"]
    assert then["id"] != opened["id"]
    assert then["memoryScope"] == "SHARED"
    assert (await stage.search("zeppelin", by=stage.agent(then["id"]), conversationId=then["id"]))["items"] == []
    third = await stage.say("The zeppelin is late.")
    shown = await stage.ana.ok(SOURCE_BASE, id=third)
    assert shown["node"]["knowledgeBase"]["kind"] == "SHARED"
    found = await stage.search("zeppelin", by=stage.agent(then["id"]), conversationId=then["id"])
    assert [item["ref"] for item in found["items"]] == [third]
    assert {item["ref"] for item in (await stage.search("zeppelin"))["items"]} >= {made(entry), first}


@pytest.mark.req("KN-29", "KN-62", "MA-24")
async def test_19_document_withdrawn_and_returned(stage: Stage) -> None:
    """The connector itself comes later; a document is lost and regained by `withdrawSource` and `returnSource`."""
    # Given a document D and a message m, a block B citing D, a deduction C based on B, a relation with evidence of both
    m = await stage.say("I hear that Orion belongs to Helio.")
    text = b"Orion is hosted in Berlin. Orion belongs to Helio."
    owner, kb = stage.gid(stage.world.atlas), stage.kb(KbKind.CHANNEL, stage.world.ops)
    submitted = await stage.ana.upload(SUBMIT, "orion.txt", text, owner=owner, kb=kb)
    assert not submitted.errors
    document = submitted.data["submitFile"]["source"]["id"]
    known = cite(m, "Orion belongs to Helio")
    first = await stage.write(
        create("Orion", block("Belongs to Helio.", known), type="system", ref="o"),
        create("Helio", block("Owns Orion.", known), ref="h"),
        relate("o", "belongs_to", "h", m, "Orion belongs to Helio"),
        relate("o", "belongs_to", "h", document, "Orion belongs to Helio"),
    )
    orion, relation = made(first), made(first, 2)
    b = made(await stage.write(add(orion, block("Is hosted in Berlin.", cite(document, "hosted in Berlin")))))
    judged = deduction("Berlin loses power", "Orion stops", b)
    c = made(await stage.write(add(orion, judged)))
    everything = await stage.texts(orion)
    assert len(everything) == 3
    # When access to D is lost
    await stage.host.ok("mutation($id: ID!) { withdrawSource(id: $id) { txId } }", id=document)
    # Then D, B and C are in no read and no search
    assert await stage.texts(orion) == ["Belongs to Helio."]
    for hidden in (document, b, c):
        assert await stage.ana.ok(NODE, id=hidden) == {"node": None}
    assert (await stage.search("Berlin"))["items"] == []
    seen = json.dumps([await stage.entry(orion), await stage.ana.ok(EXPORT, id=orion)])
    assert "Berlin" not in seen
    # and the relation remains, with evidence m only
    shown = await stage.ana.ok(RELATION, id=relation)
    assert [one["source"]["id"] for one in shown["node"]["evidence"]] == [m]
    # and after access returns all are visible again
    await stage.host.ok("mutation($id: ID!) { returnSource(id: $id) { txId } }", id=document)
    assert await stage.texts(orion) == everything
    for id_ in (document, b, c):
        assert (await stage.ana.ok(NODE, id=id_))["node"]["id"] == id_
    assert orion in {item["ref"] for item in (await stage.search("Berlin"))["items"]}
    shown = await stage.ana.ok(RELATION, id=relation)
    assert {one["source"]["id"] for one in shown["node"]["evidence"]} == {m, document}
