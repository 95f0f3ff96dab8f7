"""The connection: sessions, statements with parameters, and results as plain rows."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import count
from typing import Any, Protocol

from neo4j import WRITE_ACCESS, AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncSession

from graph.model.time import Clock
from graph.store.neo4j.faults import DRIVER_ERRORS, DriverFault, TryAgain, translated, untranslatable_text

Rows = list[list[Any]]

_DIALECT = "CYPHER 5 "
"""Understood by 5.26 and by every later version, whatever the default language of the database is."""

ONE_WAY = "replan=skip "
"""Begins a statement all of whose look-ups have one way, by hints or by MERGE: its first plan stays the best.

Otherwise the server plans it again whenever the store has grown, which takes longer than to run it.
"""

PARAMETER = re.compile(r"\$(\w+)")
"""Statements are made of the declaration alone, so a dollar sign in them is never a user's."""

_READ_ATTEMPTS = 4
_PATIENCE_MS = 60_000
_FETCH_SIZE = 20_000
_CONNECT_TIMEOUT_S = 10.0
_ACQUIRE_TIMEOUT_S = 30.0
_TALKING_LOGGERS = ("neo4j.io", "neo4j.pool", "neo4j.notifications")


@lru_cache(maxsize=10_000)
def _text(statement: str) -> str:
    return _DIALECT + PARAMETER.sub(r"$p.\1", statement)


def prepared(statement: str, parameters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what is sent for a statement: its parameters as one map.

    The server keeps a plan for each combination of types and sizes (none, one, up to ten, a hundred, a thousand) of
    the lists and texts that are parameters of their own; into a map it does not look. So a statement is planned once.
    """
    return _text(statement), {"p": _Values(parameters)}


class _Values(dict[str, Any]):
    """Parameters that show nothing of themselves.

    The driver writes out all that is sent for its log, even while nothing is logged: of a batch of messages that takes
    a sixth of our processor time.
    """

    def __repr__(self) -> str:
        return "{...}"


class Runner(Protocol):
    """Runs statements: one by one on their own, or inside a transaction."""

    async def run(self, statement: str, /, **parameters: Any) -> Rows:
        """Return the rows of a statement; user data comes in parameters only.

        Raises:
            TryAgain: nothing was done, and it may work the next time.
            StoreError: the statement failed.
            AlreadyExists: a unique key is taken.
        """
        ...


def connect(uri: str, auth: tuple[str, str] | None) -> AsyncDriver:
    """Return a driver that logs no statement and no value, whatever level the loggers of the process have."""
    for name in _TALKING_LOGGERS:
        logging.getLogger(name).disabled = True
    return AsyncGraphDatabase.driver(
        uri,
        auth=auth,
        user_agent="rootward",
        connection_timeout=_CONNECT_TIMEOUT_S,
        connection_acquisition_timeout=_ACQUIRE_TIMEOUT_S,
        max_transaction_retry_time=0,  # `Transactions` runs work again itself
        notifications_min_severity="OFF",
        telemetry_disabled=True,
        keep_alive=True,
    )


class Sessions:
    """Opens sessions on one database.

    They always ask for the leader of a cluster: a follower may lag behind, and a right that was just taken away
    must be gone on the next read.
    """

    def __init__(self, driver: AsyncDriver, database: str) -> None:
        self._driver = driver
        self._database = database

    def open(self) -> AsyncSession:
        """Return a session to be used with ``async with``."""
        return self._driver.session(database=self._database, default_access_mode=WRITE_ACCESS, fetch_size=_FETCH_SIZE)


class Patience:
    """How long something is tried again: a number of attempts, and a minute, as each may wait for a dead server."""

    def __init__(self, clock: Clock, attempts: int) -> None:
        self._clock = clock
        self._attempts = attempts
        self._until = clock.now() + _PATIENCE_MS

    def lasts(self, attempt: int) -> bool:
        """True if there is to be another attempt after the n-th has failed."""
        return attempt < self._attempts and self._clock.now() < self._until


class AutoCommit:
    """Runs each statement on its own, in one round trip; reads may run side by side and are repeated if cut off."""

    def __init__(self, sessions: Sessions, clock: Clock, *, attempts: int = _READ_ATTEMPTS) -> None:
        self._sessions = sessions
        self._clock = clock
        self._attempts = attempts

    async def run(self, statement: str, /, **parameters: Any) -> Rows:
        patience = Patience(self._clock, self._attempts)
        for attempt in count(1):
            try:
                return await self._once(statement, parameters)
            except TryAgain:
                if not patience.lasts(attempt):
                    raise
            await self._clock.sleep(backoff_s(attempt))
        raise AssertionError("unreachable")

    async def _once(self, statement: str, parameters: dict[str, Any]) -> Rows:
        try:
            async with self._sessions.open() as session:
                return await (await session.run(*prepared(statement, parameters))).values()
        except DRIVER_ERRORS as error:
            raise translated(error) from DriverFault(error)
        except UnicodeEncodeError:
            raise untranslatable_text() from None


class InTransaction:
    """Runs statements inside one explicit transaction, one after the other.

    Attributes:
        failure: why the transaction cannot be committed any more, even if the caller went on.
    """

    def __init__(self, transaction: AsyncManagedTransaction) -> None:
        self._transaction = transaction
        self._turn = asyncio.Lock()
        self.failure: Exception | None = None

    async def run(self, statement: str, /, **parameters: Any) -> Rows:
        try:
            async with self._turn:
                self._check()
                return await (await self._transaction.run(*prepared(statement, parameters))).values()
        except DRIVER_ERRORS as error:
            self.failure = translated(error)
            raise self.failure from DriverFault(error)
        except UnicodeEncodeError:
            self.failure = untranslatable_text()
            raise self.failure from None

    def _check(self) -> None:
        """Tell why the transaction has failed: the driver only tells that it has, not whether it may be run again."""
        if self.failure is not None:
            raise self.failure


def backoff_s(attempt: int, *, spread: float = 1.0) -> float:
    """Return how long to wait after the n-th failure, in seconds: 10 ms, doubled each time, at most one second.

    Args:
        attempt: 1 for the first failure.
        spread: 0.5 to 1, so that those who met do not meet again.
    """
    return float(min(0.01 * 2.0 ** (attempt - 1), 1.0)) * spread
