"""Old bot memory: what its records prove is shown, and nothing that comes later shows the rest (BM-162 to BM-170)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.errors import AlreadyExists, BadInput, Forbidden, MissingObject, NotFound, RootwardError
from graph.model.fields import Node
from graph.model.ids import NodeId, hosted_id
from graph.model.nodes.bots import BotEntry, BotLogRow, BotPool, Chat, ChatItem, Confession, Enrichment
from graph.model.nodes.people import Right
from graph.model.nodes.work import AuditRecord
from graph.rules.bot_old_memory import OldMemory
from graph.services.access.commands import command
from graph.services.access.session import read
from graph.services.bots.importing import import_memory
from graph.services.bots.view import LogChange, log_of, memory_of
from graph.store.port import Writer
from graph.store.query import Find
from graph.store.sealing import Place
from tests.support.bot_room import BotRoom

ALL = SystemScope(reason="test")
ITEM = {"kind": "item", "chat": "chat_61", "id": "i-08", "type": "person_message", "occurredAt": 5}


@pytest.mark.req("AD-21", "BM-162", "BM-40")
async def test_an_old_fact_shows_to_whom_its_records_admit(room: BotRoom) -> None:
    await room.take_in(
        ITEM,
        fact("mem_mine", access="person:u_1"),
        fact("mem_group", access="channel:ch_5", tags=["for:channel:ch_5"]),
        fact("mem_all", access="bot", tags=["for:bot"]),
        fact("mem_wider", access="person:u_1", tags=["for:bot"]),
    )

    assert await shown(room, "u_1") == ["mem_all", "mem_group", "mem_mine", "mem_wider"]
    assert await shown(room, "u_2") == ["mem_all", "mem_group"]
    await room.members("u_2")
    assert await shown(room, "u_1") == ["mem_all", "mem_mine", "mem_wider"]


@pytest.mark.req("BM-42", "BM-48", "BM-163")
async def test_of_a_source_that_is_named_twice_every_record_must_pass(room: BotRoom) -> None:
    def twice(id_: str, one: str | None, other: str | None) -> dict[str, Any]:
        return {**fact(id_, tags=["for:bot"]), "sources": [source("i-08", one), source("i-08", other)]}

    await room.take_in(
        ITEM,
        twice("mem_same", "bot", "bot"),
        twice("mem_narrow", "person:u_1", "bot"),
        twice("mem_nobody", "person:u_2", "person:u_1"),
        twice("mem_unproved", None, "bot"),
    )

    assert await shown(room, "u_1") == ["mem_narrow", "mem_same"]
    assert await shown(room, "u_2") == ["mem_same"]


@pytest.mark.req("BM-163", "BM-164", "BM-165", "BM-166")
async def test_what_was_missing_at_the_import_stays_missing_whatever_comes(room: BotRoom) -> None:
    gap = {**fact("mem_gap", access="person:u_1"), "sources": [source("i-late", "person:u_1")]}
    await room.take_in(gap, observation("mem_above", "mem_gap"), observation("mem_later", "mem_comes"))
    assert await shown(room, "u_1") == []

    await room.take_in({**ITEM, "id": "i-late"}, pinned("mem_comes"), gap)
    await room.item("chat_61", "i-late")

    assert await shown(room, "u_1") == ["mem_comes"]
    rebuilt = await room.fact("Rebuilt from an item whose access can be checked.", await room.item("chat_61", "i-late"))
    assert set(await shown(room, "u_1")) == {"mem_comes", rebuilt}


@pytest.mark.req("BM-167", "BM-49")
async def test_an_old_pinned_entry_is_its_owners_alone_whatever_its_tags_say(room: BotRoom) -> None:
    await room.take_in(
        pinned("mem_own"),
        {**pinned("mem_wide"), "tags": ["for:bot", "org:o_4"]},
        {**pinned("mem_two"), "tags": ["for:person:u_1", "for:person:u_2", "org:o_4"]},
    )

    assert await shown(room, "u_1") == ["mem_own"]
    assert await shown(room, "u_2") == []


@pytest.mark.req("AD-21", "BM-47", "BM-45")
async def test_the_order_of_lines_does_not_matter(room: BotRoom) -> None:
    lines = [observation(f"mem_{n}", f"mem_{n - 1}") for n in range(120, 0, -1)]

    counts = await room.take_in(*lines, observation("mem_loop", "mem_5", "mem_loop"), fact("mem_0"), ITEM)

    assert (counts.entries, counts.items) == (122, 1)
    assert len(await shown(room, "u_1")) == 121


@pytest.mark.req("AD-21")
async def test_importing_again_changes_nothing(room: BotRoom) -> None:
    lines = [ITEM, fact("mem_1"), log(3, "promotion", "mem_1"), *records(), chat("chat_old")]
    first = await room.take_in(*lines)
    before = await everything(room)

    again = await room.take_in(*lines)

    assert (first.entries, first.known, first.chats, first.items, first.records) == (1, 0, 1, 1, 2)
    assert (again.entries, again.known, again.chats, again.items, again.records) == (0, 1, 0, 0, 0)
    assert first.version == again.version == 3
    assert await everything(room) == before


@pytest.mark.req("AD-21")
async def test_an_id_that_is_taken_elsewhere_stops_the_import_whole(room: BotRoom) -> None:
    elsewhere = await room.world.deps.store.transact(lambda writer: _other_pool(room, writer))
    before = await everything(room)

    with pytest.raises(AlreadyExists):
        await room.take_in(ITEM, chat("chat_new"), fact("mem_1"), pinned(elsewhere))

    assert await everything(room) == before
    assert (await room.entry(elsewhere)).pool == "bpl_other"


@pytest.mark.req("AD-21")
async def test_a_source_in_another_pool_is_a_gap(room: BotRoom) -> None:
    elsewhere = await room.world.deps.store.transact(lambda writer: _other_pool(room, writer))

    await room.take_in(observation("mem_1", elsewhere))

    assert await shown(room, "u_1") == []


@pytest.mark.req("BM-142", "BM-23", "BM-143")
async def test_the_old_log_is_carried_over_and_goes_on(room: BotRoom) -> None:
    await room.take_in(
        pinned("mem_1"),
        pinned("mem_2"),
        log(2, "promotion", "mem_1", "mem_2", "mem_unknown"),
        log(7, "person", "mem_2"),
    )
    newer = await room.fact("Newer.")

    changes = await logged(room)

    assert [(change.version, change.by, change.entries) for change in changes] == [
        (8, "memory_bot", (newer,)),
        (7, "person", ("mem_2",)),
        (2, "promotion", ("mem_1", "mem_2")),
    ]
    with pytest.raises(BadInput):
        await room.take_in(pinned("mem_3"), log(8, "person", "mem_3"))
    assert "mem_3" not in await shown(room, "u_1")


@pytest.mark.req("BM-110", "BM-21")
async def test_old_contents_may_be_longer(room: BotRoom) -> None:
    await room.take_in({**pinned("mem_long"), "content": "y" * 6_000})

    assert (await room.entry("mem_long")).chars == 6_000


@pytest.mark.req("BM-16", "BM-55", "BM-150")
async def test_status_times_and_who_left_are_carried_over(room: BotRoom) -> None:
    await room.take_in(
        ITEM,
        {**fact("mem_old", access="bot", tags=["for:bot"]), "status": "retracted", "updatedAt": 9, "invalidatedAt": 8},
        {**fact("mem_left", access="bot", tags=["for:bot"]), "excluded": ["u_1"], "removedTags": ["from:u_1"]},
    )

    assert await shown(room, "u_1") == ["mem_old"]
    assert await shown(room, "u_2") == ["mem_left", "mem_old"]
    kept = await room.entry("mem_old")
    assert (kept.status, kept.created_at, kept.updated_at, kept.invalidated_at) == ("retracted", 1, 9, 8)
    assert (await room.entry("mem_left")).removed_tags == ("from:u_1",)


@pytest.mark.req("BM-170", "BM-184")
async def test_old_confessions_and_enrichments_are_sealed_and_may_lack_the_original(room: BotRoom) -> None:
    await room.take_in(*records())

    async with room.deps.store.reading() as reader:
        (confession,) = (await reader.find(ALL, Find(kind=Confession))).nodes
        (enrichment,) = (await reader.find(ALL, Find(kind=Enrichment))).nodes
    assert enrichment.original is None
    assert (confession.created_at, confession.entries) == (1, ("mem_1",))
    assert "stuck" not in repr(confession) + repr(enrichment)


@pytest.mark.req("BM-171", "AD-21")
async def test_old_records_of_a_group_chat_are_for_who_may_read_the_chat(room: BotRoom) -> None:
    await room.take_in(*({**record, "chat": "chat_70", "entries": []} for record in records()))
    async with room.deps.store.reading() as reader:
        kinds: tuple[type[Node], ...] = (Confession, Enrichment)
        ids = [node.id for kind in kinds for node in (await reader.find(ALL, Find(kind=kind))).nodes]
    assert len(ids) == 2

    assert await opened(room, "u_2", ids) == set(), "being in the group is no right on its chat"
    await room.world.grant(room.person("u_2"), Right.READ, room.chat_id("chat_70"))
    assert await opened(room, "u_2", ids) == set(ids)


@pytest.mark.req("BM-159")
async def test_old_items_are_not_learned_anew(room: BotRoom) -> None:
    await room.take_in(ITEM, {**ITEM, "id": "i-09"})

    async with room.deps.store.reading() as reader:
        place = (await reader.get(ALL, [room.chat_id("chat_61")]))[room.chat_id("chat_61")]
    assert isinstance(place, Chat)
    assert place.read_seq == place.item_seq == 2


@pytest.mark.req("AD-21")
@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ([{"kind": "item", "chat": "chat_nope", "id": "i", "type": "notification", "occurredAt": 1}], NotFound),
        ([{"kind": "chat", "id": "c", "organization": "o_nope", "person": "u_1", "createdAt": 1}], NotFound),
        ([{"kind": "chat", "id": "c", "organization": "o_4", "person": "u_nope", "createdAt": 1}], NotFound),
    ],
)
async def test_chats_of_nobody_are_refused(room: BotRoom, lines: list[Any], error: type[RootwardError]) -> None:
    with pytest.raises(error):
        await room.take_in(*lines)


@pytest.mark.req("AD-21", "BM-178")
async def test_only_an_admin_imports_and_into_a_bot_that_is_no_link(room: BotRoom) -> None:
    with pytest.raises(Forbidden):
        await command(room.deps, room.caller("u_9"), lambda cmd: import_memory(cmd, room.bot.id, OldMemory()))
    with pytest.raises(BadInput):
        await room.take_in(pinned("mem_1"), bot="bot_link")
    with pytest.raises(MissingObject):
        await room.take_in(pinned("mem_1"), bot="bot_nope")


@pytest.mark.req("AD-26", "AD-21")
async def test_an_import_is_audited_by_a_count(room: BotRoom) -> None:
    await room.take_in(pinned("mem_1"))

    async with room.deps.store.reading() as reader:
        (record,) = (await reader.find(ALL, Find(kind=AuditRecord))).nodes
    assert (record.operation, record.after) == ("bot.import", {"version": 1, "entries": 1})


async def shown(room: BotRoom, who: str) -> list[str]:
    """Return the ids that a person sees, in byte order."""
    view, _ = await read(room.deps, room.caller(who), lambda session: memory_of(session, room.bot.id))
    return sorted(entry["id"] for entry in view.entries)


async def opened(room: BotRoom, who: str, ids: Sequence[NodeId]) -> set[NodeId]:
    """Return which of some nodes a person may see."""
    found, _ = await read(room.deps, room.caller(who), lambda session: session.open(ids))
    return set(found)


async def logged(room: BotRoom) -> tuple[LogChange, ...]:
    changes, _ = await read(room.deps, room.caller("u_1"), lambda session: log_of(session, room.bot.id))
    return changes


async def everything(room: BotRoom) -> list[Any]:
    """Return all nodes of bot memory and the audit."""
    found: list[Any] = []
    async with room.deps.store.reading() as reader:
        for kind in (BotEntry, BotLogRow, BotPool, Chat, ChatItem, Confession, Enrichment, AuditRecord):
            found += (await reader.find(ALL, Find(kind=kind))).nodes
    return found


async def _other_pool(room: BotRoom, writer: Writer) -> str:
    """Write an entry that lives in another pool, and return its id."""
    id_ = NodeId("mem_taken")
    sealed = room.deps.vault.seal(Place(workspace=room.workspace, node=id_, field="content"), "text")
    entry = BotEntry(
        id=id_,
        workspace=room.workspace,
        pool=NodeId("bpl_other"),
        created_at=room.deps.now(),
        bot_id=hosted_id("prn", room.workspace, "other", container="agent"),
        layer="pinned",
        content=sealed,
        chars=4,
        status="active",
        updated_at=room.deps.now(),
    )
    await writer.put([entry])
    return id_


def source(item: str, access: str | None) -> dict[str, Any]:
    return {"chat": "chat_61", "item": item, **({"access": access} if access else {})}


def pinned(id_: str) -> dict[str, Any]:
    tags = ["from:u_1", "for:person:u_1", "org:o_4"]
    return {"kind": "entry", "id": id_, "layer": "pinned", "content": f"Text of {id_}.", "tags": tags, "createdAt": 1}


def fact(id_: str, access: str | None = "person:u_1", tags: list[str] | None = None) -> dict[str, Any]:
    given = ["org:o_4", *(tags or ["for:person:u_1"])]
    return {**pinned(id_), "layer": "fact", "tags": given, "sources": [source("i-08", access)]}


def observation(id_: str, *sources: str) -> dict[str, Any]:
    given = [{"entry": entry} for entry in sources]
    return {**pinned(id_), "layer": "observation", "confidence": 0.5, "sources": given}


def chat(id_: str) -> dict[str, Any]:
    return {"kind": "chat", "id": id_, "organization": "o_4", "channel": "ch_5", "createdAt": 1}


def log(version: int, by: str, *entries: str) -> dict[str, Any]:
    return {"kind": "log", "version": version, "at": version, "by": by, "entries": list(entries)}


def records() -> list[dict[str, Any]]:
    common = {"chat": "chat_61", "turn": "t-1", "text": "I am stuck.", "entries": ["mem_1"], "createdAt": 1}
    return [{"kind": "confession", **common, "answer": "I hear you."}, {"kind": "enrichment", **common}]
