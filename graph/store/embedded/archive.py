"""Everything out in one state, and in again. Source: AD-41."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import islice
from typing import Any

from graph.model import schema
from graph.model.access import Audience, Guard
from graph.model.edges import Edge
from graph.model.errors import BadState
from graph.model.fields import Node
from graph.store.embedded import filing, links, nodes, texts
from graph.store.embedded.closure import edge_of
from graph.store.embedded.guards import GUARD_COLUMNS, guard_of, tag_texts
from graph.store.embedded.listing import by_table
from graph.store.embedded.session import Session
from graph.store.embedded.tables import table_of
from graph.store.embedded.values import listed
from graph.store.port import Row
from graph.store.query import TextRow

BATCH = 500


def everything(session: Session) -> Iterator[Row]:
    """Yield all rows, nodes first, each kind in the order of its keys."""
    for kind in schema.kinds():
        table = table_of(kind)
        for row in session.db.execute(f"SELECT {table.columns} FROM {table.name} n ORDER BY n.id"):
            yield table.decode(row)
    for row in session.db.execute(
        "SELECT type, source, target, key, props, record FROM edge ORDER BY source, type, target, key"
    ):
        yield edge_of(row)
    yield from _guards(session)
    for row in session.db.execute(
        "SELECT node, clause, clauses, barred FROM guard WHERE clause IS NOT NULL ORDER BY node"
    ):
        yield session.clauses.audience(*row)
    for row in session.db.execute(
        "SELECT t.id, t.kind, t.guard, t.item, p.text, t.pool, t.words, t.sort_at"
        " FROM text t JOIN part p ON p.n = t.part ORDER BY t.id"
    ):
        yield texts.text_of(row)


def _guards(session: Session) -> Iterator[Guard]:
    rows = iter(session.db.execute(f"SELECT {GUARD_COLUMNS} FROM guard g ORDER BY g.node"))
    while batch := list(islice(rows, BATCH)):
        names = tag_texts(session, batch)
        yield from (guard_of(session, row, names) for row in batch)


def next_rows(session: Session, rows: Iterator[Row]) -> list[Row]:
    """Return the next batch of an iteration that runs on this session."""
    return list(islice(rows, BATCH))


async def batches(rows: AsyncIterator[Row]) -> AsyncIterator[list[Row]]:
    """Gather rows into batches."""
    batch: list[Row] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def count_nodes(session: Session) -> int:
    """Return how many nodes there are."""
    return sum(int(session.value(f"SELECT count(*) FROM {table_of(kind).name}")) for kind in schema.kinds())


def load(session: Session, rows: Sequence[Row]) -> int:
    """Add rows; return how many nodes of them were there already.

    Raises:
        BadState: a node is there with other values.
    """
    imported = [row for row in rows if isinstance(row, Node)]
    known = _known(session, imported)
    nodes.put(session, [node for node in imported if node.id not in known])
    links.link(session, [row for row in rows if isinstance(row, Edge)])
    filing.guard(session, [row for row in rows if isinstance(row, Guard)])
    filing.admit(session, [row for row in rows if isinstance(row, Audience)])
    texts.index(session, [row for row in rows if isinstance(row, TextRow)])
    return len(known)


def _known(session: Session, imported: Sequence[Node]) -> set[str]:
    known: dict[str, Node] = {}
    for table, ids in by_table(node.id for node in imported).items():
        found: Any = session.db.execute(
            f"SELECT {table.columns} FROM json_each(?) w CROSS JOIN {table.name} n ON n.id = w.value", (listed(ids),)
        )
        known.update((node.id, node) for node in map(table.decode, found))
    for node in imported:
        if node.id in known and known[node.id] != node:
            raise BadState("the store holds other data: import into an empty one")
    return set(known)
