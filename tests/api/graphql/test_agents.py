"""Agents and bots over GraphQL: made by admins, read by those whom they serve, deleted with what they remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.rules.agent_memory_text import PRIVACY
from tests.api.clients import GraphQLClient
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

CREATE = """
mutation($n: String!, $s: Boolean, $o: [ID!], $h: ID) {
  it: createAgent(displayName: $n, localId: $n, shared: $s, organizationIds: $o, homeBotId: $h) {
    id displayName shared home { displayName } deletedAt
  }
}"""
SET = """
mutation($id: ID!, $s: Boolean) { it: setAgent(id: $id, displayName: "Boreas", shared: $s) { displayName shared } }"""
SERVE = "mutation($a: ID!, $o: ID!, $s: Boolean!) { it: setServing(agentId: $a, organizationId: $o, serves: $s) }"
DELETE = "mutation($id: ID!) { it: deleteAgent(id: $id) { sessions chats agentEntries botEntries } }"
READ = "query($id: ID!) { it: agentMemory(agentId: $id) { version } }"
MEMBERS = "mutation($o: ID!, $m: [ID!]!) { it: setMembers(id: $o, memberIds: $m) { added } }"
SESSION = (
    "mutation($a: ID!, $o: ID, $p: ID) { it: createSession(agentId: $a, organizationId: $o, personId: $p) { id } }"
)
BEGIN = 'mutation($s: ID!, $p: ID) { it: beginTurn(sessionId: $s, turn: "t1", operatorId: $p) { instructions } }'


async def it(client: GraphQLClient, query: str, **variables: Any) -> Any:
    return (await client.ok(query, **variables))["it"]


@pytest.mark.req("AD-6", "AD-7", "AD-18", "AM-45")
async def test_admins_say_whom_agents_serve_and_it_counts_at_once(
    world: TeamWorld, dan: GraphQLClient, ben: GraphQLClient, host: GraphQLClient, gid: Gid
) -> None:
    org = (await it(dan, 'mutation { it: createOrganization(displayName: "O") { id } }'))["id"]
    await it(dan, MEMBERS, o=org, m=[gid(world.ben)])
    agent = await it(dan, CREATE, n="borea", s=True, o=[org])
    assert (agent["shared"], agent["home"], agent["deletedAt"]) == (True, None, None)
    link = await it(dan, CREATE, n="link", h=agent["id"])
    assert (link["shared"], link["home"]) == (False, {"displayName": "borea"})
    assert await it(ben, READ, id=agent["id"]) == {"version": 0}
    assert await ben.code(READ, id=link["id"]) == "AgentNotFound"
    assert await it(dan, SERVE, a=agent["id"], o=org, s=False) is False
    assert await ben.code(READ, id=agent["id"]) == "AgentNotFound"
    assert await it(dan, SERVE, a=agent["id"], o=org, s=True) is True
    assert await it(ben, READ, id=agent["id"]) == {"version": 0}
    session = (await it(host, SESSION, a=agent["id"], o=org, p=gid(world.ben)))["id"]
    told = (await it(host, BEGIN, s=session, p=gid(world.ben)))["instructions"]
    assert PRIVACY in told
    assert await it(dan, SET, id=agent["id"], s=False) == {"displayName": "Boreas", "shared": False}


@pytest.mark.req("AD-19", "BM-8")
async def test_a_deleted_agent_is_unknown_to_every_surface(
    world: TeamWorld, dan: GraphQLClient, ben: GraphQLClient, host: GraphQLClient, gid: Gid
) -> None:
    org = (await it(dan, 'mutation { it: createOrganization(displayName: "O") { id } }'))["id"]
    await it(dan, MEMBERS, o=org, m=[gid(world.ben)])
    agent = (await it(dan, CREATE, n="borea", o=[org]))["id"]
    session = (await it(host, SESSION, a=agent, o=org, p=gid(world.ben)))["id"]
    seen = "query($id: ID!) { it: node(id: $id) { __typename } }"
    assert await it(ben, seen, id=session) == {"__typename": "Session"}
    assert await it(dan, DELETE, id=agent) == {"sessions": 1, "chats": 0, "agentEntries": 0, "botEntries": 0}
    assert await it(ben, seen, id=session) is None
    assert await ben.code(READ, id=agent) == "AgentNotFound"
    assert await ben.code("query($id: ID!) { it: botMemory(botId: $id) { version } }", id=agent) == "BotNotFound"
    assert await host.code(SESSION, a=agent, o=org) == "NOT_FOUND"
    assert await dan.code(DELETE, id=agent) == "NOT_FOUND"
    name = "query($id: ID!) { it: node(id: $id) { ... on Principal { displayName deletedAt } } }"
    left = await it(dan, name, id=agent)
    assert left["displayName"] == "borea"
    assert left["deletedAt"]
