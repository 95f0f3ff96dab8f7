"""Everything out, in pages by id, and in again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from graph.model import schema
from graph.model.access import Audience, Guard, SystemScope
from graph.model.edges import Edge
from graph.model.errors import BadState
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j.asking import Asking, table
from graph.store.neo4j.driver import Runner
from graph.store.neo4j.encoding import columns, decode_node, is_whole
from graph.store.neo4j.facts import GUARD, whole_guards
from graph.store.neo4j.links import whole_edges
from graph.store.neo4j.reader import Neo4jReader
from graph.store.neo4j.texts import TEXT, whole_texts
from graph.store.neo4j.transactions import Transactions
from graph.store.port import Row, Writer
from graph.store.query import TextRow

R = TypeVar("R")

_EDGES = "COLLECT { MATCH (n)-[r]->(o) RETURN [n.id, o.id, properties(r), type(r)] }"

_PAGE = 1_000
_BATCH = 500


async def export_rows(runner: Runner) -> AsyncIterator[Row]:
    """Yield nodes, then edges, guards, audiences and texts."""
    async for values in _each(runner, "Node", "NOT n:Placeholder", columns(*schema.kinds())):
        if is_whole(values):
            yield decode_node(values)
    async for edges in _each(runner, "Node", "EXISTS { (n)-->() }", _EDGES):
        for edge in whole_edges(edges):
            yield edge
    async for facts in _each(runner, "Node", "n.guardKind IS NOT NULL", f"[{GUARD}]"):
        for guard in whole_guards([facts]):
            yield guard
    reader = Neo4jReader(runner)
    async for ids in _pages(runner, "Node", "n.audClauses IS NOT NULL", "n.id"):
        for audience in (await reader.audiences([NodeId(id) for id in ids])).values():
            yield audience
    async for properties in _each(runner, "Text", "true", TEXT):
        for text in whole_texts([properties]):
            yield text


async def import_rows(runner: Runner, transactions: Transactions, rows: AsyncIterator[Row]) -> int:
    """Load rows in batches, each in one transaction; a failure takes back those that were loaded.

    After a kill, the same rows are imported again: what is there already is left or replaced.

    Raises:
        BadState: the store holds nodes that are not among the rows; nothing was written.
    """
    held = await table(Asking(runner), "MATCH (n:Node) WHERE NOT n:Placeholder", "n.id")
    if held:
        every = [row async for row in rows]
        if not {id for (id,) in held} <= {row.id for row in every if isinstance(row, Node)}:
            raise BadState("import into an empty store")
        rows = _again(every)
    loaded: list[NodeId] = []
    count = 0
    try:
        async for batch in _batches(rows):
            await transactions.run(_loader(batch), None)
            loaded += _owners(batch)
            count += len(batch)
    except Exception:
        if not held:
            await _take_back(transactions, loaded)
        raise
    return count


async def _take_back(transactions: Transactions, loaded: Sequence[NodeId]) -> None:
    for start in range(0, len(loaded), _BATCH):
        part = loaded[start : start + _BATCH]
        await transactions.run(partial(_delete, part), None)


async def _delete(ids: Sequence[NodeId], writer: Writer) -> None:
    await writer.delete(ids)


def _owners(batch: Sequence[Row]) -> list[NodeId]:
    """Return the nodes with which the rows of a batch go away again."""
    owners: dict[NodeId, None] = {}
    for row in batch:
        match row:
            case Node():
                owners[row.id] = None
            case Edge():
                owners[row.source] = None
            case TextRow():
                owners[row.guard] = None
            case _:
                owners[row.node] = None
    return list(owners)


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


async def _each(runner: Runner, label: str, condition: str, column: str) -> AsyncIterator[Any]:
    async for page in _pages(runner, label, condition, column):
        for item in page:
            yield item


async def _pages(runner: Runner, label: str, condition: str, column: str) -> AsyncIterator[list[Any]]:
    """Yield a column of the nodes that fit, page by page in id order."""
    after = ""
    while True:
        rows = await table(
            Asking(runner),
            f"MATCH (n:{label}) USING INDEX SEEK n:{label}(id) WHERE n.id > $after AND {condition} "
            f"WITH n ORDER BY n.id LIMIT $page WITH n.id AS id, {column} AS found",
            "id, found",
            after=after,
            page=_PAGE,
        )
        if rows:
            yield [found for _, found in rows]
        if len(rows) < _PAGE:
            return
        after = rows[-1][0]
