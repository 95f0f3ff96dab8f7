"""`applyOperations` through the services: what is written, who may write, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, Entry, Relation
from graph.model.nodes.work import AuditRecord
from graph.services.access.session import Session, read
from graph.store.query import Find, Match, Page, TextIndex
from tests.support.operations import add, apply, block, cite, create, made, relate
from tests.support.world import TeamWorld


@pytest.mark.req("KN-17", "KN-26", "KN-41", "KN-69", "KN-82")
async def test_a_list_makes_entries_blocks_and_a_relation(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Mia works for Helio in Berlin since 2021.", speaker=world.ben)
    result = await apply(
        world,
        create("Mia", block("Works in Berlin.", cite(source, "Mia works for Helio in Berlin")), type="person", ref="m"),
        create("Helio", block("Employs Mia.", cite(source, "works for Helio")), type="organization", ref="h"),
        add("m", block("Has worked for Helio since 2021.", cite(source, "since 2021"))),
        relate("m", "works_for", "h", source, "Mia works for Helio"),
    )
    assert [record.operation for record in result.records] == [
        "entry.create",
        "entry.create",
        "block.create",
        "relation.add",
    ]
    mia, relation = made(result, 0), made(result, 3)
    (shown, found), _ = await read(
        world.deps,
        world.caller(world.ben),
        lambda s: _open_and_find(s, [mia, made(result, 2), relation]),
    )
    assert {type(node) for node in shown.values()} == {Entry, Block, Relation}
    assert [record.seq for record in found.nodes] == [1, 2, 3, 4]


@pytest.mark.req("DR-83")
async def test_what_was_written_is_found_by_its_words_at_once(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds solar kilns.", speaker=world.ben)
    result = await apply(world, create("Helio", block("Builds solar kilns.", cite(source, "builds solar kilns"))))
    question = Match(index=TextIndex.ENTRY, words=("kiln", "helio"))
    matches, _ = await read(world.deps, world.caller(world.ben), lambda s: s.reader.match(s.viewer, question))
    assert {(hit.part, hit.item) for hit in matches.hits} == {("name", made(result)), ("block", made(result))}


async def _open_and_find(session: Session, ids: list[NodeId]) -> tuple[Mapping[NodeId, Node], Page[AuditRecord]]:
    return await session.open(ids), await session.reader.find(session.viewer, Find(kind=AuditRecord))
