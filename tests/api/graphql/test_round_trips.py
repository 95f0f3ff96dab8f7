"""Round trips to the store do not grow with the length of a list (E4)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from api.graphql.ids import to_node
from graph.model.ids import NodeId
from graph.services.access.session import Session, read
from graph.services.knowledge.audit_log import entry_audit
from graph.services.knowledge.first_pages import first_audit, first_relations, first_sources
from graph.services.knowledge.relations import relations
from graph.services.knowledge.sources import entry_sources
from graph.store.observing import counting_round_trips
from tests.api.clients import GraphQLClient
from tests.api.graphql.test_entries import APPLY, an_entry
from tests.support.world import TeamWorld

Gid = Callable[[NodeId], str]

FIELDS = {
    "what an entry is": "name aliases summary version",
    "whose it is": "owner { displayName } knowledgeBase { kind owner { displayName } }",
    "a row of the list": """lastModifier { displayName } marks { blocks disputed stale } mirror { sourceVersion }
        knowledgeBase { kind channel { displayName } }""",
    "blocks with their evidence": """blocks { position current { text modifier { displayName } derivedFrom { id }
        citations { quote speaker { displayName } source { text author { kind } knowledgeBase { kind } } } } }""",
    "versions of blocks": "blocks { versions(first: 5) { totalCount edges { node { text citations { quote } } } } }",
    "attributes": "attributes { key value citations { quote } }",
    "relations": "relations { totalCount edges { node { subject { name } object { name } evidence { quote } } } }",
    "sources": "sources { totalCount edges { node { text author { displayName } } } }",
    "audit": """audit { totalCount edges { node { actor { displayName } target { id } knowledgeBase { kind }
        restores { id } restoredBy { id } } } }""",
    "Markdown": "projection",
}


@pytest.mark.parametrize("engine", ["embedded"], indirect=True)
async def test_a_longer_page_costs_no_more_round_trips(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    for number in range(12):
        await an_entry(world, ana, gid, f"Person {number}", f"Person {number} likes tea")
    for name, fields in FIELDS.items():
        query = f"query($o: ID!, $n: Int) {{ entries(ownerId: $o, first: $n) {{ edges {{ node {{ {fields} }} }} }} }}"
        counts = []
        for first in (2, 12):
            with counting_round_trips() as trips:
                page = (await ana.ok(query, o=gid(world.atlas), n=first))["entries"]
            assert len(page["edges"]) == first
            counts.append(sum(trips.values()))
        assert counts[0] == counts[1], name


@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
@pytest.mark.req("KN-113")
async def test_first_pages_of_many_equal_those_of_one(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    entries = [await an_entry(world, ana, gid, name, f"{name} likes tea") for name in ("Lin", "Kai", "Mia")]
    fields = """
      relations(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id } } }
      sources(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id } } }
      audit(first: 1) { totalCount pageInfo { hasNextPage endCursor } edges { cursor node { id } } }
      blocks { versions(first: 1) { totalCount pageInfo { endCursor } edges { cursor node { id } } } }
    """
    many = await ana.ok(
        f"query($o: ID!) {{ entries(ownerId: $o) {{ edges {{ node {{ id {fields} }} }} }} }}", o=gid(world.atlas)
    )
    found = {edge["node"]["id"]: edge["node"] for edge in many["entries"]["edges"]}
    assert set(found) == set(entries)
    onward = """
    query($id: ID!, $s: String, $a: String) {
      entry(id: $id) { sources(first: 1, after: $s) { totalCount edges { node { id } } }
        audit(first: 1, after: $a) { totalCount edges { node { id } } } }
    }
    """
    for id_ in entries:
        one = (await ana.ok(f"query($id: ID!) {{ entry(id: $id) {{ id {fields} }} }}", id=id_))["entry"]
        assert one == found[id_]
        after = {"s": one["sources"]["pageInfo"]["endCursor"], "a": one["audit"]["pageInfo"]["endCursor"]}
        rest = (await ana.ok(onward, id=id_, **after))["entry"]
        for field in ("sources", "audit"):
            seen = [edge["node"]["id"] for edge in (*one[field]["edges"], *rest[field]["edges"])]
            assert len(set(seen)) == len(seen) == min(2, one[field]["totalCount"])
            assert rest[field]["totalCount"] == one[field]["totalCount"]


@pytest.mark.parametrize("engine", ["memory", "embedded"], indirect=True)
@pytest.mark.req("KN-113")
async def test_the_batched_first_page_is_the_one_of_the_service(world: TeamWorld, ana: GraphQLClient, gid: Gid) -> None:
    lin = await an_entry(world, ana, gid, "Lin", "Lin likes tea")
    kai = await an_entry(world, ana, gid, "Kai", "Kai leads Lin and Lin asks Kai")
    source = gid(await world.say(world.chat, "Kai leads Lin"))
    base = gid(NodeId(str((await world.open(world.chat)).pool)))
    relation = {"op": "addRelation", "subject": kai, "type": "leads", "object": lin, "source": source}
    await ana.ok(APPLY, kb=base, operations=[{**relation, "quote": "Kai leads Lin"}])
    ids = [to_node(id_, world.workspace) for id_ in (lin, kai)]

    async def compare(session: Session) -> int:
        related = await first_relations(session, ids, first=5)
        cited = await first_sources(session, ids, first=5)
        audited = await first_audit(session, ids, first=5)
        seen = 0
        for id_ in ids:
            for many, one in (
                (related[id_], await relations(session, id_, first=5)),
                (cited[id_], await entry_sources(session, id_, first=5)),
                (audited[id_], await entry_audit(session, id_, first=5)),
            ):
                assert (many.items, many.places, many.more) == (one.items, one.places, one.more)
                assert await many.count() == await one.count()
                seen += len(many.items)
        return seen

    seen, _ = await read(world.deps, world.caller(world.ana), compare)
    assert seen >= 2 + 4 + 2
