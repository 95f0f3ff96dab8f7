"""Session, agent and bot memory over GraphQL: reads, commands, and errors by the contracts' names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.people import Principal, Right
from graph.rules.agent_memory import NOT_FOUND as NO_AGENT
from graph.services.access.tokens import mint_token
from graph.services.bots.view import LOG_LIMIT
from graph.store.port import Writer
from tests.api.clients import Answer, GraphQLClient
from tests.support.bot_room import ALL, FOREVER, BotRoom
from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

FACT = 'content: "Porto.", kind: "decision"'
MEMORY = """
query($id: ID!) { it: sessionMemory(sessionId: $id) {
  session { localId head revision review agent { displayName } person { displayName } }
  entries { key content kind status sources items { text type } } processed
  settings { use generate } overrides { use generate } } }"""
REMEMBER = """
mutation($id: ID!, $head: String!, $rev: Int!, $key: String!, $content: String!, $kind: String!) {
  it: rememberSessionFact(sessionId: $id, expectedHead: $head, expectedRevision: $rev, key: $key, content: $content,
    kind: $kind) { head revision } }"""
CONFIGURE = """
mutation($id: ID!, $head: String!, $rev: Int!, $use: Boolean, $generate: Boolean) {
  it: configureSessionMemory(sessionId: $id, expectedHead: $head, expectedRevision: $rev, use: $use,
    generate: $generate) { head revision overrides { use generate } } }"""
BOT = """
query($id: ID!, $tags: [String!]) { it: botMemory(botId: $id, tags: $tags) { version
  entries { id entryId layer content tags sources status confidence } } }"""


async def it(client: GraphQLClient, query: str, **variables: Any) -> Any:
    return (await client.ok(query, **variables))["it"]


def told(answer: Answer) -> dict[str, Any]:
    [error] = answer.errors
    return dict(error["extensions"])


@pytest.fixture
async def sessions(world: TeamWorld) -> SessionRoom:
    room = SessionRoom(world)
    await room.start()
    return room


@pytest.fixture
async def bots(world: TeamWorld) -> BotRoom:
    return await BotRoom(world=world).make()


@pytest.mark.req("AD-22", "AD-23", "KN-121")
async def test_a_person_edits_the_memory_of_his_session(
    sessions: SessionRoom, world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    id_ = gid(sessions.id("ses_41"))
    before = await it(ana, MEMORY, id=id_)
    assert before["entries"] == []
    assert before["processed"] == [f"i-{number:02}" for number in range(1, 11)]
    assert before["settings"] == {"use": True, "generate": True}
    assert before["overrides"] == {"use": None, "generate": None}
    view = before["session"]
    assert (view["localId"], view["revision"], view["person"]) == ("ses_41", 11, {"displayName": "Ana"})
    state = {"id": id_, "head": view["head"], "rev": 11}
    made = await it(ana, REMEMBER, **state, key="venue", content="Porto.", kind="decision")
    assert made["revision"] == 12
    [entry] = (await it(ana, MEMORY, id=id_))["entries"]
    assert (entry["key"], entry["content"], entry["status"]) == ("venue", "Porto.", "active")
    assert entry["items"] == [{"text": "", "type": "memory_edit"}]
    state = {"id": id_, "head": made["head"], "rev": 12}
    one = await it(ana, CONFIGURE, **state, use=False)
    assert one == {"head": made["head"], "revision": 13, "overrides": {"use": False, "generate": None}}
    two = await it(ana, CONFIGURE, **{**state, "rev": 13}, generate=True)
    assert two["overrides"] == {"use": False, "generate": True}
    three = await it(ana, CONFIGURE, **{**state, "rev": 14}, use=None)
    assert three["overrides"] == {"use": None, "generate": True}
    forget = """mutation($id: ID!, $head: String!, $rev: Int!) {
      it: forgetSessionFact(sessionId: $id, expectedHead: $head, expectedRevision: $rev, key: "venue") { revision } }"""
    assert (await it(ana, forget, **{**state, "rev": 15}))["revision"] == 16
    assert [entry["status"] for entry in (await it(ana, MEMORY, id=id_))["entries"]] == ["retracted"]


@pytest.mark.req("AD-24", "SM-55", "SM-62")
async def test_errors_of_session_memory_carry_the_contracts_names(
    sessions: SessionRoom, world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    id_ = gid(sessions.id("ses_41"))
    head = (await it(ana, MEMORY, id=id_))["session"]["head"]
    given = {"id": id_, "head": head, "rev": 11, "key": "k", "content": "c", "kind": "fact"}
    stale = told(await ana.run(REMEMBER, **{**given, "rev": 10}))
    assert stale == {"code": "SessionConflict", "reason": "stale", "status": 409}
    refresh = """mutation($id: ID!) {
      refreshSessionMemory(sessionId: $id, expectedHead: "x", expectedRevision: 0) { head } }"""
    assert told(await ana.run(refresh, id=id_)) == {"code": "SessionConflict", "reason": "no_model", "status": 409}
    for wrong, path in (({"key": " a"}, "key"), ({"kind": "note"}, "kind"), ({"content": ""}, "content")):
        assert told(await ana.run(REMEMBER, **{**given, **wrong})) == {
            "code": "InvalidRequest",
            "path": path,
            "status": 400,
        }
    assert told(await ben.run(REMEMBER, **given)) == {"code": "SessionNotFound", "status": 404}
    await world.grant(world.ben, Right.READ, sessions.id("ses_41"))
    assert told(await ben.run(REMEMBER, **given)) == {"code": "Forbidden", "status": 403}
    assert (await it(ben, MEMORY, id=id_))["session"]["revision"] == 11


@pytest.mark.req("AD-23")
@pytest.mark.parametrize("left_out", ["expectedHead", "expectedRevision"])
async def test_what_was_seen_is_required(ana: GraphQLClient, world: TeamWorld, gid: Gid, left_out: str) -> None:
    given = {"expectedHead": '"v"', "expectedRevision": "0"}
    del given[left_out]
    named = ", ".join(f"{name}: {value}" for name, value in given.items())
    for call in (
        f'forgetSessionFact(sessionId: "x", {named}, key: "k")',
        f'refreshSessionMemory(sessionId: "x", {named})',
    ):
        assert await ana.code(f"mutation {{ {call} {{ head }} }}") == "BAD_INPUT"
    for call in ('forgetForAgent(agentId: "x", key: "k")', 'setBotMemorySettings(botId: "x")'):
        assert await ana.code(f"mutation {{ {call} {{ version }} }}") == "BAD_INPUT"


@pytest.mark.req("AD-22", "AD-23", "AD-24", "AM-10", "AM-18")
async def test_people_edit_the_memory_of_an_agent_and_read_its_log(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    agent = gid(world.atlas)
    for who, right in ((world.ana, Right.WRITE), (world.ben, Right.READ)):
        await world.grant(who, right, world.atlas)
    read = (
        "query($id: ID!) { it: agentMemory(agentId: $id) { id version entries { key kind status sources { item } } } }"
    )
    assert (await it(ana, read, id=agent))["version"] == 0
    remember = """mutation($id: ID!, $v: Int!) { it: rememberForAgent(agentId: $id, expectedVersion: $v, key: "log",
      content: "Write it.", kind: "procedure") { version entries { key } agent { displayName } } }"""
    made = await it(ana, remember, id=agent, v=0)
    assert made == {"version": 1, "entries": [{"key": "log"}], "agent": {"displayName": "Atlas"}}
    conflict = {"code": "AgentMemoryConflict", "reason": "stale", "status": 409}
    assert told(await ana.run(remember, id=agent, v=0)) == conflict
    assert told(await ben.run(remember, id=agent, v=1)) == {"code": "Forbidden", "status": 403}
    forget = """mutation($id: ID!, $key: String!) {
      it: forgetForAgent(agentId: $id, expectedVersion: 1, key: $key) { version } }"""
    assert told(await ana.run(forget, id=agent, key="nope"))["reason"] == "unknown_key"
    assert (await it(ana, forget, id=agent, key="log"))["version"] == 2
    log = """query($id: ID!, $n: Int, $b: Int) {
      it: agentMemoryLog(agentId: $id, limit: $n, before: $b) { version cause keys } }"""
    rows = [{"version": version, "cause": "person", "keys": ["log"]} for version in (2, 1)]
    assert await it(ben, log, id=agent) == rows
    assert await it(ben, log, id=agent, n=1) == rows[:1]
    assert await it(ben, log, id=agent, b=2) == rows[1:]
    assert told(await ben.run(log, id=agent, n=0)) == {"code": "InvalidRequest", "path": "limit", "status": 400}
    found = await it(
        ben,
        "query($id: ID!) { it: node(id: $id) { ... on AgentMemory { version entries { status } } } }",
        id=(await it(ben, read, id=agent))["id"],
    )
    assert found == {"version": 2, "entries": [{"status": "retracted"}]}
    assert told(await ana.run(read, id=gid(world.ana))) == {"code": NO_AGENT, "status": 404}


@pytest.mark.req("AD-22", "AD-24", "BM-136", "BM-144")
async def test_a_person_reads_and_edits_his_own_bot_memory(bots: BotRoom, client: GraphQLClient, gid: Gid) -> None:
    u_1, u_9 = [client.as_(await bots.token(who)) for who in ("u_1", "u_9")]
    bot = gid(bots.agent("bot_9"))
    fact = await bots.fact("Tea at five.", topics=["tea"])
    seen = await bots.observe("Likes tea.", fact, topics=["tea"])
    remember = """mutation($b: ID!, $t: [String!]) {
      it: rememberForBot(botId: $b, content: "Off on Fridays.", tags: $t) { version entry { layer content tags } } }"""
    made = await it(u_1, remember, b=bot, t=["availability"])
    assert made["entry"]["tags"] == ["from:u_1", "for:person:u_1", "org:o_4", "availability"]
    memory = await it(u_1, BOT, id=bot)
    assert memory["version"] == made["version"] == 3
    by_id = {entry["entryId"]: entry for entry in memory["entries"]}
    assert by_id[seen]["sources"] == [{"entry": fact}]
    assert by_id[fact]["sources"][0]["chat"] == "chat_61"
    assert (by_id[seen]["confidence"], by_id[fact]["confidence"]) == (0.8, None)
    tagged = await it(u_1, BOT, id=bot, tags=["tea", " chat:chat_61 ", ""])
    assert {entry["entryId"] for entry in tagged["entries"]} == {seen, fact}
    assert (await it(u_9, BOT, id=bot))["entries"] == []
    log = "query($b: ID!) { it: botMemoryLog(botId: $b) { version by entries } }"
    assert [(row["version"], row["by"]) for row in await it(u_1, log, b=bot)] == [
        (3, "person"),
        (2, "memory_bot"),
        (1, "memory_bot"),
    ]
    assert await it(u_9, log, b=bot) == []
    forget = "mutation($b: ID!, $id: ID!) { it: forgetForBot(botId: $b, id: $id) { entry { status } version } }"
    assert await it(u_1, forget, b=bot, id=by_id[fact]["id"]) == {"entry": {"status": "retracted"}, "version": 4}
    foreign = told(await u_9.run(forget, b=bot, id=by_id[fact]["id"]))
    assert foreign == {"code": "BotMemoryConflict", "reason": "not_yours", "status": 409}
    assert told(await u_9.run(forget, b=bot, id=gid(NodeId("mem_0000000000000000")))) == foreign
    wrong = told(await u_1.run(remember, b=bot, t=["for:bot"]))
    assert wrong == {"code": "InvalidRequest", "path": "tags", "status": 400}
    for page, path in ((f"limit: {LOG_LIMIT * 100}", "limit"), ("limit: 0", "limit"), ("before: -1", "before")):
        assert told(await u_1.run(log.replace("botId: $b", f"botId: $b, {page}"), b=bot))["path"] == path


@pytest.mark.req("AD-22", "AD-23", "AD-24", "BM-120", "BM-155", "BM-178")
async def test_who_may_write_a_bot_sets_and_purges_its_memory(bots: BotRoom, client: GraphQLClient, gid: Gid) -> None:
    u_1, u_9 = [client.as_(await bots.token(who)) for who in ("u_1", "u_9")]
    bot, link = gid(bots.agent("bot_9")), gid(bots.agent("bot_link"))
    fields = "version instructions concurrency budget { period limitMicros }"
    read = f"query($b: ID!) {{ it: botMemorySettings(botId: $b) {{ {fields} }} }}"
    assert await it(u_9, read, b=bot) == {"version": 0, "instructions": "", "concurrency": None, "budget": None}
    write = """mutation($b: ID!, $v: Int!, $i: String, $c: Int, $m: BotBudgetInput) {
      it: setBotMemorySettings(botId: $b, expectedVersion: $v, instructions: $i, concurrency: $c, budget: $m) {
        version instructions concurrency budget { period limitMicros } } }"""
    budget = {"period": "day", "limitMicros": 750_000}
    one = await it(u_9, write, b=bot, v=0, i="Share little.", m=budget)
    assert one == {"version": 1, "instructions": "Share little.", "concurrency": None, "budget": budget}
    two = await it(u_9, write, b=bot, v=1, c=4, m=None)
    assert two == {"version": 2, "instructions": "Share little.", "concurrency": 4, "budget": None}
    assert told(await u_9.run(write, b=bot, v=1)) == {"code": "BotMemoryConflict", "reason": "stale", "status": 409}
    for wrong, path in (
        ({"c": 0}, "concurrency"),
        ({"i": "x" * 8_001}, "instructions"),
        ({"m": {**budget, "period": "week"}}, "budget.period"),
        ({"m": {**budget, "limitMicros": -1}}, "budget.limitMicros"),
        ({"v": -1}, "expectedVersion"),
    ):
        assert told(await u_9.run(write, **{"b": bot, "v": 2, **wrong}))["path"] == path
    await bots.fact("Tea at five.")
    purge = "mutation($b: ID!, $t: String!) { it: purgeBotMemory(botId: $b, tag: $t) { deleted } }"
    for blank in ("for:bot", "", " ", "*", "from:", "chat:", "app:mail", "tea"):
        assert told(await u_9.run(purge, b=bot, t=blank))["code"] == "InvalidRequest"
    for wild in ("from: ", "from:*", "chat:%", "chat:chat_6", "org:_", "from:U_1"):
        assert await it(u_9, purge, b=bot, t=wild) == {"deleted": 0}
    assert await it(u_9, purge, b=bot, t="chat:chat_61") == {"deleted": 1}
    assert await it(u_9, purge, b=bot, t="chat:chat_61") == {"deleted": 0}
    assert (await it(u_1, BOT, id=bot))["entries"] == []
    for call, more in ((read, {}), (write, {"v": 2}), (purge, {"t": "chat:x"})):
        assert told(await u_1.run(call, b=bot, **more)) == {"code": "Forbidden", "status": 403}
        linked = {"code": "Forbidden", "reason": "linked_bot", "status": 403}
        assert told(await u_9.run(call, b=link, **more)) == linked


WRITES = {
    "session": """mutation($id: ID!) {
      rememberSessionFact(sessionId: $id, expectedHead: "v", expectedRevision: 11, key: "k", content: "c",
        kind: "fact") { head } }""",
    "session forget": """mutation($id: ID!) {
      forgetSessionFact(sessionId: $id, expectedHead: "v", expectedRevision: 11, key: "k") { head } }""",
    "session configure": """mutation($id: ID!) {
      configureSessionMemory(sessionId: $id, expectedHead: "v", expectedRevision: 11, use: false) { head } }""",
    "session refresh": """mutation($id: ID!) {
      refreshSessionMemory(sessionId: $id, expectedHead: "v", expectedRevision: 11) { head } }""",
    "agent": """mutation($id: ID!) {
      rememberForAgent(agentId: $id, expectedVersion: 0, key: "k", content: "c", kind: "decision") { version } }""",
    "agent forget": """mutation($id: ID!) { forgetForAgent(agentId: $id, expectedVersion: 0, key: "k") { version } }""",
    "agent settings": """mutation($id: ID!) {
      setBotMemorySettings(botId: $id, expectedVersion: 0, instructions: "i") { version } }""",
    "agent purge": """mutation($id: ID!) { purgeBotMemory(botId: $id, tag: "chat:c") { deleted } }""",
}


@pytest.mark.req("AD-5", "AD-9", "AD-13", "SM-61", "AM-17", "BM-177")
@pytest.mark.parametrize("name", WRITES)
async def test_who_may_read_changes_nothing_in_any_way(
    sessions: SessionRoom, world: TeamWorld, client: GraphQLClient, ben: GraphQLClient, gid: Gid, name: str
) -> None:
    place = sessions.id("ses_41") if name.startswith("session") else world.atlas
    assert (await ben.code(WRITES[name], id=gid(place))).endswith("NotFound")
    await world.grant(world.ben, Right.READ, place)
    assert told(await ben.run(WRITES[name], id=gid(place))) == {"code": "Forbidden", "status": 403}
    await world.grant(world.ben, Right.WRITE, place)
    assert "Forbidden" not in (await ben.run(WRITES[name], id=gid(place))).codes
    for rights, code in (([Right.READ], "Forbidden"), ([Right.HOST], "NotFound")):

        async def work(writer: Writer, rights: list[Right] = rights) -> str:
            node = (await writer.get(ALL, [world.ben]))[world.ben]
            assert isinstance(node, Principal)
            return (await mint_token(writer, world.deps, node, expires_at=FOREVER, rights=rights)).text

        narrow = client.as_(await world.deps.store.transact(work))
        assert (await narrow.code(WRITES[name], id=gid(place))).endswith(code)
