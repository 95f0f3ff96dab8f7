"""Provisioning, withdrawals and imports over GraphQL: what only admins and hosts do (AD-18, AD-19)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_entries import APPLY, create_entry
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]
SAY = """mutation($c: ID!, $x: String!) { ingestMessages(conversationId: $c, messages: [
  {externalId: $x, sentAt: "2025-05-10T09:00:00Z", text: "The oven is hot"}]) { sourceIds } }"""
NODE = "query($id: ID!) { node(id: $id) { id } }"
TALK = {"externalId": "m1", "sentAt": "2024-05-10T09:00:00Z", "text": "Old words", "speaker": "Ana"}
IMPORT = """mutation($c: ID!, $m: [ImportedMessageInput!]!) {
  importMessages(channelId: $c, messages: $m) { stored unchanged newVersions } }"""


async def said(host: GraphQLClient, world: TeamWorld, gid: Gid, external_id: str = "x1") -> str:
    """Let somebody say something in the channel; return the source."""
    conversation = await world.open(world.ops)
    return str((await host.ok(SAY, c=gid(conversation.id), x=external_id))["ingestMessages"]["sourceIds"][0])


@pytest.mark.req("KN-67")
async def test_a_host_withdraws_a_message_by_the_id_of_its_channel_and_it_comes_back(
    world: TeamWorld, host: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    source = await said(host, world, gid)
    withdraw = 'mutation($c: ID!) { withdrawMessage(channelId: $c, externalId: "x1") { records { operation } } }'
    await host.ok(withdraw, c=gid(world.ops))
    assert (await ben.ok(NODE, id=source))["node"] is None
    await host.ok("mutation($id: ID!) { returnSource(id: $id) { txId } }", id=source)
    assert (await ben.ok(NODE, id=source))["node"] == {"id": source}
    assert await ben.code(withdraw, c=gid(world.ops)) == "NOT_FOUND"


@pytest.mark.req("KN-81")
async def test_the_receipt_of_an_erasure_counts_copies_by_kind(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    source = await said(host, world, gid)
    note = create_entry("Oven", source, "The oven is hot")
    await ana.ok(APPLY, kb=gid(NodeId(str((await world.open(world.ops)).pool))), operations=[note])
    erase = (
        'mutation($id: ID!) { eraseSource(id: $id, reason: "asked for") { state text erasedCopies { kind count } } }'
    )
    erased = (await dan.ok(erase, id=source))["eraseSource"]
    assert (erased["state"], erased["text"]) == ("ERASED", "[erased]")
    counts = {one["kind"]: one["count"] for one in erased["erasedCopies"]}
    assert (counts["sources"], counts["quotes"], counts["audit_images"]) == (1, 1, 1)
    assert counts["keyword_texts"] > 0
    read = "query($id: ID!) { node(id: $id) { ... on Source { erasedCopies { kind } } } }"
    fresh = await said(host, world, gid, "x2")
    assert await ana.ok(read, id=fresh) == {"node": {"erasedCopies": None}}


@pytest.mark.req("AD-18")
async def test_an_organization_keeps_settings_that_are_not_named_and_notices_a_stale_version(
    dan: GraphQLClient, host: GraphQLClient, ana: GraphQLClient
) -> None:
    made = await dan.ok(
        'mutation { createOrganization(displayName: "Heron", settings: {memory: {use: true}}) { id version } }'
    )
    id_, change = made["createOrganization"]["id"], "mutation($id: ID!, $v: Int!) { setOrganization("
    change += "id: $id, expectedVersion: $v, settings: {botMemory: false}) { settings version } }"
    changed = await dan.ok(change, id=id_, v=1)
    assert changed["setOrganization"] == {"settings": {"memory": {"use": True}, "botMemory": False}, "version": 2}
    assert await dan.code(change, id=id_, v=1) == "VERSION_CONFLICT"
    await dan.ok('mutation { createOrganization(displayName: "Auk") { id } }')
    auk, heron = (await dan.ok("{ organizations { id displayName settings version } }"))["organizations"]
    assert (auk["displayName"], auk["settings"], auk["version"]) == ("Auk", {}, 1)
    assert heron == {"id": id_, "displayName": "Heron", **changed["setOrganization"]}
    for who in (host, ana):
        assert await who.code("{ organizations { id } }") == "FORBIDDEN"


@pytest.mark.req("AD-2")
async def test_local_ids_are_of_few_characters_and_taken_once_per_kind_and_container(
    dan: GraphQLClient, world: TeamWorld, gid: Gid
) -> None:
    person = 'mutation($l: String) { it: createPerson(displayName: "P", localId: $l) { id } }'
    for local in ("", " ", "a b", "a/b", "\u00e4", "x" * 129):
        refused = await dan.refused(person, l=local)
        assert (refused["code"], refused["status"], refused["field"]) == ("BAD_INPUT", 400, "localId"), local
    for local in ("x" * 128, "A.b_c:d-9", "."):
        await dan.it(person, l=local)
    taken = await dan.refused(person, l="A.b_c:d-9")
    assert (taken["code"], taken["kind"], taken["keyFields"]) == ("ALREADY_EXISTS", "Principal", ["localId"])
    await dan.it('mutation { it: createGroup(displayName: "G", localId: "A.b_c:d-9") { id } }')
    other = (await dan.it('mutation { it: createAgent(displayName: "B") { id } }'))["id"]
    channel = """mutation($a: ID!, $l: String) {
      it: createChannel(agentId: $a, kind: SHARED_CHANNEL, localId: $l) { id } }"""
    for agent in (gid(world.atlas), other):
        await dan.it(channel, a=agent, l="here")
    assert (await dan.refused(channel, a=other, l="here"))["kind"] == "Channel"
    made = [(await dan.it(person, l=None))["id"] for _ in range(2)]
    assert made[0] != made[1]


@pytest.mark.req("AD-27", "KN-85")
async def test_the_chains_of_the_workspace_are_verified_for_admins_and_auditors_alone(
    dan: GraphQLClient, cleo: GraphQLClient, ben: GraphQLClient
) -> None:
    await dan.ok('mutation { createPerson(displayName: "Otto", localId: "otto") { id } }')
    await dan.ok("mutation { anchorAudit { seq } }")
    chain = "{ ok brokenAtSeq reason headSeq }"
    verify = f"{{ verifyAudit {{ ok administration {chain} anchors {chain} }} }}"
    for who in (dan, cleo):
        found = (await who.ok(verify))["verifyAudit"]
        assert found["ok"]
        assert found["administration"]["headSeq"] >= 1
        assert found["anchors"] == {"ok": True, "brokenAtSeq": None, "reason": None, "headSeq": 1}
    assert (await ben.ok(verify))["verifyAudit"] == {"ok": True, "administration": None, "anchors": None}


@pytest.mark.req("AD-18", "AD-26")
async def test_steps_of_administration_are_listed_without_names_to_admins_and_auditors_alone(
    dan: GraphQLClient, cleo: GraphQLClient, ben: GraphQLClient
) -> None:
    await dan.ok('mutation { createPerson(displayName: "Secret Name", localId: "otto") { id } }')
    log = "{ adminLog(first: 5) { seq operation codes } }"
    for who in (dan, cleo):
        (newest, *_) = (await who.ok(log))["adminLog"]
        assert newest["operation"] == "principal.create"
        assert "Secret Name" not in str(newest)
    assert await ben.code(log) == "FORBIDDEN"


@pytest.mark.req("KN-65", "KN-49")
async def test_an_imported_talk_becomes_a_closed_conversation_of_its_own_time_once(
    world: TeamWorld, dan: GraphQLClient, gid: Gid
) -> None:
    place = await dan.ok(
        'mutation($a: ID!) { importChannel(agentId: $a, kind: SHARED_CHANNEL, name: "Old", speakers: ["Ana"]) '
        "{ channelId speakers { name principalId } } }",
        a=gid(world.atlas),
    )
    channel = place["importChannel"]["channelId"]
    messages: list[dict[str, Any]] = [{"conversation": "2024", "message": TALK}]
    assert (await dan.ok(IMPORT, c=channel, m=messages))["importMessages"]["stored"] == 1
    again = await dan.ok(IMPORT, c=channel, m=[*messages, {"conversation": "2024", "message": {**TALK, "text": "New"}}])
    assert again["importMessages"] == {"stored": 0, "unchanged": 1, "newVersions": 1}
    opened = await dan.ok("mutation($c: ID!) { openConversation(channelId: $c) { openedAt closedAt } }", c=channel)
    assert opened["openConversation"]["closedAt"] is None
    assert opened["openConversation"]["openedAt"] > "2025"
