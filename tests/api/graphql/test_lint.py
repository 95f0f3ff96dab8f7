"""The lint over GraphQL: its findings page by page, for one reader exactly as if what he may not see were not there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from graph.services.access.commands import command
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.observing import counting_round_trips
from tests.api.clients import GraphQLClient
from tests.api.conftest import ENGINES
from tests.support.world import TeamWorld

on_every_store = pytest.mark.parametrize("engine", ENGINES, indirect=True)
on_small_stores = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)

Gid = Callable[[NodeId], str]

APPLY = """mutation($kb: ID!, $ops: [JSON!]!) {
  applyOperations(kbId: $kb, operations: $ops, reason: "noted") { results { createdIds } } }"""
LINT = """query($o: ID!, $rules: [LintRule!], $first: Int, $after: String) {
  lint(ownerId: $o, rules: $rules, first: $first, after: $after) { totalCount pageInfo { hasNextPage endCursor }
    edges { node { rule detail measure entries { id name } } } } }"""


async def write(
    world: TeamWorld, ana: GraphQLClient, gid: Gid, name: str, *, channel: NodeId | None = None, **fields: Any
) -> tuple[str, str]:
    """Let Ana write an entry with one block; return the ids of entry and block."""
    place = channel or world.ops
    source = await world.say(place, f"{name} is there")
    kb = gid(NodeId(str((await world.open(place)).pool)))
    block = {
        "text": f"{name} is there",
        "basis": "stated",
        "standing": "settled",
        "change": "addition",
        "durability": "durable",
        "citations": [{"source": gid(source), "quote": f"{name} is there", "role": "supports"}],
    }
    made = {"op": "createEntry", "name": name, "type": "concept", "summary": "", "blocks": [block], **fields}
    done = await ana.ok(APPLY, kb=kb, ops=[made])
    entry, block_id = done["applyOperations"]["results"][0]["createdIds"][:2]
    return entry, block_id


async def findings(who: GraphQLClient, owner: str, first: int = 100, **more: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Return all findings, page by page."""
    found: list[tuple[str, tuple[str, ...]]] = []
    after = None
    while True:
        page = (await who.ok(LINT, o=owner, first=first, after=after, **more))["lint"]
        found += [(e["node"]["rule"], tuple(x["name"] for x in e["node"]["entries"])) for e in page["edges"]]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            assert page["totalCount"] == len(found)
            return found


@on_small_stores
@pytest.mark.req("CO-70", "CO-71", "CO-72", "CO-73", "CO-75")
async def test_the_example_of_the_console(world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid) -> None:
    """Console example 16."""
    for name in ("Standup 2025-05-10", "Helio GmbH", "Helio Gmbh.", "Plan 2025"):
        await write(world, ana, gid, name)
    await write(world, ana, gid, "Offsite 2025-06-01", type="event")
    _, block = await write(world, ana, gid, "Empty")
    kb = gid(NodeId(str((await world.open(world.ops)).pool)))
    gone = {"op": "deleteBlock", "block": block, "expectedVersion": 1, "reason": "no use", "citations": []}
    await ana.ok(APPLY, kb=kb, ops=[gone])
    before = await ana.ok("query($id: ID!) { node(id: $id) { ... on KnowledgeBase { version } } }", id=kb)
    found = await findings(ben, gid(world.atlas))
    assert [rule for rule, _ in found] == ["DATED_NAME", "NEAR_NAME", "NO_BLOCKS"]
    assert [set(names) for _, names in found] == [
        {"Standup 2025-05-10"},
        {"Helio GmbH", "Helio Gmbh."},
        {"Empty"},
    ]
    node = (await ben.ok(LINT, o=gid(world.atlas), rules=["NEAR_NAME"]))["lint"]["edges"][0]["node"]
    assert node["measure"] == 1.0
    assert "Helio GmbH" in node["detail"]
    after = await ana.ok("query($id: ID!) { node(id: $id) { ... on KnowledgeBase { version } } }", id=kb)
    assert after == before


