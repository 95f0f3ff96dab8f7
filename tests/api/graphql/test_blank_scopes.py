"""Bug case 11: blank, empty and wildcard scopes are refused or mean nothing; what others own is untouched (AD-5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.people import Token
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_entries import an_entry
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

BLANK = ("", " ", "*", "%", "null", "knb_*", "ent_", "prn_*/human/*")
COMMANDS = {
    "deleteEntry": 'mutation($id: ID!) { deleteEntry(id: $id, expectedVersion: 1, reason: "all") { txId } }',
    "mergeEntries": 'mutation($id: ID!) { mergeEntries(keepId: $id, otherId: $id, reason: "all") { id } }',
    "eraseSource": 'mutation($id: ID!) { eraseSource(id: $id, reason: "all") { id } }',
    "withdrawSource": "mutation($id: ID!) { withdrawSource(id: $id) { txId } }",
    "withdrawMessage": 'mutation($id: ID!) { withdrawMessage(channelId: $id, externalId: "m1") { txId } }',
    "restore": 'mutation($id: ID!) { restore(auditId: $id, reason: "all") { txId } }',
    "restoreBatch": 'mutation($id: ID!) { restoreBatch(auditIds: [$id], reason: "all") { txId } }',
    "applyOperations": 'mutation($id: ID!) { applyOperations(kbId: $id, operations: [], reason: "all") { txId } }',
    "submitText": 'mutation($id: ID!) { submitText(ownerId: $id, kbId: $id, text: "t") { id } }',
    "setMembers": "mutation($id: ID!) { setMembers(id: $id, memberIds: []) { removed } }",
    "setDisabled": "mutation($id: ID!) { setDisabled(principalId: $id, disabled: true) { id } }",
    "grantRight": "mutation($id: ID!) { grantRight(principalId: $id, right: ADMIN, objectId: $id) }",
    "revokeRight": "mutation($id: ID!) { revokeRight(principalId: $id, right: CURATOR, objectId: $id) }",
    "revokeToken": "mutation($id: ID!) { revokeToken(id: $id) { id } }",
    "grantShared": "mutation($id: ID!) { grantShared(kbId: $id, agentId: $id, granted: true) { id } }",
    "closeConversation": "mutation($id: ID!) { closeConversation(id: $id) { id } }",
    "deleteAgent": "mutation($id: ID!) { deleteAgent(id: $id) { id } }",
    "setServing": "mutation($id: ID!) { setServing(agentId: $id, organizationId: $id, serves: true) }",
    "deleteSession": "mutation($id: ID!) { deleteSession(sessionId: $id) { id } }",
    "deleteChatHistory": "mutation($id: ID!) { deleteChatHistory(chatId: $id) { id } }",
    "purgeBotMemory": 'mutation($id: ID!) { purgeBotMemory(botId: $id, tag: "from:ana") { deleted } }',
    "deleteMemory": 'mutation($id: ID!) { deleteMemory(memoryId: $id, expectedEtag: "*") }',
    "purgeMemoryHistory": 'mutation($id: ID!) { purgeMemoryHistory(memoryId: $id, path: "*") }',
}
REFUSALS = {
    "NOT_FOUND",
    "BAD_INPUT",
    "FORBIDDEN",
    "Forbidden",
    "SessionNotFound",
    "ChatNotFound",
    "BotNotFound",
    "not_found",
}


async def rows_of(world: TeamWorld) -> list[Any]:
    return [row async for row in world.deps.store.export_rows() if not isinstance(row, Token)]


@pytest.mark.req("AD-5", "AD-1")
@pytest.mark.parametrize("name", COMMANDS)
async def test_a_command_on_a_blank_or_wildcard_scope_changes_nothing(
    name: str, world: TeamWorld, ana: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    await an_entry(world, ana, gid)
    before = await rows_of(world)
    for who in (ana, dan):
        for id_ in BLANK:
            answer = await who.run(COMMANDS[name], id=id_)
            assert answer.errors, (name, id_)
            assert set(answer.codes) <= REFUSALS, (name, id_, answer.errors)
    assert await rows_of(world) == before


@pytest.mark.req("MA-14")
async def test_material_without_a_scope_is_bad_input(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    """Left out, null, blank or a wildcard; for each kind of material."""
    owner = gid(world.atlas)
    text = 'mutation($o: ID!, $k: ID%s) { submitText(ownerId: $o, kbId: $k, text: "t") { id } }'
    url = 'mutation($o: ID!, $k: ID!) { submitUrl(ownerId: $o, kbId: $k, url: "https://example.org/") { id } }'
    file = "mutation($o: ID!, $k: ID!, $file: Upload!) { submitFile(ownerId: $o, kbId: $k, file: $file) { id } }"
    none = 'mutation($o: ID!) { submitText(ownerId: $o, text: "t") { id } }'
    answers = [
        await ana.run(none, o=owner),
        await ana.run(text % "!", o=owner, k=None),
        await ana.run(text % "", o=owner),
    ]
    for kb in ("", " ", "*"):
        answers += [await ana.run(document, o=owner, k=kb) for document in (text % "!", url)]
        answers.append(await ana.upload(file, "a.txt", b"t", o=owner, k=kb))
    assert {tuple(answer.codes) for answer in answers} == {("BAD_INPUT",)}


@pytest.mark.req("AD-5", "KN-67")
async def test_a_message_is_withdrawn_by_its_whole_name_alone(
    world: TeamWorld, ana: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    one, two = [gid(await world.say(world.ops, f"number {n}", external_id=f"a{n}")) for n in (1, 2)]
    query = "mutation($c: ID!, $x: String!) { withdrawMessage(channelId: $c, externalId: $x) { records { id } } }"
    before = await rows_of(world)
    for external_id in ("", " ", "*", "a", "a%", "A1", "a1 "):
        answer = await dan.run(query, c=gid(world.ops), x=external_id)
        assert set(answer.codes) <= REFUSALS, external_id
        assert answer.errors, external_id
    assert await rows_of(world) == before
    await dan.ok(query, c=gid(world.ops), x="a1")
    node = "query($id: ID!) { node(id: $id) { id } }"
    assert [(await ana.ok(node, id=id_))["node"] for id_ in (one, two)] == [None, {"id": two}]


@pytest.mark.req("KN-57", "KN-58")
async def test_withdrawing_everything_of_one_leaves_the_other_untouched(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    """Three memories of one person go one by one; those of the other stay, files and history too."""
    theirs = [await world.say(world.ops, f"Ben says {n}", speaker=world.ben) for n in range(2)]
    own = [await an_entry(world, ana, gid, name, f"{name} likes tea") for name in ("Lin", "Kai", "Mia")]
    shown = "query($id: ID!) { node(id: $id) { ... on Source { id text state version } } }"
    before = [await ben.ok(shown, id=gid(source)) for source in theirs]
    sources = "query($id: ID!) { entry(id: $id) { sources { edges { node { id } } } } }"
    for entry in own:
        found = await ana.ok(sources, id=entry)
        for edge in found["entry"]["sources"]["edges"]:
            await dan.ok(
                'mutation($id: ID!) { eraseSource(id: $id, reason: "asked for") { id } }', id=edge["node"]["id"]
            )
    gone = "query($id: ID!) { entry(id: $id) { id } }"
    assert [await ana.ok(gone, id=entry) for entry in own] == [{"entry": None}] * 3
    assert [await ben.ok(shown, id=gid(source)) for source in theirs] == before
