"""What an entry is linked to beside relations: a principal, and entries of wider knowledge on the same topic."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KbKind
from graph.rules.pools import base_id
from graph.rules.scopes import MemoryScope
from graph.services.access.commands import command
from graph.services.knowledge.conversations import close_conversation, set_routing_rule
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_entries import APPLY, an_entry, create_entry
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]
LINKS = "query($id: ID!) { entry(id: $id) { principal { displayName } sameAs { id name knowledgeBase { kind } } } }"


@pytest.mark.req("KN-33", "KN-34")
async def test_a_narrower_entry_shows_whom_it_is_about_and_the_wider_one(
    world: TeamWorld, ana: GraphQLClient, ben: GraphQLClient, gid: Gid
) -> None:
    shared = await shared_base(world)
    source = gid(await world.say(world.ops, "Ben leads Atlas", speaker=world.ben))
    wide = create_entry("Ben", source, "Ben leads Atlas")
    wider = (await ana.ok(APPLY, kb=gid(shared), operations=[wide]))["applyOperations"]["results"][0]["createdIds"][0]
    secret = gid(await world.say(world.chat, "Ben is on leave"))
    narrow = create_entry("Ben", secret, "Ben is on leave") | {"sameAs": wider, "principal": gid(world.ben)}
    private = gid(base_id(world.name, world.atlas, KbKind.PRIVATE, world.chat))
    made = (await ana.ok(APPLY, kb=private, operations=[narrow]))["applyOperations"]["results"][0]["createdIds"][0]
    assert (await ana.ok(LINKS, id=made))["entry"] == {
        "principal": {"displayName": "Ben"},
        "sameAs": [{"id": wider, "name": "Ben", "knowledgeBase": {"kind": "SHARED"}}],
    }
    assert await ben.ok(LINKS, id=made) == {"entry": None}
    for who in (ana, ben):
        assert (await who.ok(LINKS, id=wider))["entry"] == {"principal": None, "sameAs": []}


@pytest.mark.req("KN-122", "KN-79")
async def test_an_export_names_the_nodes_as_the_walk_does(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    entry = await an_entry(world, ana, gid)
    nodes = await ana.it("query($id: ID!) { it: provenance(id: $id, depth: 16) { nodes { id } } }", id=entry)
    ids = {node["id"] for node in nodes["nodes"]}
    export = "query($id: ID!, $f: ProvenanceFormat!) { it: provenanceExport(id: $id, format: $f) }"
    prov = json.loads(await ana.it(export, id=entry, f="PROV_JSON"))
    named = {name for kind in ("entity", "activity", "agent") for name in prov.get(kind, ())}
    assert named == {f"rw:{id_}" for id_ in ids}
    assert set(re.findall(r'<node id="([^"]+)"', await ana.it(export, id=entry, f="GRAPHML"))) == ids


async def shared_base(world: TeamWorld) -> NodeId:
    """Let the channel use shared memory from now on; return the base."""
    conversation = await world.open(world.ops)
    await command(world.deps, world.caller(world.host), lambda cmd: close_conversation(cmd, conversation.id))
    await command(
        world.deps,
        world.caller(world.dan),
        lambda cmd: set_routing_rule(cmd, world.ops, MemoryScope.SHARED, isolated=False),
    )
    return NodeId(str((await world.open(world.ops)).pool))
