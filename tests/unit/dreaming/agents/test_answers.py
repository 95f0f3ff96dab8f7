"""What an agent makes of odd answers of its model: the rules are those of sessions, with its own memory (AM-33)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from graph.model.nodes.people import Organization
from tests.support.held_clock import HeldClock
from tests.support.learning_room import AGENT, LearningRoom, change, names, says


def lesson(key: str, content: str = "Write it.", *, kind: str = "procedure", item: str = "i-20") -> dict[str, Any]:
    return change(key, content, kind=kind, sources=[{"session": "ses_41", "item": item}])


@pytest.mark.req("AM-3", "AM-33", "SM-108", "SM-112", "SM-113")
async def test_bad_changes_are_dropped_alone_and_the_items_are_read(room: LearningRoom, heron: Organization) -> None:
    bad: list[Any] = [
        lesson("fact", kind="fact"),
        lesson("guess", kind="hypothesis"),
        lesson("pem", "-----BEGIN PRIVATE KEY-----\nMII"),
        lesson("repo", "https://ana:pw@git.example"),
        lesson("api", "Authorization: Bearer abc123"),
        lesson(" blank"),
        lesson("empty", " "),
        lesson("long", "x" * 4_001),
        {**lesson("none"), "sources": []},
        {**lesson("shape"), "sources": "i-20"},
        {**lesson("tag"), "_tag": "Rename"},
        None,
    ]
    room.model.on(AGENT, says(*bad), says(*bad, lesson("good", item="i-21")))
    await room.learned("t-1", "i-20")
    assert ((await room.agent()).entries, (await room.agent()).version) == ((), 0)
    await room.learned("t-2", "i-21")
    assert [entry.key for entry in (await room.agent()).entries] == ["good"]
    assert [names(request) for request in room.model.asked_for(AGENT)] == [["i-20"], ["i-21"]]
    assert await room.endings("agent") == [("nothing", None), ("applied", None)]


@pytest.mark.req("AM-33", "SM-109", "SM-111")
@pytest.mark.parametrize("answer", ["I would keep it.", '{"changes": {}}', '{"lessons": []}', ""])
async def test_answer_that_is_no_list_of_changes_leaves_the_items_unread(
    room: LearningRoom, heron: Organization, answer: str
) -> None:
    room.model.on(AGENT, answer, says())
    await room.learned("t-1", "i-20")
    [(outcome, error)] = await room.endings("agent")
    assert (outcome, (error or "").startswith("MODEL_ANSWER_")) == ("failed", True)
    await room.learned("t-2", "i-21")
    assert names(room.model.asked_for(AGENT)[-1]) == ["i-20", "i-21"]


@pytest.mark.req("AM-33", "SM-111")
@pytest.mark.parametrize(("seconds", "ended"), [(120, "applied"), (121, "failed")])
async def test_answer_has_120_seconds(
    room: LearningRoom, heron: Organization, clock: HeldClock, seconds: int, ended: str
) -> None:
    room.model.on(AGENT, says(lesson("a")))
    await room.turn("t-1", "i-20", model=None)
    async with room.held():
        await room.prolong(clock.now() + 600_000)
        clock.advance(timedelta(seconds=seconds))
    assert [outcome for outcome, _ in await room.endings("agent")] == [ended]
    assert (await room.agent()).version == (ended == "applied")
