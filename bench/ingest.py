"""Messages a second through `ingestMessages`, in batches, with all that it keeps: versions, links, index, audience.

    python -m bench.ingest [--scale 1]

The reference writes the same messages bare: into one table by `apsw`, every commit on the disk; by one UNWIND of one
query on Neo4j. The talk is made up beforehand.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from bench._engines import EMBEDDED, NEO4J, Engine, engines
from bench._table import Goal, Table, Timing, arguments, at_once, scaled, timed
from bench._talk import Talk
from graph.rules.ingest import IncomingMessage
from graph.services.access.commands import command
from graph.services.knowledge.ingest import ingest_messages
from tests.support.world import TeamWorld

MESSAGES, BATCH = {EMBEDDED: 50_000, NEO4J: 20_000}, 500
WARM_UP = {EMBEDDED: 5, NEO4J: 60}
"""Batches that do not count; a Java machine compiles what runs often only after it has run often."""
GOALS = {EMBEDDED: Goal(least_a_second=5_000), NEO4J: Goal(least_a_second=1_500)}


async def measure(engine: Engine, scale: float, table: Table) -> None:
    """Add the row of one engine."""
    world = await TeamWorld(engine.deps).make()
    host, conversation = world.caller(world.host), await world.open(world.ops)
    rounds = scaled(MESSAGES[engine.name], scale, least=3 * BATCH) // BATCH
    warm_up = scaled(WARM_UP[engine.name], scale, least=1)
    prepared = iter(list(Talk(speakers=(world.ana, world.ben)).batches((rounds + warm_up) * BATCH, BATCH)))

    async def ingest() -> None:
        said = next(prepared)
        await command(world.deps, host, lambda cmd: ingest_messages(cmd, conversation.id, said))

    time = await timed(ingest, rounds, warm_up=warm_up)
    bare = await _bare(engine, rounds)
    table.add(
        f"message in batches of {BATCH}, {engine.name}",
        time.per(BATCH),
        of="the same rows bare",
        reference=bare.per(BATCH),
        goal=GOALS[engine.name],
    )


async def _bare(engine: Engine, rounds: int) -> Timing:
    prepared = iter([_rows(said) for said in Talk(seed=8).batches((rounds + 1) * BATCH, BATCH)])
    if engine.name == EMBEDDED:
        db = engine.bare_sqlite("ingest.db")
        db.execute("CREATE TABLE bare(id TEXT PRIMARY KEY, sent_at INTEGER, speaker TEXT, text TEXT) WITHOUT ROWID")

        def insert() -> None:
            with db:
                db.executemany("INSERT INTO bare VALUES (:id, :sent_at, :speaker, :text)", next(prepared))

        return await timed(at_once(insert), rounds)
    await engine.bare_query("CREATE CONSTRAINT bare_ingest IF NOT EXISTS FOR (b:BareMessage) REQUIRE b.id IS UNIQUE")
    query = "UNWIND $rows AS row CREATE (b:BareMessage) SET b = row"
    return await timed(lambda: engine.bare_query(query, rows=next(prepared)), rounds)


def _rows(said: Sequence[IncomingMessage]) -> list[dict[str, object]]:
    return [{"id": m.external_id, "sent_at": m.sent_at, "speaker": m.speaker, "text": m.text} for m in said]


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table("Ingest, messages a second", scale)
    async with engines() as found:
        for engine in found:
            await measure(engine, scale, table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
