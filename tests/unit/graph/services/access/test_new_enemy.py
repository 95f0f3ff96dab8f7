"""A right that was revoked never shows what was written afterwards (attack case 5, "New Enemy")."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from graph.model.nodes.evidence import Conversation, Source
from graph.model.nodes.people import Right
from graph.rules.ingest import IncomingMessage
from graph.rules.scopes import MemoryScope
from graph.services.access.grants import grant, revoke
from graph.services.access.members import set_members
from graph.services.access.session import Session, read
from graph.services.deps import Deps
from graph.services.knowledge.conversations import set_routing_rule
from graph.services.knowledge.ingest import ingest_messages
from graph.store.memory import MemoryStore
from graph.store.query import Eq, Find, Newest
from tests.support.clock import FakeClock
from tests.support.committed_reads import CommittedReads
from tests.support.new_enemy import NEWEST, numbers, run_races
from tests.support.profile import sized
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import run

ENGINES = ["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
ROUNDS = {
    "memory": sized(small=100, full=5_000),  # the reference; it slows down as it fills
    "embedded": sized(small=500, full=100_000),
    "neo4j": sized(small=500, full=5_000),
}
GROUNDS = {"neo4j": 10}
"""Races side by side, where it is not one; see `tests.support.new_enemy`."""


@dataclass
class Knowledge:
    """The role of a reader, and messages of a channel."""

    world: TeamWorld
    conversation: Conversation

    async def take(self) -> None:
        await take_role(self.world)

    async def write(self, number: int) -> None:
        secret = IncomingMessage(external_id=f"s{number}", sent_at=self.world.deps.now(), text=f"secret {number}")
        await run(self.world, self.world.host, lambda c: ingest_messages(c, self.conversation.id, [secret]))

    async def give_back(self) -> None:
        await run(self.world, self.world.dan, lambda c: grant(c, self.world.ben, Right.READER, self.world.atlas))

    async def seen(self, deps: Deps) -> set[int]:
        told, _ = await read(deps, self.world.caller(self.world.ben), texts_seen)
        return numbers(told)


async def texts_seen(session: Session) -> set[str]:
    """Return the texts of the newest sources that the caller sees."""
    page = await session.page(
        Find(kind=Source, where=Eq("workspace", session.caller.workspace), order=Newest(), first=NEWEST)
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
    world: TeamWorld, engine: str, clock: FakeClock, request: pytest.FixtureRequest
) -> None:
    others = [await TeamWorld(deps=world.deps).make() for _ in range(GROUNDS.get(engine, 1) - 1)]
    grounds = [await knowledge(each) for each in (world, *others)]
    await run_races(grounds, world.deps, clock, ROUNDS[engine], server(request, engine))


async def knowledge(world: TeamWorld) -> Knowledge:
    await shared_channel(world)
    return Knowledge(world, await world.open(world.ops))


def server(request: pytest.FixtureRequest, engine: str) -> str | None:
    return str(request.getfixturevalue("neo4j_uri")) if engine == "neo4j" else None
