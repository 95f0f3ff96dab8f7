"""A learning commit: 20 entries, 60 links to sources, 20 audit rows, judged, chained, indexed and durable.

    python -m bench.commit [--scale 1]

The reference is a bare transaction of the engine with the same rows (`bench/_same_rows.py`).
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from itertools import count

from bench._engines import EMBEDDED, NEO4J, Engine, engines
from bench._same_rows import RecordingStore, same_rows_neo4j, same_rows_sqlite
from bench._table import Goal, Table, arguments, scaled, timed
from bench._talk import WORDS, Talk
from graph.model.ids import NodeId
from graph.services.access.commands import command
from graph.services.knowledge.ingest import ingest_messages
from graph.services.knowledge.operations import ApplyResult
from tests.support.operations import Json, apply, block, cite, create
from tests.support.world import TeamWorld

ENTRIES, LINKS = 20, 3
GOAL = Goal(most_ratio=2)
WARM_UP = {EMBEDDED: 3, NEO4J: 30}
"""Commits that do not count; a Java machine compiles what runs often only after it has run often."""


def operations(sources: list[tuple[NodeId, str]], number: int) -> list[Json]:
    """Return the list of the n-th commit: each entry has a block that rests on three messages."""
    made = []
    for entry in range(ENTRIES):
        cited = [sources[(number * ENTRIES * LINKS + entry * LINKS + link) % len(sources)] for link in range(LINKS)]
        content = block(f"Says {number} of {entry}: {cited[0][1]}.", *(cite(id_, text) for id_, text in cited))
        made.append(create(f"{WORDS[5_000 + number]} {WORDS[10_000 + entry]}", content))
    return made


async def measure(engine: Engine, scale: float, table: Table) -> None:
    """Add the row of one engine."""
    rounds, warm_up = scaled(100, scale, least=8), scaled(WARM_UP[engine.name], scale, least=3)
    world = await TeamWorld(engine.deps).make()
    sources = await _sources(world, min(1_000, (rounds + 5) * ENTRIES * LINKS))
    numbers = count()

    conversation = (await world.open(world.ops)).id

    async def learn(team: TeamWorld = world) -> ApplyResult:
        return await apply(team, *operations(sources, next(numbers)), conversation=conversation)

    recording = RecordingStore(engine.store)
    recorded = replace(world, deps=replace(world.deps, store=recording))
    result = await learn(recorded)
    if len(result.records) != ENTRIES:
        raise SystemExit(f"{engine.name}: {len(result.records)} audit records instead of {ENTRIES}")
    rows = {name: list(given) for name, given in recording.rows.items()}
    time = await timed(learn, rounds, warm_up=warm_up)
    if engine.name == EMBEDDED:
        bare = await same_rows_sqlite(engine, learn, rounds)
    else:
        bare = await same_rows_neo4j(engine, rows, rounds, warm_up)
    total = sum(map(len, rows.values()))
    table.add(f"commit of {total} rows, {engine.name}", time, of="the same rows bare", reference=bare, goal=GOAL)


async def _sources(world: TeamWorld, number: int) -> list[tuple[NodeId, str]]:
    conversation = await world.open(world.ops)
    (said,) = Talk(speakers=(world.ana, world.ben)).batches(number, number)
    host = world.caller(world.host)
    receipt = await command(world.deps, host, lambda cmd: ingest_messages(cmd, conversation.id, said))
    return [(id_, message.text[:80].rsplit(" ", 1)[0]) for id_, message in zip(receipt.source_ids, said, strict=True)]


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    table = Table(f"Learning commit of {ENTRIES} entries and {ENTRIES * LINKS} links to sources", scale)
    async with engines() as found:
        for engine in found:
            await measure(engine, scale, table)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
