"""Delete, merge and tell apart entries, through store and reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from graph.model.access import SystemScope
from graph.model.errors import BadInput, Forbidden, NotFound, OperationRejected, VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.model.nodes.work import AuditRecord
from graph.rules.scopes import MemoryScope
from graph.services.access.commands import Command, command
from graph.services.access.session import Session, read
from graph.services.knowledge.audit_verify import verify_audit
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.conversations import set_routing_rule
from graph.services.knowledge.entries import entry as entry_view
from graph.services.knowledge.entries_write import delete_entry, mark_distinct, merge_entries
from graph.services.knowledge.neighborhood import neighborhood
from graph.services.knowledge.relations import relations
from graph.store.query import And, By, Eq, Find, Match, TextIndex
from tests.support.operations import add, apply, block, cite, create, made, relate
from tests.support.world import TeamWorld

T = TypeVar("T")


async def ask(world: TeamWorld, question: Callable[[Session], Awaitable[T]]) -> T:
    answer, _ = await read(world.deps, world.caller(world.ben), question)
    return answer


async def do(world: TeamWorld, work: Callable[[Command], Awaitable[T]], *, by: NodeId | None = None) -> T:
    return await command(world.deps, world.caller(by or world.ana), work)


async def two(world: TeamWorld) -> tuple[NodeId, NodeId, NodeId]:
    """Ana, Helio and Helio GmbH; Ana likes the last."""
    source = await world.say(world.ops, "Ana likes Helio GmbH, the old Helio that builds kilns.")
    result = await apply(
        world,
        create("Ana", block("Likes Helio GmbH.", cite(source, "Ana likes Helio GmbH")), ref="a"),
        create("Helio", block("Builds kilns.", cite(source, "builds kilns")), ref="h"),
        create("Helio GmbH", block("Liked by Ana.", cite(source, "Ana likes Helio GmbH")), ref="g"),
        relate("a", "likes", "g", source, "Ana likes Helio GmbH"),
    )
    return made(result, 0), made(result, 1), made(result, 2)


@pytest.mark.req("KN-36", "KN-90")
async def test_a_deleted_entry_leaves_reads_and_search_and_keeps_its_audit(world: TeamWorld) -> None:
    ana, _, helio = await two(world)
    await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=1, reason="not needed"))
    assert await ask(world, lambda s: entry_view(s, helio)) is None
    assert (await ask(world, lambda s: relations(s, ana, first=5))).items == ()
    question = Match(index=TextIndex.ENTRY, words=("gmbh",))
    hits = (await ask(world, lambda s: s.reader.match(s.viewer, question))).hits
    assert helio not in {hit.item for hit in hits}
    where = Find(kind=AuditRecord, where=Eq("target_id", helio))
    records = (await ask(world, lambda s: s.reader.find(s.viewer, where))).nodes
    assert {record.operation for record in records} == {"entry.create", "entry.delete"}


@pytest.mark.req("KN-18", "KN-36")
async def test_the_name_of_a_deleted_entry_is_free(world: TeamWorld) -> None:
    _, _, helio = await two(world)
    await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=1, reason="not needed"))
    source = await world.say(world.ops, "Helio GmbH is back.")
    result = await apply(world, create("Helio GmbH", block("Is back.", cite(source, "is back"))))
    assert made(result) != helio
    with pytest.raises(NotFound):
        await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=1, reason="again"))


@pytest.mark.req("DR-53", "KN-58", "KN-86", "KN-87")
async def test_deleting_needs_right_reason_and_version(world: TeamWorld) -> None:
    _, _, helio = await two(world)
    with pytest.raises(VersionConflict):
        await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=2, reason="x"))
    with pytest.raises(OperationRejected) as silent:
        await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=1, reason=" "))
    assert silent.value.wire_code == "REASON_REQUIRED"
    with pytest.raises(Forbidden):
        await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=1, reason="x"), by=world.atlas)
    with pytest.raises(OperationRejected) as reader:
        await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=1, reason="x"), by=world.ben)
    assert reader.value.wire_code == "SCOPE_FORBIDDEN"
    with pytest.raises(NotFound):
        await do(world, lambda cmd: delete_entry(cmd, helio, expected_version=1, reason="x"), by=world.eve)
    unknown = NodeId("ent_nowhere")
    with pytest.raises(NotFound):
        await do(world, lambda cmd: delete_entry(cmd, unknown, expected_version=1, reason="x"))


@pytest.mark.req("KN-35")
async def test_merged_entries_are_one_with_all_blocks_relations_and_names(world: TeamWorld) -> None:
    ana, keep, other = await two(world)
    done = await do(world, lambda cmd: merge_entries(cmd, keep, other, reason="the same"))
    assert [record.operation for record in done.records] == [
        "block.move",
        "relation.remove",
        "relation.add",
        "entry.set_aliases",
        "entry.delete",
    ]
    assert len({record.tx_id for record in done.records}) == 1
    shown = await ask(world, lambda s: entry_view(s, keep))
    assert shown is not None
    assert (shown.name, shown.aliases) == ("Helio", ("Helio GmbH",))
    found = await ask(world, lambda s: blocks_of(s, [keep]))
    assert [v.current.node.text for v in found[keep] if v.current] == ["Builds kilns.", "Liked by Ana."]
    (left,) = (await ask(world, lambda s: relations(s, ana, first=5))).items
    assert left.node.object_id == keep
    assert await ask(world, lambda s: entry_view(s, other)) is None
    matches = await ask(world, lambda s: s.reader.match(s.viewer, Match(index=TextIndex.ENTRY, words=("like",))))
    assert {hit.item for hit in matches.hits if hit.part == "block"} == {ana, keep}


@pytest.mark.req("KN-35", "DR-53")
async def test_only_a_person_merges_two_entries_of_one_base(world: TeamWorld) -> None:
    _, keep, other = await two(world)
    source = await world.say(world.chat, "Helio pays well.")
    private = await world.open(world.chat)
    content = create("Helio", block("Pays well.", cite(source, "pays well")))
    elsewhere = made(await apply(world, content, conversation=private.id))
    for who in (world.atlas, world.host):
        with pytest.raises(Forbidden):
            await do(world, lambda cmd: merge_entries(cmd, keep, other, reason="x"), by=who)
    with pytest.raises(BadInput):
        await do(world, lambda cmd: merge_entries(cmd, keep, keep, reason="x"))
    with pytest.raises(OperationRejected) as caught:
        await do(world, lambda cmd: merge_entries(cmd, keep, elsewhere, reason="x"))
    assert caught.value.wire_code == "SCOPE_FORBIDDEN"
    with pytest.raises(NotFound):
        await do(world, lambda cmd: merge_entries(cmd, keep, NodeId("ent_nowhere"), reason="x"))


@pytest.mark.req("CO-73")
async def test_two_entries_are_marked_distinct_and_again_without_effect(world: TeamWorld) -> None:
    _, one, other = await two(world)
    first = await do(world, lambda cmd: mark_distinct(cmd, one, other))
    again = await do(world, lambda cmd: mark_distinct(cmd, other, one))
    assert [record.operation for record in first.records] == ["entry.mark_distinct"]
    assert again.records == ()


async def test_a_merged_entry_can_be_written_on(world: TeamWorld) -> None:
    _, keep, other = await two(world)
    await do(world, lambda cmd: merge_entries(cmd, keep, other, reason="the same"))
    source = await world.say(world.ops, "Helio sells ovens.")
    await apply(world, add(keep, block("Sells ovens.", cite(source, "sells ovens"))))
    found = await ask(world, lambda s: blocks_of(s, [keep]))
    assert [v.current.node.text for v in found[keep] if v.current] == ["Builds kilns.", "Liked by Ana.", "Sells ovens."]


async def chat_about(world: TeamWorld, shared: NodeId) -> tuple[NodeId, NodeId]:
    """In the private chat Wren, who likes an entry of the shared base; return both ends' relation and Wren."""
    chat = await world.open(world.chat)
    source = await world.say(world.chat, "Wren likes Helio GmbH.", speaker=world.ana)
    wren = create("Wren", block("Likes Helio GmbH.", cite(source, "Wren likes Helio GmbH")), ref="w")
    link = relate("w", "likes", shared, source, "Wren likes Helio GmbH")
    result = await apply(world, wren, link, by=world.ana, conversation=chat.id)
    return made(result, 1), made(result, 0)


