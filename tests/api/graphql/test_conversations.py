"""Conversations over GraphQL: which memory they use, when they end, and who changed that (KN-46 to KN-51)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient
from tests.support.clock import FakeClock
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]
OPEN = "mutation($c: ID!) { openConversation(channelId: $c) { id memoryScope closedAt } }"
CLOSE = "mutation($id: ID!) { closeConversation(id: $id) { id closedAt } }"
SAY = """mutation($c: ID!, $x: String!) { ingestMessages(conversationId: $c, messages: [
  {externalId: $x, sentAt: "2025-05-10T09:00:00Z", text: "The oven is hot"}]) { arrivals } }"""
TASK = """mutation($c: ID!) { recordTaskResult(input: {
  taskId: "t", state: SUCCEEDED, steps: [], finalAnswer: "done", conversationId: $c}) { arrivals } }"""
APPLY = """mutation($c: ID!) { applyOperations(conversationId: $c, operations: [], reason: "r") { applied } }"""
ROUTE = """mutation($c: ID!, $scope: MemoryScope!, $isolated: Boolean) {
  setRoutingRule(channelId: $c, memoryScope: $scope, isolated: $isolated) { memoryScope isolated version } }"""
LOG = "{ adminLog(first: 1) { operation } }"


@pytest.mark.req("KN-47", "KN-48", "AD-18")
async def test_routing_is_checked_and_each_change_of_it_is_audited(
    world: TeamWorld, dan: GraphQLClient, ana: GraphQLClient, host: GraphQLClient, gid: Gid
) -> None:
    channel, chat = gid(world.ops), gid(world.chat)
    assert (await host.ok(OPEN, c=channel))["openConversation"]["memoryScope"] == "CHANNEL"
    assert await ana.code(ROUTE, c=channel, scope="SHARED") == "FORBIDDEN"
    assert await dan.code(ROUTE, c=channel, scope="SHARED", isolated=True) == "ISOLATED_CHANNEL"
    for wrong in ({"c": channel, "scope": "PRIVATE"}, {"c": chat, "scope": "SHARED"}):
        assert await dan.code(ROUTE, **wrong) == "BAD_INPUT"
    assert (await dan.ok(LOG))["adminLog"] == []
    made = (await dan.ok(ROUTE, c=channel, scope="CHANNEL", isolated=True))["setRoutingRule"]
    assert made == {"memoryScope": "CHANNEL", "isolated": True, "version": 1}
    assert (await dan.ok(LOG))["adminLog"] == [{"operation": "routing.set"}]


@pytest.mark.req("KN-51", "KN-49")
async def test_a_conversation_ends_when_it_is_closed_and_nothing_is_written_to_it_then(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, gid: Gid
) -> None:
    first = (await host.ok(OPEN, c=gid(world.ops)))["openConversation"]["id"]
    assert (await host.ok(OPEN, c=gid(world.ops)))["openConversation"]["id"] == first
    closed = (await host.ok(CLOSE, id=first))["closeConversation"]
    assert closed["closedAt"] is not None
    assert (await host.ok(CLOSE, id=first))["closeConversation"] == closed
    assert await host.code(SAY, c=first, x="m1") == "CONVERSATION_CLOSED"
    assert await host.code(TASK, c=first) == "CONVERSATION_CLOSED"
    assert await ana.code(APPLY, c=first) == "CONVERSATION_CLOSED"
    assert (await host.ok(OPEN, c=gid(world.ops)))["openConversation"]["id"] != first


@pytest.mark.req("KN-51")
async def test_a_conversation_ends_after_hours_without_a_message(
    world: TeamWorld, host: GraphQLClient, gid: Gid, clock: FakeClock
) -> None:
    opened = (await host.ok(OPEN, c=gid(world.ops)))["openConversation"]["id"]
    day, moment = timedelta(hours=24), timedelta(milliseconds=1)
    for number in range(2):
        clock.advance(day - moment)
        await host.ok(SAY, c=opened, x=f"m{number}")
    clock.advance(day)
    assert await host.code(SAY, c=opened, x="late") == "CONVERSATION_CLOSED"
    assert (await host.ok(OPEN, c=gid(world.ops)))["openConversation"]["id"] != opened
