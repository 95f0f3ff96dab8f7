"""The rig of attack case 5, "New Enemy": a right goes, something new is written, and nobody reads it by the old right.

One service takes the right, writes and gives it back; readers that never rest ask another one, which on Neo4j shares
nothing with it but the database.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Protocol

from graph.services.deps import Deps
from tests.support.clock import FakeClock
from tests.support.two_services import two_services

READERS = 2
NEWEST = 5
"""So many of the newest a reader looks at; enough to hold what was written in the rounds that he may overlap."""


class Ground(Protocol):
    """What the race is about: a right of one person, and content that he reads by it."""

    async def take(self) -> None:
        """Take the right away."""

    async def write(self, number: int) -> None:
        """Write something new that only who has the right may see."""

    async def give_back(self) -> None:
        """Give the right back."""

    async def seen(self, deps: Deps) -> set[int]:
        """Return the numbers of what he sees of the newest, asked of one service."""


def numbers(texts: set[str]) -> set[int]:
    """Return n of each text "secret n"."""
    return {int(text.removeprefix("secret ")) for text in texts if text.startswith("secret")}


async def run_race(ground: Ground, deps: Deps, clock: FakeClock, rounds: int, uri: str | None) -> None:
    """Let one service take, write and give back, and another read."""
    async with two_services(deps, uri=uri) as (_, other):
        race = _Race(ground, other, clock)
        readers = [asyncio.create_task(race.read_on()) for _ in range(READERS)]
        try:
            for number in range(rounds):
                await race.round(number)
                assert not race.leaked, "who lost the right was told what was written afterwards"
        finally:
            race.over = True
            await asyncio.gather(*readers)
    assert not race.leaked
    assert race.reads >= rounds
    assert race.told, "who has the right is told what there is"


class _Race:
    """One writer that takes a right, writes and gives it back; readers that never rest.

    What was written in round n may be seen once the right of round n is being given back, and not before.
    """

    def __init__(self, ground: Ground, reading: Deps, clock: FakeClock) -> None:
        self.ground = ground
        self.reading = reading
        self.clock = clock
        self.over = False
        self.reads = 0
        self.given_back = 0
        self.told = 0
        self.leaked: list[int] = []
        self.read_once = asyncio.Event()

    async def round(self, number: int) -> None:
        await self.ground.take()
        self.clock.advance(timedelta(seconds=1))  # so that the newest are those of the last rounds
        await self.ground.write(number)
        await self._let_read()
        self.given_back = number + 1
        await self.ground.give_back()

    async def _let_read(self) -> None:
        before = self.reads
        while self.reads == before:
            self.read_once.clear()
            await self.read_once.wait()

    async def read_on(self) -> None:
        while not self.over:
            secrets = await self.ground.seen(self.reading)
            self.leaked += [number for number in secrets if number >= self.given_back]
            self.told += len(secrets)
            self.reads += 1
            self.read_once.set()
            await asyncio.sleep(0)  # lets the writer go on
