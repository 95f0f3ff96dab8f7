"""Holds all writers of a database back while it is exported, so that the copy is of one state.

Neo4j Community has no snapshots. But it holds a label's schema lock: whoever writes a node of the label shares it
until his transaction ends, whoever makes an index on the label has it alone. So each write transaction makes and
removes a node of the label `Gate`, which leaves nothing behind, and an export begins to make an index on it, which is
never committed. Readers do not touch the label and go on. If the exporter dies, the server rolls back and lets go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from graph.model.time import Clock
from graph.store.neo4j.driver import Sessions, backoff_s
from graph.store.neo4j.faults import DRIVER_ERRORS, DriverFault, is_transient, translated

PASS = "CREATE (gate:Gate) DELETE gate"
"""First statement of each write transaction: waits while an export holds the gate."""

_HOLD = "CREATE INDEX rw_gate_held IF NOT EXISTS FOR (n:Gate) ON (n.held)"
_ATTEMPTS = 20


@asynccontextmanager
async def held(sessions: Sessions, clock: Clock) -> AsyncIterator[None]:
    """Wait for the writers under way and hold back all others until the end.

    Raises:
        StoreUnavailable: the database cannot be reached.
    """
    async with sessions.open() as session:
        for attempt in range(1, _ATTEMPTS + 1):
            transaction = await session.begin_transaction()
            try:
                await (await transaction.run(_HOLD)).consume()
                break
            except DRIVER_ERRORS as error:
                await transaction.close()
                if attempt == _ATTEMPTS or not is_transient(error):
                    raise translated(error) from DriverFault(error)
            await clock.sleep(backoff_s(attempt))
        try:
            yield
        finally:
            await transaction.close()
