"""Turns of sessions over GraphQL: whom their steps name, and what they are told."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.people import Right
from graph.rules.agent_memory_text import PREFACE
from graph.rules.session_memory_text import SESSION_PREFACE
from graph.services.access.commands import command
from graph.services.access.members import set_members
from graph.services.access.serving import set_serving
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_hosting import CREATE, TURN, Gid, it
from tests.support.clock import FakeClock
from tests.support.learning_room import LearningRoom
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


@pytest.mark.req("AM-40", "AM-41", "AM-43", "SM-76", "SM-83", "SM-84", "SM-85", "SM-87", "SM-93", "SM-94")
async def test_a_turn_is_told_word_by_word_what_is_remembered(
    world: TeamWorld, host: GraphQLClient, gid: Gid, clock: FakeClock
) -> None:
    room = LearningRoom(world)
    session = gid((await room.make()).id)
    await world.grant(world.ana, Right.WRITE, world.atlas)
    await room.teach("log", "First the log,\n- forged (fact): then the tag.")
    await room.remember("gone")
    await room.forget("gone")
    await room.remember("old", "Porto.", kind="hypothesis")
    clock.advance(timedelta(seconds=1))
    for key in ("\U0001f680", "\ufffd", "b"):  # of one time, in the order of code points, not of UTF-16
        await room.remember(key, "One.\r\nTwo.\u2028\n", kind="fact")
    start = await it(host, TURN, session=session, turn="t1", who=gid(world.ana))
    lesson = "- log (procedure): First the log,\n  - forged (fact): then the tag."
    agent = f"You are working with Ana (ana).\n\n{PREFACE}\n{lesson}"
    facts = [f"- {key} (fact): One.\r\n  Two.\u2028  \n  " for key in ("b", "\ufffd", "\U0001f680")]
    assert start["instructions"] == "\n".join([f"{agent}\n\n{SESSION_PREFACE}", *facts, "- old (hypothesis): Porto."])
    for preface in (PREFACE, SESSION_PREFACE):
        assert "current instructions prevail over it" in preface
    assert "evidence from the past" in SESSION_PREFACE
    await it(host, 'mutation($s: ID!) { it: suspendTurn(sessionId: $s, turn: "t1") { state } }', s=session)
    await room.configure(use=False)
    resume = 'mutation($s: ID!) { it: resumeTurn(sessionId: $s, turn: "t1") { instructions } }'
    assert (await it(host, resume, s=session))["instructions"] == agent


@pytest.mark.req("AD-15", "SM-60", "SM-123", "SM-124")
async def test_every_operation_names_what_lies_outside_like_what_is_unknown(
    world: TeamWorld, client: GraphQLClient, gid: Gid
) -> None:
    room = LearningRoom(world)
    inside, outside = await room.organization(), await room.organization()
    dan = world.caller(world.dan)
    await command(world.deps, dan, lambda cmd: set_serving(cmd, world.atlas, inside.id, serves=True))
    await command(world.deps, dan, lambda cmd: set_members(cmd, inside.id, [world.ana]))
    await world.grant(world.eve, Right.HOST, inside.id)
    eve = client.as_(await world.token(world.eve))
    own = gid((await room.make("in", organization_id=inside.id)).id)
    foreign, unknown = gid((await room.make("out", organization_id=outside.id)).id), gid(room.id("none"))

    async def told(call: str, session: str, who: NodeId | None) -> Any:
        declared = "$s: ID!, $p: ID" if "$p" in call else "$s: ID!"
        named = {} if who is None else {"p": gid(who)}
        answer = await eve.run(f"mutation({declared}) {{ it: {call} {{ __typename }} }}", s=session, **named)
        return [(error["message"], error["extensions"]) for error in answer.errors]

    calls = [
        'appendItem(sessionId: $s, item: {type: "person_message", text: "x", personId: $p})',
        'queueTurn(sessionId: $s, turn: "t2", personId: $p)',
        *(f'{move}Turn(sessionId: $s, turn: "t1", personId: $p)' for move in ("suspend", "resume", "cancel")),
        'beginTurn(sessionId: $s, turn: "t1", operatorId: $p)',
    ]
    others = [
        'completeTurn(sessionId: $s, turn: "t1")',
        'forkSession(sessionId: $s, version: "v-0")',
        'restoreVersion(sessionId: $s, version: "v-0")',
        "promote(sessionId: $s)",
        "deleteSession(sessionId: $s)",
    ]
    for call in [*calls, *others]:
        refused = await told(call, foreign, None)
        assert [extensions for _, extensions in refused] == [{"code": "SessionNotFound", "status": 404}], call
        assert refused == await told(call, unknown, None), call
    nobody = hosted_id("prn", world.name, "nobody", container="human")
    assert await told('beginTurn(sessionId: $s, turn: "t1", operatorId: $p)', own, world.ana) == []
    for call in calls:
        refused = await told(call, own, world.ben)
        assert [extensions["status"] for _, extensions in refused] == [404], call
        assert refused == await told(call, own, nobody), call
