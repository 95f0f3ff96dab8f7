"""Learning from chats: what is read, what counts as evidence, what is saved, and how a run ends."""

from __future__ import annotations

import pytest

from tests.support.bot_talk import LEARN, BotTalk, fact, rows


@pytest.mark.req("BM-3", "BM-75", "BM-70")
async def test_a_run_waits_for_its_turn_and_learns_what_was_said_in_it(talk: BotTalk) -> None:
    await talk.begin("t1", "Deploys happen on Tuesdays.")
    await talk.say("i-1", "Write the changelog first.")
    await talk.confide()
    assert await talk.states() == [("waiting", None)]
    assert await talk.learn() == 0
    await talk.end()
    talk.learns(fact("The changelog comes first.", "i-1", topics=["releases"]))
    assert await talk.learn() == 1
    assert await talk.states() == [("done", None)]
    (request,) = talk.model.asked_for(LEARN)
    assert [row["text"] for row in rows(request, "New items")] == [
        "Deploys happen on Tuesdays.",
        "Write the changelog first.",
    ]
    (entry,) = await talk.entries()
    assert entry.tags == ("from:u_1", "for:person:u_1", "org:o_4", "chat:chat_61", "releases")
    assert await talk.read_seq() == 2
