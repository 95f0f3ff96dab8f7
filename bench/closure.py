"""The provenance closure of one observation to its items, six layers down.

    python -m bench.closure [--scale 1]

On the embedded store the goal is a time; on Neo4j it is a ratio to one bare query through the same driver.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import cycle

from bench._engines import EMBEDDED, Engine, engines
from bench._graph import Written, layers
from bench._table import Goal, Table, arguments, at_once, scaled, timed
from graph.model.edges import PROVENANCE_EDGES
from graph.model.ids import NodeId
from graph.store.query import Direction, Reached

WIDTH, DEPTH = 400, 6


async def closure(engine: Engine, start: NodeId) -> Reached:
    """Return all that one observation rests on."""
    async with engine.store.reading() as reader:
        return await reader.closure([start], PROVENANCE_EDGES, Direction.OUT)


async def measure(engine: Engine, written: Sequence[Written], rounds: int, table: Table) -> None:
    """Add the row of one engine."""
    for layer in written:
        await layer.write(engine.store)
    starts = cycle([node.id for node in written[-1].nodes])
    size = len((await closure(engine, next(starts))).depths)
    time = await timed(lambda: closure(engine, next(starts)), rounds, warm_up=10)
    what = f"closure over {size} nodes, {engine.name}"
    if engine.name == EMBEDDED:
        db = engine.bare_sqlite("closure.db")
        bare = await timed(at_once(lambda: db.execute("SELECT 1").fetchall()), rounds)
        table.add(what, time, of="bare SELECT 1", reference=bare, goal=Goal(most_ms=1))
    else:
        bare = await timed(lambda: engine.bare_query("RETURN 1"), rounds, warm_up=10)
        table.add(what, time, of="bare round trip", reference=bare, goal=Goal(most_ratio=3))


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table("Provenance closure of one observation", scale)
    written = layers("deep", scaled(WIDTH, scale, least=20), DEPTH)
    async with engines() as found:
        for engine in found:
            await measure(engine, written, scaled(400, scale, least=10), table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
