"""Acceptance examples 9 and 10: messages over HTTP, Stage A by a worker with a scripted model, search over HTTP."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.acceptance.stage import Stage
from tests.api.conftest import ENGINES
from tests.support.channel_room import PURPOSE, Room, answer, episode, everything, names, shown
from tests.support.held_clock import HeldClock

pytestmark = [
    pytest.mark.parametrize("engine", [e for e in ENGINES if e != "memory"], indirect=True),
    pytest.mark.usefixtures("alone"),
]


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


async def found(stage: Stage, word: str) -> set[str]:
    """Return the sources that a search for a word shows."""
    return {item["ref"] for item in (await stage.search(word))["items"]}


@pytest.mark.req("DR-26", "DR-27")
async def test_9_stage_a_failure(stage: Stage, clock: HeldClock) -> None:
    # Given 40 pending messages and a model that twice returns an output missing one id
    room = await Room(stage.world, clock).make()
    said = await stage.talk([f"harbour{n}" for n in range(40)])
    room.model.on(PURPOSE, answer(episode(names(1, 39))), answer(episode(names(2, 40))), everything)
    assert await room.dream() == ["failed"]
    assert len(room.model.asked) == 2
    # then no episode exists, the cursor is unchanged
    row = await room.progress()
    assert row is not None
    assert (await room.episodes(), row.cursor) == ([], 0)
    # the next try is due after 60 s
    assert (await room.job()).due_at == clock.now() + 60_000
    clock.advance(timedelta(seconds=59))
    assert await room.dream() == []
    # and all 40 messages are found by keyword
    for number, source in enumerate(said):
        assert source in await found(stage, f"harbour{number}")
    # (and the same 40 are asked about again)
    clock.advance(timedelta(seconds=1))
    assert await room.dream() == ["done"]
    assert [line["text"] for line in shown(room.model.asked[-1])] == [f"harbour{n}" for n in range(40)]


@pytest.mark.req("DR-17", "DR-18", "DR-28")
async def test_10_open_topic_and_noise(stage: Stage, clock: HeldClock) -> None:
    # Given messages 1-12 about a release, 13 "lol", 14-20 an ongoing incident
    room = await Room(stage.world, clock).make()
    lines = [f"release {n}" for n in range(1, 13)] + ["lol"] + [f"incident {n}" for n in range(14, 21)]
    said = await stage.talk(lines)
    # when the output is one episode (1-12), skipped [13], open [14-20]
    split = answer(episode(names(1, 12)), skipped=["m13"], open=names(14, 20))
    room.model.on(PURPOSE, split, everything)
    assert await room.quiet() == ["done"]
    assert [e.topic for e in await room.episodes()] == ["Release"]
    # then the next batch starts with 14-20
    clock.advance(timedelta(hours=1))
    await stage.say("the incident is over")
    assert await room.quiet() == ["done"]
    assert [line["text"] for line in shown(room.model.asked[1])] == [*lines[13:], "the incident is over"]
    # and a keyword search for "lol" returns message 13
    assert said[12] in await found(stage, "lol")
