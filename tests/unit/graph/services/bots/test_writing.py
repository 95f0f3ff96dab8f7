"""One change set: version, guards, log and audit together; widening; what server calls get."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graph.model.access import SystemScope
from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry, BotLogRow, BotPool
from graph.model.nodes.work import AuditRecord
from graph.rules import bot_entries
from graph.rules.bot_entries import EntryChange
from graph.services.bots.context import context, validate_references
from graph.services.bots.reading import ACTIVE, tagged
from graph.services.bots.widening import may_share
from graph.services.bots.write import ChangeSet
from graph.store.query import Find
from tests.support.bot_room import BotRoom

ALL = SystemScope(reason="test")


@pytest.mark.req("BM-23", "BM-18", "BM-141")
async def test_a_change_set_is_one_version_whatever_it_holds(room: BotRoom) -> None:
    ids = [await room.fact(f"Fact {n}.", topics=["trip"]) for n in range(3)]
    draft = bot_entries.fact("New.", ["rain"], [await room.item("chat_61", "i-new")])
    assert draft is not None
    renamed = [bot_entries.renamed(await room.entry(id_), "trip", "travel") for id_ in ids]
    gone = bot_entries.invalidated(await room.entry(ids[0]))

    await room.learn(draft, changes=given(*renamed, gone))

    pool = await pool_of(room)
    assert (pool.version, pool.access_version, pool.audit_seq) == (4, 2, 4)
    async with room.deps.store.reading() as reader:
        rows = (await reader.find(ALL, Find(kind=BotLogRow))).nodes
    assert sorted(row.version for row in rows) == [1, 2, 3, 4, 4, 4, 4]
    first = await room.entry(ids[0])
    assert (first.tags[-1], first.invalidated_at, first.updated_at) == ("travel", pool_time(room), pool_time(room))
    async with room.reads("u_1") as reads:
        assert {entry.id for entry in await reads.entries(tagged(["travel"]))} == set(ids)
        assert await reads.entries(tagged(["trip"])) == ()
        assert len(await reads.entries(ACTIVE)) == 3
        assert await reads.topic_counts() == {"rain": 1, "travel": 2}


@pytest.mark.req("BM-23", "BM-62")
async def test_plain_additions_move_the_version_alone_and_an_empty_set_nothing(room: BotRoom) -> None:
    await room.fact("One.")
    await room.fact("Two.")
    before = await pool_of(room)
    assert (before.version, before.access_version) == (2, 1)

    assert (await room.write(ChangeSet())).pool == before
    assert await pool_of(room) == before


@pytest.mark.req("BM-184", "BM-185", "BM-187", "BM-188")
async def test_contents_and_makers_are_sealed_and_what_the_checks_need_is_clear(room: BotRoom) -> None:
    id_ = await room.fact("The moon is a balloon.", topics=["moon"])

    async with room.deps.store.reading() as reader:
        rows = (await reader.find(ALL, Find(kind=BotLogRow))).nodes
        records = (await reader.find(ALL, Find(kind=AuditRecord))).nodes
        raw = [repr(row) async for row in room.deps.store.export_rows()]
    entry = await room.entry(id_)
    assert (entry.chars, entry.tags[-1], entry.sources) == (22, "moon", [{"chat": "chat_61", "item": "n-1"}])
    assert len(rows) == len(records) == 1
    assert not any("balloon" in text or "memory_bot" in text for text in raw)
    assert b"balloon" not in entry.content.data


@pytest.mark.req("BM-51", "BM-52", "BM-53")
async def test_sharing_must_pass_the_rule_of_every_source(room: BotRoom) -> None:
    private, shared = await room.fact("Private."), await room.group_fact("Shared.")
    mixed, plain = await room.observe("From both.", private, shared), await room.observe("From one.", shared)

    assert await allowed(room, plain) == ["for:channel:ch_5", "for:person:u_2"]
    assert await allowed(room, mixed) == []
    await room.members("u_1")
    assert await allowed(room, plain) == ["for:channel:ch_5"]


@pytest.mark.req("BM-53", "BM-49")
async def test_a_pinned_entry_below_admits_its_owner_alone(room: BotRoom) -> None:
    (kept,) = await room.learn(
        bot_entries.pinned("Mine.", [], person=room.person("u_1"), organization=room.organization())
    )
    shared = await room.group_fact("Shared.")
    above = await room.observe("From both.", kept, shared)

    assert await allowed(room, above) == []
    assert await allowed(room, kept) == []


@pytest.mark.req("BM-53", "BM-48", "BM-46")
async def test_what_proves_nothing_cannot_be_shared(room: BotRoom) -> None:
    line = {"kind": "entry", "id": "mem_1", "layer": "observation", "confidence": 1, "content": "Old.", "createdAt": 1}
    tags = ["for:channel:ch_5", "org:o_4"]
    await room.take_in({**line, "tags": tags, "sources": [{"entry": "mem_gone"}]})
    await room.take_in({**line, "id": "mem_2", "tags": tags})

    assert await allowed(room, "mem_1") == await allowed(room, "mem_2") == []


@pytest.mark.req("BM-53", "BM-43", "BM-64")
async def test_a_shared_observation_is_shown_while_its_sources_are(room: BotRoom) -> None:
    above = await room.observe("Concluded.", await room.group_fact("Shared."))
    opened = room.deps.vault.openings

    await room.change(above, lambda entry: bot_entries.shared(entry, "for:person:u_2"))

    assert room.deps.vault.openings == opened
    assert "for:person:u_2" in (await room.entry(above)).tags
    await room.members("u_1")
    async with room.reads("u_2") as reads:
        assert await reads.entries() == ()
    await room.members("u_1", "u_2")
    async with room.reads("u_2") as reads:
        assert above in [entry.id for entry in await reads.entries()]


@pytest.mark.req("BM-3", "BM-109", "BM-111", "BM-103")
async def test_a_group_gets_its_own_entries_and_those_for_everyone(room: BotRoom) -> None:
    await room.fact("For one person.")
    shared = await room.group_fact("For the group.")
    everyone = await room.fact("For everyone.", await room.item("chat_61", "i-open", open_to_all=True))

    async with room.reads() as group:
        found = await context(group)
    async with room.reads(group="ch_6") as other:
        elsewhere = await context(other)
    async with room.reads(organization="o_5") as abroad:
        nowhere = await context(abroad)

    assert (found.text, found.references) == ("For everyone.\nFor the group.", (everyone, shared))
    assert elsewhere.references == (everyone,)
    assert not nowhere.has_entries


@pytest.mark.req("BM-110", "BM-112")
async def test_the_text_ends_before_the_first_entry_that_does_not_fit(room: BotRoom) -> None:
    for length in (5, 30, 10):
        await room.fact("x" * length)
    opened = room.deps.vault.openings

    async with room.reads("u_1") as reads:
        sizes = {limit: len((await context(reads, limit)).references) for limit in (9, 10, 40, 41, 46, 47)}

    assert sizes == {9: 0, 10: 1, 40: 1, 41: 2, 46: 2, 47: 3}
    assert room.deps.vault.openings - opened == sum(sizes.values())


@pytest.mark.req("BM-113", "BM-114", "BM-61")
async def test_references_hold_while_every_source_permits(room: BotRoom) -> None:
    one, shared = await room.fact("One."), await room.group_fact("Shared.")
    above = await room.observe("Above.", one, shared)
    opened = room.deps.vault.openings

    assert await holds(room, "u_1", one, above)
    assert await holds(room, "u_1")
    assert not await holds(room, "u_2", above)
    assert not await holds(room, "u_1", one, "mem_unknown")
    assert not await holds(room, "u_1", one, room.bot.pool)
    await room.change(one, bot_entries.invalidated)
    assert not await holds(room, "u_1", one)
    assert not await holds(room, "u_1", above)
    assert await holds(room, "u_1", shared)
    await room.members("u_2")
    assert not await holds(room, "u_1", shared)
    assert room.deps.vault.openings == opened


@pytest.mark.req("BM-54", "BM-59")
async def test_a_conclusion_from_what_no_longer_counts_is_not_made(room: BotRoom) -> None:
    one = await room.fact("One.")
    await room.change(one, bot_entries.invalidated)

    assert bot_entries.observation("Above.", [], 0.5, [await room.entry(one)]) is None


@pytest.mark.req("BM-154", "BM-62")
async def test_a_change_that_fails_at_its_end_leaves_nothing(room: BotRoom, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("away")

    monkeypatch.setattr("graph.services.bots.write.record", fail)
    with pytest.raises(StoreUnavailable):
        await room.fact("Lost.")

    async with room.deps.store.reading() as reader:
        assert (await reader.find(ALL, Find(kind=BotEntry))).nodes == ()
        assert (await reader.find(ALL, Find(kind=BotPool))).nodes == ()


async def allowed(room: BotRoom, id_: str) -> list[str]:
    """Return to whom an entry may be shared, of the channel, its member, the owner of the bot and everyone."""
    entry = await room.entry(id_)
    asked = ["for:channel:ch_5", "for:person:u_2", "for:person:u_9", "for:bot"]
    async with room.deps.store.reading() as reader:
        return [tag for tag in asked if await may_share(reader, entry, tag)]


async def holds(room: BotRoom, who: str, *references: str) -> bool:
    async with room.reads(who) as reads:
        return await validate_references(reads, references)


async def pool_of(room: BotRoom) -> BotPool:
    async with room.deps.store.reading() as reader:
        found = (await reader.get(ALL, [room.bot.pool]))[NodeId(room.bot.pool)]
    assert isinstance(found, BotPool)
    return found


def pool_time(room: BotRoom) -> int:
    return room.deps.now()


def given(*changes: EntryChange | None) -> Sequence[EntryChange]:
    assert None not in changes
    return [change for change in changes if change is not None]
