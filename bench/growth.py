"""What lists cost while rows pile up that the viewer may not see, and look-up among the clauses of others.

    python -m bench.growth [--scale 1]

The newest 50 visible statements with a tag, first beside ten thousand hidden rows, then beside a million; and the
same list before and after a hundred thousand other channels, each with a clause of its own, came to be. The small
case of the same run is the reference.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable

from bench._engines import Engine, engines
from bench._graph import Written, batches, scattered, viewer
from bench._table import Goal, Table, Timing, arguments, scaled, timed
from graph.model.nodes.evidence import Source
from graph.store.query import Find, Newest, Tagged

VISIBLE, FEW, MANY, CLAUSES, PAGE, BATCH = 2_000, 10_000, 1_000_000, 100_000, 50, 2_000
GOAL = Goal(most_ratio=1.5)
QUERY = Find(kind=Source, where=Tagged(("message",)), order=Newest(), first=PAGE)


async def newest(engine: Engine, *channels: str) -> int:
    """Return how many of the newest statements with the tag there are on a page."""
    async with engine.store.reading() as reader:
        return len((await reader.find(viewer(*channels), QUERY)).nodes)


async def write(engine: Engine, portions: Iterable[Written]) -> None:
    """Write all portions, one transaction each."""
    for portion in portions:
        await portion.write(engine.store)


async def measure(engine: Engine, scale: float, table: Table) -> None:
    """Add the rows of one engine."""
    few, many, clauses = scaled(FEW, scale, 200), scaled(MANY, scale, 2_000), scaled(CLAUSES, scale, 1_000)
    rounds = scaled(200, scale, least=10)
    for mine in ("mine", "also"):
        await write(engine, batches(mine, scaled(VISIBLE, scale, 100), BATCH))
    # Hidden rows are the newer ones, and dense: a scan by time would meet all of them first.
    hidden = batches("theirs", many, min(BATCH, few), every_ms=100)
    for _ in range(max(1, few // BATCH)):
        await next(hidden).write(engine.store)
    small = await _asked(engine, rounds)
    began = time.perf_counter()
    await write(engine, hidden)
    print(f"{engine.name}: {many:,} hidden rows in {time.perf_counter() - began:.0f} s", flush=True)
    large = await _asked(engine, rounds)
    for what in small:
        name = f"newest {PAGE}, {what}, {many:,} hidden, {engine.name}"
        table.add_growth(name, small[what], large[what], of=f"{few:,} hidden", goal=GOAL)
    for first in range(0, clauses, BATCH):
        await scattered([f"o{number}x" for number in range(first, min(first + BATCH, clauses))]).write(engine.store)
    after = await _asked(engine, rounds)
    for what in large:
        name = f"newest {PAGE}, {what}, {clauses:,} clauses of others, {engine.name}"
        table.add_growth(name, large[what], after[what], of="without them", goal=GOAL)


async def _asked(engine: Engine, rounds: int) -> dict[str, Timing]:
    return {
        "one clause": await timed(lambda: newest(engine, "mine"), rounds, warm_up=10),
        "two clauses": await timed(lambda: newest(engine, "mine", "also"), rounds, warm_up=10),
    }


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table("Growth with what is hidden", scale)
    async with engines(heap_mb=1_536) as found:
        for engine in found:
            await measure(engine, scale, table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
