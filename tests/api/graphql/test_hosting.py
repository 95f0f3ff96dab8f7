"""Host operations over GraphQL: sessions and chats are driven from begin to end, once per idempotency key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from api.bootstrap import Ports
from dreaming.models.making import OneModel
from dreaming.models.scripted import ScriptedModel
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.people import Right
from graph.services.access.grants import grant
from graph.services.access.serving import set_serving
from tests.api.clients import GraphQLClient
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import BotTalk, calm_model, fact
from tests.support.learning_room import LearningRoom, change, says
from tests.support.world import TeamWorld

both_engines = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)

Gid = Callable[[NodeId], str]

CREATE = """
mutation($agent: ID!, $org: ID, $person: ID, $id: String, $model: String, $key: String) {
  it: createSession(agentId: $agent, organizationId: $org, personId: $person, localId: $id, model: $model,
    idempotencyKey: $key) { id localId head revision }
}"""
APPEND = """
mutation($session: ID, $chat: ID, $item: ItemInput!, $key: String) {
  it: appendItem(sessionId: $session, chatId: $chat, item: $item, idempotencyKey: $key) { id localId head }
}"""
TURN = """
mutation($session: ID, $chat: ID, $turn: String!, $who: ID, $input: String, $key: String) {
  it: beginTurn(sessionId: $session, chatId: $chat, turn: $turn, operatorId: $who, input: $input, author: "u_2",
    idempotencyKey: $key) { id localId instructions input }
}"""
END = """
mutation($session: ID, $chat: ID, $turn: String!, $model: String, $key: String) {
  it: completeTurn(sessionId: $session, chatId: $chat, turn: $turn, model: $model, idempotencyKey: $key) { state }
}"""
CONFIDE = """
mutation($chat: ID!, $turn: String!, $text: String!, $key: String) {
  it: confide(chatId: $chat, turn: $turn, text: $text, idempotencyKey: $key) { answer }
}"""
MEMORY = "query($id: ID!) { sessionMemory(sessionId: $id) { entries { key content sources } processed } }"


@pytest.fixture
def model() -> ScriptedModel:
    return calm_model()


@pytest.fixture
def ports(ports: Ports, model: ScriptedModel) -> Ports:
    return replace(ports, models=OneModel(model=model))


async def it(client: GraphQLClient, query: str, **variables: Any) -> Any:
    return (await client.ok(query, **variables))["it"]


@both_engines
@pytest.mark.req("AD-15", "AD-17", "SM-123", "SM-124")
async def test_a_host_drives_a_session_and_its_person_sees_what_was_learned(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, ben: GraphQLClient, model: ScriptedModel, gid: Gid
) -> None:
    room = LearningRoom(world, model=model)
    made = await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana), id="s1", model="m-1")
    assert (made["localId"], made["revision"]) == ("s1", 0)
    session = made["id"]
    queue = 'mutation($s: ID!, $p: ID) { it: queueTurn(sessionId: $s, turn: "t1", personId: $p) { state } }'
    assert (await it(host, queue, s=session, p=gid(world.ana)))["state"] == "queued"
    start = await it(host, TURN, session=session, turn="t1", who=gid(world.ana))
    assert "Ana" in start["instructions"]
    assert start["input"] is None
    said = {"type": "person_message", "text": "We meet in Porto.", "localId": "i-1", "personId": gid(world.ana)}
    item = await it(host, APPEND, session=session, item=said)
    assert item["localId"] == "i-1"
    assert item["head"] != made["head"]
    for field, state in (("suspendTurn", "suspended"), ("completeTurn", "completed")):
        move = f'mutation($s: ID!) {{ it: {field}(sessionId: $s, turn: "t1") {{ state }} }}'
        if field == "completeTurn":
            resume = 'mutation($s: ID!) { it: resumeTurn(sessionId: $s, turn: "t1") { instructions } }'
            assert "Ana" in (await it(host, resume, s=session))["instructions"]
            move = 'mutation($s: ID!) { it: completeTurn(sessionId: $s, turn: "t1", model: "m-1") { state } }'
        assert (await it(host, move, s=session))["state"] == state
    model.on("learn_session*", says(change("venue", sources=["i-1"])))
    await room.work()
    memory = (await ana.ok(MEMORY, id=session))["sessionMemory"]
    assert memory == {"entries": [{"key": "venue", "content": "Porto.", "sources": ["i-1"]}], "processed": ["i-1"]}
    assert await ben.code(MEMORY, id=session) == "SessionNotFound"
    cancel = 'mutation($s: ID!) { it: cancelTurn(sessionId: $s, turn: "t2") { state } }'
    await it(host, TURN, session=session, turn="t2")
    assert (await it(host, cancel, s=session))["state"] == "cancelled"


@pytest.mark.req("AD-15", "AD-19", "AM-47", "SM-70", "SM-73")
async def test_a_host_forks_restores_promotes_and_deletes_a_session(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, gid: Gid
) -> None:
    made = await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana), id="s1")
    session, root = made["id"], made["head"]
    await ana.ok(REMEMBER, id=session, head=root, revision=0)
    view = (await ana.ok("query($id: ID!) { session(sessionId: $id) { head revision } }", id=session))["session"]
    fork = 'mutation($s: ID!, $v: String!) { it: forkSession(sessionId: $s, version: $v, localId: "s2") { id head } }'
    forked = await it(host, fork, s=session, v=view["head"])
    assert forked["head"] == view["head"]
    promote = "mutation($s: ID!) { it: promote(sessionId: $s) { version } }"
    assert (await it(host, promote, s=session))["version"] == 1
    restore = "mutation($s: ID!, $v: String!) { it: restoreVersion(sessionId: $s, version: $v) { head revision } }"
    back = await it(host, restore, s=session, v=root)
    assert back == {"head": root, "revision": 2}
    assert (await ana.ok(MEMORY, id=session))["sessionMemory"]["entries"] == []
    assert [e["key"] for e in (await ana.ok(MEMORY, id=forked["id"]))["sessionMemory"]["entries"]] == ["how"]
    delete = "mutation($s: ID!) { it: deleteSession(sessionId: $s) { items facts } }"
    assert await it(host, delete, s=session) == {"items": 1, "facts": 1}
    assert await ana.code(MEMORY, id=session) == "SessionNotFound"
    assert await host.code(delete, s=session) == "SessionNotFound"


REMEMBER = """
mutation($id: ID!, $head: String!, $revision: Int!) {
  rememberSessionFact(sessionId: $id, expectedHead: $head, expectedRevision: $revision, key: "how",
    content: "Write it down.", kind: "procedure") { head }
}"""


@both_engines
@pytest.mark.req("AD-15", "BM-189", "AD-20")
async def test_a_host_drives_a_chat_and_its_person_sees_what_the_bot_learned(
    world: TeamWorld, host: GraphQLClient, client: GraphQLClient, model: ScriptedModel, gid: Gid
) -> None:
    room = await BotRoom(world=world).make()
    talk = await BotTalk(room=room, model=model).make()
    chat = await it(
        host,
        "mutation($b: ID!, $o: ID!, $p: ID) "
        '{ it: createChat(botId: $b, organizationId: $o, personId: $p, localId: "c1") { id localId } }',
        b=gid(room.agent("bot_9")),
        o=gid(room.organization()),
        p=gid(room.person("u_1")),
    )
    assert chat["localId"] == "c1"
    who = gid(room.person("u_1"))
    start = await it(host, TURN, chat=chat["id"], turn="t1", who=who, input="Plan release 4.2")
    assert (start["input"], start["instructions"]) == ("Plan release 4.2", None)
    said = {"type": "person_message", "text": "I am off on Fridays.", "localId": "i-1", "turn": "t1"}
    assert (await it(host, APPEND, chat=chat["id"], item=said))["head"] is None
    assert (await it(host, CONFIDE, chat=chat["id"], turn="t1", text="I am stuck."))["answer"] == "That sounds hard."
    assert (await it(host, END, chat=chat["id"], turn="t1"))["state"] == "completed"
    talk.learns(fact("Off on Fridays.", "i-1", chat="c1"))
    assert await talk.learn() == 1
    u_1, u_9 = [client.as_(await room.token(one)) for one in ("u_1", "u_9")]
    query = "query($b: ID!) { botMemory(botId: $b) { version entries { content layer tags } } }"
    memory = (await u_1.ok(query, b=gid(room.agent("bot_9"))))["botMemory"]
    assert [entry["content"] for entry in memory["entries"]] == ["Off on Fridays."]
    assert memory["entries"][0]["tags"] == ["from:u_1", "for:person:u_1", "org:o_4", "chat:c1"]
    assert (await u_9.ok(query, b=gid(room.agent("bot_9"))))["botMemory"]["entries"] == []
    records = "query($c: ID!) { it: chatConfessions(chatId: $c) { text answer withheld entries { content } } }"
    [record] = await it(u_1, records, c=chat["id"])
    assert record == {"text": "I am stuck.", "answer": "That sounds hard.", "withheld": False, "entries": []}
    assert await u_9.code(records, c=chat["id"]) == "ChatNotFound"
    gone = "mutation($c: ID!) { it: deleteChatHistory(chatId: $c) { items } }"
    assert (await it(host, gone, c=chat["id"]))["items"] == 2
    assert await it(u_1, records, c=chat["id"]) == []
    assert [e["content"] for e in (await u_1.ok(query, b=gid(room.agent("bot_9"))))["botMemory"]["entries"]] == [
        "Off on Fridays."
    ]


@pytest.mark.req("AD-15")
async def test_what_lies_outside_of_a_host_answers_like_what_is_unknown(
    world: TeamWorld, host: GraphQLClient, client: GraphQLClient, gid: Gid
) -> None:
    room = await BotRoom(world=world).make()
    await room.as_admin(lambda cmd: set_serving(cmd, room.agent("bot_9"), room.organization("o_5"), serves=True))
    await room.as_admin(lambda cmd: grant(cmd, world.eve, Right.HOST, room.organization("o_5")))
    eve = client.as_(await world.token(world.eve))
    inside = {"agent": gid(room.agent("bot_9")), "org": gid(room.organization("o_5"))}
    assert (await it(eve, CREATE, **inside, person=gid(room.person("u_1")), id="in"))["localId"] == "in"
    ours = (await it(host, CREATE, agent=gid(world.atlas), org=gid(room.organization()), id="out"))["id"]
    nowhere = gid(hosted_id("ses", world.name, "none"))
    said = {"type": "person_message", "text": "x"}

    async def told(query: str, **variables: Any) -> Any:
        answer = await eve.run(query, **variables)
        return answer.codes, [error["message"] for error in answer.errors]

    for query, more in ((APPEND, {"item": said}), (TURN, {"turn": "t1"}), (END, {"turn": "t1"})):
        assert await told(query, session=ours, **more) == await told(query, session=nowhere, **more)
        assert (await told(query, session=ours, **more))[0] == ["SessionNotFound"]
    chat, no_chat = gid(room.chat_id("chat_61")), gid(room.chat_id("none"))
    for query, more in ((APPEND, {"item": said}), (TURN, {"turn": "t1", "input": "x"}), (END, {"turn": "t1"})):
        assert await told(query, chat=chat, **more) == await told(query, chat=no_chat, **more)
        assert (await told(query, chat=chat, **more))[0] == ["ChatNotFound"]
    strangers = [
        {**inside, "person": gid(world.ben)},
        {**inside, "person": gid(NodeId(f"prn_{world.name}/human/none"))},
        {**inside, "agent": gid(world.atlas)},
        {**inside, "agent": gid(NodeId(f"prn_{world.name}/agent/none"))},
    ]
    answers = [await told(CREATE, **given) for given in strangers]
    assert answers == [answers[0]] * 4
    assert answers[0][0] == ["NOT_FOUND"]


@pytest.mark.req("SM-126")
async def test_a_type_that_no_item_has_is_refused_with_those_that_are(
    world: TeamWorld, host: GraphQLClient, gid: Gid
) -> None:
    room = await BotRoom(world=world).make()
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]
    for place in ({"session": session}, {"chat": gid(room.chat_id("chat_61"))}):
        answer = await host.run(APPEND, **place, item={"type": "message", "text": "x"})
        assert answer.codes == ["InvalidRequest"]
        types = "person_message, agent_message, tool_result, app_result, notification"
        assert answer.errors[0]["message"] == f"the type of an item is one of {types}"


@pytest.mark.req("AD-15", "AD-13")
async def test_who_is_no_host_reports_nothing(
    world: TeamWorld, ana: GraphQLClient, host: GraphQLClient, gid: Gid
) -> None:
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]
    assert await ana.code(CREATE, agent=gid(world.atlas)) == "Forbidden"
    assert await ana.code(APPEND, session=session, item={"type": "person_message", "text": "x"}) == "Forbidden"
    assert await ana.code(TURN, session=session, turn="t1") == "Forbidden"
    assert await ana.code(CONFIDE, chat=session, turn="t1", text="x") == "Forbidden"


@pytest.mark.req("AD-16")
async def test_the_audit_names_the_host_and_the_person_it_named(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, gid: Gid
) -> None:
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]
    await it(host, TURN, session=session, turn="t1", who=gid(world.ana))
    log = "{ auditLog(filter: {}) { edges { node { operation actor { displayName } onBehalfOf { displayName } } } } }"
    found = [edge["node"] for edge in (await ana.ok(log))["auditLog"]["edges"]]
    assert {
        "operation": "session.create",
        "actor": {"displayName": "Chat"},
        "onBehalfOf": {"displayName": "Ana"},
    } in found
    assert {
        "operation": "turn.running",
        "actor": {"displayName": "Chat"},
        "onBehalfOf": {"displayName": "Ana"},
    } in found


@pytest.mark.req("AD-27")
async def test_a_session_has_a_chain_that_its_person_follows_and_nobody_else(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, ben: GraphQLClient, cleo: GraphQLClient, gid: Gid
) -> None:
    session = (await it(host, CREATE, agent=gid(world.atlas), person=gid(world.ana)))["id"]
    await it(host, TURN, session=session, turn="t1", who=gid(world.ana))
    log = "query($in: [ID!]) { auditLog(filter: {kbIds: $in}) { edges { node { seq poolId knowledgeBase { id } } } } }"
    told = [edge["node"] for edge in (await ana.ok(log, **{"in": [session]}))["auditLog"]["edges"]]
    assert [node["seq"] for node in told] == list(range(len(told), 0, -1))
    assert told[0] == {"seq": len(told), "poolId": session, "knowledgeBase": None}
    verify = "{ verifyAudit { ok chains { poolId knowledgeBaseId headSeq } } }"
    own = (await ana.ok(verify))["verifyAudit"]
    assert own["ok"]
    assert {"poolId": session, "knowledgeBaseId": session, "headSeq": len(told)} in own["chains"]
    for who in (ben, cleo):
        assert session not in [chain["poolId"] for chain in (await who.ok(verify))["verifyAudit"]["chains"]]
        assert (await who.ok(log, **{"in": [session]}))["auditLog"]["edges"] == []


@pytest.mark.req("AD-23", "AD-24")
@pytest.mark.parametrize("both", [True, False])
async def test_an_operation_names_one_place(world: TeamWorld, host: GraphQLClient, gid: Gid, both: bool) -> None:
    place = {"session": gid(hosted_id("ses", world.name, "s")), "chat": gid(hosted_id("cht", world.name, "c"))}
    answer = await host.run(END, **(place if both else {}), turn="t1")
    assert answer.codes == ["InvalidRequest"]
    assert answer.errors[0]["extensions"]["path"] == "sessionId"
    assert answer.errors[0]["extensions"]["status"] == 400


@pytest.mark.req("AD-20", "SM-69")
async def test_a_line_that_surfaces_share_is_one_source_for_each_of_them(
    world: TeamWorld, host: GraphQLClient, ana: GraphQLClient, ben: GraphQLClient, client: GraphQLClient, gid: Gid
) -> None:
    room = await BotRoom(world=world).make()
    line = "The kiln is hot."
    session = (await it(host, CREATE, agent=gid(room.agent("bot_9")), person=gid(room.person("u_1")), id="s1"))["id"]
    said = {"type": "person_message", "text": line, "localId": "i-1"}
    in_session = (await it(host, APPEND, session=session, item={**said, "personId": gid(room.person("u_1"))}))["id"]
    in_chat = (await it(host, APPEND, chat=gid(room.chat_id("chat_61")), item=said))["id"]
    in_knowledge = gid(await world.say(world.ops, line))
    assert len({in_session, in_chat, in_knowledge}) == 3
    u_1 = client.as_(await room.token("u_1"))
    kinds = " ".join(f"... on {kind} {{ text }}" for kind in ("Source", "SessionItem"))
    texts = f"query($id: ID!) {{ node(id: $id) {{ {kinds} ... on ChatItem {{ chatText: text }} }} }}"

    async def shown(who: GraphQLClient, id_: str) -> list[str] | None:
        found = (await who.ok(texts, id=id_))["node"]
        return None if found is None else list(found.values())

    for who, knowledge, memory in ((ben, True, False), (u_1, False, True)):
        found = [await shown(who, id_) for id_ in (in_knowledge, in_session, in_chat)]
        assert found == [[line] if one else None for one in (knowledge, memory, memory)]
    search = 'query($o: ID!) { memorySearch(input: {query: "kiln", ownerId: $o}) { items { text } } }'
    assert (await u_1.ok(search, o=gid(room.agent("bot_9"))))["memorySearch"]["items"] == []
    await it(host, "mutation($s: ID!) { it: deleteSession(sessionId: $s) { items } }", s=session)
    left = [await shown(who, id_) for who, id_ in ((ben, in_knowledge), (u_1, in_session), (u_1, in_chat))]
    assert left == [[line], None, [line]]
