"""Who left a channel group, or lost a bot, reads nothing that the bot learned afterwards (attack case 5, BM-62)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from graph.model.nodes.bots import Chat
from graph.model.nodes.people import Right
from graph.rules.bot_entries import ItemSource
from graph.services.access.grants import grant, revoke
from graph.services.access.members import set_members
from graph.services.access.session import Session, read
from graph.services.bots.chat_access import find_chat
from graph.services.bots.readers import read_for_chat, reads_in
from graph.services.bots.reading import PoolReads, caller_reads
from graph.services.deps import Deps
from tests.support.bot_room import BotRoom
from tests.support.clock import FakeClock
from tests.support.committed_reads import CommittedReads
from tests.support.new_enemy import NEWEST, numbers, run_races
from tests.support.profile import sized
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import run

ENGINES = ["memory", "embedded", pytest.param("neo4j", marks=pytest.mark.neo4j)]
ROUNDS = {
    "memory": sized(small=60, full=2_000),
    "embedded": sized(small=100, full=20_000),
    "neo4j": sized(small=500, full=100_000),
}
GROUNDS = {"neo4j": 10}
"""Races side by side, where it is not one; see `tests.support.new_enemy`."""


@dataclass
class BotMemory:
    """Membership in a channel group, and what the bot learned from one thing that was said there."""

    room: BotRoom
    source: ItemSource

    async def take(self) -> None:
        await leave_group(self.room)

    async def write(self, number: int) -> None:
        await self.room.fact(f"secret {number}", self.source)

    async def give_back(self) -> None:
        await join_group(self.room)

    async def seen(self, deps: Deps) -> set[int]:
        return numbers(await entries_seen(self.room, deps))


Ask = Callable[[BotRoom, Deps], Awaitable[set[str]]]


async def join_group(room: BotRoom) -> None:
    members = [room.person("u_1"), room.person("u_2")]
    await run(room.world, room.world.host, lambda c: set_members(c, room.group(), members))


async def leave_group(room: BotRoom) -> None:
    await run(room.world, room.world.host, lambda c: set_members(c, room.group(), [room.person("u_2")]))


async def lose_the_bot(room: BotRoom) -> None:
    """Take both ways to the pool away: the bot, and the link to it."""
    for bot in ("bot_link", "bot_9"):
        agent = room.agent(bot)
        await run(room.world, room.world.dan, lambda c, a=agent: revoke(c, room.person("u_1"), Right.READ, a))  # type: ignore[misc]


async def leave_organization(room: BotRoom) -> None:
    await run(room.world, room.world.host, lambda c: set_members(c, room.organization(), [room.person("u_2")]))


async def set_back(room: BotRoom) -> None:
    world, people = room.world, [room.person(who) for who in ("u_1", "u_2", "u_9")]
    await run(world, world.host, lambda c: set_members(c, room.organization(), people))
    for bot in ("bot_link", "bot_9"):
        agent = room.agent(bot)
        await run(world, world.dan, lambda c, a=agent: grant(c, room.person("u_1"), Right.READ, a))  # type: ignore[misc]
    await join_group(room)


async def opened(reads: PoolReads) -> set[str]:
    return {reads.open(entry) for entry in await reads.entries(first=NEWEST)}


async def entries_seen(room: BotRoom, deps: Deps) -> set[str]:
    """Return what u_1 sees of the pool when he asks himself."""

    async def work(session: Session) -> set[str]:
        return await opened(caller_reads(session, room.bot))

    return (await read(deps, room.caller("u_1"), work))[0]


async def entries_for_his_chat(room: BotRoom, deps: Deps) -> set[str]:
    """Return what goes into a prompt for his chat."""
    return await read_for_chat(deps, room.bot, await his_chat(room), opened)


async def entries_for_a_host(room: BotRoom, deps: Deps) -> set[str]:
    """Return what a host is told for his chat."""
    chat = await his_chat(room)

    async def work(session: Session) -> set[str]:
        return await opened(await reads_in(session, room.bot, chat))

    return (await read(deps, room.world.caller(room.world.host), work))[0]


async def his_chat(room: BotRoom) -> Chat:
    async with room.deps.store.reading() as reader:
        chat = await find_chat(reader, room.chat_id("chat_61"))
    assert chat is not None
    return chat


@pytest.mark.req("AD-7", "BM-41", "BM-62")
@pytest.mark.parametrize("engine", ["memory"], indirect=True)
@pytest.mark.parametrize("ask", [entries_seen, entries_for_his_chat, entries_for_a_host])
@pytest.mark.parametrize("taking", [leave_group, lose_the_bot, leave_organization])
async def test_a_read_of_bot_memory_that_is_overtaken_at_any_step_shows_nothing_new(
    world: TeamWorld, clock: FakeClock, ask: Ask, taking: Callable[[BotRoom], Awaitable[None]]
) -> None:
    def tick() -> None:
        clock.advance(timedelta(seconds=1))

    room = await BotRoom(world, tick=tick).make()
    await set_back(room)
    await room.group_fact("before", operator="u_2")
    counting = CommittedReads(world.deps.store)
    assert await ask(room, replace(world.deps, store=counting)) == {"before"}
    for step in range(1, counting.calls + 1):
        await set_back(room)
        store = CommittedReads(world.deps.store)

        async def overtake(step: int = step) -> None:
            await taking(room)
            await room.group_fact(f"secret {step}", operator="u_2")

        store.at, store.then = step, overtake
        told = await ask(room, replace(world.deps, store=store))
        assert f"secret {step}" not in told, f"overtaken before call {step} of {counting.calls}"


@pytest.mark.req("AD-7", "BM-62")
@pytest.mark.parametrize("engine", ENGINES, indirect=True)
async def test_readers_of_bot_memory_in_a_loop_never_see_what_was_learned_after_they_left(
    world: TeamWorld, engine: str, clock: FakeClock, request: pytest.FixtureRequest
) -> None:
    others = [await TeamWorld(deps=world.deps).make() for _ in range(GROUNDS.get(engine, 1) - 1)]
    grounds = [await bot_memory(each) for each in (world, *others)]
    await run_races(grounds, world.deps, clock, ROUNDS[engine], server(request, engine))


async def bot_memory(world: TeamWorld) -> BotMemory:
    room = await BotRoom(world).make()
    await set_back(room)
    return BotMemory(room, await room.item("chat_70", "i-1", "u_2"))


def server(request: pytest.FixtureRequest, engine: str) -> str | None:
    return str(request.getfixturevalue("neo4j_uri")) if engine == "neo4j" else None
