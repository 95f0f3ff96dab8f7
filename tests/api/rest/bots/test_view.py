"""What GET shows: entries in memory order, filtered by tags, with their past, and the caller's log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.access import SystemScope
from graph.model.nodes.people import Right
from graph.model.nodes.sessions import AgentEntry, SessionFact
from graph.rules import bot_entries
from tests.support.bot_room import BotRoom, Rest

ALL = SystemScope(reason="test")


@pytest.mark.req("BM-10", "BM-14", "BM-18", "BM-19", "BM-136", "BM-188")
async def test_an_entry_shows_as_the_contract_writes_it(room: BotRoom, u_1: Rest) -> None:
    id_ = await room.fact("Write the changelog.", await room.item("chat_61", "i-08"), topics=["releases"])

    reply = await u_1.send("GET", "?tags=releases")

    at = room.deps.now()
    assert reply.headers["Cache-Control"] == "no-store"
    assert reply.body == {
        "entries": [
            {
                "id": id_,
                "layer": "fact",
                "content": "Write the changelog.",
                "tags": ["from:u_1", "for:person:u_1", "org:o_4", "chat:chat_61", "releases"],
                "sources": [{"chat": "chat_61", "item": "i-08"}],
                "status": "active",
                "createdAt": at,
                "updatedAt": at,
            }
        ],
        "version": 1,
    }
    assert len(id_) >= len("mem_") + 16
    assert id_.removeprefix("mem_").isalnum()
    assert id_.islower()


@pytest.mark.req("BM-11", "BM-12", "BM-13", "BM-26", "BM-27", "BM-29", "BM-30", "BM-33", "BM-34", "BM-59")
async def test_an_observation_shows_its_entries_its_confidence_and_the_tags_of_all_its_sources(
    room: BotRoom, u_1: Rest
) -> None:
    private = await room.fact("Private.", await room.item("chat_61", "i-1", app="calendar"), topics=["trip"])
    shared = await room.group_fact("Shared.", operator="u_2")
    pinned = (await u_1.remember("Pinned.")).body["entry"]["id"]
    concluded = await room.observe("From both.", private, shared, confidence=1, topics=["rain", "a-1"])

    shown = {entry["id"]: entry for entry in await u_1.memory()}
    at = room.deps.now()
    assert shown[concluded] == {
        "id": concluded,
        "layer": "observation",
        "content": "From both.",
        "tags": [
            *("from:u_1", "from:u_2", "for:person:u_1", "org:o_4", "chat:chat_61", "chat:chat_70"),
            *("channel:ch_5", "app:calendar", "a-1", "rain"),
        ],
        "sources": [{"entry": private}, {"entry": shared}],
        "status": "active",
        "confidence": 1,
        "createdAt": at,
        "updatedAt": at,
    }
    assert shown[shared]["tags"] == ["from:u_2", "for:channel:ch_5", "org:o_4", "chat:chat_70", "channel:ch_5"]
    assert [id_ for id_ in (private, shared, pinned) if "confidence" in shown[id_]] == []


@pytest.mark.req("BM-1", "BM-2", "BM-5", "BM-6", "BM-9", "BM-23")
async def test_one_pool_is_fed_by_all_chats_of_a_bot_and_by_no_other_surface(room: BotRoom, u_1: Rest) -> None:
    private, shared = await room.fact("From a private chat."), await room.group_fact("From a channel.")
    kept = (await u_1.remember("From a person.")).body["entry"]["id"]

    concluded = await room.observe("From both.", private, shared)
    layers = {entry["id"]: entry["layer"] for entry in await u_1.memory()}
    assert layers == {private: "fact", shared: "fact", kept: "pinned", concluded: "observation"}
    assert (await u_1.send("GET")).body["version"] == 4
    await room.world.grant(room.person("u_1"), Right.READ, room.world.atlas)
    assert await replace(u_1, bot="atlas").ids() == []
    async with room.deps.store.reading() as reader:
        assert await reader.aggregate(ALL, SessionFact) == await reader.aggregate(ALL, AgentEntry) == {None: 0}
    assert (await u_1.http.get("/v1/chats/chat_61/memory")).status_code == 404, "a chat has no fact list"


@pytest.mark.req("BM-22", "BM-138")
async def test_all_entries_come_newest_first_and_ties_by_id(room: BotRoom, u_1: Rest) -> None:
    await room.take_in(*(old(f"mem_{name}", created) for name, created in (("b", 5), ("a", 5), ("c", 9), ("d", 1))))
    newest = await room.fact("z" * 3_000)

    assert await u_1.ids() == [newest, "mem_c", "mem_a", "mem_b", "mem_d"]


@pytest.mark.req("BM-138")
async def test_the_view_is_unpaged(room: BotRoom, u_1: Rest) -> None:
    await room.take_in(*(old(f"mem_{number:04}", number) for number in range(1_100)))

    assert await u_1.ids() == [f"mem_{number:04}" for number in reversed(range(1_100))]


@pytest.mark.req("BM-16", "BM-54", "BM-55", "BM-138", "BM-17")
async def test_what_no_longer_holds_is_shown_as_history_and_supports_nothing(room: BotRoom, u_1: Rest) -> None:
    one, other = await room.fact("One."), await room.fact("Other.")
    above = await room.observe("Both.", one, other)
    over = await room.observe("Above both.", above)

    await room.change(one, bot_entries.invalidated)

    shown = {entry["id"]: entry for entry in await u_1.memory()}
    assert shown.keys() == {one, other}
    assert (shown[one]["status"], shown[one]["invalidatedAt"]) == ("active", room.deps.now())
    assert shown[one]["updatedAt"] == room.deps.now()
    assert "invalidatedAt" not in shown[other]
    assert over not in shown


@pytest.mark.req("BM-139")
async def test_tags_filter_by_all_of_them(room: BotRoom, u_1: Rest) -> None:
    trip = await room.fact("Trip.", topics=["trip", "rain"])
    rain = await room.fact("Rain.", topics=["rain"])

    assert await u_1.ids("tags=rain") == [rain, trip]
    assert await u_1.ids("tags=%20rain%20,,trip,") == [trip]
    assert await u_1.ids("tags=chat:chat_61,org:o_4,rain,trip") == [trip]
    assert await u_1.ids("tags=") == [rain, trip]
    for odd in ("snow", "for:person:u_2", "%00", "%FF", "%27%20OR%201=1", "tri", "TRIP", "x" * 5_000):
        assert await u_1.ids(f"tags={odd}") == []


@pytest.mark.req("BM-35", "BM-36", "BM-38")
async def test_for_and_org_tags_decide_who_may_see_an_old_entry(room: BotRoom, u_1: Rest, u_2: Rest) -> None:
    await room.take_in(
        shown("mem_both", "for:person:u_1", "for:person:u_2", "org:o_4"),
        shown("mem_nobody", "org:o_4"),
        shown("mem_nowhere", "for:person:u_1"),
        shown("mem_twice", "for:person:u_1", "org:o_4", "org:o_5"),
        shown("mem_elsewhere", "for:person:u_1", "org:o_5"),
        shown("mem_all", "for:bot", "org:o_4"),
        {"kind": "item", "chat": "chat_61", "id": "i-old", "type": "person_message", "occurredAt": 1},
    )

    assert set(await u_1.ids()) == set(await u_2.ids()) == {"mem_both", "mem_all"}
    other = replace(u_1, token=await room.token("u_1", organization="o_5"))
    assert await other.ids() == ["mem_elsewhere"]


@pytest.mark.req("BM-39", "BM-42", "BM-44", "BM-52", "BM-137")
async def test_every_items_own_rule_must_pass_whatever_the_entry_says(
    room: BotRoom, u_1: Rest, u_2: Rest, u_9: Rest
) -> None:
    mixed = [
        {"chat": "chat_61", "item": "i-1", "access": "channel:ch_5"},
        {"chat": "chat_61", "item": "i-2", "access": "person:u_2"},
    ]
    items = [
        {"kind": "item", "chat": "chat_61", "id": f"i-{n}", "type": "person_message", "occurredAt": n} for n in (1, 2)
    ]
    await room.take_in(*items, {**shown("mem_mixed", "for:bot", "org:o_4"), "sources": mixed})

    assert await u_2.ids() == ["mem_mixed"]
    assert await u_1.ids() == await u_9.ids() == []


@pytest.mark.req("BM-60", "BM-61")
async def test_only_what_the_answer_shows_is_decrypted(room: BotRoom, u_1: Rest, u_2: Rest) -> None:
    hidden, open_ = await room.fact("Hidden from u_2."), await room.group_fact("For both.")
    await room.observe("From both.", hidden, open_)
    opened = room.deps.vault.openings

    assert await u_2.ids() == [open_]
    assert room.deps.vault.openings == opened + 1
    assert len(await u_1.ids()) == 3
    assert room.deps.vault.openings == opened + 4
    await u_1.ids("tags=nothing")
    assert room.deps.vault.openings == opened + 4


@pytest.mark.req("BM-141", "BM-142", "BM-143", "BM-184")
async def test_the_log_tells_of_what_the_caller_sees_newest_first(room: BotRoom, u_1: Rest, u_2: Rest) -> None:
    private, shared = await room.fact("Private."), await room.group_fact("Shared.")
    await room.learn(
        changes=[
            change
            for id_ in (private, shared)
            if (change := bot_entries.retagged(await room.entry(id_), ["trip"])) is not None
        ]
    )
    await u_1.forget(private)
    now = room.deps.now()

    assert await u_1.log() == [
        {"version": 4, "at": now, "by": "person", "entries": [private]},
        {"version": 3, "at": now, "by": "memory_bot", "entries": sorted([private, shared])},
        {"version": 2, "at": now - 1_000, "by": "memory_bot", "entries": [shared]},
        {"version": 1, "at": now - 2_000, "by": "memory_bot", "entries": [private]},
    ]
    assert [change["version"] for change in await u_2.log()] == [3, 2]
    assert (await u_2.log())[0]["entries"] == [shared]
    assert [change["version"] for change in await u_1.log("limit=2")] == [4, 3]
    assert [change["version"] for change in await u_1.log("limit=1&before=3")] == [2]
    assert len(await u_1.log(f"limit=1000&before={2**63 - 1}")) == 4
    assert await u_1.log("before=0") == []


@pytest.mark.req("BM-143", "BM-179")
@pytest.mark.parametrize(
    "query",
    [
        *("limit=0", "limit=1001", "limit=x", "limit=", "limit=٣", "limit=%2B1"),
        *("before=-1", "before=1.5", f"before={2**63}"),
    ],
)
async def test_a_page_of_the_log_out_of_range_is_refused(u_1: Rest, query: str) -> None:
    reply = await u_1.send("GET", f"/log?{query}")

    assert (reply.status, reply.tag, reply.body["path"]) == (400, "InvalidRequest", query.partition("=")[0])


@pytest.mark.req("BM-178", "BM-137", "BM-41")
async def test_through_a_linked_bot_one_reads_and_changes_ones_own_entries_of_its_home(
    room: BotRoom, u_1: Rest, u_9: Rest
) -> None:
    linked = replace(u_1, bot="bot_link")
    id_ = await room.fact("Known at home.")

    assert await linked.ids() == [id_]
    assert (await linked.forget(id_)).body["entry"]["status"] == "retracted"
    kept = (await linked.remember("Kept through the link.")).body["entry"]["id"]
    assert set(await u_1.ids()) == {id_, kept}
    assert await replace(u_9, bot="bot_link").ids() == []


@pytest.mark.req("BM-45")
async def test_chains_of_a_hundred_levels_and_more_are_followed(room: BotRoom, u_1: Rest, u_2: Rest) -> None:
    lines = [shown("mem_0", "for:channel:ch_5", "org:o_4"), ITEM]
    lines += [
        {
            **old(f"mem_{level}", level),
            "layer": "observation",
            "confidence": 1,
            "sources": [{"entry": f"mem_{level - 1}"}],
        }
        for level in range(1, 121)
    ]
    await room.take_in(*lines)
    assert len(await u_1.ids()) == 121

    await room.members("u_2")

    assert await u_1.ids() == []
    assert await u_2.ids() == ["mem_0"], "the others are for u_1 alone"
    await room.members("u_1", "u_2")
    assert len(await u_1.ids()) == 121


ITEM = {"kind": "item", "chat": "chat_61", "id": "i-old", "type": "person_message", "occurredAt": 1}


def old(id_: str, created: int) -> dict[str, object]:
    return {
        "kind": "entry",
        "id": id_,
        "layer": "pinned",
        "content": id_,
        "tags": ["from:u_1", "for:person:u_1", "org:o_4"],
        "createdAt": created,
    }


def shown(id_: str, *tags: str) -> dict[str, object]:
    """Return an old fact whose one item admits every user of the bot."""
    source = {"chat": "chat_61", "item": "i-old", "access": "bot"}
    return {**old(id_, 1), "layer": "fact", "tags": list(tags), "sources": [source]}
