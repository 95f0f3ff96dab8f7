"""Operation lists on a real Neo4j: one story from creation to deletion, and writers at the same time."""

from __future__ import annotations

import asyncio

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry, Relation
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries_write import delete_entry
from graph.services.knowledge.operations import ApplyResult
from graph.store.query import Find, Newest, Page, Tagged
from tests.support.operations import add, apply, block, cite, create, edit, made, on_entry, outcomes, relate
from tests.support.world import TeamWorld

pytestmark = [pytest.mark.neo4j, pytest.mark.parametrize("engine", ["neo4j"], indirect=True)]


async def entries(session: Session, *tags: str) -> Page[Entry]:
    return await session.page(Find(kind=Entry, where=Tagged(tags), order=Newest()))


@pytest.mark.req("KN-12")
async def test_a_story_from_creation_to_deletion(world: TeamWorld) -> None:
    m1 = await world.say(world.ops, "Ana joined Helio, which builds kilns.")
    first = await apply(
        world,
        create("Ana", block("Joined Helio.", cite(m1, "Ana joined Helio")), type="person", ref="a"),
        create("Helio", block("Builds kilns.", cite(m1, "builds kilns")), ref="h"),
        relate("a", "member_of", "h", m1, "Ana joined Helio"),
    )
    helio, block_id = first.verdicts[1].created[:2]
    m2 = await world.say(world.ops, "Helio builds kilns and ovens; Ana joined Helio in May.")
    second = await apply(
        world,
        edit(block_id, 1, block("Builds kilns and ovens.", cite(m2, "kilns and ovens"))),
        on_entry("renameEntry", helio, 1, name="Helio GmbH"),
        on_entry("setType", helio, 2, type="organization"),
        relate(made(first), "member_of", helio, m2, "Ana joined Helio in May"),
    )
    assert outcomes(second) == ["accepted", "accepted", "accepted", "merged"]
    caller = world.caller(world.ben)
    page, _ = await read(world.deps, caller, lambda s: entries(s, "type:organization"))
    assert [(entry.id, entry.name) for entry in page.nodes] == [(helio, "Helio GmbH")]
    await command(
        world.deps, world.caller(world.ana), lambda cmd: delete_entry(cmd, helio, expected_version=3, reason="x")
    )
    page, _ = await read(world.deps, caller, lambda s: entries(s, "live"))
    assert [entry.name for entry in page.nodes] == ["Ana"]


@pytest.mark.req("KN-82")
async def test_writers_at_the_same_time_each_succeed_once(world: TeamWorld) -> None:
    start = await world.say(world.ops, "Acme tracks invoices.")
    acme = made(await apply(world, create("Acme", block("Tracks.", cite(start, "tracks invoices")))))
    conversation = (await world.open(world.ops)).id
    source = await world.say(world.ops, "Invoice 17 was paid. " + " ".join(f"P{n} joined Acme." for n in range(6)))

    async def person(n: int) -> NodeId:
        quote = f"P{n} joined Acme."
        result = await apply(
            world,
            create(f"P{n}", block(quote, cite(source, quote)), type="person", ref="p"),
            relate("p", "member_of", acme, source, quote),
            conversation=conversation,
        )
        return made(result, 1)

    async def paid() -> ApplyResult:
        statement = block("Invoice 17 was paid.", cite(source, "Invoice 17 was paid"))
        return await apply(world, add(acme, statement), conversation=conversation)

    related = await asyncio.gather(*(person(n) for n in range(6)))
    same = await asyncio.gather(*(paid() for _ in range(6)))
    assert len(set(related)) == 6
    assert len({made(result) for result in same}) == 1
    caller = world.caller(world.ben)
    found, _ = await read(world.deps, caller, lambda s: s.page(Find(kind=Relation)))
    assert len(found.nodes) == 6
    blocks, _ = await read(world.deps, caller, lambda s: blocks_of(s, [acme]))
    assert len(blocks[acme]) == 2
