"""All host operations in one process, with a scripted model and a clock that a test moves, and without a network."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from tests.support.learning_room import SESSION, LearningRoom, change, says


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("nothing here needs a network")

    for name in ("connect", "connect_ex", "bind"):
        monkeypatch.setattr(socket.socket, name, refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.req("SM-77", "SM-78", "SM-123", "SM-124", "SM-125")
@pytest.mark.usefixtures("no_network")
async def test_a_session_lives_through_all_that_a_host_reports(room: LearningRoom) -> None:
    room.model.on(
        SESSION,
        says(change("venue", "Porto.", sources=["i-20"])),
        says(change("food", "Vegan.", sources=["i-21"])),
        says(change("size", "24 people.", sources=["i-22"])),
    )
    before = (await room.session()).head
    await room.queue("t-1")
    await room.begin("t-1")
    await room.say("i-20")
    await room.suspend("t-1")
    assert await room.work() == []
    assert "venue" not in await room.resume("t-1")
    await room.complete("t-1", "m-1")
    await room.work()
    assert await room.facts() == {"venue": "Porto."}
    await room.fork("ses_42")
    # While `generate` is off nothing is asked; what is known is still used.
    await room.configure(generate=False)
    await room.learned("t-2", "i-21")
    assert len(room.model.asked) == 1
    assert "- venue (decision): Porto." in await room.begin("t-3")
    await room.cancel("t-3")
    await room.configure(generate=None)
    await room.learned("t-4", "i-22")
    assert await room.facts() == {"venue": "Porto.", "food": "Vegan."}
    assert await room.promote() == 1
    await room.restore(before)
    assert await room.facts() == {}
    assert await room.facts("ses_42") == {"venue": "Porto."}
