"""Idempotency keys of host operations: a request that is sent again gets the first answer and does nothing more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.bootstrap import Ports
from api.graphql.ids import to_node
from dreaming.models.making import OneModel
from dreaming.models.scripted import ScriptedModel
from graph.model.ids import WorkspaceId
from graph.model.nodes.people import Right
from graph.model.nodes.work import Receipt
from graph.rules.canonical import digest
from graph.services.idempotency import RECEIPTS
from graph.store.query import Find
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_hosting import APPEND, CONFIDE, CREATE, END, TURN, Gid, both_engines, it
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import BotTalk, calm_model
from tests.support.world import TeamWorld

MEMBERS = """
mutation($id: ID!, $m: [ID!]!, $key: String) {
  it: setMembers(id: $id, memberIds: $m, idempotencyKey: $key) { added removed }
}"""


@pytest.fixture
def model() -> ScriptedModel:
    return calm_model()


@pytest.fixture
def ports(ports: Ports, model: ScriptedModel) -> Ports:
    return replace(ports, models=OneModel(model=model))


@pytest.mark.req("AD-17")
async def test_a_repeated_key_returns_the_first_result_and_does_nothing_more(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, gid: Gid
) -> None:
    given = {"agent": gid(world.atlas), "person": gid(world.ana)}
    first = await it(host, CREATE, **given, key="k1")
    said = {"type": "person_message", "text": "Hello."}
    item = await it(host, APPEND, session=first["id"], item=said, key="k2")
    assert await it(host, CREATE, **given, key="k1") == first
    assert await it(host, APPEND, session=first["id"], item=said, key="k2") == item
    begun = await it(host, TURN, session=first["id"], turn="t1", who=gid(world.ana), key="k3")
    assert await it(host, TURN, session=first["id"], turn="t1", who=gid(world.ana), key="k3") == begun
    assert await host.code(TURN, session=first["id"], turn="t1", who=gid(world.ana), key="k4") == "BAD_STATE"
    view = "query($id: ID!) { session(sessionId: $id) { revision items { totalCount } } }"
    assert (await ana.ok(view, id=first["id"]))["session"] == {"revision": 1, "items": {"totalCount": 1}}
    assert await host.code(APPEND, session=first["id"], item={**said, "text": "Hello you."}, key="k2") == "CONFLICT"
    assert await host.code(END, session=first["id"], turn="t1", key="k1") == "CONFLICT"
    other = await it(host, CREATE, **given)
    assert other["id"] != first["id"]


@pytest.mark.req("AD-17")
async def test_the_receipt_of_a_begun_turn_is_that_of_earlier_versions(
    world: TeamWorld, host: GraphQLClient, gid: Gid
) -> None:
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]
    await it(host, TURN, session=session, turn="t1", who=gid(world.ana), key="k1")
    inside = to_node(session, WorkspaceId(world.name))
    asked = {"operation": "beginTurn", "session": inside, "turn": "t1", "operator": world.ana}
    async with world.deps.store.reading() as reader:
        found = (await reader.find(RECEIPTS, Find(kind=Receipt))).nodes
    assert digest(asked) in [(one.result or {}).get("request") for one in found]


@pytest.mark.req("AD-17", "AM-30")
async def test_a_resumed_turn_is_told_again_of_the_person_that_it_was_resumed_for(
    world: TeamWorld, host: GraphQLClient, gid: Gid
) -> None:
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]
    await it(host, TURN, session=session, turn="t1", who=gid(world.ana))
    await it(host, 'mutation($s: ID!) { it: suspendTurn(sessionId: $s, turn: "t1") { state } }', s=session)
    resume = """mutation($s: ID!, $p: ID!) {
      it: resumeTurn(sessionId: $s, turn: "t1", personId: $p, idempotencyKey: "k1") { instructions } }"""
    first = await it(host, resume, s=session, p=gid(world.ben))
    assert "Ben (ben)" in first["instructions"]
    assert await it(host, resume, s=session, p=gid(world.ben)) == first
    assert await host.code(resume, s=session, p=gid(world.ana)) == "CONFLICT"


@both_engines
@pytest.mark.req("AD-17", "BM-70")
async def test_a_repeated_key_confides_once_and_gets_the_answer_that_was_given(
    world: TeamWorld, host: GraphQLClient, client: GraphQLClient, model: ScriptedModel, gid: Gid
) -> None:
    room = await BotRoom(world=world).make()
    talk = await BotTalk(room=room, model=model).make()
    chat, who = gid(room.chat_id("chat_61")), gid(room.person("u_1"))
    begun = await it(host, TURN, chat=chat, turn="t1", who=who, input="Go on.", key="b1")
    assert await it(host, TURN, chat=chat, turn="t1", who=who, input="Go on.", key="b1") == begun
    given = {"chat": chat, "turn": "t1", "text": "I am stuck."}
    model.on("bot.confide", "First.", "Second.")
    assert (await it(host, CONFIDE, **given, key="k1"))["answer"] == "First."
    assert (await it(host, CONFIDE, **given, key="k1"))["answer"] == "First."
    assert await host.code(CONFIDE, **{**given, "turn": "t2"}, key="k1") == "CONFLICT"
    assert len(await talk.confessions()) == 1
    assert (await it(host, CONFIDE, **given, key="k2"))["answer"] == "Second."
    assert len(await talk.confessions()) == 2
    await it(host, END, chat=chat, turn="t1")
    assert await it(host, TURN, chat=chat, turn="t1", who=who, input="Go on.", key="b1") == begun
    assert await host.code(TURN, chat=chat, turn="t1", who=who, input="Go on.", key="b2") == "BAD_STATE"
    assert await host.code(TURN, chat=chat, turn="t1", who=who, input="Go.", key="b1") == "CONFLICT"


@both_engines
@pytest.mark.req("AD-17")
async def test_a_key_is_refused_with_another_text_of_the_same_length(
    world: TeamWorld, host: GraphQLClient, model: ScriptedModel, gid: Gid
) -> None:
    room = await BotRoom(world=world).make()
    talk = await BotTalk(room=room, model=model).make()
    model.on("bot.confide", "First.")
    chat, who = gid(room.chat_id("chat_61")), gid(room.person("u_1"))
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]
    requests = (
        (TURN, {"chat": chat, "turn": "t1", "who": who, "key": "k1"}, {"input": "Ten."}, {"input": "Six."}),
        (APPEND, {"chat": chat, "key": "k2"}, {"item": _said("Ten.")}, {"item": _said("Six.")}),
        (APPEND, {"session": session, "key": "k3"}, {"item": _said("Ten.")}, {"item": _said("Six.")}),
        (CONFIDE, {"chat": chat, "turn": "t1", "key": "k4"}, {"text": "Ten."}, {"text": "Six."}),
    )
    for query, where, first, other in requests:
        answer = await it(host, query, **where, **first)
        assert await host.code(query, **where, **other) == "CONFLICT"
        assert await it(host, query, **where, **first) == answer
    assert await talk.history() == ["Ten.", "Ten."]


def _said(text: str) -> dict[str, str]:
    return {"type": "person_message", "text": text}


@pytest.mark.req("AD-17")
async def test_keys_belong_to_a_host(world: TeamWorld, host: GraphQLClient, client: GraphQLClient, gid: Gid) -> None:
    await world.grant(world.eve, Right.HOST, world.node)
    eve = client.as_(await world.token(world.eve))
    given = {"agent": gid(world.atlas), "key": "k1"}
    assert await it(host, CREATE, **given) != await it(eve, CREATE, **given)


@pytest.mark.req("AD-17")
async def test_setting_members_takes_a_key_too(world: TeamWorld, host: GraphQLClient, gid: Gid) -> None:
    given = {"id": gid(world.ops), "m": [gid(world.ana), gid(world.eve)]}
    first = await it(host, MEMBERS, **given, key="k1")
    assert first == {"added": [gid(world.eve)], "removed": [gid(world.ben)]}
    assert await it(host, MEMBERS, **given, key="k1") == first
    assert await it(host, MEMBERS, **given) == {"added": [], "removed": []}
    assert await host.code(MEMBERS, id=gid(world.chat), m=[], key="k1") == "CONFLICT"
