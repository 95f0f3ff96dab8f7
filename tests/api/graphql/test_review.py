"""What a reviewer of learned knowledge asks for: prepared views of blocks, the audit of one agent, who acted in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from graph.model.ids import NodeId
from tests.api.clients import GraphQLClient
from tests.support.operations import add, apply, block, cite, create, deduction, edit, made
from tests.support.world import TeamWorld

pytestmark = pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)

Gid = Callable[[NodeId], str]
REVIEW = """query($o: ID!, $view: ReviewView!, $first: Int, $after: String) {
  review(ownerId: $o, view: $view, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor }
    edges { node { entry { name } block { text stale standing basis } } } } }"""
LOG = "query($f: AuditFilter!) { auditLog(filter: $f) { totalCount edges { node { operation restorable } } } }"
ACTORS = "query($o: ID!) { auditActors(ownerId: $o) { displayName } }"
CHANNEL = "query($id: ID!) { node(id: $id) { ... on KnowledgeBase { channel { displayName routing { isolated } } } } }"


async def reviewed(who: GraphQLClient, owner: str, view: str) -> list[str]:
    """Return the texts of a view."""
    found: Any = (await who.ok(REVIEW, o=owner, view=view))["review"]
    assert found["totalCount"] == len(found["edges"])
    return [edge["node"]["block"]["text"] for edge in found["edges"]]


@pytest.mark.req("CO-62")
async def test_a_block_is_out_of_force_after_its_validity_or_when_it_is_stale(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    source = await world.say(world.ops, "Orion runs on Kafka. Orion ran on Postgres.", external_id="m")
    ended = block("Ran on Postgres.", cite(source, "ran on Postgres"), validFrom="2024-01-01", validTo="2024-12-31")
    now = block("Runs on Kafka.", cite(source, "runs on Kafka"))
    entry = made(await apply(world, create("Orion", ended, now)))
    assert await reviewed(ana, gid(world.atlas), "OUT_OF_FORCE") == ["Ran on Postgres."]
    # A newer version of what was said makes both stale.
    await world.say(world.ops, "Orion runs on NATS.", external_id="m")
    assert sorted(await reviewed(ana, gid(world.atlas), "OUT_OF_FORCE")) == ["Ran on Postgres.", "Runs on Kafka."]
    assert entry


@pytest.mark.req("CO-62")
async def test_a_deduction_is_out_of_force_when_its_basis_was_rewritten(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    source = await world.say(world.ops, "If it rains we stay. It rains. It is dry.")
    first = await apply(world, create("Trip", block("It rains.", cite(source, "It rains"))))
    entry, basis = made(first), made(first, place=1)
    await apply(world, add(entry, deduction("it rains", "we stay", basis)))
    assert await reviewed(ana, gid(world.atlas), "OUT_OF_FORCE") == []
    dry = block("It is dry.", cite(source, "It is dry", "corrects"), change="correction", standing="corrected")
    await apply(world, edit(basis, 1, dry))
    (text,) = await reviewed(ana, gid(world.atlas), "OUT_OF_FORCE")
    assert "we stay" in text


@pytest.mark.req("CO-62", "KN-113")
async def test_notes_and_disputes_have_their_views_page_by_page(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    owner = gid(world.atlas)
    source = await world.say(world.ops, "Launch is 1 June.")
    other = await world.say(world.ops, "Launch is 15 June.", speaker=world.ben)
    both = cite(source, "Launch is 1 June"), cite(other, "Launch is 15 June", "contradicts")
    said = "Ana says 1 June on 10 May 2025, Ben says 15 June on 10 May 2025."
    entry = made(await apply(world, create("Launch", block(said, *both, change="dispute", standing="disputed"))))
    for text in ("Is our best idea.", "Is late."):
        await apply(world, add(entry, block(text, basis="authored")), by=world.ana)
    assert await reviewed(ana, owner, "CONTESTED") == [said]
    assert sorted(await reviewed(ana, owner, "NOTE_ONLY")) == ["Is late.", "Is our best idea."]
    first = (await ana.ok(REVIEW, o=owner, view="NOTE_ONLY", first=1))["review"]
    assert first["pageInfo"]["hasNextPage"]
    after = first["pageInfo"]["endCursor"]
    second = (await ana.ok(REVIEW, o=owner, view="NOTE_ONLY", first=1, after=after))["review"]
    assert not second["pageInfo"]["hasNextPage"]
    assert first["edges"] != second["edges"]
    assert await ana.code(REVIEW, o=owner, view="CONTESTED", first=1, after=after) == "CURSOR_INVALID"


@pytest.mark.req("KN-60", "CO-62")
async def test_what_one_may_not_see_is_in_no_view_and_no_count(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, eve: GraphQLClient, gid: Gid
) -> None:
    owner = gid(world.atlas)
    before = [(await ben.run(REVIEW, o=owner, view=view)).data for view in ("OUT_OF_FORCE", "CONTESTED", "NOTE_ONLY")]
    chat = (await world.open(world.chat)).id
    source = await world.say(world.chat, "My salary was 80k.")
    old = block("Was 80k.", cite(source, "salary was 80k"), validFrom="2024-01-01", validTo="2024-12-31")
    entry = made(await apply(world, create("Salary", old), conversation=chat))
    await apply(world, add(entry, block("Is too low.", basis="authored")), by=world.ana, conversation=chat)
    after = [(await ben.run(REVIEW, o=owner, view=view)).data for view in ("OUT_OF_FORCE", "CONTESTED", "NOTE_ONLY")]
    assert after == before
    assert await reviewed(ana, owner, "OUT_OF_FORCE") == ["Was 80k."]
    assert await reviewed(ana, owner, "NOTE_ONLY") == ["Is too low."]
    assert await eve.code(REVIEW, o=owner, view="CONTESTED") == "NOT_FOUND"
    # Nor does the list of who acted tell more than the records that one sees.
    assert (await ben.ok(ACTORS, o=owner))["auditActors"] == []
    assert {one["displayName"] for one in (await ana.ok(ACTORS, o=owner))["auditActors"]} == {"Atlas", "Ana"}
    assert await eve.code(ACTORS, o=owner) == "NOT_FOUND"


@pytest.mark.req("CO-51", "KN-88")
async def test_the_audit_of_one_agent_leaves_out_that_of_others(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    source = await world.say(world.ops, "Orion runs on Kafka.")
    await apply(world, create("Orion", block("Runs on Kafka.", cite(source, "runs on Kafka"))))
    found = (await ana.ok(LOG, f={"ownerId": gid(world.atlas)}))["auditLog"]
    assert found == {"totalCount": 1, "edges": [{"node": {"operation": "entry.create", "restorable": True}}]}
    nothing = {"totalCount": 0, "edges": []}
    assert (await ana.ok(LOG, f={"ownerId": gid(world.ben)}))["auditLog"] == nothing
    assert (await ana.ok(LOG, f={"ownerId": gid(world.atlas), "kbIds": []}))["auditLog"] == nothing


@pytest.mark.req("CO-82", "KN-46")
async def test_a_base_tells_its_channel_and_how_that_is_routed_to_who_sees_it(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, dan: GraphQLClient, gid: Gid
) -> None:
    base = gid(NodeId(str((await world.open(world.ops)).pool)))
    unrouted = {"node": {"channel": {"displayName": "ops", "routing": None}}}
    assert await ben.ok(CHANNEL, id=base) == unrouted
    routed = "mutation($c: ID!) { setRoutingRule(channelId: $c, memoryScope: CHANNEL, isolated: true) { id } }"
    await dan.ok(routed, c=gid(world.ops))
    assert (await ben.ok(CHANNEL, id=base))["node"]["channel"]["routing"] == {"isolated": True}
    private = gid(NodeId(str((await world.open(world.chat)).pool)))
    assert (await ben.ok(CHANNEL, id=private))["node"] is None
    assert (await ana.ok(CHANNEL, id=private))["node"]["channel"]["routing"] is None
