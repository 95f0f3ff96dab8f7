"""The fair queue. Source: attack case 11, goal F5."""

from __future__ import annotations

import asyncio
import random

import pytest

from graph.store.embedded.turnstile import Turnstile


async def turns(number: int = 3) -> None:
    for _ in range(number):
        await asyncio.sleep(0)


async def test_waiters_are_served_in_the_order_of_asking() -> None:
    turnstile, order = Turnstile(["one"]), []

    async def use(name: int) -> None:
        thing = await turnstile.acquire()
        order.append(name)
        await turns()
        turnstile.release(thing)

    await asyncio.gather(*(use(name) for name in range(5)))
    assert order == [0, 1, 2, 3, 4]


async def test_nobody_overtakes_those_who_wait() -> None:
    turnstile = Turnstile(["one"])
    thing = await turnstile.acquire()
    waiting = asyncio.create_task(turnstile.acquire())
    await turns()
    turnstile.release(thing)
    late = asyncio.create_task(turnstile.acquire())
    assert await waiting == "one"
    await turns()
    assert not late.done()
    turnstile.release("one")
    assert await late == "one"


async def test_a_cancelled_waiter_does_not_hold_up_the_next() -> None:
    turnstile = Turnstile(["one"])
    thing = await turnstile.acquire()
    first, second = (asyncio.create_task(turnstile.acquire()) for _ in range(2))
    await turns()
    first.cancel()
    await turns()
    turnstile.release(thing)
    assert await second == "one"


async def test_a_waiter_cancelled_just_when_served_passes_it_on() -> None:
    turnstile = Turnstile(["one"])
    thing = await turnstile.acquire()
    first, second = (asyncio.create_task(turnstile.acquire()) for _ in range(2))
    await turns()
    turnstile.release(thing)
    first.cancel()
    assert await second == "one"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_who_waits_at_a_closed_turnstile_is_refused() -> None:
    turnstile = Turnstile(["one"])
    await turnstile.acquire()
    waiting = asyncio.create_task(turnstile.acquire())
    await turns()
    turnstile.close(LookupError("closed"))
    for asking in (waiting, turnstile.acquire()):
        with pytest.raises(LookupError):
            await asking


@pytest.mark.parametrize("seed", range(200))
async def test_nothing_is_lost_or_given_twice_under_random_cancellation(seed: int) -> None:
    chance = random.Random(seed)
    things = ["one", "two"]
    turnstile, held = Turnstile(things), set[str]()

    async def use() -> None:
        thing = await turnstile.acquire()
        assert thing not in held
        held.add(thing)
        try:
            await turns(chance.randrange(4))
        finally:
            held.discard(thing)
            turnstile.release(thing)

    tasks = [asyncio.create_task(use()) for _ in range(12)]
    while not all(task.done() for task in tasks):
        if chance.random() < 0.4:
            chance.choice(tasks).cancel()
        await asyncio.sleep(0)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert sorted([await turnstile.acquire(), await turnstile.acquire()]) == sorted(things)
