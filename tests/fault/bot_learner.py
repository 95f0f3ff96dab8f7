"""Learns for a bot in a process of its own, which a test kills.

    python -m tests.fault.bot_learner STORE SCRIPT [SEED] [KILL]

The store is a file, or a Neo4j by its address. ``prepare`` makes in it a learning run that waits, ``learn`` does all
that is due. It prints ``asked`` whenever the model is asked to learn, and on a file ``tx`` after each transaction; a
later seed begins when the leases before it are over. With KILL the process ends itself in the transaction that commits
what was learned: ``before`` all is written and not committed, ``within`` the commit was sent and is not answered.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

from neo4j import AsyncManagedTransaction

from dreaming.models.port import ModelAnswer, ModelRequest
from graph.store.embedded.session import Session
from graph.store.neo4j import Neo4jStore
from graph.store.port import Store
from graph.store.wrapping import WrappedStore
from tests.fault.driver import TellingStore, say, world_on
from tests.support.bot_room import BotRoom
from tests.support.bot_talk import LEARN, BotTalk, fact
from tests.support.held_clock import HeldClock
from tests.support.ids import SequentialIds
from tests.support.neo4j_store import AUTH

T = TypeVar("T")

SAID = "We release on Fridays."
LEARNED = "Releases are on Fridays."
LEASE = timedelta(seconds=601)
COMMITTING = ((AsyncManagedTransaction, "_commit"), (Session, "commit"))
"""What both stores commit by; the driver commits by itself, when the work of a transaction is done."""


class TellingModel:
    """Tells that it was asked, and from then on lets the process count its commits, if it is to die in one."""

    name = "telling"

    def __init__(self, talk: BotTalk, dying: Dying | None) -> None:
        self.talk = talk
        self.dying = dying

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        if request.purpose == LEARN:
            say("asked")
            if self.dying:
                self.dying.commits_left = 2  # of the answer, and of what was learned
        return await self.talk.model.complete(request)


class Dying:
    """Kills this process in the commit of what was learned; a `graph.store.wrapping.Around`."""

    def __init__(self, when: str) -> None:
        self.when = when
        self.commits_left = 0

    async def __call__(self, operation: str, call: Callable[[], Awaitable[T]], /) -> T:
        if operation == "commit" and self.commits_left:
            self.commits_left -= 1
            if not self.commits_left:
                self._die()
        return await call()

    def _die(self) -> None:
        if self.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        for kind, name in COMMITTING:
            _die_within(kind, name)


def _die_within(kind: type[Any], name: str) -> None:
    """Let the next commit be sent, and the process be killed before it is answered."""
    commit = getattr(kind, name)

    async def last(self: Any, *given: Any) -> None:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGKILL)
        await commit(self, *given)

    setattr(kind, name, last)


def talk_on(store: Store, seed: int, dying: Dying | None = None) -> BotTalk:
    """Return the talk of a process; no two processes make the same id."""
    clock = HeldClock()
    clock.advance(seed * LEASE)
    world = world_on(store, clock, SequentialIds(start=1 + seed * 1_000_000), seed)
    talk = BotTalk(room=BotRoom(world=world))
    talk.learns(fact(LEARNED, "t1-1"))
    talk.instead = TellingModel(talk, dying)
    return talk


async def prepare(talk: BotTalk) -> None:
    """Make the bot and a run that waits."""
    await talk.room.world.make()
    await talk.room.make()
    await talk.make()
    await talk.turn("t1", SAID)


def store_at(place: str) -> Store:
    """Return the store of a file or of an address."""
    clock = HeldClock()
    return Neo4jStore(place, auth=AUTH, clock=clock) if "://" in place else TellingStore(Path(place), clock=clock)


async def main(place: str, script: str, seed: int = 1, kill: str = "") -> None:
    dying = Dying(kill) if kill else None
    store = store_at(place) if dying is None else WrappedStore(store_at(place), dying)
    await store.open()
    say("open")
    talk = talk_on(store, seed, dying)
    await (prepare(talk) if script == "prepare" else talk.learn())
    await store.close()
    say("closed")


if __name__ == "__main__":
    where, what, *rest = sys.argv[1:]
    asyncio.run(main(where, what, int(rest[0]) if rest else 1, *rest[1:]))
