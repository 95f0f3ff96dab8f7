"""What the list of entries says and can be narrowed by, warnings about drafts, read sets of projections."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.rules.pools import base_id
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_entries import an_entry
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

LIST = """
query($owner: ID!) {
  entries(ownerId: $owner) { edges { node {
    origin readOnly lastModifier { displayName } marks { blocks disputed stale } mirror { sourceVersion }
    knowledgeBase { kind channel { displayName } }
    blocks { current { evidenceCount inferredAt } }
  } } }
  entryTypes(ownerId: $owner)
  entryAuthors(ownerId: $owner) { displayName }
}
"""
WARNINGS = """
query($owner: ID!, $name: String, $type: String, $text: String) {
  draftWarnings(ownerId: $owner, name: $name, type: $type, text: $text)
}
"""
PROJECTION = "query($id: ID!, $kb: ID!) { entry(id: $id) { whole: projection narrow: projection(kbId: $kb) } }"
GUIDE = """
mutation($owner: ID!, $text: String!) { setCurationGuide(principalId: $owner, text: $text, expectedVersion: 0) { id } }
"""


@pytest.mark.req("CO-13")
async def test_a_row_of_the_list_comes_in_one_request(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    await an_entry(world, ana, gid)
    answer = await ana.ok(LIST, owner=gid(world.atlas))
    assert [edge["node"] for edge in answer["entries"]["edges"]] == [
        {
            "origin": "human",
            "readOnly": False,
            "lastModifier": {"displayName": "Ana"},
            "marks": {"blocks": 1, "disputed": False, "stale": False},
            "mirror": None,
            "knowledgeBase": {"kind": "PRIVATE", "channel": {"displayName": "Ana and Atlas"}},
            "blocks": [{"current": {"evidenceCount": 1, "inferredAt": None}}],
        }
    ]


@pytest.mark.req("CO-12")
async def test_choices_are_what_the_caller_sees(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    await an_entry(world, ana, gid)
    await ana.ok(GUIDE, owner=gid(world.atlas), text="---\ntypes: [vendor]\n---\n# Guide")
    hers = await ana.ok(LIST, owner=gid(world.atlas))
    his = await ben.ok(LIST, owner=gid(world.atlas))
    assert {"person", "vendor"} <= set(hers["entryTypes"])
    assert hers["entryAuthors"] == [{"displayName": "Ana"}]
    assert his["entryAuthors"] == []


@pytest.mark.req("CO-18")
async def test_drafts_are_judged_by_the_patterns_in_force(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    owner = gid(world.atlas)

    async def warnings(**draft: str) -> list[str]:
        return list((await ana.ok(WARNINGS, owner=owner, **draft))["draftWarnings"])

    assert await warnings(name="Standup 2025-05-10", type="project", text="80 % done") == [
        "TRANSIENT_STATE",
        "DATED_NAME",
    ]
    assert await warnings(name="Offsite 2025-05-10", type="event") == []
    assert await warnings(name="Helio", text="Helio makes lamps.") == []
    assert await warnings(text=f"{'x' * 1_988} 80 % done") == ["TRANSIENT_STATE"]
    assert await warnings(text=f"{'x' * 2_000} 80 % done") == [], "no block is as long"


@pytest.mark.req("CO-22")
async def test_a_projection_is_made_for_a_chosen_read_set(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    entry = await an_entry(world, ana, gid)
    private = gid(base_id(world.name, world.atlas, KbKind.PRIVATE, world.chat))
    shared = gid(base_id(world.name, world.atlas, KbKind.SHARED))
    shown = (await ana.ok(PROJECTION, id=entry, kb=private))["entry"]
    assert shown["whole"] == shown["narrow"]
    refused = await ana.run(PROJECTION, id=entry, kb=shared)
    assert refused.codes == ["NOT_FOUND"]
