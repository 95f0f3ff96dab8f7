"""A right that was revoked never shows what was written afterwards (attack case 5, "New Enemy")."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from graph.model.nodes.evidence import Conversation, Source
from graph.model.nodes.people import Right
from graph.rules.ingest import IncomingMessage
from graph.rules.scopes import MemoryScope
from graph.services.access.grants import grant, revoke
from graph.services.access.members import set_members
from graph.services.access.session import Session, read
from graph.services.knowledge.conversations import set_routing_rule
from graph.services.knowledge.ingest import ingest_messages
from graph.store.memory import MemoryStore
from graph.store.query import Eq, Find, Newest
from tests.support.clock import FakeClock
from tests.support.committed_reads import CommittedReads
from tests.support.profile import sized
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import run

ENGINES = ["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
ROUNDS = {
    "memory": sized(small=100, full=5_000),  # the reference; it slows down as it fills
    "embedded": sized(small=500, full=100_000),
    "neo4j": sized(small=40, full=5_000),
}
READERS = 2


async def texts_seen(session: Session) -> set[str]:
    """Return the texts of the newest sources that the caller sees."""
    page = await session.page(
        Find(kind=Source, where=Eq("workspace", session.caller.workspace), order=Newest(), first=5)
    )
    return {source.text for source in page.nodes}


async def shared_channel(world: TeamWorld) -> None:
    await run(world, world.dan, lambda c: set_routing_rule(c, world.ops, MemoryScope.SHARED, isolated=False))
    await world.say(world.ops, "before")


async def take_role(world: TeamWorld) -> None:
    await run(world, world.dan, lambda c: revoke(c, world.ben, Right.READER, world.atlas))


async def take_membership(world: TeamWorld) -> None:
    await run(world, world.host, lambda c: set_members(c, world.ops, [world.ana]))


@pytest.mark.req("AD-7", "KN-116")
@pytest.mark.parametrize("engine", ["memory"], indirect=True)
@pytest.mark.parametrize("taking", [take_role, take_membership])
async def test_a_read_that_is_overtaken_at_any_step_shows_nothing_new(
    world: TeamWorld, clock: FakeClock, taking: object
) -> None:
    if taking is take_role:
        await shared_channel(world)
    else:
        await world.say(world.ops, "before")
    inner = world.deps.store
    assert isinstance(inner, MemoryStore)
    counting = CommittedReads(inner)
    seen, _ = await read(replace(world.deps, store=counting), world.caller(world.ben), texts_seen)
    assert seen == {"before"}
    for step in range(1, counting.calls + 1):
        await restore_rights(world)
        told: set[str] = set()
        store = CommittedReads(inner)

        async def overtake(step: int = step) -> None:
            await taking(world)  # type: ignore[operator]
            clock.advance(timedelta(seconds=1))  # so that it is the first of the newest five
            await world.say(world.ops, f"secret {step}")

        store.at, store.then = step, overtake
        told, _ = await read(replace(world.deps, store=store), world.caller(world.ben), texts_seen)
        assert f"secret {step}" not in told, f"overtaken before call {step} of {counting.calls}"


async def restore_rights(world: TeamWorld) -> None:
    await run(world, world.dan, lambda c: grant(c, world.ben, Right.READER, world.atlas))
    await run(world, world.host, lambda c: set_members(c, world.ops, [world.ana, world.ben]))


@pytest.mark.req("AD-7", "KN-116")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_readers_in_a_loop_never_see_what_was_written_after_they_lost_the_right(
    world: TeamWorld, engine: str, clock: FakeClock
) -> None:
    await shared_channel(world)
    race = _Race(world, await world.open(world.ops), clock)
    readers = [asyncio.create_task(race.read_on()) for _ in range(READERS)]
    try:
        for number in range(ROUNDS[engine]):
            await race.round(number)
    finally:
        race.over = True
        await asyncio.gather(*readers)
    assert not race.leaked
    assert race.reads >= ROUNDS[engine]


class _Race:
    """One writer that takes a right, writes and gives it back; readers that never rest.

    What was written in round n may be seen once the right of round n is being given back, and not before.
    """

    def __init__(self, world: TeamWorld, conversation: Conversation, clock: FakeClock) -> None:
        self.world = world
        self.conversation = conversation
        self.clock = clock
        self.over = False
        self.reads = 0
        self.given_back = 0
        self.leaked: list[int] = []
        self.read_once = asyncio.Event()

    async def round(self, number: int) -> None:
        await take_role(self.world)
        self.clock.advance(timedelta(seconds=1))  # so that the newest five are those of the last rounds
        secret = IncomingMessage(external_id=f"s{number}", sent_at=self.world.deps.now(), text=f"secret {number}")
        await run(self.world, self.world.host, lambda c: ingest_messages(c, self.conversation.id, [secret]))
        await self._let_read()
        self.given_back = number + 1
        await run(self.world, self.world.dan, lambda c: grant(c, self.world.ben, Right.READER, self.world.atlas))

    async def _let_read(self) -> None:
        before = self.reads
        while self.reads == before:
            self.read_once.clear()
            await self.read_once.wait()

    async def read_on(self) -> None:
        while not self.over:
            told, _ = await read(self.world.deps, self.world.caller(self.world.ben), texts_seen)
            secrets = [int(text.removeprefix("secret ")) for text in told if text.startswith("secret")]
            self.leaked += [number for number in secrets if number >= self.given_back]
            self.reads += 1
            self.read_once.set()
            await asyncio.sleep(0)  # lets the writer go on
