"""A decision that a cancellation, a deadline or a store error broke off is never used by the next request (case 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace

import pytest

from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId
from graph.services.access.session import Session, read
from graph.services.bots.reading import caller_reads
from graph.services.deps import Deps
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.nodes import node_view
from tests.support.bot_room import BotRoom
from tests.support.faults import FaultyStore, PlannedFault, cut_at, delay_at, fail_at
from tests.support.operations import apply, block, cite, create, made
from tests.support.world import TeamWorld

Look = Callable[[Deps, NodeId], Coroutine[object, object, tuple[object, ...]]]
BROKEN = 22
"""More calls than one look makes."""


@pytest.fixture
async def secret(world: TeamWorld) -> NodeId:
    """An entry of Ana's private chat."""
    said = await world.say(world.chat, "my salary is 90k")
    private = (await world.open(world.chat)).id
    pay = block("Earns 90k.", cite(said, "salary is 90k"))
    return made(await apply(world, create("Salary", pay), conversation=private))


@pytest.fixture
def look(world: TeamWorld, secret: NodeId) -> Look:
    """Read as somebody: one node, and a list."""

    async def work(session: Session) -> tuple[object, ...]:
        page = await entries(session, world.atlas, EntryFilter(), first=10)
        return await node_view(session, secret), page.items, await page.count()

    async def ask(deps: Deps, who: NodeId) -> tuple[object, ...]:
        return (await read(deps, world.caller(who), work))[0]

    return ask


async def break_off(look: Look, deps: Deps, who: NodeId, fault: PlannedFault) -> None:
    """Start a read and cancel it where the fault holds it; it may also end before that."""
    task = asyncio.create_task(look(deps, who))
    reached = asyncio.create_task(fault.reached.wait())
    await asyncio.wait([task, reached], return_when=asyncio.FIRST_COMPLETED)
    task.cancel()
    reached.cancel()
    await asyncio.gather(task, reached, return_exceptions=True)


@pytest.mark.req("KN-60", "KN-61", "KN-116")
@pytest.mark.parametrize("how", ["fails", "loses its answer", "is cancelled"])
async def test_after_a_broken_read_everybody_is_answered_anew(world: TeamWorld, look: Look, how: str) -> None:
    await break_at_every_call(world, look, (world.ana, world.ben), how)


@pytest.mark.req("BM-50", "BM-60", "BM-62")
@pytest.mark.parametrize("how", ["fails", "loses its answer", "is cancelled"])
async def test_after_a_broken_read_of_bot_memory_everybody_is_answered_anew(world: TeamWorld, how: str) -> None:
    room = await BotRoom(world).make()
    await room.members("u_2")
    own, group = await room.fact("one's own"), await room.group_fact("the group's", operator="u_2")
    local = {room.person(who): who for who in ("u_1", "u_2")}

    async def look(deps: Deps, who: NodeId) -> tuple[object, ...]:
        async def work(session: Session) -> tuple[object, ...]:
            reads = caller_reads(session, room.bot)
            shown = await reads.entries()
            return [reads.open(entry) for entry in shown], await reads.support([own, group]), await reads.one(own)

        return (await read(deps, room.caller(local[who]), work))[0]

    await break_at_every_call(world, look, (room.person("u_1"), room.person("u_2")), how)


async def break_at_every_call(world: TeamWorld, look: Look, two: tuple[NodeId, NodeId], how: str) -> None:
    """Break the look of either at every call; afterwards both must get the answers that they got before."""
    right = {who: await look(world.deps, who) for who in two}
    assert right[two[0]] != right[two[1]]
    broken = 0
    for at in range(1, BROKEN):
        for first, second in (two, two[::-1]):
            fault = {"fails": fail_at, "loses its answer": cut_at, "is cancelled": delay_at}[how](at)
            deps = replace(world.deps, store=FaultyStore(world.deps.store, [fault]))
            if how == "is cancelled":
                await break_off(look, deps, first, fault)
            else:
                try:
                    await look(deps, first)
                except StoreUnavailable:
                    broken += 1
            if not fault.reached.is_set():
                continue  # the look was over before that call
            broken += how == "is cancelled"
            assert await look(deps, second) == right[second]
            assert await look(deps, first) == right[first]
    assert broken >= 6
