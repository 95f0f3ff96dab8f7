"""Worker processes killed again and again over one night of Stage B leave the graph of a quiet night.

Each night is dreamed by as many workers as it takes: every one is killed after a few of its transactions, wherever it
is then, and the next one takes over when the lease is over. Source: bug case 20, goal F1.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
from pathlib import Path

import pytest

from dreaming.models.recorded import RecordingModel
from graph.model.nodes.learning import ModelCall
from graph.store.embedded import EmbeddedStore
from tests.fault.children import Children, children
from tests.fault.dreamer import clock_of, night_on
from tests.fault.driver import WORLD, world_on
from tests.support.clock import FakeClock
from tests.support.dream_story import Json, model_of, told, wait_for
from tests.support.held_clock import HeldClock
from tests.support.ids import SequentialIds
from tests.support.night import Night
from tests.support.profile import sized
from tests.support.row_state import check_invariants

CI = bool(os.environ.get("CI"))
KILLS = sized(small=50 if CI else 8, full=300)
MOST_WRITES = 7
"""Most transactions of one worker before it is killed."""


def night(process: Children, store: Path, recordings: Path, number: int, writes: int | None, rng: random.Random) -> int:
    """Let a child dream; kill it after so many transactions and a moment more. Return how it ended."""
    process.ask(f"{store}\t{recordings}\t{number}")
    pid: int | None = None
    count = 0
    while True:
        line = process.line()
        if line.startswith("ended "):
            return int(line.split()[1])
        pid = int(line.split()[1]) if line.startswith("pid ") else pid
        count += line == "tx"
        if writes is not None and pid is not None and count >= writes:
            for _ in range(rng.randrange(50_000)):  # a moment, a different one each time
                pass
            os.kill(pid, signal.SIGKILL)
            writes = None


async def prepare(path: Path) -> None:
    """Make a store in which something waits for Stage B."""
    clock = HeldClock()
    store = EmbeddedStore(path, clock=clock)
    await store.open()
    world = await world_on(store, clock, SequentialIds(start=1), 1).make()
    await wait_for(await Night(world, clock).make())
    await store.close()


async def quiet_night(path: Path, recordings: Path) -> Json:
    """Dream undisturbed, write down what the model answered, and return what was left."""
    clock = clock_of(0)
    store = EmbeddedStore(path, clock=clock)
    await store.open()
    night = night_on(store, clock, 0)
    model = RecordingModel(inner=model_of())
    night.instead = model
    assert await night.dream() == ["done"]
    model.save(recordings)
    found = await told(store, WORLD)
    await store.close()
    return found


async def left(path: Path) -> tuple[Json, int, int]:
    """Return what a night left, how many calls it saved and how often the model was asked."""
    store = EmbeddedStore(path, clock=FakeClock())
    await store.open()
    try:
        await check_invariants(store)
        calls = await night_on(store, clock_of(0), 0).all(ModelCall)
        return await told(store, WORLD), len(calls), sum(len(call.attempts) for call in calls)
    finally:
        await store.close()


@pytest.mark.req("DR-8", "DR-76", "DR-77", "AD-33")
@pytest.mark.soak
async def test_killed_dreamers_leave_the_graph_of_a_quiet_night(tmp_path: Path) -> None:
    first, recordings = tmp_path / "first.db", tmp_path / "recordings.json"
    await prepare(first)
    shutil.copy(first, tmp_path / "quiet.db")
    expected = await quiet_night(tmp_path / "quiet.db", recordings)
    assert [run[0] for run in expected["runs"]] == ["succeeded"]
    rng, kills, nights = random.Random(11), 0, 0
    with children("tests.fault.dreamer") as workers:
        while kills < KILLS:
            nights += 1
            store = tmp_path / f"night{nights}.db"
            shutil.copy(first, store)
            died = 0
            while night(workers, store, recordings, died, rng.randrange(1, MOST_WRITES), rng) != 0:
                died += 1
            found, calls, attempts = await left(store)
            assert found == expected, f"after {died} kills"
            assert attempts <= calls + died, "an answer that was saved is lost"
            kills += died
    assert kills >= KILLS
