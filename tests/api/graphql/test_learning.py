"""Skills, lessons, memo and episodes over GraphQL, from provisioning to what an agent loads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.support.learning import BASE_TEXT, episode
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", ENGINES, indirect=True)

Gid = Callable[[NodeId], str]

PROVISION = 'mutation($t: String!) { provisionSkill(slug: "deploy", name: "Deploy", baseText: $t) { id baseVersion } }'
ENABLE = """mutation($agent: ID!, $on: Boolean!) {
  setSkillEnabled(agentId: $agent, skill: "deploy", enabled: $on) { enabled slug lessons { text } }
}"""
APPLY = """mutation($c: ID, $kb: ID, $ops: [JSON!]!) {
  applyOperations(conversationId: $c, kbId: $kb, operations: $ops, reason: "learned") {
    results { outcome createdIds created { id __typename } } records { operation target { id __typename } }
  }
}"""
LOAD = """query($c: ID!) {
  skillContext(conversationId: $c, skill: "deploy") { enabled text tokens skill { baseHash }
    lessons { id lessonId text origin skill citations { source { id } } modifier { displayName }
      versions { version } } }
  residentMemo(conversationId: $c) { text
    memos { version tokens tokenBudget knowledgeBase { kind } lines { id text } } }
}"""
OVERLAYS = """query($o: ID!) {
  skillOverlays(ownerId: $o) { totalCount edges { node { id slug enabled tokenBudget agent { displayName }
    skill { slug } lessons { text knowledgeBase { kind } stale } } } }
}"""


async def data(client: GraphQLClient, query: str, **variables: Any) -> Any:
    answer = await client.run(query, **variables)
    assert answer.errors == []
    return answer.data


@pytest.mark.req("SK-6", "SK-7", "SK-18", "RE-1", "KN-111")
async def test_what_was_learned_is_provisioned_written_loaded_and_listed(
    client: GraphQLClient, world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    atlas = client.as_(await world.token(world.atlas))
    assert (await data(dan, PROVISION, t=BASE_TEXT))["provisionSkill"]["baseVersion"] == 1
    assert (await ana.run(PROVISION, t="mine")).codes == ["FORBIDDEN"]
    enabled = (await data(dan, ENABLE, agent=gid(world.atlas), on=True))["setSkillEnabled"]
    assert enabled == {"enabled": True, "slug": "deploy", "lessons": []}

    said = gid(await world.say(world.ops, "No, run the migrations first", speaker=world.ben))
    conversation = gid((await world.open(world.ops)).id)
    words = [{"source": said, "quote": "run the migrations first"}]
    lesson = {"op": "updateSkillOverlay", "skill": "deploy", "action": "add", "text": "Migrate first"}
    memo = {"op": "writeMemo", "expectedVersion": 0, "lines": [{"text": "Migrate first", "citations": words}]}
    learned = {**lesson, "origin": "human_correction", "citations": words}
    done = (await data(atlas, APPLY, c=conversation, ops=[learned, memo]))["applyOperations"]
    assert [record["operation"] for record in done["records"]] == ["lesson.add", "memo.write"]
    assert [record["target"]["__typename"] for record in done["records"]] == ["Lesson", "ResidentMemo"]
    assert [made["__typename"] for result in done["results"] for made in result["created"]] == [
        "Lesson",
        "ResidentMemo",
        "MemoLine",
    ]

    loaded = await data(atlas, LOAD, c=conversation)
    context = loaded["skillContext"]
    assert context["text"] == f"{BASE_TEXT}\n\n## Experience\n\n- Migrate first"
    (found,) = context["lessons"]
    assert (found["origin"], found["skill"], found["modifier"]["displayName"]) == (
        "HUMAN_CORRECTION",
        "deploy",
        "Atlas",
    )
    assert [citation["source"]["id"] for citation in found["citations"]] == [said]
    (carried,) = loaded["residentMemo"]["memos"]
    assert loaded["residentMemo"]["text"] == "Migrate first"
    assert (carried["version"], carried["tokenBudget"], carried["knowledgeBase"]["kind"]) == (1, 200, "CHANNEL")

    again = {**learned, "text": "first migrate"}
    refused = await atlas.run(APPLY, c=conversation, ops=[again])
    assert refused.codes == ["DUPLICATE_LESSON"]
    assert refused.errors[0]["extensions"]["lesson"] == found["id"]

    await data(dan, ENABLE, agent=gid(world.atlas), on=False)
    assert (await data(atlas, LOAD, c=conversation))["skillContext"]["text"] == BASE_TEXT
    listed = (await data(ben, OVERLAYS, o=gid(world.atlas)))["skillOverlays"]
    assert listed["totalCount"] == 1
    (overlay,) = (edge["node"] for edge in listed["edges"])
    assert overlay["enabled"] is False
    assert overlay["lessons"] == [{"text": "Migrate first", "knowledgeBase": {"kind": "CHANNEL"}, "stale": False}]

    kb = gid(NodeId(str((await world.open(world.ops)).pool)))
    removed = {"op": "updateSkillOverlay", "skill": "deploy", "action": "remove", "lesson": found["id"]}
    done = (await data(ana, APPLY, kb=kb, ops=[removed]))["applyOperations"]
    assert [record["operation"] for record in done["records"]] == ["lesson.delete"]
    listed = (await data(ben, OVERLAYS, o=gid(world.atlas)))["skillOverlays"]
    assert listed["edges"][0]["node"]["lessons"] == []


@pytest.mark.req("KN-60", "KN-121")
async def test_lessons_and_lines_are_nodes_that_others_do_not_see(
    world: TeamWorld, dan: GraphQLClient, ana: GraphQLClient, ben: GraphQLClient, eve: GraphQLClient, gid: Gid
) -> None:
    await data(dan, PROVISION, t=BASE_TEXT)
    await data(dan, ENABLE, agent=gid(world.atlas), on=True)
    said = gid(await world.say(world.chat, "never write down my salary"))
    kb = gid(NodeId(str((await world.open(world.chat)).pool)))
    words = [{"source": said, "quote": "never write down my salary"}]
    lesson = {
        "op": "updateSkillOverlay",
        "skill": "deploy",
        "action": "add",
        "text": "No salaries",
        "citations": words,
    }
    memo = {"op": "writeMemo", "expectedVersion": 0, "lines": [{"text": "No salaries", "citations": words}]}
    done = (await data(ana, APPLY, kb=kb, ops=[lesson, memo]))["applyOperations"]
    ids = [id_ for result in done["results"] for id_ in result["createdIds"]]
    node = "query($id: ID!) { node(id: $id) { __typename id ... on Lesson { text } ... on MemoLine { text } } }"
    for id_ in ids:
        assert (await data(ana, node, id=id_))["node"]["id"] == id_
        assert (await data(ben, node, id=id_))["node"] is None
        assert (await data(eve, node, id=id_))["node"] is None
    trace = "query($id: ID!) { provenance(id: $id) { nodes { id } } }"
    found = (await data(ana, trace, id=ids[0]))["provenance"]["nodes"]
    assert said in {one["id"] for one in found}
    assert (await ben.run(trace, id=ids[0])).codes == ["NOT_FOUND"]


@pytest.mark.req("DR-23", "RE-34")
async def test_an_episode_shows_its_messages_and_conclusions(
    world: TeamWorld, ben: GraphQLClient, eve: GraphQLClient, gid: Gid
) -> None:
    first = await world.say(world.ops, "shall we have lunch", speaker=world.ben)
    second = await world.say(world.ops, "at noon in the garden")
    id_ = gid(await episode(world, "lunch", first, second, concluded="Lunch is at noon"))
    query = """query($id: ID!) { node(id: $id) { ... on Episode {
      topic messages { id text } conclusions { text messages { id } } knowledgeBase { kind } } } }"""
    found = (await data(ben, query, id=id_))["node"]
    assert [message["id"] for message in found["messages"]] == [gid(first), gid(second)]
    assert found["conclusions"] == [{"text": "Lunch is at noon", "messages": [{"id": gid(first)}]}]
    assert (await data(eve, query, id=id_))["node"] is None
    page = (await data(ben, "query($r: ID!) { memoryBrowse(ref: $r) { text } }", r=id_))["memoryBrowse"]
    assert "at noon in the garden" in page["text"]


@pytest.mark.req("DR-79")
async def test_what_waits_for_nobody_is_not_released(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    first = await world.say(world.ops, "shall we have lunch", speaker=world.ben)
    id_ = gid(await episode(world, "lunch", first))
    release = "mutation($id: ID!) { releaseParked(itemId: $id) }"
    assert (await data(ana, release, id=id_))["releaseParked"] is False
    assert (await ben.run(release, id=id_)).codes == ["SCOPE_FORBIDDEN"]
    assert (await ana.run(release, id=gid(first))).codes == ["NOT_FOUND"]
