"""What work objects to is looked at again where it may come of a lost race or of what was taken for new."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from neo4j import exceptions as driver_errors

from graph.model.access import SystemScope
from graph.model.errors import BadState, NotFound, StoreUnavailable
from graph.store.neo4j.transactions import Transactions
from graph.store.port import Writer
from tests.support.builders import World
from tests.support.clock import FakeClock

ANYWHERE = SystemScope(reason="test")
ENTRY = World().make_entry()


class Server:
    """Sessions of a server that gives the same for everything, or fails, by the number of the transaction."""

    def __init__(self, gives: Callable[[int, str], Any]) -> None:
        self._gives = gives
        self.transactions = 0
        self.statements: list[str] = []

    @asynccontextmanager
    async def open(self) -> Any:
        yield self

    async def execute_write(self, work: Any) -> Any:
        self.transactions += 1
        return await work(self)

    async def run(self, statement: str, _parameters: Any) -> Any:
        self.statements.append(statement)
        self._given = self._gives(self.transactions, statement)
        return self

    async def values(self) -> Any:
        return self._given


def _transactions(server: Server) -> Transactions:
    return Transactions(server, FakeClock())  # type: ignore[arg-type]  # all that is used of sessions


async def test_work_that_says_something_else_after_a_deadlock_runs_again() -> None:
    def gives(transaction: int, statement: str) -> Any:
        if transaction == 1:
            raise driver_errors.TransientError("deadlock")
        return [[True, []]] if "gate" in statement else [[[]]]

    server = Server(gives)

    async def work(writer: Writer) -> int:
        try:
            await writer.get(ANYWHERE, [ENTRY.id])
        except StoreUnavailable:
            raise NotFound from None
        return server.transactions

    assert await _transactions(server).run(work, None) == 2


@pytest.mark.parametrize(("there", "runs"), [(0, 1), (1, 2)])
async def test_an_objection_counts_once_what_was_taken_for_new_is_known_to_be_new(there: int, runs: int) -> None:
    server = Server(lambda _, statement: [[True, [[], []] if "texted" in statement else there]])

    async def work(writer: Writer) -> None:
        await writer.put([ENTRY])
        raise BadState("no guard")

    with pytest.raises(BadState):
        await _transactions(server).run(work, None)
    assert server.transactions == runs
