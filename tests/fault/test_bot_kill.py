"""A process killed at any write while it learns for a bot: example 8 of bot memory.

Changes, read position and end of the run are all there or none; a saved answer is used and not asked for again.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from graph.store.embedded import EmbeddedStore
from tests.fault import bot_learner
from tests.fault.bot_learner import LEARNED, talk_on
from tests.fault.tracing import copy_store, driver, inject, points, require_strace
from tests.support.bot_talk import LEARN
from tests.support.clock import FakeClock
from tests.support.profile import is_soak
from tests.support.row_state import check_invariants

COMMITS = 3
"""So many of the last commits are tried on every run: of the saved answer, of what was learned, of the job's end."""
MODULE = bot_learner.__name__


@pytest.fixture(autouse=True)
def strace() -> None:
    require_strace()


@dataclass(frozen=True)
class Left:
    """What a process left: contents learned, read position, whether the run is over, and saved answers."""

    contents: tuple[str, ...]
    read_seq: int
    over: bool
    answers: int

    @property
    def parts(self) -> set[bool]:
        return {bool(self.contents), self.read_seq > 0, self.over}


async def left(path: Path) -> Left:
    store = EmbeddedStore(path, clock=FakeClock())
    await store.open()
    try:
        await check_invariants(store)
        talk = talk_on(store, 1)
        (run,) = await talk.runs()
        answered = [call for call in await talk.calls(LEARN) if call.state == "answered"]
        return Left(
            contents=tuple(await talk.contents()),
            read_seq=await talk.read_seq(),
            over=run.state == "done",
            answers=len(answered),
        )
    finally:
        await store.close()


@pytest.mark.req("BM-84", "BM-85", "BM-86")
@pytest.mark.soak
async def test_a_killed_learner_leaves_all_or_nothing_and_asks_no_second_time(tmp_path: Path) -> None:
    base = tmp_path / "base.db"
    assert driver(base, "prepare", 1, module=MODULE).code == 0
    every = points(copy_store(base, tmp_path / "counted.db"), "learn", tmp_path / "log", module=MODULE)
    seen: set[tuple[bool, bool]] = set()
    commits = [point for point in every if point.call == "fdatasync"]
    chosen = every if is_soak() else commits[-COMMITS:]
    for number, point in enumerate(chosen):
        store = copy_store(base, tmp_path / f"{number}.db")
        inject(store, "learn", point, "signal=KILL", module=MODULE)
        found = await left(store)
        assert len(found.parts) == 1, "all three or none"
        seen.add((found.answers > 0, found.over))
        again = driver(store, "learn", 3, module=MODULE)
        assert again.code == 0, again.errors
        assert again.lines.count("asked") == (0 if found.answers else 1)
        after = await left(store)
        assert (after.contents, after.read_seq, after.over) == ((LEARNED,), 2, True)
        store.unlink()
    assert {(True, False), (True, True)} <= seen, (
        "points between the saved answer and the commit, and after it, were met"
    )
