"""Write transactions: run, run again after a lost race, and settle a commit whose outcome is unknown.

With a transaction id the first statement also writes a receipt of that id. If the connection breaks while the commit is
under way, the receipt tells whether it arrived. A commit that is still on its way then holds the receipt's id, so a
second run waits for it and finds the id taken: nothing is applied twice. Source: attack case 10, goal F4.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, TypeVar

from neo4j import AsyncManagedTransaction

from graph.model.errors import AlreadyExists, RootwardError, StoreUnavailable
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.work import Receipt
from graph.model.time import Clock
from graph.store.neo4j import gate
from graph.store.neo4j.asking import First, Question
from graph.store.neo4j.driver import AutoCommit, InTransaction, Patience, Sessions, backoff_s
from graph.store.neo4j.encoding import Properties, encode_node
from graph.store.neo4j.faults import (
    DRIVER_ERRORS,
    DriverFault,
    TakenForNew,
    TryAgain,
    is_lost_connection,
    is_objection,
    translated,
)
from graph.store.neo4j.writer import Neo4jWriter
from graph.store.port import Writer

T = TypeVar("T")

Work = Callable[[Writer], Awaitable[T]]

MAX_ATTEMPTS = 40


_PASS_WITH_RECEIPT = (
    f"{gate.PASS} WITH 1 AS passed MERGE (n:Node {{id: $receipt.id}}) ON CREATE SET n:Placeholder "
    "WITH n WHERE n:Placeholder REMOVE n:Placeholder SET n:Receipt, n += $receipt, n.attempt = $attempt"
)


_ATTEMPT = "MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = $id AND n:Receipt RETURN n.attempt"


class _Unknown(Exception):
    """The connection broke after the commit was sent."""


@dataclass(slots=True)
class _Run(Generic[T]):
    """What is known about the runs of one piece of work.

    Attributes:
        results: of runs whose commit may have arrived, by the number of the run.
        cautious: a run found something there that it took for new, so the next one looks first.
    """

    work: Work[T]
    tx_id: str | None
    results: dict[int, T]
    cautious: bool = False

    def must_look(self, error: RootwardError) -> bool:
        """True, once, if a run failed because it took something for new; the next one looks first."""
        rash = not self.cautious and (isinstance(error, TakenForNew) or is_objection(error))
        self.cautious |= rash
        return rash


class Transactions:
    """Runs write transactions on one database."""

    def __init__(self, sessions: Sessions, clock: Clock) -> None:
        self._sessions = sessions
        self._clock = clock
        self._reads = AutoCommit(sessions, clock, attempts=MAX_ATTEMPTS)

    async def run(self, work: Work[T], tx_id: str | None) -> T:
        """Run `work` and return its result after commit; see `graph.store.port.Store.transact`."""
        run = _Run(work=work, tx_id=tx_id, results={})
        patience = Patience(self._clock, MAX_ATTEMPTS)
        for attempt in count(1):
            try:
                return await self._attempt(run, attempt)
            except TryAgain as error:
                if run.must_look(error):
                    continue
                if not patience.lasts(attempt):
                    raise self._exhausted(run) from error.__cause__
            except _Unknown as error:
                if tx_id is None:
                    raise self._unknown() from error.__cause__
                settled = await self._settle(run, tx_id)
                if settled is not None:
                    return run.results[settled]
                if not patience.lasts(attempt):
                    raise self._unknown() from error.__cause__
            except AlreadyExists as error:
                if run.must_look(error):
                    continue
                if not run.results or error.details.get("kind") != Receipt.__name__:
                    raise
                return await self._arrived(run, error)
            await self._clock.sleep(backoff_s(attempt, spread=_spread(id(run), attempt)))
        raise AssertionError("unreachable")

    async def _attempt(self, run: _Run[T], attempt: int) -> T:
        """Run the work once. The driver commits when it is done, and sends its BEGIN with the first statement."""
        done: list[T] = []

        async def work(transaction: AsyncManagedTransaction) -> T:
            if done:  # the driver has tried to commit, and means to try again by itself
                run.results[attempt] = done[0]
                raise _Unknown
            done.append(await self._written(run, InTransaction(transaction), attempt))
            return done[0]

        try:
            async with self._sessions.open() as session:
                return await session.execute_write(work)
        except DRIVER_ERRORS as error:
            if not done or not is_lost_connection(error):
                raise translated(error) from DriverFault(error)
            run.results[attempt] = done[0]
            raise _Unknown from DriverFault(error)

    async def _written(self, run: _Run[T], runner: InTransaction, attempt: int) -> T:
        """Do everything but the commit."""
        writer = Neo4jWriter(runner, self._first(run, runner, attempt), cautious=run.cautious)
        try:
            result = await run.work(writer)
            await writer.finish()
            if writer.given_up is not None:
                raise writer.given_up
            if runner.failure is not None:
                raise runner.failure
            return result
        except RootwardError:
            await _reconsider(writer, runner)
            raise
        finally:
            writer.given_up = runner.failure = None  # an error knows where it was raised, and so these two

    def _first(self, run: _Run[T], runner: InTransaction, attempt: int) -> First:
        """Return what begins a transaction: the gate, and a receipt if there is an id for it."""
        if run.tx_id is None:
            return First(Question(gate.PASS, "true", {}), lambda _: None)
        receipt = self._receipt(run.tx_id)

        def check(written: int) -> None:
            if not written:
                runner.failure = AlreadyExists(
                    "a transaction of this id was committed before", kind=Receipt.__name__, key_fields=("id",)
                )
                raise runner.failure

        return First(Question(_PASS_WITH_RECEIPT, "count(n)", {"receipt": receipt, "attempt": attempt}), check)

    async def _settle(self, run: _Run[T], tx_id: str) -> int | None:
        """Return the run whose commit arrived, or None if none has so far."""
        try:
            rows = await self._reads.run(_ATTEMPT, id=receipt_id(tx_id))
        except StoreUnavailable as gone:
            raise self._unknown() from gone.__cause__
        return next((attempt for (attempt,) in rows if attempt in run.results), None)

    async def _arrived(self, run: _Run[T], error: AlreadyExists) -> T:
        """Return the result of the run whose commit arrived after all; refuse if the receipt is someone else's."""
        settled = await self._settle(run, run.tx_id or "")
        if settled is None:
            raise error
        return run.results[settled]

    def _receipt(self, tx_id: str) -> Properties:
        return encode_node(Receipt(id=receipt_id(tx_id), workspace=WorkspaceId(""), created_at=self._clock.now()))

    def _unknown(self) -> StoreUnavailable:
        return StoreUnavailable("the connection broke during the commit: look whether it arrived", outcome="unknown")

    def _exhausted(self, run: _Run[Any]) -> RootwardError:
        if run.results:
            return self._unknown()
        return StoreUnavailable("the store cannot answer now: nothing was written, try again")


def receipt_id(tx_id: str) -> NodeId:
    """Return the id of the receipt of a transaction."""
    return node_id(Receipt.PREFIX, tx_id)


async def _reconsider(writer: Neo4jWriter, runner: InTransaction) -> None:
    """Raise what lets the work run again if its objection may come of that: a race, or something taken for new."""
    if runner.failure is None:
        await writer.confirm()
    elif isinstance(runner.failure, TryAgain):
        raise runner.failure


def _spread(who: int, attempt: int) -> float:
    """Return a figure from 0.5 to 1 that differs between transactions, so that those who collided part."""
    digest = hashlib.blake2b(f"{who}/{attempt}".encode(), digest_size=2).digest()
    return 0.5 + int.from_bytes(digest, "big") / 2**17
