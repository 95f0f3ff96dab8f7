"""Write transactions: run, run again after a lost race, and settle a commit whose outcome is unknown.

With a transaction id the first statement writes a receipt of that id. If the connection breaks while the commit is
under way, the receipt tells whether it arrived. A commit that is still on its way then holds the receipt's id, so a
second run waits for it and finds the id taken: nothing is applied twice. Source: attack case 10, goal F4.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from typing import Any, Generic, TypeVar

from neo4j import AsyncTransaction

from graph.model.errors import AlreadyExists, RootwardError, StoreUnavailable
from graph.model.ids import NodeId, WorkspaceId, node_id
from graph.model.nodes.work import Receipt
from graph.model.time import Clock
from graph.store.neo4j import gate
from graph.store.neo4j.driver import AutoCommit, InTransaction, Patience, Sessions, backoff_s
from graph.store.neo4j.encoding import Properties, encode_node
from graph.store.neo4j.faults import DRIVER_ERRORS, DriverFault, TryAgain, is_lost_connection, translated
from graph.store.neo4j.writer import Neo4jWriter
from graph.store.port import Writer

T = TypeVar("T")

Work = Callable[[Writer], Awaitable[T]]

MAX_ATTEMPTS = 40


_PASS_WITH_RECEIPT = (
    f"{gate.PASS} WITH 1 AS passed MERGE (n:Node {{id: $receipt.id}}) ON CREATE SET n:Placeholder "
    "WITH n WHERE n:Placeholder REMOVE n:Placeholder SET n:Receipt, n += $receipt, n.attempt = $attempt RETURN n.id"
)


_ATTEMPT = "MATCH (n:Node) USING INDEX SEEK n:Node(id) WHERE n.id = $id AND n:Receipt RETURN n.attempt"


class _Unknown(Exception):
    """The connection broke after the commit was sent."""


@dataclass(slots=True)
class _Run(Generic[T]):
    """What is known about the runs of one piece of work.

    Attributes:
        results: of runs whose commit may have arrived, by the number of the run.
    """

    work: Work[T]
    tx_id: str | None
    results: dict[int, T]


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
                if not run.results or error.details.get("kind") != Receipt.__name__:
                    raise
                return await self._arrived(run, error)
            await self._clock.sleep(backoff_s(attempt, spread=_spread(id(run), attempt)))
        raise AssertionError("unreachable")

    async def _attempt(self, run: _Run[T], attempt: int) -> T:
        try:
            async with self._sessions.open() as session, await session.begin_transaction() as transaction:
                runner = InTransaction(transaction)
                result = await self._written(run, Neo4jWriter(runner), runner, attempt)
                await self._commit(transaction, run, attempt, result)
                return result
        except DRIVER_ERRORS as error:
            raise translated(error) from DriverFault(error)

    async def _written(self, run: _Run[T], writer: Neo4jWriter, runner: InTransaction, attempt: int) -> T:
        """Do everything but the commit."""
        try:
            await self._begin(run, runner, attempt)
            result = await run.work(writer)
            await writer.flush()
            if writer.given_up is not None:
                raise writer.given_up
            if runner.failure is not None:
                raise runner.failure
            return result
        finally:
            writer.given_up = runner.failure = None  # an error knows where it was raised, and so these two

    async def _begin(self, run: _Run[T], runner: InTransaction, attempt: int) -> None:
        """Pass the gate, and leave a receipt if there is an id for it."""
        if run.tx_id is None:
            await runner.run(gate.PASS)
        elif not await runner.run(_PASS_WITH_RECEIPT, receipt=self._receipt(run.tx_id), attempt=attempt):
            raise AlreadyExists(
                "a transaction of this id was committed before", kind=Receipt.__name__, key_fields=("id",)
            )

    async def _commit(self, transaction: AsyncTransaction, run: _Run[T], attempt: int, result: T) -> None:
        try:
            await transaction.commit()
        except DRIVER_ERRORS as error:
            if not is_lost_connection(error):
                raise
            run.results[attempt] = result
            raise _Unknown from DriverFault(error)

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


def _spread(who: int, attempt: int) -> float:
    """Return a figure from 0.5 to 1 that differs between transactions, so that those who collided part."""
    digest = hashlib.blake2b(f"{who}/{attempt}".encode(), digest_size=2).digest()
    return 0.5 + int.from_bytes(digest, "big") / 2**17
