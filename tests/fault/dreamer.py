"""A process whose children are killed while they dream: each is a worker on a store file with recorded answers.

Reads a line per child from standard input: the file, the file of recordings, how many died before. It forks after all
is imported, so that a child costs a moment; the child tells every committed transaction and the parent how it ended.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from datetime import timedelta
from pathlib import Path

from dreaming.models.recorded import RecordedModel, load_recordings
from graph.services.learning.stage_b import arrange_stage_b
from graph.store.embedded import EmbeddedStore
from tests.fault.driver import TellingStore, say, world_on
from tests.support.held_clock import HeldClock
from tests.support.ids import SequentialIds
from tests.support.night import LONG, Night

LEASE = timedelta(seconds=601)
"""So much later each child begins: what a dead one held is free by then."""


def clock_of(number: int) -> HeldClock:
    """Return the clock of the n-th child."""
    clock = HeldClock()
    clock.advance(LONG + number * LEASE)
    return clock


def night_on(store: EmbeddedStore, clock: HeldClock, number: int) -> Night:
    """Return the night of the n-th child; no two children make the same id."""
    return Night(world_on(store, clock, SequentialIds(start=1 + (number + 1) * 1_000_000), number), clock)


async def dream(path: Path, model: RecordedModel, number: int) -> None:
    """Do all that is due, as one worker."""
    clock = clock_of(number)
    store = TellingStore(path, clock=clock)
    await store.open()
    night = night_on(store, clock, number)
    night.instead = model
    await arrange_stage_b(night.world.deps)
    outcomes = await night.work()
    await store.close()
    say(f"worked {' '.join(outcomes)}")


def child(path: Path, recordings: Path, number: int) -> None:
    """Work, and end this process without returning."""
    try:
        model = RecordedModel(answers=load_recordings(recordings.read_text(encoding="utf-8")))
        asyncio.run(dream(path, model, number))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def main() -> None:
    say("ready")
    for line in sys.stdin:
        path, recordings, number = line.rstrip("\n").split("\t")
        pid = os.fork()
        if not pid:
            child(Path(path), Path(recordings), int(number))
        say(f"pid {pid}")
        _, status = os.waitpid(pid, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
