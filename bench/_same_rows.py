"""References for what a commit costs: bare transactions of the engine with the same rows.

On SQLite these are the very rows: what one transaction after the other wrote is noted and written again, by the same
statements, into a copy of the file from before, in a thread of its own, since nobody may keep an event loop waiting for
a disk. On Neo4j, whose files cannot be copied while it runs, what the transaction handed to the store is noted and
written by as few plain statements as there are kinds of rows.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import count, groupby
from pathlib import Path
from typing import Any, TypeVar

import apsw

from bench._engines import DATABASE, Engine
from bench._table import Timing, timed
from graph.store.embedded import EmbeddedStore
from graph.store.embedded.lane import Lane
from graph.store.embedded.session import Session, connect
from graph.store.port import Writer

T = TypeVar("T")
Question = Callable[[], Awaitable[object]]
Statement = tuple[str, list[Any]]
"""A text of SQL and what it is run with, once for each."""

_NOTED = ("put", "link", "guard", "admit", "index")
_WRITES = ("INSERT", "UPDATE", "DELETE")


# --- SQLite: the rows themselves


async def same_rows_sqlite(engine: Engine, question: Question, rounds: int) -> Timing:
    """Ask `rounds` times, and return how long bare transactions take that write what each of these wrote."""
    assert isinstance(engine.store, EmbeddedStore)
    writing = engine.store._sessions[0]
    copy = engine.folder / "same-rows.db"
    await writing.later(partial(_copy, copy))
    transactions = [await _written(writing, question) for _ in range(rounds)]
    db, lane, left = connect(copy, writing=True, durable=True), Lane("bare"), iter(transactions)

    async def again() -> None:
        await lane.submit(partial(_write, db, next(left))).result

    try:
        return await timed(again, rounds, warm_up=0)
    finally:
        lane.close()
        db.close()


def _copy(path: Path, session: Session) -> None:
    """Copy the store, in the thread of its connection: the log may be moved into the file there after a question."""
    copy = apsw.Connection(str(path))
    with copy.backup("main", session.db, "main") as backup:
        backup.step()
    copy.close()


async def _written(writing: Session, question: Question) -> list[Statement]:
    """Return the statements of one question that write, in their order."""
    noted: list[tuple[str, Any]] = []
    await writing.later(partial(_trace, lambda _, sql, given: noted.append((sql, given)) is None))
    try:
        await question()
    finally:
        await writing.later(partial(_trace, None))
    writes = [(sql, given) for sql, given in noted if sql.lstrip().startswith(_WRITES)]
    return [(sql, [given for _, given in rows]) for sql, rows in groupby(writes, key=lambda one: one[0])]


def _trace(trace: Callable[..., bool] | None, session: Session) -> None:
    session.db.exec_trace = trace


def _write(db: apsw.Connection, statements: Iterable[Statement]) -> None:
    db.execute("BEGIN IMMEDIATE")
    for sql, rows in statements:
        db.executemany(sql, rows).fetchall()  # a row that is given back and not taken ends it
    db.execute("COMMIT")


# --- Neo4j: as many rows with the same texts


@dataclass
class Recorder:
    """A writer that notes the rows it is given, by kind; everything else passes through."""

    inner: Any
    rows: dict[str, list[Any]]

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.inner, name)
        if name == "patch_many":
            return self._patched
        if name not in _NOTED:
            return method

        async def noted(given: list[Any]) -> None:
            self.rows.setdefault(name, []).extend(given)
            await method(given)

        return noted

    async def _patched(self, changes: Mapping[str, Mapping[str, Any]]) -> None:
        self.rows.setdefault("patch", []).extend(changes.items())
        await self.inner.patch_many(changes)


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


async def same_rows_neo4j(engine: Engine, rows: Mapping[str, Sequence[Any]], rounds: int, warm_up: int) -> Timing:
    """Return how long bare transactions take that write as many rows with the same texts."""
    assert engine.driver is not None
    driver, made, numbers = engine.driver, plain(rows), count()
    await engine.bare_query("CREATE CONSTRAINT bare_row IF NOT EXISTS FOR (b:BareRow) REQUIRE b.id IS UNIQUE")

    async def write() -> None:
        at = f"{next(numbers)}-"
        async with driver.session(database=DATABASE) as session, await session.begin_transaction() as transaction:
            for name, given in made.items():
                query, found = _plain_statement(name, given, at)
                await (await transaction.run(query, rows=found)).consume()
            await transaction.commit()

    return await timed(write, rounds, warm_up=warm_up)


def _plain_statement(name: str, given: Sequence[tuple[str, ...]], at: str) -> tuple[Any, list[dict[str, str]]]:
    if name == "link":
        query = (
            "UNWIND $rows AS row MERGE (s:BareRow {id: row.s}) MERGE (t:BareRow {id: row.t})"
            " CREATE (s)-[:BARE {props: row.props}]->(t)"
        )
        return query, [{"s": at + s, "t": at + t, "props": props} for s, _, t, props in given]
    mark = {"put": at, "patch": ""}.get(name, at + name)
    return (
        "UNWIND $rows AS row MERGE (b:BareRow {id: row.id}) SET b.fields = row.f",
        [{"id": mark + row[0], "f": row[1]} for row in given],
    )


def plain(rows: Mapping[str, Sequence[Any]]) -> dict[str, list[tuple[str, ...]]]:
    """Return the rows as texts: what they hold, without how the store keeps it."""
    made: dict[str, list[tuple[str, ...]]] = {}
    for name, given in rows.items():
        if name == "link":
            made[name] = [(edge.source, str(edge.type), edge.target, json.dumps(dict(edge.props))) for edge in given]
        elif name == "patch":
            made[name] = [(id_, json.dumps(dict(fields), default=str)) for id_, fields in given]
        else:
            made[name] = [(str(getattr(row, "id", None) or row.node), _fields(row)) for row in given]
    return made


def _fields(row: Any) -> str:
    return json.dumps(asdict(row), default=str)
