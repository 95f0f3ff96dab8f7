"""The rig of attack case 5, "New Enemy": a right goes, something new is written, and nobody reads it by the old right.

One service takes the right, writes and gives it back; readers that never rest ask another one, which on Neo4j shares
nothing with it but the database. Where a commit waits long for the disk, several such races run side by side, each on
a ground of its own, so that the processor is not left to readers who meet nobody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from math import ceil
from typing import Protocol

from graph.services.deps import Deps
from tests.support.clock import FakeClock
from tests.support.two_services import two_services

READERS = 2
"""So many at least; each ground has one or more."""
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


async def run_races(grounds: Sequence[Ground], deps: Deps, clock: FakeClock, rounds: int, uri: str | None) -> None:
    """Let one service take, write and give back, and another read: so many rounds, shared out among the grounds.

    Raises:
        AssertionError: of every ground whose reader was told what he may not know, in a group.
    """
    async with two_services(deps, uri=uri) as (_, other), asyncio.TaskGroup() as running:
        for ground in grounds:
            race = _Race(ground, other, clock)
            running.create_task(race.run(ceil(rounds / len(grounds)), ceil(READERS / len(grounds))))


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

    async def run(self, rounds: int, readers: int) -> None:
        reading = [asyncio.create_task(self.read_on()) for _ in range(readers)]
        try:
            for number in range(rounds):
                await self.round(number)
                assert not self.leaked, "who lost the right was told what was written afterwards"
        finally:
            self.over = True
            await asyncio.gather(*reading)
        assert not self.leaked
        assert self.reads >= rounds
        assert self.told, "who has the right is told what there is"

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
