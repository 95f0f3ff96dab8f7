"""Answers of the bot routes fit what the reference lists, and nothing more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.rest.test_openapi import document, fits
from tests.support.bot_room import BotRoom, Rest

__all__ = ["document"]

MEMORY = "/v1/bots/{botId}/memory"


@pytest.mark.req("SM-30", "BM-14", "BM-143", "BM-144", "BM-157", "BM-127")
async def test_every_answer_fits_the_reference(room: BotRoom, u_1: Rest, u_9: Rest, document: dict[str, Any]) -> None:
    fact = await room.fact("Write the changelog.", await room.item("chat_61", "i-08"))
    await room.observe("They write changelogs.", fact)
    kept = await u_1.remember("From a person.")
    fits(document, MEMORY, "post", "200", kept.body)
    fits(document, MEMORY, "post", "200", (await u_1.forget(kept.body["entry"]["id"])).body)
    view = (await u_1.send("GET")).body
    assert {entry["layer"] for entry in view["entries"]} == {"fact", "observation", "pinned"}
    fits(document, MEMORY, "get", "200", view)
    log = (await u_1.send("GET", "/log")).body
    assert log["changes"]
    fits(document, f"{MEMORY}/log", "get", "200", log)
    fits(document, f"{MEMORY}/bot", "get", "200", (await u_9.send("GET", "/bot")).body)