async def shared_two(world: TeamWorld) -> tuple[NodeId, NodeId]:
    """Helio and Helio GmbH in the shared base."""
    shared = MemoryScope.SHARED
    await do(world, lambda cmd: set_routing_rule(cmd, world.ops, shared, isolated=False), by=world.dan)
    source = await world.say(world.ops, "Helio GmbH, the old Helio, builds kilns.")
    blocks = [block(f"Builds kilns {n}.", cite(source, "builds kilns")) for n in range(2)]
    result = await apply(world, create("Helio", blocks[0]), create("Helio GmbH", blocks[1]))
    return made(result, 0), made(result, 1)


async def likes(world: TeamWorld, who: NodeId, entry: NodeId) -> list[NodeId]:
    """Return whom an entry is related to, as somebody sees it."""
    found, _ = await read(world.deps, world.caller(who), lambda s: relations(s, entry, first=9))
    return [relation.node.object_id for relation in found.items]


@pytest.mark.req("KN-13", "KN-27", "KN-35", "KN-82")
async def test_relations_of_a_private_chat_follow_a_merge_and_the_merger_is_told_nothing(world: TeamWorld) -> None:
    keep, other = await shared_two(world)
    relation, wren = await chat_about(world, other)
    await world.grant(world.dan, Right.CURATOR, world.atlas)
    done = await do(world, lambda cmd: merge_entries(cmd, keep, other, reason="the same"), by=world.dan)
    assert await likes(world, world.ana, wren) == [keep]
    chat = (await world.open(world.chat)).pool
    assert chat not in {record.pool for record in done.records}
    async with world.deps.store.reading() as reader:
        where = And((Eq("pool", chat), Eq("tx_id", done.tx_id)))
        query = Find(kind=AuditRecord, where=where, order=By("seq"))
        written = (await reader.find(SystemScope(reason="looking in a test"), query)).nodes
    assert [(record.operation, record.actor_id) for record in written] == [
        ("relation.remove", world.dan),
        ("relation.add", world.dan),
    ]
    assert written[0].target_id == relation
    verified, _ = await read(world.deps, world.caller(world.cleo), verify_audit)
    assert verified.ok


@pytest.mark.req("KN-36", "KN-82")
async def test_relations_of_a_private_chat_end_with_the_entry_they_point_at(world: TeamWorld) -> None:
    keep, other = await shared_two(world)
    _, wren = await chat_about(world, other)
    assert await likes(world, world.ana, wren) == [other]
    await do(world, lambda cmd: delete_entry(cmd, other, expected_version=1, reason="not needed"))
    assert await likes(world, world.ana, wren) == []
    near, _ = await read(world.deps, world.caller(world.ana), lambda s: neighborhood(s, wren))
    assert [entry.id for entry in near.nodes] == [wren]
    assert await ask(world, lambda s: entry_view(s, keep)) is not None
