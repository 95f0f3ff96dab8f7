"""Entries over GraphQL: written by operations, read with evidence, hidden from those who may not see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.rules.pools import base_id
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", ENGINES, indirect=True)

Gid = Callable[[NodeId], str]

APPLY = """
mutation($conversation: ID, $kb: ID, $operations: [JSON!]!, $dryRun: Boolean = false) {
  applyOperations(conversationId: $conversation, kbId: $kb, operations: $operations, reason: "noted", dryRun: $dryRun) {
    applied txId
    results { index op outcome code createdIds created { id __typename ... on Entry { name } } }
    records { seq operation actor { displayName } target { id } }
  }
}
"""
ENTRY = """
query($id: ID!) {
  entry(id: $id) {
    id name type aliases summary version readOnly owner { displayName } knowledgeBase { kind }
    blocks { position current { version text basis standing stale modifier { displayName }
      citations { quote role speaker { displayName } source { id text } } derivedFrom { id } } }
    relations { totalCount } sources { totalCount edges { node { text } } }
    audit { totalCount edges { node { operation } } }
    projection
  }
}
"""
ENTRIES = """
query($owner: ID!, $first: Int, $after: String, $filter: EntryFilter) {
  entries(ownerId: $owner, first: $first, after: $after, filter: $filter) {
    totalCount pageInfo { hasNextPage endCursor hasPreviousPage } edges { cursor node { id name } }
  }
}
"""


def create_entry(name: str, source: str, quote: str) -> dict[str, Any]:
    return {
        "op": "createEntry",
        "ref": "e",
        "name": name,
        "type": "person",
        "summary": "",
        "blocks": [
            {
                "text": quote,
                "basis": "stated",
                "standing": "settled",
                "change": "addition",
                "durability": "lasting",
                "citations": [{"source": source, "quote": quote, "role": "supports"}],
            }
        ],
    }


async def an_entry(
    world: TeamWorld, ana: GraphQLClient, gid: Gid, name: str = "Lin", text: str = "Lin likes tea"
) -> str:
    """Let Ana note what she said in her private chat; return the id of the entry."""
    source = await world.say(world.chat, text)
    conversation = await world.open(world.chat)
    kb = gid(NodeId(str(conversation.pool)))
    answer = await ana.ok(APPLY, kb=kb, operations=[create_entry(name, gid(source), text)])
    return str(answer["applyOperations"]["results"][0]["createdIds"][0])


@pytest.mark.req("KN-109", "KN-111", "KN-60")
async def test_an_entry_made_by_operations_is_read_whole_by_its_author_and_is_nothing_to_others(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    entry = await an_entry(world, ana, gid)
    shown = (await ana.ok(ENTRY, id=entry))["entry"]
    assert (shown["name"], shown["type"], shown["owner"]["displayName"]) == ("Lin", "person", "Atlas")
    assert shown["knowledgeBase"]["kind"] == "PRIVATE"
    (block,) = shown["blocks"]
    assert block["current"]["text"] == "Lin likes tea"
    assert block["current"]["citations"][0]["quote"] == "Lin likes tea"
    assert block["current"]["modifier"]["displayName"] == "Ana"
    assert shown["sources"]["totalCount"] == 1
    assert "entry.create" in [edge["node"]["operation"] for edge in shown["audit"]["edges"]]
    assert shown["projection"].startswith("# Lin")
    assert (await ben.ok(ENTRY, id=entry)) == {"entry": None}
    owner = gid(world.atlas)
    assert (await ana.ok(ENTRIES, owner=owner))["entries"]["totalCount"] == 1
    assert (await ben.ok(ENTRIES, owner=owner))["entries"] == {
        "totalCount": 0,
        "pageInfo": {"hasNextPage": False, "endCursor": None, "hasPreviousPage": False},
        "edges": [],
    }


@pytest.mark.req("KN-112")
async def test_a_dry_run_tells_the_verdicts_and_writes_nothing(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    source = await world.say(world.chat, "Lin likes tea")
    kb = gid(NodeId(str((await world.open(world.chat)).pool)))
    operations = [create_entry("Lin", gid(source), "Lin likes tea")]
    payload = (await ana.ok(APPLY, kb=kb, operations=operations, dryRun=True))["applyOperations"]
    assert payload["results"][0]["outcome"] == "ACCEPTED"
    assert (payload["applied"], payload["records"], payload["results"][0]["createdIds"]) == (False, [], [])
    assert (await ana.ok(ENTRIES, owner=gid(world.atlas)))["entries"]["totalCount"] == 0


@pytest.mark.req("KN-70", "KN-110")
async def test_a_rejected_operation_answers_with_the_contracts_code(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    source = await world.say(world.chat, "Lin likes tea")
    kb = gid(NodeId(str((await world.open(world.chat)).pool)))
    answer = await ana.run(APPLY, kb=kb, operations=[create_entry("Lin", gid(source), "Lin likes coffee")])
    assert answer.codes == ["QUOTE_NOT_VERBATIM"]
    assert answer.errors[0]["extensions"]["status"] == 422
    assert answer.errors[0]["extensions"]["rejections"][0]["code"] == "QUOTE_NOT_VERBATIM"


@pytest.mark.req("KN-113")
async def test_pages_follow_each_other_and_a_cursor_of_another_question_is_refused(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    names = ["Lin", "Kai", "Mia"]
    for name in names:
        await an_entry(world, ana, gid, name, f"{name} likes tea")
    owner, seen, after = gid(world.atlas), [], None
    for _ in names:
        page = (await ana.ok(ENTRIES, owner=owner, first=1, after=after))["entries"]
        seen += [edge["node"]["name"] for edge in page["edges"]]
        after = page["pageInfo"]["endCursor"]
    assert sorted(seen) == sorted(names)
    assert page["pageInfo"] == {"hasNextPage": False, "endCursor": after, "hasPreviousPage": True}
    assert await ana.code(ENTRIES, owner=owner, after=after, filter={"types": ["place"]}) == "CURSOR_INVALID"
    assert await ana.code(ENTRIES, owner=owner, after=f"{after}x") == "CURSOR_INVALID"
    assert await ana.code(ENTRIES, owner=owner, first=0) == "LIMIT_EXCEEDED"
    assert await ana.code(ENTRIES, owner=owner, first=101) == "LIMIT_EXCEEDED"


@pytest.mark.req("AD-1", "KN-60")
async def test_an_id_of_another_kind_workspace_or_a_damaged_one_is_nothing(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    entry = await an_entry(world, ana, gid)
    other = await TeamWorld(deps=world.deps).make()
    strangers = await other.say(other.ops, "elsewhere")
    node = "query($id: ID!) { node(id: $id) { id } entry(id: $id) { id } }"
    for id_ in (
        entry[:-2] + "xx",
        "",
        "ent_0",
        "💥",
        gid(strangers),
        gid(base_id(world.name, world.eve, KbKind.GUIDE)),
    ):
        assert await ana.ok(node, id=id_) == {"node": None, "entry": None}


@pytest.mark.req("KN-79", "KN-7")
async def test_provenance_leads_from_an_entry_to_the_message(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    entry = await an_entry(world, ana, gid)
    query = """
    query($id: ID!) { provenance(id: $id) { root { id } truncated nodes { id __typename ... on Source { text } }
      edges { from to type quote depth } } }
    """
    found = (await ana.ok(query, id=entry))["provenance"]
    assert found["root"]["id"] == entry
    assert "Lin likes tea" in [node.get("text") for node in found["nodes"]]
    ids = {node["id"] for node in found["nodes"]}
    assert all(edge["from"] in ids and edge["to"] in ids for edge in found["edges"])
    assert "Lin likes tea" in [edge["quote"] for edge in found["edges"]]


@pytest.mark.req("KN-105", "KN-36", "KN-101")
async def test_people_delete_restore_and_guide(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    entry = await an_entry(world, ana, gid)
    delete = """
    mutation($id: ID!, $version: Int!) {
      deleteEntry(id: $id, expectedVersion: $version, reason: "gone") { txId records { id operation } }
    }
    """
    version = (await ana.ok(ENTRY, id=entry))["entry"]["version"]
    assert await ben.code(delete, id=entry, version=version) == "NOT_FOUND"
    assert await ana.code(delete, id=entry, version=version + 1) == "VERSION_CONFLICT"
    deleted = (await ana.ok(delete, id=entry, version=version))["deleteEntry"]
    assert await ana.ok(ENTRY, id=entry) == {"entry": None}
    record = next(one["id"] for one in deleted["records"] if one["operation"] == "entry.delete")
    preview = "query($ids: [ID!]!) { restorePreview(auditIds: $ids) { restorable previewHash steps { conflict } } }"
    seen = (await ana.ok(preview, ids=[record]))["restorePreview"]
    assert seen["restorable"] is True
    restore = """
    mutation($id: ID!, $hash: String) { restore(auditId: $id, reason: "back", previewHash: $hash) {
      records { operation restores { id } } } }
    """
    assert await ana.code(restore, id=record, hash="0" * 64) == "PREVIEW_STALE"
    back = (await ana.ok(restore, id=record, hash=seen["previewHash"]))["restore"]["records"]
    assert [one["restores"]["id"] for one in back] == [record]
    assert (await ana.ok(ENTRY, id=entry))["entry"]["name"] == "Lin"
    guide = """
    mutation($id: ID!, $version: Int!) {
      setCurationGuide(principalId: $id, text: "Be brief", expectedVersion: $version) { text version }
    }
    """
    written = await ana.ok(guide, id=gid(world.atlas), version=0)
    assert written["setCurationGuide"] == {"text": "Be brief", "version": 1}
    read = "query($id: ID!) { curationGuide(principalId: $id) { text modifier { displayName } } }"
    assert (await ben.ok(read, id=gid(world.atlas)))["curationGuide"]["text"] == "Be brief"
    assert await ben.code(guide, id=gid(world.atlas), version=1) == "SCOPE_FORBIDDEN"
