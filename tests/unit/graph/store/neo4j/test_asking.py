"""What is asked side by side: in which order it goes, and what becomes of the others if one fails or is given up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from neo4j import exceptions as driver_errors

from graph.model.errors import StoreError
from graph.store.neo4j.asking import Asking
from graph.store.neo4j.driver import InTransaction
from graph.store.neo4j.faults import TryAgain

PATIENCE_S = 5


class Answering:
    """A server that answers each question with its own number, `$n`, as soon as it is let.

    Attributes:
        sent: the numbers that were asked for, in order.
    """

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.open = asyncio.Event()
        self.open.set()

    async def run(self, statement: str, /, **parameters: Any) -> list[list[Any]]:
        numbers = [parameters["n"]] if "n" in parameters else [own["n"] for own in parameters.values()]
        self.sent += numbers
        await self.open.wait()
        return [list(numbers)]


def question(asking: Asking, number: int, *, turns: int = 0) -> Any:
    async def ask() -> Any:
        for _ in range(turns):
            await asyncio.sleep(0)
        return await asking.ask("UNWIND [1] AS one", "$n", n=number)

    return ask


async def test_a_statement_of_its_own_does_not_overtake_what_was_asked_before() -> None:
    server = Answering()
    asking = Asking(server)
    alone = lambda: asking.run("RETURN $n", n=2)  # noqa: E731
    assert await asking.together([question(asking, 1), alone, question(asking, 3)]) == [1, [[2]], 3]
    assert server.sent[0] == 1
    assert sorted(server.sent) == [1, 2, 3]


@pytest.mark.parametrize("turns", range(8))
async def test_who_gives_up_leaves_nothing_that_others_wait_for(turns: int) -> None:
    server = Answering()
    asking = Asking(server)
    server.open.clear()
    given_up = asyncio.ensure_future(asking.together([question(asking, 1), question(asking, 2)]))
    for _ in range(turns):
        await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    server.open.set()
    async with asyncio.timeout(PATIENCE_S):
        assert await asking.together([question(asking, 3), question(asking, 4)]) == [3, 4]


@pytest.mark.parametrize("who", [0, 1])
@pytest.mark.parametrize("turns", range(8))
async def test_one_who_gives_up_alone_takes_no_answer_from_the_other(who: int, turns: int) -> None:
    server = Answering()
    asking = Asking(server)
    server.open.clear()
    asked: list[asyncio.Task[Any]] = []
    all_ask = asyncio.Event()

    def noted(number: int) -> Any:
        async def ask() -> Any:
            asked.append(asyncio.ensure_future(question(asking, number)()))
            if len(asked) == 2:
                all_ask.set()
            return await asked[-1]

        return ask

    both = asyncio.ensure_future(asking.together([noted(0), noted(1)]))
    await all_ask.wait()
    for _ in range(turns):
        await asyncio.sleep(0)
    asked[who].cancel()
    server.open.set()
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(both, return_exceptions=True)
        assert await asked[1 - who] == 1 - who


class Deadlocked:
    """A transaction of the driver that loses a deadlock at once and then only says that it has failed."""

    def __init__(self) -> None:
        self._failed = False

    async def run(self, _statement: str, _parameters: Any) -> Any:
        if not self._failed:
            self._failed = True
            raise driver_errors.TransientError("deadlock")
        raise driver_errors.TransactionError(self, "Transaction failed")


async def test_who_comes_after_a_deadlock_hears_of_the_deadlock_and_so_runs_again() -> None:
    runner = InTransaction(Deadlocked())  # type: ignore[arg-type]  # all that is used of a transaction
    with pytest.raises(TryAgain):
        await runner.run("RETURN 1")
    with pytest.raises(TryAgain) as second:
        await runner.run("RETURN 2")
    assert runner.failure is second.value


async def test_a_deadlock_of_any_of_those_who_ask_is_a_reason_to_run_again() -> None:
    asking = Asking(InTransaction(Deadlocked()))  # type: ignore[arg-type]  # all that is used of a transaction
    late, alone = question(asking, 1, turns=2), lambda: asking.run("RETURN $n", n=2)
    with pytest.raises(StoreError) as failed:
        await asking.together([late, alone])
    assert isinstance(failed.value, TryAgain)