@on_every_store
@pytest.mark.req("KN-60", "KN-114", "CO-71")
async def test_what_one_may_not_see_is_in_no_finding_and_no_count(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, eve: GraphQLClient, gid: Gid
) -> None:
    owner = gid(world.atlas)
    await write(world, ana, gid, "Standup 2025-05-10")
    alone = (await ben.run(LINT, o=owner)).data
    await write(world, ana, gid, "Salary 2025-05-10", channel=world.chat)
    await write(world, ana, gid, "Standup 2025-05-11", channel=world.chat)
    await write(world, ana, gid, "Salarys 2025-05-10", channel=world.chat)
    assert (await ben.run(LINT, o=owner)).data == alone
    seen = await findings(ana, owner)
    assert [rule for rule, _ in seen].count("DATED_NAME") == 4
    assert [rule for rule, _ in seen].count("NEAR_NAME") == 1  # of the private chat; bases do not mix
    for _, names in await findings(ben, owner):
        assert names == ("Standup 2025-05-10",)
    assert await eve.code(LINT, o=owner) == "NOT_FOUND"
    assert await ben.code(LINT, o=gid(world.ben)) == "NOT_FOUND"


@on_small_stores
@pytest.mark.req("CO-71", "KN-113")
async def test_findings_are_listed_twenty_a_page_each_once(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    many = 22
    for number in range(many):
        await write(world, ana, gid, f"{chr(65 + number) * 9} 2025-05-10")
    page = (await ana.ok("query($o: ID!) { lint(ownerId: $o) { edges { node { rule } } } }", o=gid(world.atlas)))[
        "lint"
    ]
    assert len(page["edges"]) == min(many, 20)
    for first in (1, 3, 20):
        found = await findings(ana, gid(world.atlas), first=first)
        assert len(found) == len(set(found)) == many
    answer = await ana.ok(LINT, o=gid(world.atlas), first=2)
    cursor = answer["lint"]["pageInfo"]["endCursor"]
    assert await ana.code(LINT, o=gid(world.atlas), rules=["DATED_NAME"], after=cursor) == "CURSOR_INVALID"


@on_small_stores
@pytest.mark.req("CO-73")
async def test_entries_marked_as_distinct_are_no_finding_any_more(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    one, _ = await write(world, ana, gid, "Room number 101")
    other, _ = await write(world, ana, gid, "Room number 102")
    assert [rule for rule, _ in await findings(ana, gid(world.atlas))] == ["NEAR_NAME"]
    await ana.ok("mutation($a: ID!, $b: ID!) { markDistinct(a: $a, b: $b) }", a=other, b=one)
    assert await findings(ana, gid(world.atlas)) == []


@on_every_store
@pytest.mark.req("CO-75", "CO-74")
async def test_a_body_counts_as_far_as_it_is_seen(
    world: TeamWorld, ana: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    source = await world.say(world.ops, "Orion is there")
    kb = gid(NodeId(str((await world.open(world.ops)).pool)))
    cite = [{"source": gid(source), "quote": "Orion is there", "role": "supports"}]
    place = {"basis": "stated", "standing": "settled", "change": "addition", "durability": "durable", "citations": cite}
    named = await world.say(world.ops, "There is Orion, the project")
    name = [{"source": gid(named), "quote": "There is Orion, the project", "role": "supports"}]
    blocks = [{**place, "text": "Orion is there"}, {**place, "text": "Orion, the project", "citations": name}]
    made = {"op": "createEntry", "name": "Orion", "type": "project", "summary": "", "blocks": blocks}
    await ana.ok(APPLY, kb=kb, ops=[made])
    assert await findings(ana, gid(world.atlas)) == []
    await dan.ok('mutation { setSetting(name: "lint.long_blocks", value: 1) { name } }')
    assert [rule for rule, _ in await findings(ana, gid(world.atlas))] == ["LONG_ENTRY"]
    admin = world.caller(world.dan)
    await command(world.deps, admin, lambda cmd: withdraw_source(cmd, source, "wrong"))
    assert await findings(ana, gid(world.atlas)) == []  # one of its two blocks is hidden
    await command(world.deps, admin, lambda cmd: return_source(cmd, source, "right"))
    assert [rule for rule, _ in await findings(ana, gid(world.atlas))] == ["LONG_ENTRY"]


@on_small_stores
async def test_a_longer_page_of_findings_costs_no_more_round_trips(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    for number in range(6):
        await write(world, ana, gid, f"{chr(65 + number) * 9} 2025-05-10")
    counts = []
    for first in (2, 6):
        with counting_round_trips() as trips:
            page = (await ana.ok(LINT, o=gid(world.atlas), first=first))["lint"]
        assert len(page["edges"]) == first
        counts.append(sum(trips.values()))
    assert counts[1] <= counts[0]
