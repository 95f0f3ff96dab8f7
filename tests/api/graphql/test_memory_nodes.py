"""What sessions, agents and bots remember as nodes: who sees them, what is behind them, and what lists cost."""

from __future__ import annotations

import json

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.bots import Confession
from graph.model.nodes.people import Right
from graph.services.access.commands import command
from graph.services.agents.promotion import promote
from graph.services.sessions.changing import FactState
from graph.store.observing import counting_round_trips
from graph.store.query import Find
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_memories import MEMORY, Gid, it
from tests.support.bot_room import ALL, BotRoom
from tests.support.bot_talk import REWRITE, BotTalk, rewriting
from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld


@pytest.fixture
async def sessions(world: TeamWorld) -> SessionRoom:
    room = SessionRoom(world)
    await room.start()
    return room


@pytest.fixture
async def bots(world: TeamWorld) -> BotRoom:
    return await BotRoom(world=world).make()


PROVENANCE = """
query($id: ID!, $d: ProvenanceDirection = UPSTREAM) { it: provenance(id: $id, direction: $d) {
  root { id __typename }
  nodes { __typename ... on SessionItem { localId text } ... on ChatItem { localId } ... on BotEntry { entryId } }
  edges { type depth } } }"""


@pytest.mark.req("KN-121", "KN-124", "AM-44")
async def test_from_a_fact_or_an_agents_entry_one_gets_to_the_item_behind_it(
    sessions: SessionRoom, world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    await sessions.say("i-11", "We write the changelog first.")
    await sessions.learn(
        FactState(key="log", content="Changelog first.", kind="procedure", sources=("i-11",)), processed=["i-11"]
    )
    host = world.caller(world.host)
    await command(world.deps, host, lambda cmd: promote(cmd, sessions.id("ses_41")))
    for who in (world.ana, world.ben):
        await world.grant(who, Right.READ, world.atlas)
    memory = await it(ana, MEMORY.replace("entries { key", "entries { id key"), id=gid(sessions.id("ses_41")))
    found = await it(ana, PROVENANCE, id=memory["entries"][0]["id"])
    assert found["root"]["__typename"] == "SessionFact"
    assert {"__typename": "SessionItem", "localId": "i-11", "text": "We write the changelog first."} in found["nodes"]
    assert {"type": "CITES", "depth": 1} in found["edges"]
    read = """query($id: ID!) { it: agentMemory(agentId: $id) {
      entries { id content sources { session item } items { text } } } }"""
    [entry] = (await it(ana, read, id=gid(world.atlas)))["entries"]
    assert entry["sources"] == [{"session": "ses_41", "item": "i-11"}]
    assert entry["items"] == [{"text": "We write the changelog first."}]
    assert "SessionItem" in {node["__typename"] for node in (await it(ana, PROVENANCE, id=entry["id"]))["nodes"]}
    [other] = (await it(ben, read, id=gid(world.atlas)))["entries"]
    assert other == {**entry, "sources": [], "items": []}
    node = "query($id: ID!) { it: node(id: $id) { ... on AgentEntry { content sources { item } } } }"
    assert await it(ben, node, id=entry["id"]) == {"content": "Changelog first.", "sources": []}
    assert "SessionItem" not in {node["__typename"] for node in (await it(ben, PROVENANCE, id=entry["id"]))["nodes"]}
    assert await ben.code(PROVENANCE, id=memory["entries"][0]["id"]) == "NOT_FOUND"
    assert (await ben.ok("query($id: ID!) { node(id: $id) { id } }", id=memory["entries"][0]["id"])) == {"node": None}


@pytest.mark.req("KN-120", "KN-121")
async def test_an_auditor_is_told_why_somebody_sees_a_fact_of_a_session_but_never_what_it_says(
    sessions: SessionRoom, world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, cleo: GraphQLClient, gid: Gid
) -> None:
    await sessions.remember("venue")
    memory = await it(ana, MEMORY.replace("entries { key", "entries { id key"), id=gid(sessions.id("ses_41")))
    fact = memory["entries"][0]["id"]
    explain = """query($id: ID!, $v: ID) { it: explainVisibility(id: $id, viewerId: $v) {
      visible failure { reason } nodes { kind passed } } }"""
    assert (await it(cleo, explain, id=fact, v=gid(world.ana)))["visible"]
    hidden = await it(cleo, explain, id=fact, v=gid(world.ben))
    assert (hidden["visible"], hidden["failure"]) == (False, {"reason": "RULE_NOT_PASSED"})
    assert await it(ben, explain, id=fact, v=gid(world.ana)) is None
    assert await cleo.ok("query($id: ID!) { node(id: $id) { id } }", id=fact) == {"node": None}


@pytest.mark.req("KN-121", "KN-120", "BM-42", "BM-61")
async def test_from_a_conclusion_of_a_bot_one_gets_to_the_chat_behind_it(
    bots: BotRoom, client: GraphQLClient, cleo: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    one, two = await bots.fact("Tea at five."), await bots.group_fact("Cake on Friday.")
    both = await bots.observe("Sweet tooth.", one, two)
    u_1, u_2 = [client.as_(await bots.token(who)) for who in ("u_1", "u_2")]
    opened = bots.deps.vault.openings
    found = await it(u_1, PROVENANCE, id=gid(NodeId(both)))
    assert {node.get("entryId") for node in found["nodes"]} >= {one, two, both}
    assert [node["__typename"] for node in found["nodes"]].count("ChatItem") == 2
    assert {edge["type"] for edge in found["edges"]} == {"CITES", "DERIVED_FROM"}
    assert bots.deps.vault.openings == opened
    assert await u_2.code(PROVENANCE, id=gid(NodeId(both))) == "NOT_FOUND"
    below = await it(u_2, PROVENANCE, id=gid(NodeId(two)), d="DOWNSTREAM")
    assert [node.get("entryId") for node in below["nodes"]] == [two]
    explain = """query($id: ID!, $v: ID) { it: explainVisibility(id: $id, viewerId: $v) {
      visible nodes { kind rules { kind objectId } } failure { reason } } }"""
    proof = await it(u_1, explain, id=gid(NodeId(both)))
    assert proof["visible"]
    assert {"kind": "FOR", "objectId": f"person:{gid(bots.person('u_1'))}"} in proof["nodes"][0]["rules"]
    for who, viewer in ((u_2, None), (cleo, None), (dan, None), (cleo, bots.person("u_1")), (u_1, bots.person("u_2"))):
        assert await it(who, explain, id=gid(NodeId(both)), v=None if viewer is None else gid(viewer)) is None
    content = "query($id: ID!) { it: node(id: $id) { ... on BotEntry { content bot { displayName } } } }"
    assert await it(u_1, content, id=gid(NodeId(both))) == {"content": "Sweet tooth.", "bot": {"displayName": "Bot"}}
    assert bots.deps.vault.openings == opened + 1
    await bots.members("u_2")
    assert await it(u_1, content, id=gid(NodeId(both))) is None


@pytest.mark.req("KN-121", "KN-60")
async def test_every_kind_of_the_surfaces_is_a_node_for_who_may_read_it_and_for_nobody_else(
    sessions: SessionRoom, bots: BotRoom, world: TeamWorld, ana: GraphQLClient, client: GraphQLClient, gid: Gid
) -> None:
    await sessions.begin("t1")
    u_1, u_2 = [client.as_(await bots.token(who)) for who in ("u_1", "u_2")]
    fact = await bots.fact("Tea at five.")
    chat = bots.chat_id("chat_61")
    items = await it(
        u_1,
        "query($id: ID!) { it: node(id: $id) { ... on Chat { items { edges { node { id localId text } } } } } }",
        id=gid(chat),
    )
    [item] = [edge["node"] for edge in items["items"]["edges"]]
    turn = NodeId(f"trn_{world.name}/ses:ses_41/t1")
    seen = "query($id: ID!) { node(id: $id) { __typename } }"
    cases = {
        "Session": (ana, u_1, gid(sessions.id("ses_41"))),
        "SessionItem": (ana, u_1, gid(NodeId(f"sit_{world.name}/ses_41/i-01"))),
        "Turn": (ana, u_1, gid(turn)),
        "Chat": (u_1, u_2, gid(chat)),
        "ChatItem": (u_1, u_2, item["id"]),
        "BotEntry": (u_1, u_2, gid(NodeId(fact))),
        "BotPool": (u_2, ana, gid(bots.bot.pool)),
    }
    for kind, (reader, stranger, id_) in cases.items():
        assert await reader.ok(seen, id=id_) == {"node": {"__typename": kind}}
        assert await stranger.ok(seen, id=id_) == {"node": None}
        explain = "query($id: ID!) { explainVisibility(id: $id) { visible } }"
        assert await reader.ok(explain, id=id_) == {"explainVisibility": {"visible": True}}
        assert await stranger.ok(explain, id=id_) == {"explainVisibility": None}
        root = "query($id: ID!) { provenance(id: $id) { root { __typename } } }"
        assert await reader.ok(root, id=id_) == {"provenance": {"root": {"__typename": kind}}}
        assert await stranger.code(root, id=id_) == "NOT_FOUND"


@pytest.mark.req("AM-44", "KN-114")
@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
async def test_a_longer_memory_costs_no_more_round_trips(
    sessions: SessionRoom, bots: BotRoom, world: TeamWorld, ana: GraphQLClient, client: GraphQLClient, gid: Gid
) -> None:
    await world.grant(world.ana, Right.READ, world.atlas)
    u_1 = client.as_(await bots.token("u_1"))
    lists = {
        "sessionMemory(sessionId: $id)": "items { person { displayName } }",
        "agentMemory(agentId: $id)": "sources { item } items { text }",
        "botMemory(botId: $id)": "content bot { displayName }",
    }
    queries = [f"query($id: ID!) {{ it: {call} {{ entries {{ {fields} }} }} }}" for call, fields in lists.items()]
    ids = [gid(sessions.id("ses_41")), gid(world.atlas), gid(bots.agent("bot_9"))]
    counts: list[list[int]] = []
    for round_ in range(2):
        for number in range(1 + 8 * round_):
            item = f"r{round_}-{number}"
            await sessions.say(item, "Said.")
            await sessions.learn(FactState(key=item, content="c", kind="procedure", sources=(item,)), processed=[item])
            await bots.fact(f"Fact {item}.")
        await command(world.deps, world.caller(world.host), lambda cmd: promote(cmd, sessions.id("ses_41")))
        counts.append([])
        for who, query, id_ in zip((ana, ana, u_1), queries, ids, strict=True):
            await it(who, query, id=id_)  # the first use of a token on a day is noted
            with counting_round_trips() as trips:
                assert len((await it(who, query, id=id_))["entries"]) == 1 + 9 * round_
            counts[-1].append(sum(trips.values()))
    assert counts[0] == counts[1]


@pytest.mark.req("KN-113")
async def test_items_of_a_session_come_in_pages(sessions: SessionRoom, ana: GraphQLClient, gid: Gid) -> None:
    query = """query($id: ID!, $a: String) { it: session(sessionId: $id) { items(first: 4, after: $a) {
      totalCount pageInfo { hasNextPage endCursor } edges { node { localId } } } } }"""
    seen, after, more = [], None, True
    while more:
        page = (await it(ana, query, id=gid(sessions.id("ses_41")), a=after))["items"]
        assert page["totalCount"] == 10
        seen += [edge["node"]["localId"] for edge in page["edges"]]
        after, more = page["pageInfo"]["endCursor"], page["pageInfo"]["hasNextPage"]
    assert seen == [f"i-{number:02}" for number in range(1, 11)]


RECORDS = """
query($c: ID!) {
  confessions: chatConfessions(chatId: $c) { id text answer withheld entries { content } }
  enrichments: chatEnrichments(chatId: $c) { id text original withheld entries { content } }
}"""


@pytest.mark.req("KN-121", "BM-168", "BM-169", "BM-171", "BM-173")
async def test_records_of_a_chat_are_for_who_may_read_it_and_withheld_once_their_entries_may_not_be_used(
    bots: BotRoom, client: GraphQLClient, gid: Gid
) -> None:
    talk = await BotTalk(room=bots).make()
    fact = await bots.fact("Tea at five.")
    talk.model.on(REWRITE, rewriting("Plan release 4.2 after tea."))
    await talk.begin("t1", "Plan release 4.2")
    await talk.confide("t1")
    u_1, u_2, u_9 = [client.as_(await bots.token(who)) for who in ("u_1", "u_2", "u_9")]
    chat = gid(bots.chat_id("chat_61"))
    found = await u_1.ok(RECORDS, c=chat)
    [confession], [enrichment] = found["confessions"], found["enrichments"]
    used = {"withheld": False, "entries": [{"content": "Tea at five."}]}
    assert confession == {"id": confession["id"], "text": "I am stuck.", "answer": "That sounds hard.", **used}
    words = {"text": "Plan release 4.2 after tea.", "original": "Plan release 4.2"}
    assert enrichment == {"id": enrichment["id"], **words, **used}
    node = """query($id: ID!) { it: node(id: $id) { ... on Confession { text answer withheld }
      ... on Enrichment { rewrite: text original withheld } } }"""
    for record in (confession, enrichment):
        assert await it(u_1, node, id=record["id"])
        assert [await it(who, node, id=record["id"]) for who in (u_2, u_9)] == [None, None]
        assert [await who.code(PROVENANCE, id=record["id"]) for who in (u_2, u_9)] == ["NOT_FOUND"] * 2
    forget = "mutation($b: ID!, $id: ID!) { it: forgetForBot(botId: $b, id: $id) { version } }"
    await it(u_1, forget, b=gid(bots.agent("bot_9")), id=gid(NodeId(fact)))
    gone = {"withheld": True, "entries": []}
    after = await u_1.ok(RECORDS, c=chat)
    assert after["confessions"] == [{**confession, "answer": None, **gone}]
    assert after["enrichments"] == [{**enrichment, "text": None, **gone}]
    assert await it(u_1, node, id=confession["id"]) == {"text": "I am stuck.", "answer": None, "withheld": True}
    kept = {"rewrite": None, "original": "Plan release 4.2", "withheld": True}
    assert await it(u_1, node, id=enrichment["id"]) == kept


@pytest.mark.req("BM-171")
async def test_the_group_of_a_channel_reads_no_confession_of_its_chat(
    bots: BotRoom, client: GraphQLClient, gid: Gid
) -> None:
    talk = await BotTalk(room=bots).make()
    await talk.begin("t1", chat="chat_70")
    await talk.confide("t1", chat="chat_70")
    async with bots.deps.store.reading() as reader:
        [confession] = (await reader.find(ALL, Find(kind=Confession))).nodes
    u_1 = client.as_(await bots.token("u_1"))
    assert await u_1.code(RECORDS, c=gid(bots.chat_id("chat_70"))) == "ChatNotFound"
    seen = "query($id: ID!) { it: node(id: $id) { id } }"
    assert await it(u_1, seen, id=gid(confession.id)) is None
    assert await it(u_1, seen, id=gid(bots.chat_id("chat_70"))) is not None
    await bots.world.grant(bots.person("u_1"), Right.READ, bots.chat_id("chat_70"))
    assert await it(u_1, seen, id=gid(confession.id)) is not None
    assert len((await u_1.ok(RECORDS, c=gid(bots.chat_id("chat_70"))))["confessions"]) == 1


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
async def test_more_records_cost_no_more_round_trips(bots: BotRoom, client: GraphQLClient, gid: Gid) -> None:
    talk = await BotTalk(room=bots).make()
    await bots.fact("Tea at five.")
    u_1 = client.as_(await bots.token("u_1"))
    counts = []
    for turns in (("t1", "t2", "t3"), ("t4", "t5", "t6", "t7")):
        for turn in turns:
            await talk.begin(turn)
            await talk.confide(turn)
        await u_1.ok(RECORDS, c=gid(bots.chat_id("chat_61")))
        with counting_round_trips() as trips:
            await u_1.ok(RECORDS, c=gid(bots.chat_id("chat_61")))
        counts.append(sum(trips.values()))
    assert counts[0] == counts[1]


@pytest.mark.req("KN-121", "KN-122", "AD-26", "AD-27")
async def test_the_audit_and_exports_know_the_ids_of_these_surfaces(
    sessions: SessionRoom, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    await sessions.remember("venue", "We meet in Porto.")
    id_ = gid(sessions.id("ses_41"))
    log = """query($id: ID!) { it: auditLog(filter: {targetId: $id}) { totalCount edges { node {
      operation before after target { __typename } } } } }"""
    found = [edge["node"] for edge in (await it(ana, log, id=id_))["edges"]]
    assert {"operation": "session.create", "target": {"__typename": "Session"}}.items() <= found[-1].items()
    assert "Porto" not in str(found)
    assert (await it(ben, log, id=id_))["totalCount"] == 0
    memory = await it(ana, MEMORY.replace("entries { key", "entries { id key"), id=id_)
    export = "query($id: ID!) { it: provenanceExport(id: $id, format: PROV_JSON) }"
    exported = json.loads(await it(ana, export, id=memory["entries"][0]["id"]))
    assert len(exported["wasDerivedFrom"]) == 1  # from the fact to the item of the edit
    assert await ben.code(export, id=memory["entries"][0]["id"]) == "NOT_FOUND"
    chains = (await ana.ok("{ verifyAudit { chains { poolId ok } } }"))["verifyAudit"]["chains"]
    assert {"poolId": id_, "ok": True} in chains
