"""The store port on Neo4j."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from neo4j import AsyncDriver

from graph.model.errors import StoreError, StoreUnavailable
from graph.model.time import Clock
from graph.store.neo4j import archive, gate, migrations
from graph.store.neo4j.driver import AutoCommit, Sessions, connect
from graph.store.neo4j.faults import DRIVER_ERRORS
from graph.store.neo4j.reader import Neo4jReader
from graph.store.neo4j.transactions import Transactions
from graph.store.neo4j.words import forget_tokens
from graph.store.port import Health, Isolation, Migration, Reader, Row, Writer

T = TypeVar("T")

_HEALTH_TIMEOUT_S = 5.0


class Neo4jStore:
    """A store in one database of a Neo4j server, cluster or Aura instance; it keeps no state of its own."""

    def __init__(self, uri: str, *, auth: tuple[str, str] | None, database: str = "neo4j", clock: Clock) -> None:
        self._uri = uri
        self._auth = auth
        self._database = database
        self._clock = clock
        self._driver: AsyncDriver | None = None
        self._under_way = 0
        self._idle = asyncio.Condition()

    @property
    def engine(self) -> str:
        return "neo4j"

    @property
    def isolation(self) -> Isolation:
        return Isolation.READ_COMMITTED

    async def open(self) -> None:
        if self._driver is None:
            self._driver = connect(self._uri, self._auth)
        try:
            await migrations.migrate(self._sessions, self._reads, self._clock)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Take no new work, wait for what is under way and close all connections."""
        driver, self._driver = self._driver, None
        async with self._idle:
            await self._idle.wait_for(lambda: not self._under_way)
        if driver is not None:
            await driver.close()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """Give a reader of committed data; two reads may see two states (compare `access_version`, KN-116)."""
        reads = self._reads
        async with self._working():
            yield Neo4jReader(reads)

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        transactions = Transactions(self._sessions, self._clock)
        async with self._working():
            return await transactions.run(work, tx_id)

    @asynccontextmanager
    async def _working(self) -> AsyncIterator[None]:
        """Count work under way, so that `close` can wait for it."""
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            async with self._idle:
                self._idle.notify_all()

    async def scrub(self) -> None:
        """Forget the words this process remembers: Neo4j merges its indexes and prunes its logs itself."""
        forget_tokens()

    async def health(self) -> Health:
        """Tell whether the database answers within five seconds."""
        try:
            async with asyncio.timeout(_HEALTH_TIMEOUT_S):
                version = await migrations.version_of(self._reads)
        except (StoreError, TimeoutError, *DRIVER_ERRORS):
            return self._health(0, "Neo4j does not answer")
        return self._health(version, "" if version else "the database is not set up")

    async def migrations(self) -> Sequence[Migration]:
        """List the steps; a store that is not open is looked at and closed again, and nothing is changed."""
        if self._driver is not None:
            return await migrations.listed(self._reads)
        self._driver = connect(self._uri, self._auth)
        try:
            return await migrations.listed(self._reads)
        finally:
            await self.close()

    async def export_rows(self) -> AsyncIterator[Row]:
        """Yield everything in one state: writers wait until the last row was taken, readers go on."""
        reads = self._reads
        async with self._working(), gate.held(self._sessions, self._clock):
            async for row in archive.export_rows(reads):
                yield row

    async def import_rows(self, rows: AsyncIterator[Row]) -> int:
        return await archive.import_rows(self._reads, Transactions(self._sessions, self._clock), rows)

    @property
    def _sessions(self) -> Sessions:
        if self._driver is None:
            raise StoreUnavailable("the store is not open")
        return Sessions(self._driver, self._database)

    @property
    def _reads(self) -> AutoCommit:
        return AutoCommit(self._sessions, self._clock)

    def _health(self, version: int, reason: str) -> Health:
        return Health(ready=not reason, engine=self.engine, schema_version=version, reason=reason)
