"""Restore through the services: acceptance examples 15 to 17, and every refusal beside its success."""

from __future__ import annotations

from datetime import timedelta

import pytest

from graph.model.access import SystemScope
from graph.model.errors import (
    BadInput,
    LimitExceeded,
    NameTaken,
    NotFound,
    NotRestorable,
    OperationRejected,
    PreviewStale,
    RestoreConflict,
)
from graph.model.fields import Json, Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Block, BlockVersion, Entry, Relation
from graph.model.nodes.work import AuditRecord
from graph.rules.audit_chain import SealedAudit
from graph.rules.audit_following import verify_chain
from graph.rules.audit_operations import AuditOperation
from graph.services.access.commands import command
from graph.services.access.recorded_reads import record_reads
from graph.services.knowledge.entries_write import delete_entry, mark_distinct, merge_entries
from graph.services.knowledge.guide import set_curation_guide
from graph.services.knowledge.withdrawal import return_source, withdraw_source
from graph.store.query import By, Eq, Find, Match, TextIndex
from tests.support.clock import FakeClock
from tests.support.knowledge_state import knowledge_state
from tests.support.operations import add, apply, block, cite, create, delete, edit, made, on_entry, relate, unrelate
from tests.support.restoring import ids_of, preview, undo
from tests.support.world import TeamWorld

SYSTEM = SystemScope(reason="looking in a test")
TEXT = "Orion runs on Postgres. Orion is hosted in Berlin. Ana leads Orion. Orion belongs to Helio. Orion uses Kafka."
TEXT += " Orion two belongs to Helio."


