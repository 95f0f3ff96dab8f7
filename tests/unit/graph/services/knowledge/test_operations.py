"""`applyOperations` through the services: what is written, who may write, all or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from graph.model.errors import BadInput, LimitExceeded, NameTaken, NotFound, OperationRejected, VersionConflict
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Block, Entry, Relation
from graph.model.nodes.work import AuditRecord, Receipt
from graph.services.access.commands import command
from graph.services.access.session import Session, read
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.conversations import close_conversation
from graph.services.knowledge.entries import entry as entry_view
from graph.services.knowledge.operations import apply_operations
from graph.services.knowledge.projection import projection
from graph.services.knowledge.provenance import provenance
from graph.services.knowledge.views import EntryView
from graph.services.knowledge.withdrawal import withdraw_source
from graph.store.observing import ObservingStore, counting_round_trips
from graph.store.query import Find, Match, Page, TextIndex
from tests.support.learning import task
from tests.support.operations import add, apply, block, cite, create, delete, made, on_entry, outcomes, relate
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


@pytest.mark.req("KN-42", "KN-45", "KN-53")
async def test_what_is_written_lives_in_the_base_of_the_conversation(world: TeamWorld) -> None:
    channel, private = await world.open(world.ops), await world.open(world.chat)
    source = await world.say(world.chat, "Helio builds kilns.")
    content = create("Helio", block("Builds kilns.", cite(source, "builds kilns")))
    result = await apply(world, content, conversation=private.id)
    assert {record.pool for record in result.records} == {private.pool}
    with pytest.raises(OperationRejected) as caught:
        await apply(world, content, conversation=channel.id)
    assert caught.value.wire_code == "EVIDENCE_NOT_FOUND"


@pytest.mark.req("DR-44", "KN-60")
async def test_hidden_and_missing_evidence_are_refused_in_the_same_words(world: TeamWorld) -> None:
    secret = await world.say(world.chat, "My salary is 90k.")
    answers = []
    for source in (secret, "src_00000000000000000000000099"):
        result = await apply(world, create("Pay", block("Is 90k.", cite(source, "salary is 90k"))), dry_run=True)
        answers.append((result.verdicts[0].code, result.verdicts[0].reason, dict(result.verdicts[0].details)))
    assert answers[0] == answers[1]


@pytest.mark.req("KN-53")
async def test_a_curator_cites_a_private_chat_only_in_its_own_base(world: TeamWorld) -> None:
    secret = await world.say(world.chat, "My salary is 90k.")
    content = create("Pay", block("Is 90k.", cite(secret, "salary is 90k")))
    channel, private = (await world.open(world.ops)).pool, (await world.open(world.chat)).pool
    with pytest.raises(OperationRejected) as caught:
        await apply(world, content, by=world.ana, kb=channel)
    assert caught.value.wire_code == "SCOPE_FORBIDDEN"
    assert outcomes(await apply(world, content, by=world.ana, kb=private)) == ["accepted"]


@pytest.mark.req("KN-56")
async def test_an_agent_writes_through_its_conversation_alone(world: TeamWorld) -> None:
    channel, private = await world.open(world.ops), await world.open(world.chat)
    source = await world.say(world.ops, "Helio builds kilns.")
    content = create("Helio", block("Builds kilns.", cite(source, "builds kilns")))
    with pytest.raises(OperationRejected) as alone:
        await apply(world, content, kb=channel.pool)
    with pytest.raises(OperationRejected) as outside:
        await apply(world, content, conversation=channel.id, kb=private.pool)
    assert {alone.value.wire_code, outside.value.wire_code} == {"SCOPE_FORBIDDEN"}
    assert outcomes(await apply(world, content, conversation=channel.id, kb=channel.pool)) == ["accepted"]


@pytest.mark.req("KN-51")
async def test_a_closed_conversation_is_written_no_more(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    conversation = await world.open(world.ops)
    await command(world.deps, world.caller(world.host), lambda cmd: close_conversation(cmd, conversation.id))
    with pytest.raises(OperationRejected) as caught:
        await apply(world, create("Helio", block("x", cite(source, "builds kilns"))), conversation=conversation.id)
    assert caught.value.wire_code == "CONVERSATION_CLOSED"


@pytest.mark.req("KN-58", "KN-60")
async def test_who_may_not_write_is_told_so_only_where_he_may_read(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    channel = (await world.open(world.ops)).pool
    content = create("Helio", block("Builds kilns.", cite(source, "builds kilns")))
    for reader in (world.ben, world.cleo):
        with pytest.raises(OperationRejected) as caught:
            await apply(world, content, by=reader, kb=channel)
        assert caught.value.wire_code == "SCOPE_FORBIDDEN"
    for kb in (channel, NodeId("knb_nowhere")):
        with pytest.raises(NotFound):
            await apply(world, content, by=world.eve, kb=kb)
    with pytest.raises(BadInput):
        await command(
            world.deps,
            world.caller(world.ana),
            lambda cmd: apply_operations(cmd, operations=[content], reason=""),
        )


@pytest.mark.req("KN-112")
async def test_a_dry_run_tells_the_verdicts_and_writes_nothing(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    good = create("Helio", block("Builds kilns.", cite(source, "builds kilns")), ref="h")
    bad = add("h", block("Builds ovens.", cite(source, "builds ovens")))
    before = await _rows(world)
    result = await apply(world, good, bad, dry_run=True)
    assert outcomes(result) == ["accepted", "QUOTE_NOT_VERBATIM"]
    assert result.records == ()
    assert await _rows(world) == before


@pytest.mark.req("KN-111")
async def test_one_rejection_rejects_all_and_lists_every_rejection(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    good = create("Helio", block("Builds kilns.", cite(source, "builds kilns")), ref="h")
    bad = add("h", block("Builds ovens.", cite(source, "builds ovens")))
    before = await _rows(world)
    with pytest.raises(OperationRejected) as caught:
        await apply(world, good, bad, {"op": "nonsense"})
    details = caught.value.details
    assert (caught.value.wire_code, details["index"], details["op"]) == ("QUOTE_NOT_VERBATIM", 1, "addBlock")
    assert [(r["index"], r["code"]) for r in details["rejections"]] == [
        (1, "QUOTE_NOT_VERBATIM"),
        (2, "UNKNOWN_OPERATION"),
    ]
    assert await _rows(world) == before


@pytest.mark.req("KN-18", "KN-87", "KN-21")
async def test_conflicts_come_as_errors_of_their_kind(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns.")
    quote = cite(source, "builds kilns")
    first = made(await apply(world, create("Helio", block("Builds kilns.", quote))))
    with pytest.raises(NameTaken) as taken:
        await apply(world, create("HELIO", block("Builds kilns.", quote)))
    assert taken.value.details["entry_id"] == first
    with pytest.raises(VersionConflict) as stale:
        await apply(world, on_entry("setType", first, 7, type="organization"))
    assert stale.value.details["current"] == {"version": 1, "type": "concept"}
    with pytest.raises(LimitExceeded):
        await apply(world, create("x" * 201, block("Builds kilns.", quote)))


@pytest.mark.req("KN-68", "KN-71", "KN-111")
async def test_a_persons_own_text_ends_in_a_raw_source(world: TeamWorld) -> None:
    channel = (await world.open(world.ops)).pool
    result = await apply(world, create("Helio", block("Builds kilns.", basis="authored")), by=world.ana, kb=channel)
    traced, _ = await read(world.deps, world.caller(world.ben), lambda s: provenance(s, made(result, place=1), depth=4))
    (note,) = [node for node in traced.nodes if isinstance(node, Source)]
    assert (note.kind, note.text, note.author_id, note.speaker) == ("human_note", "Builds kilns.", world.ana, "Ana")


@pytest.mark.req("KN-7", "KN-24", "KN-25", "KN-37", "KN-38")
async def test_the_projection_shows_what_was_written(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns in Berlin.")
    result = await apply(
        world,
        create("Helio", block("Builds kilns.", cite(source, "builds kilns")), aliases=["HLO"], type="organization"),
    )
    text, _ = await read(world.deps, world.caller(world.ben), lambda s: projection(s, made(result)))
    assert text.startswith("# Helio\n")
    assert "HLO" in text
    assert "Builds kilns." in text
    assert "## Sources" in text


@pytest.mark.req("KN-76", "KN-124")
async def test_an_alias_that_only_hidden_evidence_supports_is_left_out(world: TeamWorld) -> None:
    first = await world.say(world.ops, "Helio builds kilns.")
    second = await world.say(world.ops, "Helio is called Sunny here.")
    entry = made(await apply(world, create("Helio", block("Builds kilns.", cite(first, "builds kilns")))))
    await apply(
        world,
        add(entry, block("Is called Sunny.", cite(second, "called Sunny here"))),
        on_entry("setAliases", entry, 1, aliases=["Sunny"]),
        on_entry("setSummary", entry, 2, summary="A builder.", fromBlocks=[(await _blocks(world, entry))[0]]),
    )
    await _withdraw(world, second)
    shown = await _entry(world, entry)
    assert shown is not None
    assert (shown.name, shown.aliases, shown.summary) == ("Helio", (), "A builder.")
    await _withdraw(world, first)
    assert await _entry(world, entry) is None


async def test_the_present_is_loaded_in_few_round_trips_however_long_the_list(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds kilns in Berlin and Graz.")
    entry = made(await apply(world, create("Helio", block("Builds kilns.", cite(source, "builds kilns")))))
    counts = []
    for size in (2, 30):
        measured = TeamWorld(deps=replace(world.deps, store=ObservingStore(world.deps.store)), name=world.name)
        many = [add(entry, block(f"Fact {size} {n}.", cite(source, "builds kilns"))) for n in range(size)]
        with counting_round_trips() as counted:
            await apply(measured, *many)
        counts.append(sum(counted.values()))
    assert counts[1] <= counts[0] + 2


async def _rows(world: TeamWorld) -> int:
    return len([row async for row in world.deps.store.export_rows() if not isinstance(row, Receipt)])


async def _blocks(world: TeamWorld, entry: NodeId) -> list[NodeId]:
    found, _ = await read(world.deps, world.caller(world.ana), lambda s: blocks_of(s, [entry]))
    return [view.node.id for view in found[entry]]


async def _entry(world: TeamWorld, entry: NodeId) -> EntryView | None:
    found, _ = await read(world.deps, world.caller(world.ben), lambda s: entry_view(s, entry))
    return found


async def _withdraw(world: TeamWorld, source: NodeId) -> None:
    await command(world.deps, world.caller(world.host), lambda cmd: withdraw_source(cmd, source, "gone"))


@pytest.mark.req("DR-73")
async def test_the_words_of_a_stored_rumour_carry_no_relation(world: TeamWorld) -> None:
    said = await world.say(world.ops, "Kai leads the Atlas team.")
    first = await apply(
        world,
        create("Kai", block("Leads it.", cite(said, "Kai leads")), type="person"),
        create("Atlas team", block("Led by Kai.", cite(said, "Kai leads the Atlas team"))),
    )
    kai, team = made(first, 0), made(first, 1)
    heard = await world.say(world.ops, "I heard Kai left the Atlas team.", name="Ben")
    left = relate(kai, "left", team, heard, "Kai left the Atlas team")
    assert outcomes(await apply(world, left, dry_run=True)) == ["accepted"]
    rumour = block(
        "Ben heard on 10 May 2025 that Kai left.", cite(heard, "Kai left"), change="rumour", standing="unconfirmed"
    )
    await apply(world, add(kai, rumour))
    assert outcomes(await apply(world, left, dry_run=True)) == ["RUMOUR_OVERRIDE"]


@pytest.mark.req("DR-48", "DR-73")
async def test_what_moves_or_goes_is_judged_by_evidence_that_the_list_does_not_name(world: TeamWorld) -> None:
    steps = await task(world, ("ok", "restarted the cache"))
    said = await world.say(world.ops, "Kai leads the Atlas team.")
    heard = await world.say(world.ops, "I heard Kai left the Atlas team.", name="Ben")
    first = await apply(
        world,
        create("Testing", block("Restart the cache.", cite(steps, "restarted the cache")), type="practice"),
        create("Kai", block("Leads the team.", cite(said, "Kai leads")), type="person"),
    )
    practice, step, kai, leads = (made(first, index, place) for index in (0, 1) for place in (0, 1))
    told = block("Ben heard on 10 May 2025 that Kai left.", cite(heard, "Kai left"), change="rumour")
    await apply(world, add(kai, {**told, "standing": "unconfirmed"}))
    for operation, code in (
        (on_entry("setType", practice, 1, type="system"), "TASK_RESULT_NOT_EVIDENCE"),
        (delete(step, 1, duplicateOf=leads), "TASK_RESULT_NOT_EVIDENCE"),
        (delete(leads, 1, cite(heard, "Kai left the Atlas team")), "RUMOUR_OVERRIDE"),
    ):
        assert outcomes(await apply(world, operation, dry_run=True)) == [code]


@pytest.mark.req("KN-21", "DR-42")
async def test_a_reason_without_end_is_a_verdict_of_its_operation(world: TeamWorld) -> None:
    source = await world.say(world.ops, "Helio builds solar kilns.")
    content = create("Helio", block("Builds solar kilns.", cite(source, "builds solar kilns")))
    result = await apply(world, {**content, "reason": "x" * 1_001}, dry_run=True)
    assert (result.verdicts[0].code, dict(result.verdicts[0].details)["field"]) == ("LIMIT_EXCEEDED", "reason")
