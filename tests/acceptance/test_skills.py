"""Acceptance example 20 and what example 11 says of Skills: what is learned, and where it is loaded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.acceptance.stage import Stage, made
from tests.api.conftest import ENGINES
from tests.support.learning import lesson
from tests.support.operations import Json, cite

pytestmark = pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True)

PROVISION = 'mutation($s: String!) { provisionSkill(slug: $s, name: $s, baseText: "Deploy with care.") { id } }'
ENABLE = """mutation($agent: ID!, $s: String!, $on: Boolean!) {
  setSkillEnabled(agentId: $agent, skill: $s, enabled: $on) { enabled } }"""
LOAD = 'query($c: ID!) { skillContext(conversationId: $c, skill: "deploy") { enabled text lessons { text } } }'
OVERLAYS = "query($o: ID!) { skillOverlays(ownerId: $o) { edges { node { slug enabled lessons { text } } } } }"
TASK_RESULT = "mutation($input: TaskResultInput!) { recordTaskResult(input: $input) { sourceIds } }"

RULE = "Run the migrations before you deploy the service"


async def provision(stage: Stage, slug: str, *, enabled: bool) -> None:
    await stage.dan.ok(PROVISION, s=slug)
    if enabled:
        await stage.dan.ok(ENABLE, agent=stage.gid(stage.world.atlas), s=slug, on=True)


async def load(stage: Stage, conversation: str) -> Json:
    answer: Any = await stage.agent(conversation).ok(LOAD, c=conversation)
    found: Json = answer["skillContext"]
    return found


@pytest.mark.req("SK-9", "SK-10", "SK-13", "SK-15", "SK-17")
async def test_20_skill_rules(stage: Stage) -> None:
    # Given Skill deploy enabled and audit disabled, and a lesson
    await provision(stage, "deploy", enabled=True)
    await provision(stage, "audit", enabled=False)
    words = cite(await stage.say("No, run the migrations first", speaker=stage.world.ben), "run the migrations first")
    learned = {"origin": "human_correction"}
    await stage.write(lesson("deploy", RULE, words, **learned))
    # Then lessons for others, from a success in one step, and in other words are refused
    assert await stage.refused(lesson("audit", RULE, words, **learned)) == "SKILL_NOT_ENABLED"
    assert await stage.refused(lesson("nosuch", RULE, words, **learned)) == "SKILL_NOT_FOUND"
    conversation = await stage.open()
    task = {
        "taskId": "t1",
        "conversationId": conversation,
        "state": "SUCCEEDED",
        "steps": [{"action": "deploy", "outcome": "OK", "text": "deployed the service"}],
        "finalAnswer": "done",
    }
    (done,) = (await stage.host.ok(TASK_RESULT, input=task))["recordTaskResult"]["sourceIds"]
    once = lesson("deploy", "Deploy at night", cite(done, "deployed the service"), origin="nonobvious_success")
    assert await stage.refused(once) == "ORDINARY_SUCCESS"
    reordered = "before you deploy the service, run the migrations"
    assert await stage.refused(lesson("deploy", reordered, words, **learned)) == "DUPLICATE_LESSON"
    # and disabling keeps the lessons, but they are loaded no more
    assert RULE in (await load(stage, conversation))["text"]
    await stage.dan.ok(ENABLE, agent=stage.gid(stage.world.atlas), s="deploy", on=False)
    assert (await load(stage, conversation))["lessons"] == []
    assert RULE not in (await load(stage, conversation))["text"]
    listed = (await stage.ben.ok(OVERLAYS, o=stage.gid(stage.world.atlas)))["skillOverlays"]["edges"]
    assert [edge["node"]["lessons"] for edge in listed] == [[{"text": RULE}]]


@pytest.mark.req("SK-8", "KN-60")
async def test_11_a_lesson_of_a_private_chat_is_not_loaded_in_the_channel(stage: Stage) -> None:
    await provision(stage, "deploy", enabled=True)
    private = await stage.open(stage.world.chat)
    said = await stage.say("my salary is 90k, leave it out of notes", channel=stage.world.chat)
    given = lesson("deploy", "Leave salaries out of notes", cite(said, "leave it out of notes"))
    written = await stage.write(given, channel=stage.world.chat)
    assert "salaries" in (await load(stage, private))["text"]
    channel = await stage.open()
    assert "salaries" not in (await load(stage, channel))["text"]
    node = await stage.ben.ok("query($id: ID!) { node(id: $id) { id } }", id=made(written))
    assert node["node"] is None
