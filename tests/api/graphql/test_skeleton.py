"""From a message to the answer who may see it, over a real socket with real tokens."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", ENGINES, indirect=True)

OPEN = "mutation($channel: ID!) { openConversation(channelId: $channel) { id memoryScope knowledgeBase { id kind } } }"
SAY = """
mutation($conversation: ID!, $messages: [MessageInput!]!) {
  ingestMessages(conversationId: $conversation, messages: $messages) { sourceIds arrivals }
}
"""
NODE = """query($id: ID!) { node(id: $id) {
  id __typename ... on Source { text occurredAt saidAt author { displayName } } } }"""
EXPLAIN = "query($id: ID!) { explainVisibility(id: $id) { visible nodes { kind passed } } }"
PROVENANCE = "query($id: ID!) { provenance(id: $id) { root { id } truncated } }"


@pytest.mark.req("KN-43", "KN-60", "KN-65", "KN-120")
async def test_what_was_said_in_a_private_chat_is_seen_by_its_partner_and_by_nobody_else(
    real_client: GraphQLClient, world: TeamWorld, gid: Callable[[NodeId], str]
) -> None:
    host = real_client.as_(await world.token(world.host))
    ana = real_client.as_(await world.token(world.ana))
    ben = real_client.as_(await world.token(world.ben))

    opened = (await host.ok(OPEN, channel=gid(world.chat)))["openConversation"]
    message = {
        "externalId": "m1",
        "sentAt": "2025-05-10T00:30:00+09:00",
        "text": "My salary is 90k",
        "speakerId": gid(world.ana),
    }
    said = (await host.ok(SAY, conversation=opened["id"], messages=[message]))["ingestMessages"]
    source = said["sourceIds"][0]
    assert said["arrivals"] == ["STORED"]

    shown = (await ana.ok(NODE, id=source))["node"]
    assert shown == {
        "id": source,
        "__typename": "Source",
        "text": "My salary is 90k",
        "occurredAt": "2025-05-09T15:30:00.000Z",
        "saidAt": "2025-05-10T00:30:00.000+09:00",
        "author": {"displayName": "Ana"},
    }
    assert (await ana.ok(EXPLAIN, id=source))["explainVisibility"]["visible"] is True
    assert (await ana.ok(PROVENANCE, id=source))["provenance"]["root"]["id"] == source

    unknown = gid(NodeId("src_00000000000000000000000000"))
    for id_ in (source, unknown):
        assert (await ben.ok(NODE, id=id_)) == {"node": None}
        assert (await ben.ok(EXPLAIN, id=id_)) == {"explainVisibility": None}
        assert (await ben.code(PROVENANCE, id=id_)) == "NOT_FOUND"
