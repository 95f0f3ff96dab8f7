"""A decision that a cancellation, a deadline or a store error broke off is never used by the next request (case 7)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace

import pytest

from graph.model.errors import StoreUnavailable
from graph.model.ids import NodeId
from graph.services.access.session import Session, read
from graph.services.deps import Deps
from graph.services.knowledge.entry_list import EntryFilter, entries
from graph.services.knowledge.nodes import node_view
from tests.support.faults import FaultyStore, PlannedFault, cut_at, delay_at, fail_at
from tests.support.operations import apply, block, cite, create, made
from tests.support.world import TeamWorld

Look = Callable[[Deps, NodeId], Coroutine[object, object, tuple[object, ...]]]
BROKEN = 16
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
    right = {who: await look(world.deps, who) for who in (world.ana, world.ben)}
    assert right[world.ana] != right[world.ben]
    broken = 0
    for at in range(1, BROKEN):
        for first, second in ((world.ana, world.ben), (world.ben, world.ana)):
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
