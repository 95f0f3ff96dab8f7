"""The stores that a benchmark runs on: an embedded one in a folder of its own, and a real Neo4j.

``ROOTWARD_NEO4J`` is read as the tests read it: ``auto`` leaves Neo4j out, loudly, where none can be started,
``required`` makes that a failure, ``off`` leaves it out.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw
from neo4j import AsyncDriver, AsyncGraphDatabase

from api.adapters.memory import collect_seldom
from api.adapters.system import RandomIds, SystemClock, SystemRandomness
from graph.services.deps import Deps
from graph.store.embedded import EmbeddedStore
from graph.store.neo4j import Neo4jStore
from graph.store.port import Store
from graph.text.tokens import DEFAULT_TOKENIZER
from tests.support import neo4j_server
from tests.support.keyring import fixed_vault
from tests.support.neo4j_server import Neo4jServer, Neo4jUnavailable

EMBEDDED, NEO4J = "embedded", "neo4j"
DATABASE = "neo4j"
SHARED = "ROOTWARD_BENCH_NEO4J"
"""Names the address of a server that several benchmarks use one after the other; each empties it first."""


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a server is."""

    uri: str
    auth: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Engine:
    """An open store with a bare way into its engine for references.

    Attributes:
        folder: where the files of an embedded store lie, and where a reference may put its own.
        driver: of a Neo4j.
    """

    name: str
    store: Store
    folder: Path
    driver: AsyncDriver | None = None

    @property
    def deps(self) -> Deps:
        """The ports of the core on this store, without what needs files or pages."""
        return Deps(
            store=self.store,
            clock=SystemClock(),
            ids=RandomIds(),
            randomness=SystemRandomness(),
            tokenizer=DEFAULT_TOKENIZER,
            blobs=None,  # type: ignore[arg-type]  # no file is handed in
            fetcher=None,  # type: ignore[arg-type]  # no page is fetched
            extractor=None,  # type: ignore[arg-type]  # no file is read
            vault=fixed_vault(),
        )

    def bare_sqlite(self, name: str) -> apsw.Connection:
        """Open a file of its own with the settings of the embedded store: WAL, every commit on the disk."""
        db = apsw.Connection(str(self.folder / name))
        db.pragma("journal_mode", "WAL")
        db.pragma("synchronous", "FULL")
        return db

    async def bare_query(self, cypher: str, **parameters: object) -> list[list[object]]:
        """Run one query in one managed transaction, as plainly as the driver can."""
        assert self.driver is not None
        async with self.driver.session(database=DATABASE) as session:
            return await (await session.run(cypher, parameters)).values()


@asynccontextmanager
async def engines(*, heap_mb: int = 768, opened: bool = True) -> AsyncIterator[list[Engine]]:
    """Give the stores, the embedded one first; unless `opened`, whoever takes them opens and closes them."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rootward-bench-")))
        embedded = EmbeddedStore(folder / "bench.db", clock=SystemClock())
        if opened:
            await embedded.open()
            stack.push_async_callback(embedded.close)
        found = [Engine(name=EMBEDDED, store=embedded, folder=folder)]
        collect_seldom()  # as the server does
        server = _start(stack, heap_mb)
        if server is not None:
            await _emptied(server)
            found.append(await _connected(stack, server, folder, opened=opened))
        yield found


async def _connected(stack: AsyncExitStack, server: Address, folder: Path, *, opened: bool) -> Engine:
    store = Neo4jStore(server.uri, auth=server.auth, database=DATABASE, clock=SystemClock())
    if opened:
        await store.open()
        stack.push_async_callback(store.close)
    driver = AsyncGraphDatabase.driver(server.uri, auth=server.auth, notifications_min_severity="OFF")
    await stack.enter_async_context(driver)
    return Engine(name=NEO4J, store=store, folder=folder, driver=driver)


async def _emptied(server: Address) -> None:
    """Remove what an earlier benchmark left, if the server is shared."""
    async with (
        AsyncGraphDatabase.driver(server.uri, auth=server.auth, notifications_min_severity="OFF") as driver,
        driver.session(database=DATABASE) as session,
    ):
        await (await session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS")).consume()


def _start(stack: AsyncExitStack, heap_mb: int) -> Address | None:
    if shared := os.environ.get(SHARED):
        return Address(uri=shared, auth=("neo4j", "not-checked"))
    server = start_neo4j(heap_mb)
    return None if server is None else Address(uri=stack.enter_context(server).uri, auth=server.auth)


def start_neo4j(heap_mb: int) -> Neo4jServer | None:
    """Start a server as ``ROOTWARD_NEO4J`` says; None if it is left out.

    Raises:
        SystemExit: it is required and cannot be started.
    """
    mode = os.environ.get("ROOTWARD_NEO4J") or "auto"
    if mode == "off":
        print("LEFT OUT: everything on Neo4j (ROOTWARD_NEO4J=off)", flush=True)
        return None
    try:
        return neo4j_server.start(
            os.environ.get("ROOTWARD_TEST_NEO4J_VERSION") or neo4j_server.CURRENT, heap_mb=heap_mb, long_run=True
        )
    except Neo4jUnavailable as missing:
        if mode == "required":
            raise SystemExit(f"a real Neo4j is required: {missing}") from missing
        print(f"LEFT OUT: everything on Neo4j ({missing})", flush=True)
        return None
