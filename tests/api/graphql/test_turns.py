"""Turns of sessions over GraphQL: whom their steps name."""

from __future__ import annotations

from typing import Any

import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_hosting import CREATE, TURN, Gid, it
from tests.support.world import TeamWorld


@pytest.mark.req("AD-16", "AM-30", "SM-124")
async def test_the_audit_names_who_was_named_in_each_step_of_a_turn(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, gid: Gid
) -> None:
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]

    async def moved(field: str, who: NodeId | None, gives: str = "state") -> Any:
        move = f'mutation($s: ID!, $p: ID) {{ it: {field}(sessionId: $s, turn: "t1", personId: $p) {{ {gives} }} }}'
        return (await it(host, move, s=session, p=None if who is None else gid(who)))[gives]

    await it(host, TURN, session=session, turn="t1", who=gid(world.ana))
    await moved("suspendTurn", None)
    assert "Ben (ben)" in await moved("resumeTurn", world.ben, "instructions")
    await moved("suspendTurn", world.ben)
    await moved("cancelTurn", world.ben)
    log = """query($in: [ID!]) { auditLog(filter: {kbIds: $in}) {
      edges { node { operation onBehalfOf { displayName } } } } }"""
    told = [edge["node"] for edge in (await ana.ok(log, **{"in": [session]}))["auditLog"]["edges"]]
    assert [(one["operation"], one["onBehalfOf"]["displayName"]) for one in reversed(told)] == [
        ("session.create", "Ana"),
        ("turn.running", "Ana"),
        ("turn.suspended", "Ana"),
        ("turn.running", "Ben"),
        ("turn.suspended", "Ben"),
        ("turn.cancelled", "Ben"),
    ]
