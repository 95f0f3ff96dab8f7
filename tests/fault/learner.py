"""A process whose children consolidate the one session of a store file, and are killed while they do.

Reads the file of each child from standard input. It forks after all is imported, so that a child costs a moment; the
child prints ``tx`` after each transaction and ``asked`` when the model is asked, which then answers at once, and the
parent how it ended.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
from pathlib import Path

from dreaming.models.port import ModelAnswer, ModelRequest
from dreaming.models.scripted import ScriptedModel
from graph.store.embedded import EmbeddedStore
from tests.fault.driver import RandomIds, TellingStore, say, world_on
from tests.support.held_clock import HeldClock
from tests.support.learning_room import AGENT, SESSION, LearningRoom, change, says, shown


def room_on(store: EmbeddedStore, clock: HeldClock) -> LearningRoom:
    """Return the room on an opened store; what was said is remembered under the id of its item."""
    room = LearningRoom(world_on(store, clock, RandomIds(), 1))
    room.model.on(SESSION, _session).on(AGENT, _agent)
    return room


def _session(request: ModelRequest) -> object:
    return says(*(change(line["id"], line["text"], sources=[line["id"]]) for line in shown(request)))


def _agent(request: ModelRequest) -> object:
    items = [
        (line["item"], line["text"], {"session": line["session"], "item": line["item"]}) for line in shown(request)
    ]
    return says(*(change(item, text, sources=[source]) for item, text, source in items))


class TellingModel:
    """Tells that it was asked."""

    name = "telling"

    def __init__(self, inner: ScriptedModel) -> None:
        self.inner = inner

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        say("asked")
        return await self.inner.complete(request)


async def learn(path: Path) -> None:
    """Do all that is due, as one worker."""
    clock = HeldClock()
    store = TellingStore(path, clock=clock)
    await store.open()
    room = room_on(store, clock)
    room.stand.inner = TellingModel(room.model)
    await room.work()
    await store.close()


def child(path: Path) -> None:
    """Work, and end this process without returning."""
    try:
        asyncio.run(learn(path))
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def main() -> None:
    say("ready")
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            child(Path(line.rstrip("\n")))
        say(f"pid {pid}")
        _, status = os.waitpid(pid, 0)
        say(f"ended {os.waitstatus_to_exitcode(status)}")


if __name__ == "__main__":
    main()
