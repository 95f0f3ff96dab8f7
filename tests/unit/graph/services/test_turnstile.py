"""The places of the tasks of one bot: never too many inside, none lost, nobody overtaken (attack case 11, goal F5)."""

from __future__ import annotations

import asyncio
import random

import pytest

from graph.services.turnstile import Turnstile
from tests.support.profile import sized

pytestmark = pytest.mark.req("BM-122", "BM-129")
SEEDS = sized(small=200, full=10_000)


async def turns(number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_who_waits_comes_in_by_turn_and_nobody_overtakes_him() -> None:
    turnstile = Turnstile()
    first = await turnstile.enter("bot", 1)
    waiting = asyncio.create_task(turnstile.enter("bot", 1))
    await turns()
    late = asyncio.create_task(turnstile.enter("bot", 1))
    other = await turnstile.enter("another bot", 1)
    await turns()
    assert not waiting.done()
    first.leave()
    first.leave()
    second = await waiting
    await turns()
    assert not late.done()
    second.leave()
    (await late).leave()
    other.leave()


async def test_who_is_cancelled_in_the_queue_or_just_when_let_in_holds_nobody_up() -> None:
    for cancelled_after_turn in (False, True):
        turnstile = Turnstile()
        inside = await turnstile.enter("bot", 1)
        gone, next_ = (asyncio.create_task(turnstile.enter("bot", 1)) for _ in range(2))
        await turns()
        if cancelled_after_turn:
            inside.leave()
        gone.cancel()
        if not cancelled_after_turn:
            await turns()
            inside.leave()
        ticket = await next_
        with pytest.raises(asyncio.CancelledError):
            await gone
        ticket.leave()
        assert not turnstile._places


async def test_a_deadline_of_wait_for_takes_no_place() -> None:
    """A waiter whose time is over, then another: both go on."""
    turnstile = Turnstile()
    inside = await turnstile.enter("bot", 1)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(turnstile.enter("bot", 1), timeout=0)
    later = asyncio.create_task(turnstile.enter("bot", 1))
    await turns()
    inside.leave()
    (await later).leave()
    assert not turnstile._places


async def test_a_ticket_that_was_handed_over_is_left_once_by_who_got_it() -> None:
    turnstile = Turnstile()
    ticket = await turnstile.enter("bot", 1)
    late = ticket.hand_over()
    waiting = asyncio.create_task(turnstile.enter("bot", 1))
    ticket.leave()
    await turns()
    assert not waiting.done(), "the model is still being asked, though nobody waits for its answer"
    late.leave()
    (await waiting).leave()


async def test_any_cancellation_at_any_await_leaves_every_place_free_at_the_end() -> None:
    for seed in range(SEEDS):
        rng, turnstile = random.Random(seed), Turnstile()
        limit, inside, most = rng.randint(1, 3), 0, 0

        async def task(rng: random.Random = rng, turnstile: Turnstile = turnstile, limit: int = limit) -> None:
            nonlocal inside, most
            ticket = await turnstile.enter("bot", limit)
            inside, most = inside + 1, max(most, inside + 1)
            try:
                await turns(rng.randint(0, 3))
            finally:
                inside -= 1
                ticket.leave()

        tasks: list[asyncio.Task[None]] = []
        for _ in range(rng.randint(3, 12)):
            tasks.append(asyncio.create_task(task()))
            await turns(rng.randint(0, 2))
            if rng.random() < 0.4:
                rng.choice(tasks).cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(end is None or isinstance(end, asyncio.CancelledError) for end in ended), seed
        assert most <= limit, seed
        assert not turnstile._places, f"seed {seed}: a place was lost"
