"""Everything out, in pages by id, and in again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

from graph.model import schema
from graph.model.access import Audience, Guard, SystemScope
from graph.model.edges import Edge
from graph.model.errors import BadState
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j.driver import Runner
from graph.store.neo4j.encoding import GUARD_MAP, columns, decode_edge, decode_guard, decode_node
from graph.store.neo4j.reader import Neo4jReader
from graph.store.neo4j.texts import decode_text
from graph.store.neo4j.transactions import Transactions
from graph.store.port import Row, Writer
from graph.store.query import TextRow

R = TypeVar("R")

_PAGE = 1_000
_BATCH = 500


async def export_rows(runner: Runner) -> AsyncIterator[Row]:
    """Yield nodes, then edges, guards, audiences and texts."""
    async for values in _pages(runner, "Node", f"NOT n:Placeholder RETURN n.id, {columns(*schema.kinds())}"):
        yield decode_node(values)
    async for found in _pages(
        runner,
        "Node",
        "EXISTS { (n)-->() } RETURN n.id, COLLECT { MATCH (n)-[r]->(o) RETURN [type(r), n.id, o.id, properties(r)] }",
    ):
        for edge in sorted((decode_edge(*one) for one in found), key=lambda edge: edge.identity):
            yield edge
    async for properties in _pages(runner, "Node", f"n.guardKind IS NOT NULL RETURN n.id, {GUARD_MAP}"):
        yield decode_guard(properties)
    reader = Neo4jReader(runner)
    async for ids in _pages_of(runner, "Node", "n.audClauses IS NOT NULL RETURN n.id, n.id AS node"):
        for audience in (await reader.audiences([NodeId(id) for id in ids])).values():
            yield audience
    async for properties in _pages(runner, "Text", "true RETURN n.id, properties(n)"):
        yield decode_text(properties)


async def import_rows(runner: Runner, transactions: Transactions, rows: AsyncIterator[Row]) -> int:
    """Load rows in batches; each batch is one transaction, and a row that is there already is left or replaced.

    Raises:
        BadState: the store holds nodes that are not among the rows; nothing was written.
    """
    held = [NodeId(id) for (id,) in await runner.run("MATCH (n:Node) WHERE NOT n:Placeholder RETURN n.id")]
    if held:
        every = [row async for row in rows]
        if not set(held) <= {row.id for row in every if isinstance(row, Node)}:
            raise BadState("import into an empty store")
        rows = _again(every)
    count = 0
    async for batch in _batches(rows):
        await transactions.run(_loader(batch), None)
        count += len(batch)
    return count


def _loader(batch: Sequence[Row]) -> Callable[[Writer], Awaitable[None]]:
    async def load(writer: Writer) -> None:
        nodes = _only(batch, Node)
        present = await _present(writer, nodes)
        await writer.put([node for node in nodes if node.id not in present])
        await writer.link(_only(batch, Edge))
        await writer.guard(_only(batch, Guard))
        await writer.admit(_only(batch, Audience))
        await writer.index(_only(batch, TextRow))

    return load


async def _present(writer: Writer, nodes: Sequence[Node]) -> set[NodeId]:
    return set(await writer.get(SystemScope(reason="import"), [node.id for node in nodes]))


def _only(batch: Sequence[Row], kind: type[R]) -> list[R]:
    return [row for row in batch if isinstance(row, kind)]


async def _again(rows: Sequence[Row]) -> AsyncIterator[Row]:
    for row in rows:
        yield row


async def _batches(rows: AsyncIterator[Row]) -> AsyncIterator[list[Row]]:
    """Yield rows in batches; they come nodes first, and a guard never after its audience."""
    batch: list[Row] = []
    async for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


async def _pages(runner: Runner, label: str, rest: str) -> AsyncIterator[Any]:
    async for page in _pages_of(runner, label, rest):
        for item in page:
            yield item


async def _pages_of(runner: Runner, label: str, rest: str) -> AsyncIterator[list[Any]]:
    """Yield what `rest` returns beside the id, page by page in id order."""
    after = ""
    condition, _, returned = rest.partition(" RETURN ")
    while True:
        rows = await runner.run(
            f"MATCH (n:{label}) USING INDEX SEEK n:{label}(id) WHERE n.id > $after AND {condition} "
            f"WITH n ORDER BY n.id LIMIT $page RETURN {returned}",
            after=after,
            page=_PAGE,
        )
        if rows:
            yield [found for _, found in rows]
        if len(rows) < _PAGE:
            return
        after = rows[-1][0]
