"""What a request asks the store before its own question and behind it; on Neo4j each of these is a round trip."""

from __future__ import annotations

from dataclasses import replace

import pytest

from graph.model.ids import NodeId
from graph.model.nodes.people import Right
from graph.services.access.members import set_members
from graph.services.access.serving import set_serving
from graph.services.access.session import Session, read
from tests.support.bot_room import BotRoom
from tests.support.committed_reads import CommittedReads
from tests.support.world import TeamWorld
from tests.unit.graph.services.asking import run

pytestmark = [pytest.mark.req("KN-116"), pytest.mark.parametrize("engine", ["memory"], indirect=True)]
KNOWLEDGE = 7
"""Bases, the person, his grants and memberships, his channels; bases and the person again at the end."""


async def trips(world: TeamWorld, who: NodeId) -> int:
    """Return how many calls a read makes that itself asks nothing."""
    store = CommittedReads(world.deps.store)

    async def nothing(session: Session) -> None:
        """Ask nothing."""

    await read(replace(world.deps, store=store), world.caller(who), nothing)
    return store.calls


async def test_who_uses_no_bot_pays_nothing_for_bots(world: TeamWorld) -> None:
    await BotRoom(world).make()
    assert await trips(world, world.ben) == KNOWLEDGE


async def test_a_bot_costs_its_link_and_its_pool_at_both_ends(world: TeamWorld) -> None:
    room = await BotRoom(world).make()
    await world.grant(world.ben, Right.READ, room.agent("bot_9"))
    one = await trips(world, world.ben)
    await world.grant(world.ben, Right.READ, room.agent("bot_link"))
    assert one == await trips(world, world.ben) <= KNOWLEDGE + 2, "however many bots there are"
    await run(world, world.host, lambda c: set_members(c, room.organization(), [world.ben]))
    await run(world, world.dan, lambda c: set_serving(c, world.atlas, room.organization(), serves=True))
    assert await trips(world, world.ben) == one + 1
