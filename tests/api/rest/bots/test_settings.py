"""Settings of a Memory Bot through their route (BM-119 to BM-128)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from graph.model.access import SystemScope
from tests.support.bot_room import BotRoom, Rest

ALL = SystemScope(reason="test")
FRESH = {"version": 0, "instructions": "", "concurrency": None, "budget": None}
BUDGET = {"period": "day", "limitMicros": 750_000}


@pytest.mark.req("BM-119", "BM-127", "BM-124", "BM-120")
async def test_settings_begin_empty_and_without_limits(u_9: Rest) -> None:
    reply = await u_9.send("GET", "/bot")

    assert (reply.status, reply.body) == (200, FRESH)


@pytest.mark.req("BM-120", "BM-121", "BM-122", "BM-123", "BM-127", "BM-2")
async def test_a_patch_sets_what_it_names_and_leaves_the_rest(room: BotRoom, u_9: Rest) -> None:
    first = await u_9.send("PATCH", "/bot", {"expected": 0, "instructions": "Keep dates.", "budget": BUDGET})
    second = await u_9.send("PATCH", "/bot", {"expected": 1, "concurrency": 4})
    third = await u_9.send("PATCH", "/bot", {"expected": 2})

    assert first.body == {"version": 1, "instructions": "Keep dates.", "concurrency": None, "budget": BUDGET}
    assert second.body == {**first.body, "version": 2, "concurrency": 4}
    assert third.body == {**second.body, "version": 3}, "one that changes nothing raises the version too"
    assert (await u_9.send("GET", "/bot")).body == third.body
    lifted = await u_9.send("PATCH", "/bot", {"expected": 3, "instructions": None, "concurrency": None, "budget": None})
    assert lifted.body == {**FRESH, "version": 4}
    assert (await u_9.send("GET")).body["version"] == 0, "settings are no change of the pool"


@pytest.mark.req("BM-128", "BM-174")
async def test_a_patch_of_another_version_is_stale(u_9: Rest) -> None:
    await u_9.send("PATCH", "/bot", {"expected": 0, "concurrency": 1})

    reply = await u_9.send("PATCH", "/bot", {"expected": 0, "concurrency": 2})

    assert (reply.status, reply.tag, reply.body["reason"]) == (409, "BotMemoryConflict", "stale")
    assert (await u_9.send("GET", "/bot")).body == {**FRESH, "version": 1, "concurrency": 1}


@pytest.mark.req("BM-121", "BM-122", "BM-123", "BM-125", "BM-179")
@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"instructions": "x" * 8_001}, "instructions"),
        ({"instructions": 1}, "instructions"),
        ({"concurrency": 0}, "concurrency"),
        ({"concurrency": 1.0}, "concurrency"),
        ({"concurrency": True}, "concurrency"),
        ({"concurrency": 2**63}, "concurrency"),
        ({"budget": {"period": "week", "limitMicros": 1}}, "budget.period"),
        ({"budget": {"period": "day", "limitMicros": -1}}, "budget.limitMicros"),
        ({"budget": {"period": "day"}}, "budget.limitMicros"),
        ({"budget": {**BUDGET, "more": 1}}, "budget.more"),
        ({"model": "m"}, "model"),
        ({"expected": None}, "expected"),
        ({"expected": "0"}, "expected"),
    ],
)
async def test_a_setting_out_of_range_is_refused(u_9: Rest, change: dict[str, Any], path: str) -> None:
    reply = await u_9.send("PATCH", "/bot", {"expected": 0, **change})

    assert (reply.status, reply.tag, reply.body["path"]) == (400, "InvalidRequest", path)
    assert (await u_9.send("GET", "/bot")).body == FRESH


@pytest.mark.req("BM-120", "BM-125")
async def test_expected_is_required_and_limits_take_their_bounds(u_9: Rest) -> None:
    missing = await u_9.send("PATCH", "/bot", {"concurrency": 1})
    least = await u_9.send(
        "PATCH",
        "/bot",
        {"expected": 0, "instructions": "x" * 8_000, "concurrency": 1, "budget": {"period": "month", "limitMicros": 0}},
    )

    assert (missing.status, missing.body["path"]) == (400, "expected")
    assert least.status == 200
    assert least.body["budget"] == {"period": "month", "limitMicros": 0}


@pytest.mark.req("BM-119", "BM-177", "BM-178")
@pytest.mark.parametrize(("method", "path"), [("GET", "/bot"), ("PATCH", "/bot"), ("POST", "/purge")])
async def test_settings_and_purge_need_write_on_a_bot_that_is_no_link(
    room: BotRoom, u_1: Rest, u_9: Rest, method: str, path: str
) -> None:
    reader = await u_1.send(method, path, {} if method != "GET" else None)
    linked = await replace(u_9, bot="bot_link").send(method, path, {} if method != "GET" else None)

    assert (reader.status, reader.tag, reader.body.get("reason")) == (403, "Forbidden", None)
    assert (linked.status, linked.tag, linked.body["reason"]) == (403, "Forbidden", "linked_bot")


@pytest.mark.req("BM-184", "AD-31")
async def test_instructions_are_sealed_for_their_version(room: BotRoom, u_9: Rest) -> None:
    await u_9.send("PATCH", "/bot", {"expected": 0, "instructions": "Keep dates."})
    async with room.deps.store.reading() as reader:
        old = (await reader.get(ALL, [room.bot.pool]))[room.bot.pool]
    await u_9.send("PATCH", "/bot", {"expected": 1, "instructions": "Tell dates."})

    await room.deps.store.transact(
        lambda writer: writer.patch(room.bot.pool, {"instructions": old.instructions})  # type: ignore[attr-defined]
    )

    assert "Keep dates." not in str(old)
    reply = await u_9.send("GET", "/bot")
    assert (reply.status, reply.tag) == (503, "Unavailable")
