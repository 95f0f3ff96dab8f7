"""Remember, Forget and purge through the routes; what they leave, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.model.access import SystemScope
from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotEntry, BotLogRow
from graph.model.nodes.people import Right
from graph.model.nodes.work import AuditRecord
from graph.rules import bot_entries
from graph.services.bots.context import context
from graph.store.query import Direction, Eq, Find
from tests.support.bot_room import BotRoom, Rest

ALL = SystemScope(reason="test")


@pytest.mark.req("BM-13", "BM-144", "BM-145", "BM-146", "BM-26", "BM-27", "BM-28")
async def test_remember_keeps_a_pinned_entry_each_time(room: BotRoom, u_1: Rest, u_2: Rest) -> None:
    first = await u_1.remember(" My desk phone is off. ", "availability", "availability")
    second = await u_1.remember(" My desk phone is off. ")

    at = room.deps.now()
    assert (first.status, first.body["version"], second.body["version"]) == (200, 1, 2)
    assert first.body["entry"] == {
        "id": first.body["entry"]["id"],
        "layer": "pinned",
        "content": " My desk phone is off. ",
        "tags": ["from:u_1", "for:person:u_1", "org:o_4", "availability"],
        "sources": [],
        "status": "active",
        "createdAt": at,
        "updatedAt": at,
    }
    assert set(await u_1.ids()) == {reply.body["entry"]["id"] for reply in (first, second)}
    assert await u_2.ids() == []


@pytest.mark.req("BM-153", "BM-15", "BM-95")
async def test_no_command_makes_a_retracted_entry_active_again(room: BotRoom, u_1: Rest) -> None:
    id_ = (await u_1.remember("Off on Fridays.")).body["entry"]["id"]
    assert (await u_1.forget(id_)).body["entry"]["status"] == "retracted"

    again = (await u_1.remember("Off on Fridays.")).body["entry"]["id"]

    assert {entry["id"]: entry["status"] for entry in await u_1.memory()} == {id_: "retracted", again: "active"}
    refused = await u_1.send("POST", body={"command": {"_tag": "Restore", "id": id_}})
    assert (refused.status, refused.tag, refused.body["path"]) == (400, "InvalidRequest", "command._tag")


@pytest.mark.req("BM-20", "BM-64", "AD-31")
async def test_a_change_of_tags_or_status_leaves_the_sealed_content_alone(room: BotRoom, u_1: Rest) -> None:
    id_ = await room.fact("Sealed once.", topics=["trip"])
    before = await room.entry(id_)
    opened = room.deps.vault.openings

    await room.change(id_, lambda entry: bot_entries.renamed(entry, "trip", "travel"))
    await room.change(id_, bot_entries.invalidated)

    after = await room.entry(id_)
    assert (after.content, after.chars) == (before.content, before.chars)
    assert (after.tags[-1], after.invalidated_at) == ("travel", room.deps.now())
    assert room.deps.vault.openings == opened
    assert (await u_1.memory())[0]["content"] == "Sealed once."


@pytest.mark.req("BM-151", "BM-174")
async def test_unknown_hidden_and_foreign_ids_are_refused_alike(room: BotRoom, u_1: Rest, u_2: Rest) -> None:
    hidden = await room.fact("Hidden from u_2.")
    odd = ["", "\0", "mem_", "mem_\0", "mem_" + "x" * 5_000, "mem_' OR 1=1 --", "mem_🧺", "prn_x", room.bot.pool]
    bodies = [(await u_2.forget(id_)).body for id_ in (hidden, "mem_unknown", *odd)]

    assert bodies == [bodies[0]] * len(bodies)
    assert bodies[0]["_tag"] == "BotMemoryConflict"
    assert bodies[0]["reason"] == "not_yours"
    assert (await u_1.send("GET")).body["version"] == 1


@pytest.mark.req("BM-150", "BM-141")
async def test_who_left_a_shared_entry_does_not_see_it_or_what_rests_on_it(room: BotRoom, u_1: Rest, u_2: Rest) -> None:
    shared = await room.group_fact("Known in the channel.")
    above = await room.observe("Concluded in the channel.", shared)
    over = await room.observe("Concluded from that.", above)

    assert (await u_1.forget(shared)).body == {"entry": None, "version": 4}

    assert await u_1.ids() == []
    assert await u_1.log() == []
    assert await u_1.ids("tags=channel:ch_5") == []
    async with room.reads("u_1") as reads:
        assert not (await context(reads)).has_entries
        assert await reads.topic_counts() == {}
    assert await u_2.ids() == [over, above, shared]
    async with room.reads() as group:
        assert set((await context(group)).references) == {over, above, shared}
    await room.members("u_2")
    await room.members("u_1", "u_2")
    assert await u_1.ids() == []
    kept = await room.observe("Concluded later.", shared)
    assert await u_1.ids() == []
    assert (await u_2.ids())[0] == kept


@pytest.mark.req("BM-150", "BM-154")
async def test_a_removed_from_tag_still_counts_for_the_purge(room: BotRoom, u_1: Rest, u_2: Rest, u_9: Rest) -> None:
    shared = await room.group_fact("Known in the channel.")
    await u_1.forget(shared)
    assert await u_2.ids("tags=from:u_1") == []
    assert await u_2.ids() == [shared]

    assert (await u_9.purge("from:u_1")).body == {"deleted": 1}

    assert await u_2.ids() == []


@pytest.mark.req("BM-152", "BM-149")
async def test_forgetting_twice_changes_nothing_more(room: BotRoom, u_1: Rest) -> None:
    id_ = await room.fact("Mine.")
    first = await u_1.forget(id_)
    room.tick()
    again = await u_1.forget(id_)

    assert first.body == again.body
    assert len(await u_1.log()) == 2


@pytest.mark.req("BM-155", "BM-159", "BM-160")
async def test_a_purge_follows_links_and_takes_everything_of_every_status(
    room: BotRoom, u_1: Rest, u_2: Rest, u_9: Rest
) -> None:
    gone = await room.fact("Goes.")
    await u_1.forget(gone)
    others = await room.fact("Hidden.", await room.item("chat_61", "i-2", "u_2"), topics=["trip"])
    elsewhere = await room.fact("Elsewhere.", await room.item("chat_61", "i-5", organization="o_5"))
    stays = await room.group_fact("Stays.")
    untagged = {
        "kind": "entry",
        "id": "mem_untagged",
        "layer": "observation",
        "confidence": 0.5,
        "content": "Old.",
        "tags": ["for:person:u_2", "org:o_4"],
        "sources": [{"entry": others}],
        "createdAt": 1,
    }
    above = {**untagged, "id": "mem_above", "sources": [{"entry": "mem_untagged"}, {"entry": "mem_never"}]}
    links = [{"entry": others}]
    cycle = [{**untagged, "id": f"mem_{a}", "sources": [{"entry": f"mem_{b}"}, *links]} for a, b in ("xy", "yx")]
    await room.take_in(untagged, above, *cycle)
    version = (await u_1.send("GET")).body["version"]
    opened = room.deps.vault.openings

    assert (await u_9.purge("chat:chat_61")).body == {"deleted": 7}

    assert room.deps.vault.openings == opened
    async with room.deps.store.reading() as reader:
        left = await reader.find(ALL, Find(kind=BotEntry))
        rows = await reader.find(ALL, Find(kind=BotLogRow))
        purged = [NodeId(id_) for id_ in (gone, others, elsewhere, "mem_untagged", "mem_above", "mem_x", "mem_y")]
        edges = await reader.edges(ALL, purged, [EdgeType.CITES, EdgeType.DERIVED_FROM], Direction.OUT)
        assert await reader.guards(purged) == {}
    assert [entry.id for entry in left.nodes] == [stays]
    assert {row.entry_id for row in rows.nodes} == {stays}
    assert edges == []
    assert (await u_1.send("GET")).body["version"] == version + 1
    assert [change["entries"] for change in await u_2.log()] == [[stays]]


@pytest.mark.req("BM-23", "BM-157")
async def test_a_purge_that_finds_nothing_is_no_change(room: BotRoom, u_9: Rest) -> None:
    assert (await u_9.purge("chat:chat_61")).body == {"deleted": 0}
    await room.fact("Stays.")

    for tag in ("from:u_2", "chat:\0", "chat:' OR 1=1 --", "from:*", "chat:🧺", "org:" + "x" * 5_000):
        assert (await u_9.purge(tag)).body == {"deleted": 0}
    assert (await u_9.send("GET")).body["version"] == 1


@pytest.mark.req("BM-154", "BM-158", "BM-179")
@pytest.mark.parametrize(
    ("body", "path"),
    [
        *(({"tag": tag}, "tag") for tag in ("for:bot", "for:person:u_1", "app:calendar", "trip", "chat:", "", "from:")),
        ({"tag": ["chat:chat_61", "org:o_4"]}, "tag"),
        ({"tags": ["chat:chat_61"]}, "tag"),
        ({"tag": "chat:chat_61", "org": "o_4"}, "org"),
        ({}, "tag"),
    ],
)
async def test_a_purge_takes_one_tag_of_four_kinds(room: BotRoom, u_9: Rest, body: Any, path: str) -> None:
    await room.fact("Stays.")

    reply = await u_9.send("POST", "/purge", body)

    assert (reply.status, reply.tag, reply.body["path"]) == (400, "InvalidRequest", path)


@pytest.mark.req("BM-147", "BM-179", "BM-21")
@pytest.mark.parametrize(
    ("command", "path"),
    [
        ({"_tag": "Remember", "content": "x", "tags": ["for:bot"]}, "command.tags"),
        ({"_tag": "Remember", "content": "x", "tags": ["Trip"]}, "command.tags"),
        ({"_tag": "Remember", "content": "x", "tags": [f"t-{n}" for n in range(21)]}, "command.tags"),
        ({"_tag": "Remember", "content": "x" * 4_001}, "command.content"),
        ({"_tag": "Remember", "content": " \n"}, "command.content"),
        ({"_tag": "Remember", "content": "a\0"}, "command.content"),
        ({"_tag": "Remember", "content": 1}, "command.content"),
        ({"_tag": "Remember", "content": "x", "tags": None}, "command.tags"),
        ({"_tag": "Remember", "content": "x", "expected": 1}, "command.expected"),
        ({"_tag": "Remember"}, "command.content"),
        ({"_tag": "Forget"}, "command.id"),
        ({"_tag": "Forget", "id": None}, "command.id"),
        ({"_tag": "remember", "content": "x"}, "command._tag"),
        ("Remember", "command"),
    ],
)
async def test_a_command_that_does_not_fit_is_refused_and_stores_nothing(u_1: Rest, command: Any, path: str) -> None:
    reply = await u_1.send("POST", body={"command": command})

    assert (reply.status, reply.tag, reply.body["path"]) == (400, "InvalidRequest", path)
    assert (await u_1.send("GET")).body == {"entries": [], "version": 0}


@pytest.mark.req("BM-154", "BM-188", "AD-26")
async def test_steps_are_audited_with_ids_and_codes_alone(room: BotRoom, u_1: Rest, u_9: Rest) -> None:
    id_ = (await u_1.remember("My desk phone is off.")).body["entry"]["id"]
    await u_1.forget(id_)
    await u_9.purge("from:u_1")

    async with room.deps.store.reading() as reader:
        found = (await reader.find(ALL, Find(kind=AuditRecord, where=Eq("pool", room.bot.pool)))).nodes
        readers = await reader.guards([record.id for record in found])
    steps = sorted(found, key=lambda record: record.seq)
    assert [(record.operation, record.actor_id) for record in steps] == [
        ("bot.remember", room.person("u_1")),
        ("bot.forget", room.person("u_1")),
        ("bot.purge", room.person("u_9")),
    ]
    assert steps[0].target_id == steps[1].target_id == id_
    assert steps[2].after == {"version": 3, "tag": "from:u_1", "deleted": 1}
    assert all("desk phone" not in str(record) for record in steps)
    assert {rule.object_id for record in steps[:2] for rule in readers[record.id].rules or ()} == {room.person("u_1")}


@pytest.mark.req("BM-144", "BM-146")
async def test_who_asks_in_no_organization_keeps_nothing(room: BotRoom, u_1: Rest) -> None:
    several = replace(u_1, token=await room.world.token(room.person("u_1")))

    reply = await several.remember("x")

    assert (reply.status, reply.tag) == (403, "Forbidden")
    assert await several.ids() == []


@pytest.mark.req("BM-144")
async def test_only_people_have_entries_of_their_own(room: BotRoom, u_1: Rest) -> None:
    await room.world.grant(room.world.host, Right.READ, room.agent("bot_9"))
    service = replace(u_1, token=await room.world.token(room.world.host))

    assert await service.ids() == []
    assert [(await service.remember("x")).status, (await service.forget("mem_x")).status] == [403, 403]
