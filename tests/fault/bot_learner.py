"""Learns for a bot on an embedded store in a process of its own, which a test kills.

    python -m tests.fault.bot_learner STORE SCRIPT [SEED]

``prepare`` makes a store in which one learning run waits, ``learn`` does all that is due. It prints ``asked`` whenever
the model is asked to learn, and ``tx`` after each transaction; a later seed begins when the leases before it are over.
"""

from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from pathlib import Path

from dreaming.models.port import ModelAnswer, ModelRequest
from graph.store.port import Store
from tests.fault.driver import TellingStore, say, world_on
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import LEARN, BotTalk, fact
from tests.support.held_clock import HeldClock
from tests.support.ids import SequentialIds

SAID = "We release on Fridays."
LEARNED = "Releases are on Fridays."
LEASE = timedelta(seconds=601)


class TellingModel:
    """Tells that it was asked."""

    name = "telling"

    def __init__(self, talk: BotTalk) -> None:
        self.talk = talk

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.purpose == LEARN:
            say("asked")
        return await self.talk.model.complete(request)


def talk_on(store: Store, seed: int) -> BotTalk:
    """Return the talk of a process; no two processes make the same id."""
    clock = HeldClock()
    clock.advance(seed * LEASE)
    world = world_on(store, clock, SequentialIds(start=1 + seed * 1_000_000), seed)
    talk = BotTalk(room=BotRoom(world=world))
    talk.learns(fact(LEARNED, "t1-1"))
    talk.instead = TellingModel(talk)
    return talk


async def prepare(talk: BotTalk) -> None:
    """Make the bot and a run that waits."""
    await talk.room.world.make()
    await talk.room.make()
    await talk.make()
    await talk.turn("t1", SAID)


async def main(path: Path, script: str, seed: int) -> None:
    talk_clock = HeldClock()
    store = TellingStore(path, clock=talk_clock)
    await store.open()
    say("open")
    talk = talk_on(store, seed)
    await (prepare(talk) if script == "prepare" else talk.learn())
    await store.close()
    say("closed")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    asyncio.run(main(Path(arguments[0]), arguments[1], int(arguments[2]) if len(arguments) > 2 else 1))
