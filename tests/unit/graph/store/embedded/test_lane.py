"""A thread that does one thing after the other for coroutines: order, errors, cancellation, and its end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable

import pytest

from graph.store.embedded.lane import Lane


@pytest.fixture
async def lane() -> AsyncIterator[Lane]:
    made = Lane("test")
    yield made
    made.close()


class Gate:
    """Keeps the thread busy until it is opened."""

    def __init__(self, lane: Lane) -> None:
        self._begun, self._open = threading.Event(), threading.Event()
        self.passed = lane.submit(self._wait)

    async def begun(self) -> None:
        await asyncio.to_thread(self._begun.wait)

    def _wait(self) -> None:
        self._begun.set()
        self._open.wait()

    def open(self) -> None:
        self._open.set()


def noting(notes: list[int], number: int) -> Callable[[], None]:
    return lambda: notes.append(number)


async def test_things_are_done_in_the_order_of_asking_and_results_come_back(lane: Lane) -> None:
    notes: list[int] = []
    tasks = [lane.submit(noting(notes, number)) for number in range(50)]
    assert await lane.submit(lambda: list(notes)).result == list(range(50))
    assert all(task.over and task.result.done() for task in tasks)


async def test_an_error_comes_to_who_asked_and_the_next_thing_is_done(lane: Lane) -> None:
    def fail() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        await lane.submit(fail).result
    assert await lane.submit(lambda: 1).result == 1


async def test_what_is_cancelled_before_it_begins_is_not_done(lane: Lane) -> None:
    notes: list[int] = []
    gate = Gate(lane)
    first, second = lane.submit(noting(notes, 1)), lane.submit(noting(notes, 2))
    first.result.cancel()
    gate.open()
    await second.result
    assert (notes, first.over) == ([2], True)


async def test_what_has_begun_is_done_even_if_nobody_waits_any_more(lane: Lane) -> None:
    gate = Gate(lane)
    await gate.begun()
    gate.passed.result.cancel()
    assert not gate.passed.over
    gate.open()
    assert await lane.submit(lambda: 1).result == 1
    assert gate.passed.over


def test_a_loop_that_is_closed_meanwhile_harms_nobody() -> None:
    lane, opened, notes = Lane("test"), threading.Event(), list[int]()

    async def ask_and_leave() -> None:
        lane.submit(opened.wait)
        lane.submit(noting(notes, 1))

    asyncio.run(ask_and_leave())
    opened.set()
    assert asyncio.run(answer(lane)) == 1
    assert notes == [1]
    lane.close()


async def answer(lane: Lane) -> int:
    return await lane.submit(lambda: 1).result


async def test_closing_waits_for_what_was_asked_for_and_refuses_what_comes_later() -> None:
    lane, notes = Lane("test"), list[int]()
    gate = Gate(lane)
    last = lane.submit(noting(notes, 1))
    closing = asyncio.create_task(asyncio.to_thread(lane.close))
    await asyncio.sleep(0)
    gate.open()
    await closing
    await last.result
    assert notes == [1]
    with pytest.raises(RuntimeError, match="closed"):
        lane.submit(noting(notes, 2))