@pytest.fixture(autouse=True)
def ticking(world: TeamWorld, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second pass with every look at the clock: no two commits have the same time."""
    monkeypatch.setattr(clock, "now", lambda: clock.advance(timedelta(seconds=1)))


async def said(world: TeamWorld) -> NodeId:
    return await world.say(world.ops, TEXT, speaker=world.ben)


async def orion(world: TeamWorld, source: NodeId, name: str = "Orion") -> tuple[NodeId, list[NodeId]]:
    """An entry with three blocks and two aliases."""
    result = await apply(
        world,
        create(
            name,
            block("Runs on Postgres.", cite(source, "Orion runs on Postgres")),
            block("Is hosted in Berlin.", cite(source, "Orion is hosted in Berlin")),
            block("Is led by Ana.", cite(source, "Ana leads Orion")),
            type="system",
            aliases=[f"{name} platform", f"{name} core"],
        ),
    )
    return result.verdicts[0].created[0], list(result.verdicts[0].created[1:])


async def node(world: TeamWorld, id_: NodeId) -> Node:
    async with world.deps.store.reading() as reader:
        return (await reader.get(SYSTEM, [id_]))[id_]


async def current(world: TeamWorld, block_id: NodeId) -> BlockVersion:
    async with world.deps.store.reading() as reader:
        page = await reader.find(SYSTEM, Find(kind=BlockVersion, where=Eq("block_id", block_id), order=By("version")))
    return page.nodes[-1]


async def trail(world: TeamWorld) -> list[AuditRecord]:
    async with world.deps.store.reading() as reader:
        page = await reader.find(SYSTEM, Find(kind=AuditRecord, order=By("seq")))
    return list(page.nodes)


async def rewrite(world: TeamWorld, source: NodeId, block_id: NodeId, version: int, text: str) -> NodeId:
    """Edit a block as a person who corrects it; return the audit record."""
    content = block(text, cite(source, "Orion uses Kafka"), change="correction", standing="corrected")
    result = await apply(world, edit(block_id, version, content), by=world.ana)
    return result.records[0].id


@pytest.mark.req("KN-91", "KN-92", "KN-93", "KN-94", "KN-99", "KN-100")
async def test_one_edit_is_undone_as_its_preview_says(world: TeamWorld) -> None:
    source = await said(world)
    _, blocks = await orion(world, source)
    before = await knowledge_state(world.deps.store)
    record = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    shown = await preview(world, record)
    assert await knowledge_state(world.deps.store) != before
    (step,) = shown.steps
    assert (step.current or {})["text"] == "Uses Kafka."
    assert (step.restored or {})["text"] == "Runs on Postgres."
    result = await undo(world, record, confirmed=shown.preview_hash)
    version = await current(world, blocks[0])
    assert (version.text, version.version, version.modifier_id) == ("Runs on Postgres.", 3, world.ana)
    (written,) = result.records
    assert (written.operation, written.restores_id, written.reason) == ("restore", record, "it was wrong")
    assert (written.before, written.after) == (step.current, step.restored)
    assert await knowledge_state(world.deps.store) == before


@pytest.mark.req("KN-97")
async def test_one_overtaken_record_stops_the_whole_batch(world: TeamWorld) -> None:
    """Acceptance example 15."""
    source = await said(world)
    _, blocks = await orion(world, source)
    first = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    second = await rewrite(world, source, blocks[1], 1, "Uses Kafka, too.")
    await rewrite(world, source, blocks[1], 2, "Uses Kafka heavily.")
    before = [row async for row in world.deps.store.export_rows()]
    with pytest.raises(RestoreConflict) as refused:
        await undo(world, first, second)
    assert refused.value.details["conflicts"] == (second,)
    assert (await current(world, blocks[0])).text == "Uses Kafka."
    assert [row async for row in world.deps.store.export_rows()] == before
    assert len((await undo(world, first)).records) == 1


@pytest.mark.req("KN-96", "KN-98", "KN-99")
async def test_a_chain_of_edits_is_undone_newest_first(world: TeamWorld) -> None:
    """Acceptance example 16."""
    source = await said(world)
    _, blocks = await orion(world, source)
    first = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    second = await rewrite(world, source, blocks[0], 2, "Uses Kafka heavily.")
    with pytest.raises(RestoreConflict):
        await undo(world, first)
    result = await undo(world, first, second)
    assert [record.restores_id for record in result.records] == [second, first]
    version = await current(world, blocks[0])
    assert (version.text, version.version) == ("Runs on Postgres.", 5)


@pytest.mark.req("KN-90", "KN-101", "KN-102")
async def test_a_deleted_entry_comes_back_whole(world: TeamWorld) -> None:
    """Acceptance example 17."""
    source = await said(world)
    entry, blocks = await orion(world, source)
    ana = made(await apply(world, create("Ana", block("Leads Orion.", cite(source, "Ana leads Orion")), type="person")))
    helio = made(await apply(world, create("Helio", block("Owns Orion.", cite(source, "Orion belongs to Helio")))))
    led = made(await apply(world, relate(ana, "leads", entry, source, "Ana leads Orion")))
    owned = made(await apply(world, relate(entry, "belongs_to", helio, source, "Orion belongs to Helio")))
    before = await knowledge_state(world.deps.store)
    gone = await remove(world, entry)
    assert f"{entry}" not in await knowledge_state(world.deps.store)
    await remove(world, helio)
    shown = await preview(world, gone)
    assert shown.steps[0].omitted_relations == (owned,)
    result = await undo(world, gone, confirmed=shown.preview_hash)
    after = await knowledge_state(world.deps.store)
    assert {key: after.get(key) for key in (entry, *blocks, led)} == {key: before[key] for key in (entry, *blocks, led)}
    relation = await node(world, owned)
    assert isinstance(relation, Relation)
    assert not relation.current
    assert result.records[0].target_id == entry
    chain = [SealedAudit.from_node(record) for record in await trail(world)]
    assert verify_chain(chain).ok
    assert [record.draft.operation for record in chain if record.draft.target_id == entry] == [
        "entry.create",
        "entry.delete",
        "restore",
    ]


@pytest.mark.req("KN-101", "KN-62")
async def test_what_comes_back_is_found_again(world: TeamWorld) -> None:
    source = await said(world)
    entry, _ = await orion(world, source)
    question = Match(index=TextIndex.ENTRY, words=("berlin", "orion", "platform"))

    async def parts() -> set[str]:
        async with world.deps.store.reading() as reader:
            return {hit.part for hit in (await reader.match(SYSTEM, question)).hits}

    assert await parts() == {"name", "alias", "block"}
    gone = await remove(world, entry)
    assert await parts() == set()
    await undo(world, gone)
    assert await parts() == {"name", "alias", "block"}


@pytest.mark.req("KN-18", "KN-102")
async def test_a_name_taken_meanwhile_stops_the_restore(world: TeamWorld) -> None:
    source = await said(world)
    entry, _ = await orion(world, source)
    gone = await remove(world, entry)
    other, _ = await orion(world, source, "Orion")
    with pytest.raises(NameTaken) as refused:
        await undo(world, gone)
    assert refused.value.details["entry_id"] == other
    await remove(world, other)
    await undo(world, gone)
    returned = await node(world, entry)
    assert isinstance(returned, Entry)
    assert returned.live_name == "orion"


@pytest.mark.req("KN-18")
async def test_an_entry_without_evidence_gives_up_its_name_to_the_one_that_returns(world: TeamWorld) -> None:
    first, second = await said(world), await said(world)
    entry, _ = await orion(world, first)
    gone = await remove(world, entry)
    other, _ = await orion(world, second)
    await withdraw(world, second)
    await undo(world, gone)
    names = [(await node(world, id_)) for id_ in (entry, other)]
    assert [found.live_name for found in names if isinstance(found, Entry)] == ["orion", None]


@pytest.mark.req("KN-95")
async def test_a_preview_that_no_longer_holds_is_refused(world: TeamWorld) -> None:
    source = await said(world)
    _, blocks = await orion(world, source)
    record = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    stale = (await preview(world, record)).preview_hash
    await rewrite(world, source, blocks[0], 2, "Uses Kafka heavily.")
    with pytest.raises(PreviewStale):
        await undo(world, record, confirmed=stale)
    with pytest.raises(PreviewStale):
        await undo(world, record, confirmed="no such hash")
    with pytest.raises(RestoreConflict):
        await undo(world, record)


@pytest.mark.req("KN-100")
async def test_a_restore_is_restored_in_turn(world: TeamWorld) -> None:
    source = await said(world)
    entry, blocks = await orion(world, source)
    deleted = await remove(world, entry)
    gone = await knowledge_state(world.deps.store)
    back = await undo(world, deleted)
    there = await knowledge_state(world.deps.store)
    again = await undo(world, *ids_of(back.records))
    assert await knowledge_state(world.deps.store) == gone
    await undo(world, *ids_of(again.records))
    assert await knowledge_state(world.deps.store) == there
    assert (await current(world, blocks[0])).version == 3


@pytest.mark.req("KN-86")
async def test_a_restore_needs_a_reason(world: TeamWorld) -> None:
    source = await said(world)
    _, blocks = await orion(world, source)
    record = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    with pytest.raises(OperationRejected) as refused:
        await undo(world, record, reason="  ")
    assert refused.value.wire_code == "REASON_REQUIRED"
    with pytest.raises(LimitExceeded):
        await undo(world, record, reason="x" * 5_000)
    with pytest.raises(BadInput):
        await undo(world)


@pytest.mark.req("KN-103", "KN-58", "KN-60")
async def test_only_who_may_write_the_base_restores_and_hidden_records_do_not_exist(world: TeamWorld) -> None:
    source = await said(world)
    _, blocks = await orion(world, source)
    record = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    for reader in (world.ben, world.cleo, world.dan):
        if reader == world.dan:  # an admin is no member of the channel, so that its records are hidden from him
            with pytest.raises(NotFound):
                await undo(world, record, by=reader)
            continue
        assert (await preview(world, record, by=reader)).restorable
        with pytest.raises(OperationRejected) as refused:
            await undo(world, record, by=reader)
        assert refused.value.wire_code == "SCOPE_FORBIDDEN"
    for who, id_ in ((world.eve, record), (world.ana, NodeId("aud_nothing")), (world.ana, blocks[0])):
        with pytest.raises(NotFound):
            await preview(world, id_, by=who)
        with pytest.raises(NotFound):
            await undo(world, record, id_, by=who)
    await undo(world, record)


@pytest.mark.req("KN-62", "KN-60")
async def test_a_record_whose_source_is_withdrawn_is_hidden_and_comes_back_with_it(world: TeamWorld) -> None:
    source = await said(world)
    _, blocks = await orion(world, source)
    record = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    await withdraw(world, source)
    with pytest.raises(NotFound):
        await undo(world, record)
    await command(world.deps, world.caller(world.dan), lambda cmd: return_source(cmd, source, None))
    await undo(world, record)


@pytest.mark.req("KN-60", "KN-92")
async def test_a_preview_never_shows_a_present_value_on_hidden_evidence(world: TeamWorld) -> None:
    source, later = await said(world), await said(world)
    _, blocks = await orion(world, source)
    record = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    await rewrite(world, later, blocks[0], 2, "Uses Kafka, a secret.")
    (step,) = (await preview(world, record)).steps
    assert (step.conflict, (step.current or {})["text"]) == (True, "Uses Kafka, a secret.")
    await withdraw(world, later)
    (step,) = (await preview(world, record)).steps
    assert (step.conflict, step.current) == (True, None)


@pytest.mark.req("KN-103")
async def test_some_operations_cannot_be_restored(world: TeamWorld) -> None:
    source = await said(world)
    await orion(world, source)
    entry = (await trail(world))[0]
    await record_reads(world.deps, world.caller(world.ana), [NodeId(str(entry.pool))])
    record = (await trail(world))[-1]
    assert record.operation == AuditOperation.ACCESS_READ
    with pytest.raises(NotRestorable) as refused:
        await undo(world, entry.id, record.id)
    assert refused.value.details["records"] == (record.id,)


@pytest.mark.req("KN-101", "KN-31", "KN-13")
async def test_relations_end_and_return_with_evidence_and_shortcut(world: TeamWorld) -> None:
    source = await said(world)
    entry, _ = await orion(world, source)
    helio = made(await apply(world, create("Helio", block("Owns Orion.", cite(source, "Orion belongs to Helio")))))
    unrelated = await knowledge_state(world.deps.store)
    added = await apply(world, relate(entry, "belongs_to", helio, source, "Orion belongs to Helio"))
    related = await knowledge_state(world.deps.store)
    more = await said(world)
    grown = await apply(world, relate(entry, "belongs_to", helio, more, "Orion belongs to Helio"))
    assert grown.records[0].operation == "relation.add_evidence"
    await undo(world, grown.records[0].id)
    assert await knowledge_state(world.deps.store) == related
    gone = await apply(world, unrelate(made(added), 1, "retracted", cite(source, "Orion uses Kafka")))
    await undo(world, gone.records[0].id)
    assert await knowledge_state(world.deps.store) == related
    await undo(world, added.records[0].id)
    assert await knowledge_state(world.deps.store) == unrelated


@pytest.mark.req("KN-102", "KN-32", "KN-124")
async def test_names_aliases_type_summary_and_attributes_return(world: TeamWorld) -> None:
    source = await said(world)
    entry, blocks = await orion(world, source)
    states = [await knowledge_state(world.deps.store)]
    size = {"key": "hosting", "value": "Berlin", "citations": [cite(source, "Orion is hosted in Berlin")]}
    moved = {**size, "value": "Kafka", "citations": [cite(source, "Orion uses Kafka")], "change": "evolution"}
    records: list[NodeId] = []
    for version, operation in enumerate(
        (
            on_entry("renameEntry", entry, 1, name="Kafka"),
            on_entry("setType", entry, 2, type="product"),
            on_entry("setSummary", entry, 3, summary="Runs on Postgres.", fromBlocks=[blocks[0]]),
            on_entry("setAliases", entry, 4, aliases=["Orion core", "Postgres"]),
            on_entry("setAttributes", entry, 5, set=[size]),
            on_entry("setAttributes", entry, 6, set=[moved]),
            on_entry("setAttributes", entry, 7, unset=["hosting"]),
        ),
        start=1,
    ):
        result = await apply(world, operation, by=world.ana)
        assert len(result.records) == 1, version
        records.append(result.records[0].id)
        states.append(await knowledge_state(world.deps.store))
    last = await undo(world, records[-1])
    assert await knowledge_state(world.deps.store) == states[-2]
    await undo(world, *ids_of(last.records))
    assert await knowledge_state(world.deps.store) == states[-1]
    back = await undo(world, *records, last.records[0].id, (await trail(world))[-1].id)
    assert await knowledge_state(world.deps.store) == states[0]
    await undo(world, *ids_of(back.records))
    assert await knowledge_state(world.deps.store) == states[-1]


@pytest.mark.req("KN-35")
async def test_a_merge_is_undone_by_its_records_together(world: TeamWorld) -> None:
    source = await said(world)
    entry, _ = await orion(world, source)
    other, _ = await orion(world, source, "Orion two")
    helio = made(await apply(world, create("Helio", block("Owns Orion.", cite(source, "Orion belongs to Helio")))))
    await apply(world, relate(other, "belongs_to", helio, source, "Orion two belongs to Helio"))
    before = await knowledge_state(world.deps.store)
    merged = await command(
        world.deps, world.caller(world.ana), lambda cmd: merge_entries(cmd, entry, other, reason="the same")
    )
    assert other not in await knowledge_state(world.deps.store)
    await undo(world, *ids_of(merged.records))
    assert await knowledge_state(world.deps.store) == before


@pytest.mark.req("KN-102")
async def test_marks_of_distinctness_are_undone(world: TeamWorld) -> None:
    source = await said(world)
    one, _ = await orion(world, source)
    two, _ = await orion(world, source, "Orion two")
    before = await knowledge_state(world.deps.store)
    marked = await command(world.deps, world.caller(world.ana), lambda cmd: mark_distinct(cmd, one, two))
    after = await knowledge_state(world.deps.store)
    result = await undo(world, *ids_of(marked.records))
    assert await knowledge_state(world.deps.store) == before
    await undo(world, *ids_of(result.records))
    assert await knowledge_state(world.deps.store) == after


@pytest.mark.req("KN-94")
async def test_blocks_are_made_and_deleted_and_their_births_undone(world: TeamWorld) -> None:
    source = await said(world)
    entry, _ = await orion(world, source)
    start = await knowledge_state(world.deps.store)
    added = await apply(world, add(entry, block("Uses Kafka.", cite(source, "Orion uses Kafka"))))
    new = made(added)
    there = await knowledge_state(world.deps.store)
    ended = await apply(world, delete(new, 1), by=world.ana)
    await undo(world, ended.records[0].id)
    assert await knowledge_state(world.deps.store) == there
    await undo(world, added.records[0].id)
    assert await knowledge_state(world.deps.store) == start
    found = await node(world, new)
    assert isinstance(found, Block)
    assert (found.deleted_at is not None, found.current_version) == (True, 2)


@pytest.mark.req("KN-104", "KN-103")
async def test_a_guide_returns_and_only_its_person_restores_it(world: TeamWorld) -> None:
    async def write(text: str, version: int) -> NodeId:
        result = await command(
            world.deps,
            world.caller(world.ana),
            lambda cmd: set_curation_guide(cmd, world.ana, text, expected_version=version),
        )
        return result.records[0].id

    first, second = await write("Be brief.", 0), await write("Be long.", 1)
    with pytest.raises(NotFound):
        await undo(world, second, by=world.dan)
    back = await undo(world, second)
    assert back.records[0].after == {"text": "Be brief."}
    again = await undo(world, first, *ids_of(back.records), second)
    assert [record.after for record in again.records] == [{"text": "Be long."}, {"text": "Be brief."}, None]
    await undo(world, again.records[-1].id)


async def remove(world: TeamWorld, entry: NodeId) -> NodeId:
    """Delete an entry; return the record."""
    found = await node(world, entry)
    assert isinstance(found, Entry)
    result = await command(
        world.deps,
        world.caller(world.ana),
        lambda cmd: delete_entry(cmd, entry, expected_version=found.current_version, reason="not needed"),
    )
    return result.records[0].id


async def withdraw(world: TeamWorld, source: NodeId) -> None:
    await command(world.deps, world.caller(world.dan), lambda cmd: withdraw_source(cmd, source, "by mistake"))


@pytest.mark.req("KN-97", "KN-99", "AD-27")
async def test_a_batch_over_two_knowledge_bases_is_one_transaction_in_two_chains(world: TeamWorld) -> None:
    source = await said(world)
    _, blocks = await orion(world, source)
    shared = await rewrite(world, source, blocks[0], 1, "Uses Kafka.")
    await world.say(world.chat, "A secret.")
    chat = (await world.open(world.chat)).id
    made_there = await apply(world, create("Secret", block("It is one.")), by=world.ana, conversation=chat)
    before = [row async for row in world.deps.store.export_rows()]
    again = await rewrite(world, source, blocks[0], 2, "Uses Kafka heavily.")
    with pytest.raises(RestoreConflict):
        await undo(world, shared, made_there.records[0].id)
    await undo(world, again)
    assert len([row async for row in world.deps.store.export_rows()]) > len(before)
    result = await undo(world, made_there.records[0].id, *ids_of((await trail(world))[-1:]), again, shared)
    assert len({record.tx_id for record in result.records}) == 1
    assert len({record.pool for record in result.records}) == 2
    for pool in {record.pool for record in result.records}:
        own = [SealedAudit.from_node(record) for record in await trail(world) if record.pool == pool]
        assert verify_chain(own).ok
    assert (await current(world, blocks[0])).text == "Runs on Postgres."
    with pytest.raises(NotFound):
        await undo(world, *ids_of(result.records), by=world.ben)


@pytest.mark.req("KN-18", "KN-98")
async def test_two_entries_may_swap_their_names_back(world: TeamWorld) -> None:
    source = await said(world)
    one, _ = await orion(world, source, "Orion")
    two, _ = await orion(world, source, "Postgres")
    before = await knowledge_state(world.deps.store)
    records = []
    for entry, version, name in ((one, 1, "Berlin"), (two, 1, "Orion"), (one, 2, "Postgres")):
        renamed = await apply(world, on_entry("renameEntry", entry, version, name=name), by=world.ana)
        records += ids_of(renamed.records)
    swapped = await knowledge_state(world.deps.store)
    result = await undo(world, *records)
    assert await knowledge_state(world.deps.store) == before
    await undo(world, *ids_of(result.records))
    assert await knowledge_state(world.deps.store) == swapped


@pytest.mark.req("KN-81", "KN-97", "KN-103")
async def test_a_record_that_was_blanked_in_any_way_is_refused_and_nothing_is_written(world: TeamWorld) -> None:
    """Whatever of its images is gone or changed, alone or in a batch with sound records."""
    source = await said(world)
    entry, blocks = await orion(world, source)
    await apply(world, delete(blocks[0], 1, cite(source, "Orion uses Kafka")))
    ana = world.caller(world.ana)
    await command(world.deps, ana, lambda cmd: delete_entry(cmd, entry, expected_version=1, reason="gone"))
    sound = {record.id: record for record in await records(world)}
    before = await knowledge_state(world.deps.store)
    images: list[Json] = [None, "[erased]", 3, [], {}, {"blocks": 1}]
    blanks: list[dict[str, object]] = [{"before": image} for image in images]
    blanks += [{"after": {"entryId": None}}, {"salt": ""}, {"before": None, "after": None, "salt": ""}]
    blanks += [{"before": None, "after": None, "before_commitment": "", "after_commitment": ""}]
    for id_, record in sound.items():
        for blank in blanks:
            if all(getattr(record, name) == value for name, value in blank.items()):
                continue
            await change(world, id_, blank)
            for batch in ([id_], list(sound)):
                with pytest.raises(NotRestorable):
                    await preview(world, *batch)
                with pytest.raises(NotRestorable):
                    await undo(world, *batch)
            await change(world, id_, {name: getattr(record, name) for name in blank})
    assert await knowledge_state(world.deps.store) == before
    assert (await preview(world, *sound)).restorable


async def records(world: TeamWorld) -> list[AuditRecord]:
    async with world.deps.store.reading() as reader:
        return list((await reader.find(SYSTEM, Find(kind=AuditRecord, order=By("seq")))).nodes)


async def change(world: TeamWorld, id_: NodeId, fields: dict[str, object]) -> None:
    await world.deps.store.transact(lambda writer: writer.patch_many({id_: fields}))
