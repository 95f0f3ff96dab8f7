"""Deciding 200 observations, up to six layers deep, for one viewer: by clauses and by traversal.

    python -m bench.decision [--scale 1]

The reference is SpiceDB in memory, where one is found (`bench._spicedb`): same question, same graph, one bulk check.
Elsewhere the naive law of the tests over the same graph in memory stands in for it. The other reference, a bare SELECT
of 200 rows by their ids, says what 200 rows cost this engine at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from bench._engines import EMBEDDED, Engine, engines
from bench._graph import Written, layers, viewer
from bench._spicedb import spicedb
from bench._table import Goal, Table, Timing, arguments, at_once, scaled, timed
from graph.model.access import Viewer
from graph.model.edges import LAW_EDGES
from graph.model.ids import NodeId
from graph.rules.visibility import source_graph, visible_to
from graph.services.audience import law_edge
from graph.store.port import Store
from graph.store.query import Direction
from tests.reference.law import naive_law

ASKED, DEPTH, OTHER_CHANNELS = 200, 6, 20


async def by_clauses(store: Store, who: Viewer, asked: Sequence[NodeId]) -> frozenset[NodeId]:
    """Return who is seen by the stored clauses alone."""
    async with store.reading() as reader:
        stored = await reader.audiences(asked)
    shown = {clauses: any(map(who.passes_all, clauses)) for clauses in {one.clauses for one in stored.values()}}
    return frozenset([id_ for id_, audience in stored.items() if shown[audience.clauses]])


async def by_traversal(store: Store, who: Viewer, asked: Sequence[NodeId]) -> frozenset[NodeId]:
    """Return who is seen by walking to the sources, as every page that is returned is proved."""
    async with store.reading() as reader:
        reached = await reader.closure(asked, LAW_EDGES, Direction.OUT, guarded=True)
    graph = source_graph(reached.guards.values(), map(law_edge, reached.edges))
    return visible_to(graph, who) & frozenset(asked)


@dataclass(frozen=True, kw_only=True)
class Reference:
    """How long somebody else took for the same decision."""

    name: str
    timing: Timing


async def others(written: Sequence[Written], asked: Sequence[NodeId], table: Table) -> list[Reference]:
    """Return how long SpiceDB took, where there is one, and the naive law."""
    found = []
    async with spicedb() as running:
        if running is not None:
            await running.load(written, "ana")
            seen = await running.decide("ana", asked)
            if seen != len(asked) or await running.decide("eve", asked):
                raise SystemExit(f"SpiceDB shows {seen} of {len(asked)}, or something to a stranger")
            timing = await timed(lambda: running.decide("ana", asked), 5)
            found.append(Reference(name="SpiceDB in memory", timing=timing))
            table.add(f"{len(asked)} observations, SpiceDB in memory", timing)
    guards = [guard for layer in written for guard in layer.guards]
    edges = [edge for layer in written for edge in layer.law_edges]
    naive = await timed(at_once(lambda: naive_law(guards, edges, viewer("deep"))), 3, warm_up=0)
    return [*found, Reference(name="naive law in memory", timing=naive)]


async def measure(
    engine: Engine, written: Sequence[Written], table: Table, rounds: int, references: Sequence[Reference]
) -> None:
    """Add the rows of one engine."""
    for layer in written:
        await layer.write(engine.store)
    asked = [node.id for node in written[-1].nodes][:ASKED]
    who = viewer("deep", *(f"other{number}" for number in range(OTHER_CHANNELS)))
    for name, decide, goal in (
        ("by clauses", by_clauses, Goal(most_ms=1, most_ratio=1 / 500)),
        ("by traversal", by_traversal, Goal(most_ms=20)),
    ):
        decided = await decide(engine.store, who, asked)
        if decided != set(asked):
            raise SystemExit(f"{engine.name}: {name} sees {len(decided)} of {len(asked)}")
        time = await timed(lambda decide=decide: decide(engine.store, who, asked), rounds, warm_up=5)  # type: ignore[misc]
        what = f"{len(asked)} observations {name}, {engine.name}"
        goals = [goal if engine.name == EMBEDDED else None, *([None] * len(references))]
        for other, asked_for in zip(references, goals, strict=False):
            table.add(what, time, of=other.name, reference=other.timing, goal=asked_for)
        table.add(what, time, of="bare select of as many rows", reference=await _bare(engine, asked, rounds))


async def _bare(engine: Engine, asked: Sequence[NodeId], rounds: int) -> Timing:
    if engine.name == EMBEDDED:
        db = engine.bare_sqlite("decision.db")
        db.execute("CREATE TABLE IF NOT EXISTS bare(id TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID")
        db.executemany("INSERT OR REPLACE INTO bare VALUES (?, ?)", [(id_, "text " * 20) for id_ in asked])
        marks = ", ".join("?" * len(asked))
        sql = f"SELECT id, text FROM bare WHERE id IN ({marks})"
        return await timed(at_once(lambda: db.execute(sql, asked).fetchall()), rounds, warm_up=5)
    await engine.bare_query("CREATE INDEX bare_id IF NOT EXISTS FOR (b:Bare) ON (b.id)")
    await engine.bare_query("UNWIND $ids AS id CREATE (:Bare {id: id, text: 'text'})", ids=list(asked))
    await engine.bare_query("CALL db.awaitIndexes()")
    query = "UNWIND $ids AS id MATCH (b:Bare {id: id}) RETURN b.id, b.text"
    return await timed(lambda: engine.bare_query(query, ids=list(asked)), rounds, warm_up=5)


async def main() -> None:
    """Measure all engines."""
    scale = arguments(__doc__).scale
    width, rounds = scaled(ASKED, max(scale, 0.2)), scaled(200, scale, least=5)
    table = Table(f"Decision of {width} observations, {DEPTH} layers", scale)
    written = layers("deep", width, DEPTH)
    references = await others(written, [node.id for node in written[-1].nodes][:ASKED], table)
    async with engines() as found:
        for engine in found:
            await measure(engine, written, table, rounds, references)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
