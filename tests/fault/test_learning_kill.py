"""A service killed while it consolidates leaves all or nothing, and the next turn reads what is left.

A process is killed at each of its transactions and while its model is asked; then the store is opened again, a turn
completes and is learned from. Source: SM-115, AD-34, session example 8.
"""

from __future__ import annotations

import os
import shutil
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graph.model.nodes.people import Right
from graph.store.embedded import EmbeddedStore
from tests.fault.children import Children, children
from tests.fault.learner import room_on
from tests.support.held_clock import HeldClock
from tests.support.learning_room import AGENT, SESSION, LearningRoom, names

LATER = timedelta(minutes=10)
"""What a dead worker held is free by then."""


async def prepare(path: Path) -> None:
    """Make a store in which a turn has just completed, and its agent may learn."""
    clock = HeldClock()
    store = EmbeddedStore(path, clock=clock)
    await store.open()
    room = room_on(store, clock)
    await room.world.make()
    await room.world.grant(room.world.ana, Right.READ, room.world.atlas)
    heron = await room.teaching()
    await room.make(model="m-1", organization_id=heron.id)
    await room.turn("t-1", "i-20", text="Porto.")
    await store.close()


def run(process: Children, path: Path, at: tuple[str, int] | None = None) -> list[str]:
    """Let a child learn, kill it when it says a word so many times, and return what it said until then."""
    process.ask(str(path))
    said: list[str] = []
    pid, killed = 0, False
    while True:
        line = process.line()
        if line.startswith("ended "):
            assert int(line.split()[1]) in (0, -signal.SIGKILL)  # it may have ended before the signal came
            return said
        if line.startswith("pid "):
            pid = int(line.split()[1])
        else:
            said.append(line)
        if at is not None and pid and not killed and said.count(at[0]) >= at[1]:
            os.kill(pid, signal.SIGKILL)
            killed = True


async def state(room: LearningRoom) -> tuple[Any, ...]:
    """Return what was learned of ``i-20``: facts, read marks, the version of the agent's memory, its keys."""
    memory = await room.memory()
    agent = await room.agent(room.world.ana)
    return sorted(memory.entries), "i-20" in memory.processed, agent.version, [entry.key for entry in agent.entries]


@pytest.mark.req("SM-115", "AD-34", "AM-33", "SM-110")
async def test_killed_service_leaves_all_or_nothing_and_the_next_turn_reads_the_rest(tmp_path: Path) -> None:
    first = tmp_path / "first.db"
    await prepare(first)
    shutil.copy(first, tmp_path / "whole.db")
    seen = set()
    with children("tests.fault.learner") as process:
        undisturbed = run(process, tmp_path / "whole.db")
        assert undisturbed.count("asked") == 2
        every = [("tx", number + 1) for number in range(undisturbed.count("tx") - 1)]
        for number, point in enumerate([*every, ("asked", 1), ("asked", 2)]):
            path = tmp_path / f"killed{number}.db"
            shutil.copy(first, path)
            run(process, path, point)
            seen.add(await _goes_on(path, point))
    assert {(False, 0), (True, 1)} <= seen, "some were killed before the commits and some after"


async def _goes_on(path: Path, point: tuple[str, int]) -> tuple[bool, int]:
    """Open the store again, look, let another turn complete and be learned from; return what was there at first."""
    clock = HeldClock()
    clock.advance(LATER)
    store = EmbeddedStore(path, clock=clock)
    await store.open()
    room = room_on(store, clock)
    try:
        facts, read, version, keys = await state(room)
        assert facts == (["i-20"] if read else []), point
        assert keys == (["i-20"] if version else []), point
        await room.learned("t-2", "i-21", text="Lisbon.")
        clock.advance(LATER)
        await room.work()
        assert (await state(room))[:2] == (["i-20", "i-21"], True), point
        assert (await state(room))[3] == ["i-20", "i-21"], point
        for purpose, before in ((SESSION, read), (AGENT, version == 1)):
            shown = [name for request in room.model.asked_for(purpose) for name in names(request)]
            assert sorted(shown) == (["i-21"] if before else ["i-20", "i-21"]), f"{point}: read once and no more"
        assert all(outcome for outcome, _ in [*await room.endings(), *await room.endings("agent")]), point
        return read, version
    finally:
        await store.close()
