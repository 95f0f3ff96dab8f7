"""Items of sessions over GraphQL."""

from __future__ import annotations

import pytest

from graph.model.time import render
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_memories import Gid, it
from tests.support.session_room import SessionRoom
from tests.support.world import TeamWorld


@pytest.mark.req("SM-5", "SM-38")
async def test_the_item_of_an_edit_repeats_key_and_content_as_they_were_given(
    world: TeamWorld, ana: GraphQLClient, gid: Gid
) -> None:
    sessions = SessionRoom(world)
    await sessions.start()
    given = {"key": "ses_41", "content": f"{world.ana}", "kind": "fact"}  # both look like ids of nodes
    await sessions.remember(given["key"], given["content"], kind=given["kind"])
    await sessions.forget(given["key"])
    read = """query($id: ID!) { it: session(sessionId: $id) { items(first: 20) { edges { node {
      type edit person { displayName } createdAt processed } } } } }"""
    found = (await it(ana, read, id=gid(sessions.id("ses_41"))))["items"]["edges"][-2:]
    edits = [{"command": "Remember", **given}, {"command": "Forget", "key": given["key"]}]
    at = render(world.deps.now())
    assert [edge["node"] for edge in found] == [
        {"type": "memory_edit", "edit": edit, "person": {"displayName": "Ana"}, "createdAt": at, "processed": True}
        for edit in edits
    ]
