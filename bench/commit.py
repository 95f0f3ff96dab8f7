"""A learning commit: 20 entries, 60 links to sources, 20 audit rows, judged, chained, indexed and durable.

    python -m bench.commit [--scale 1]

The reference is one bare transaction of the engine with the same rows: what the commit hands to the store is
recorded once, and written by as few plain statements as there are kinds of rows.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field, replace
from itertools import count
from typing import Any, TypeVar

from bench._engines import DATABASE, EMBEDDED, NEO4J, Engine, engines
from bench._table import Goal, Table, Timing, arguments, at_once, scaled, timed
from bench._talk import WORDS, Talk
from graph.model.ids import NodeId
from graph.services.access.commands import command
from graph.services.knowledge.ingest import ingest_messages
from graph.services.knowledge.operations import ApplyResult
from graph.store.port import Writer
from tests.support.operations import Json, apply, block, cite, create
from tests.support.world import TeamWorld

T = TypeVar("T")
ENTRIES, LINKS = 20, 3
GOAL = Goal(most_ratio=2)
WARM_UP = {EMBEDDED: 3, NEO4J: 30}
"""Commits that do not count; a Java machine compiles what runs often only after it has run often."""


@dataclass
class Recorder:
    """A writer that notes the rows it is given, by kind; everything else passes through."""

    inner: Any
    rows: dict[str, list[Any]]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.inner, name)
        if name not in ("put", "link", "guard", "admit", "index"):
            return method

        async def noted(given: list[Any]) -> None:
            self.rows.setdefault(name, []).extend(given)
            await method(given)

        return noted


@dataclass
class RecordingStore:
    """A store whose transactions are recorded."""

    inner: Any
    rows: dict[str, list[Any]] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        """Run the work and note what it writes."""

        async def run(writer: Writer) -> T:
            self.rows.clear()
            return await work(Recorder(writer, self.rows))

        result: T = await self.inner.transact(run, tx_id=tx_id)
        return result


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
    bare = await (_bare_sqlite if engine.name == EMBEDDED else _bare_neo4j)(engine, rows, rounds, warm_up)
    total = sum(map(len, rows.values()))
    table.add(f"commit of {total} rows, {engine.name}", time, of="the same rows bare", reference=bare, goal=GOAL)


async def _sources(world: TeamWorld, number: int) -> list[tuple[NodeId, str]]:
    conversation = await world.open(world.ops)
    (said,) = Talk(speakers=(world.ana, world.ben)).batches(number, number)
    host = world.caller(world.host)
    receipt = await command(world.deps, host, lambda cmd: ingest_messages(cmd, conversation.id, said))
    return [(id_, message.text[:80].rsplit(" ", 1)[0]) for id_, message in zip(receipt.source_ids, said, strict=True)]


async def _bare_sqlite(engine: Engine, rows: dict[str, list[Any]], rounds: int, warm_up: int) -> Timing:
    db, numbers = engine.bare_sqlite("commit.db"), count()
    db.execute("CREATE TABLE node(id TEXT PRIMARY KEY, fields TEXT) WITHOUT ROWID")
    db.execute("CREATE TABLE edge(source TEXT, type TEXT, target TEXT, props TEXT, PRIMARY KEY(source, type, target))")
    db.execute("CREATE INDEX edge_in ON edge(target)")
    for name in ("guard", "admit", "text"):
        db.execute(f"CREATE TABLE {name}(id TEXT PRIMARY KEY, fields TEXT) WITHOUT ROWID")
    made = _plain(rows)

    def write() -> None:
        at = f"{next(numbers)}-"
        with db:
            for name, given in made.items():
                if name == "link":
                    db.executemany(
                        "INSERT OR REPLACE INTO edge VALUES (?, ?, ?, ?)",
                        [(at + source, type_, at + target, props) for source, type_, target, props in given],
                    )
                else:
                    table = {"put": "node", "index": "text"}.get(name, name)
                    db.executemany(
                        f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", [(at + row[0], row[1]) for row in given]
                    )

    return await timed(at_once(write), rounds, warm_up=warm_up)


async def _bare_neo4j(engine: Engine, rows: dict[str, list[Any]], rounds: int, warm_up: int) -> Timing:
    assert engine.driver is not None
    driver, made, numbers = engine.driver, _plain(rows), count()
    await engine.bare_query("CREATE CONSTRAINT bare_row IF NOT EXISTS FOR (b:BareRow) REQUIRE b.id IS UNIQUE")

    async def write() -> None:
        at = f"{next(numbers)}-"
        async with driver.session(database=DATABASE) as session, await session.begin_transaction() as transaction:
            for name, given in made.items():
                if name == "link":
                    found = [{"s": at + s, "t": at + t, "props": props} for s, _, t, props in given]
                    query = (
                        "UNWIND $rows AS row MERGE (s:BareRow {id: row.s}) MERGE (t:BareRow {id: row.t})"
                        " CREATE (s)-[:BARE {props: row.props}]->(t)"
                    )
                else:
                    found = [
                        {"id": f"{at}{row[0]}" if name == "put" else f"{at}{name}{row[0]}", "f": row[1]}
                        for row in given
                    ]
                    query = "UNWIND $rows AS row MERGE (b:BareRow {id: row.id}) SET b.fields = row.f"
                await (await transaction.run(query, rows=found)).consume()
            await transaction.commit()

    return await timed(write, rounds, warm_up=warm_up)


def _plain(rows: dict[str, list[Any]]) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows as texts: what they hold, without how the store keeps it."""
    made: dict[str, list[tuple[str, ...]]] = {}
    for name, given in rows.items():
        if name == "link":
            made[name] = [(edge.source, str(edge.type), edge.target, json.dumps(dict(edge.props))) for edge in given]
        else:
            made[name] = [(str(getattr(row, "id", None) or row.node), _fields(row)) for row in given]
    return made


def _fields(row: Any) -> str:
    return json.dumps(asdict(row), default=str)


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
