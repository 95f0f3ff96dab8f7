"""So many tasks of one subject at once, the others in order."""

from __future__ import annotations

import asyncio

import pytest

from graph.services.turnstile import Ticket, Turnstile


async def _settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.req("BM-122")
async def test_only_so_many_are_inside_and_the_others_come_in_order() -> None:
    turnstile, order, most, inside = Turnstile(), [], 0, 0

    async def task(number: int) -> None:
        nonlocal most, inside
        ticket = await turnstile.enter("bot", 2)
        order.append(number)
        inside += 1
        most = max(most, inside)
        await asyncio.sleep(0)
        inside -= 1
        ticket.leave()

    await asyncio.gather(*(task(n) for n in range(9)))
    assert (most, order) == (2, list(range(9)))


@pytest.mark.req("BM-122", "BM-124")
async def test_no_limit_waits_for_nobody_and_other_subjects_do_not_count() -> None:
    turnstile = Turnstile()
    first = [await turnstile.enter("bot", None) for _ in range(5)]
    await turnstile.enter("other", 1)
    waiting = asyncio.ensure_future(turnstile.enter("bot", 5))
    await _settled()
    assert not waiting.done()
    first[0].leave()
    assert isinstance(await waiting, Ticket)


async def test_who_gives_up_waiting_takes_no_place() -> None:
    turnstile = Turnstile()
    held = await turnstile.enter("bot", 1)
    gives_up, waits = (asyncio.ensure_future(turnstile.enter("bot", 1)) for _ in range(2))
    await _settled()
    gives_up.cancel()
    await _settled()
    assert not waits.done()
    held.leave()
    held.leave()  # once is enough
    await waits
    assert gives_up.cancelled()
    late = asyncio.ensure_future(turnstile.enter("bot", 1))
    await _settled()
    assert not late.done(), "leaving twice let nobody else in"
    late.cancel()


async def test_who_is_let_in_and_cancelled_at_once_leaves_the_place_free() -> None:
    turnstile = Turnstile()
    held = await turnstile.enter("bot", 1)
    waits = asyncio.ensure_future(turnstile.enter("bot", 1))
    await _settled()
    held.leave()
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    await asyncio.wait_for(turnstile.enter("bot", 1), 1)


async def test_a_ticket_handed_over_is_left_by_who_got_it() -> None:
    turnstile = Turnstile()
    held = await turnstile.enter("bot", 1)
    other = held.hand_over()
    held.leave()
    waits = asyncio.ensure_future(turnstile.enter("bot", 1))
    await _settled()
    assert not waits.done()
    other.leave()
    await waits
