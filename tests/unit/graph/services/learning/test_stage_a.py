"""What is due in which channel, and that looking costs no more the longer a channel was used."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from dreaming.stage_a.select import check_scope
from graph.model.errors import OperationRejected
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import KbKind, KnowledgeBase
from graph.rules.scopes import MemoryScope
from graph.rules.stage_a import StageAKey
from graph.services.access.commands import command
from graph.services.knowledge.conversations import close_conversation, open_conversation, set_routing_rule
from graph.services.learning.stage_a import due_stage_a, keys_of
from tests.support.channel_room import QUIET, Room
from tests.support.held_clock import HeldClock
from tests.support.world import TeamWorld


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
async def room(world: TeamWorld, clock: HeldClock) -> Room:
    return await Room(world, clock).make()


async def due(room: Room) -> list[StageAKey]:
    async with room.world.deps.store.reading() as reader:
        return await due_stage_a(reader, room.clock.now())


async def route_to_shared(room: Room) -> None:
    """Let the next conversation of the channel use shared memory."""
    deps, world = room.world.deps, room.world
    host, dan = world.caller(world.host), world.caller(world.dan)
    now = await command(deps, host, lambda cmd: open_conversation(cmd, world.ops))
    await command(deps, host, lambda cmd: close_conversation(cmd, now.id))
    await command(deps, dan, lambda cmd: set_routing_rule(cmd, world.ops, MemoryScope.SHARED, isolated=False))


async def test_channel_in_which_nothing_was_said_is_never_due(room: Room) -> None:
    room.clock.advance(timedelta(days=9))
    assert await due(room) == []


@pytest.mark.req("DR-12")
async def test_each_pair_is_due_by_itself(room: Room) -> None:
    await room.talk(40)
    await room.talk(1, channel=room.world.chat)
    assert await due(room) == [room.key()]
    room.clock.advance(QUIET)
    assert await due(room) == sorted([room.key(), room.key(KbKind.PRIVATE, room.world.chat)])


@pytest.mark.req("DR-12")
async def test_last_arrival_counts_not_the_time_it_was_sent(room: Room) -> None:
    await room.talk(1)
    room.clock.advance(QUIET - timedelta(seconds=1))
    await room.talk(1, sent=[room.clock.now()])
    room.clock.advance(timedelta(seconds=1))
    assert await due(room) == []


@pytest.mark.req("KN-119")
async def test_settings_of_the_workspace_decide(room: Room) -> None:
    await room.set_to(stage_a__quiet_seconds=60, stage_a__batch_messages=2)
    await room.talk(1)
    assert await due(room) == []
    await room.talk(1)
    assert await due(room) == [room.key()]


@pytest.mark.req("DR-15")
async def test_shared_channel_has_a_pair_for_each_base_its_messages_may_be_in(room: Room) -> None:
    assert keys_of(await room.channel()) == (room.key(), room.key(KbKind.SHARED))


async def test_base_that_is_no_longer_used_is_not_counted_again_and_again(room: Room) -> None:
    await room.talk(3)
    await room.quiet()
    await route_to_shared(room)
    await room.talk(4)
    await room.quiet()
    rows = [await room.progress(key) for key in (room.key(), room.key(KbKind.SHARED))]
    assert [row.cursor for row in rows if row] == [7, 7]


async def test_base_whose_messages_still_wait_is_not_passed_over(room: Room) -> None:
    await room.talk(3)
    await route_to_shared(room)
    await room.talk(40)
    async with room.world.deps.store.reading() as reader:
        assert await due_stage_a(reader, room.clock.now()) == [room.key(KbKind.SHARED)]
    await room.dream()
    rows = [await room.progress(key) for key in (room.key(), room.key(KbKind.SHARED))]
    assert [row.cursor for row in rows if row] == [0, 43]
    await room.quiet()
    assert len(await room.episodes()) == 2


@pytest.mark.req("KN-54", "DR-15")
async def test_prompt_with_a_message_of_another_base_is_refused(room: Room) -> None:
    await room.talk(2)
    [base] = [base for base in await room.all(KnowledgeBase) if base.id == room.key().kb]
    one, two = await room.all(Source)
    check_scope(base, [one, two])
    with pytest.raises(OperationRejected, match="one knowledge base") as caught:
        check_scope(base, [one, replace(two, pool=room.key(KbKind.PRIVATE, room.world.chat).kb)])
    assert caught.value.wire_code == "SCOPE_FORBIDDEN"
