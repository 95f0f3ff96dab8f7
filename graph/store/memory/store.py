"""The reference store: one committed state, readers that keep theirs, one writer at a time in order of arrival."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from graph.model.access import Audience, Guard
from graph.model.edges import Edge
from graph.model.errors import BadState
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import Receipt
from graph.model.schema import SCHEMA_VERSION
from graph.model.time import Clock
from graph.store.memory.reads import MemoryReader
from graph.store.memory.tables import Tables, merge, overlay
from graph.store.memory.writes import MemoryWriter
from graph.store.port import Health, Isolation, Migration, Reader, Row, Writer
from graph.store.query import TextRow

T = TypeVar("T")


class MemoryStore:
    """A store in dicts: correct before fast, fine for some ten thousand nodes; gone with the process."""

    def __init__(self, *, clock: Clock) -> None:
        self._clock = clock
        self._state = Tables()
        self._readers = 0
        self._turn = asyncio.Lock()

    @property
    def engine(self) -> str:
        return "memory"

    @property
    def isolation(self) -> Isolation:
        return Isolation.SNAPSHOT

    async def open(self) -> None:
        """Do nothing: there is nothing to connect to."""

    async def close(self) -> None:
        """Wait for the writer under way; what was stored stays until the object goes."""
        async with self._turn:
            pass

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """Give a reader of the state as it is now."""
        self._readers += 1
        try:
            yield MemoryReader(self._state)
        finally:
            self._readers -= 1

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        """Run `work` alone; a failure or cancellation anywhere in it leaves nothing."""
        async with self._turn:
            written = overlay(self._state)
            writer = MemoryWriter(written)
            if tx_id is not None:
                await writer.put([self._receipt(tx_id)])
            result = await work(writer)
            if writer.given_up is not None:
                raise writer.given_up
            self._state = merge(self._state, written, in_place=not self._readers)
            return result

    async def scrub(self) -> None:
        """Do nothing: what is deleted is gone."""

    async def health(self) -> Health:
        return Health(ready=True, engine=self.engine, schema_version=SCHEMA_VERSION)

    async def migrations(self) -> Sequence[Migration]:
        return ()

    async def export_rows(self) -> AsyncIterator[Row]:
        async with self.reading():
            for row in list(_rows(self._state)):
                yield row

    async def import_rows(self, rows: AsyncIterator[Row]) -> int:
        """Load rows, all or nothing."""
        nodes, edges, guards, audiences, texts = await _sorted_out(rows)

        async def load(writer: Writer) -> int:
            missing = [node for node in nodes if self._state.node(node.id) is None]
            await writer.put(missing)
            await writer.link(edges)
            await writer.guard(guards)
            await writer.admit(audiences)
            await writer.index(texts)
            return len(nodes) + len(edges) + len(guards) + len(audiences) + len(texts)

        held = {node.id for table in self._state.nodes.values() for node in table.values()}
        if not held <= {node.id for node in nodes}:
            raise BadState("import into an empty store")
        return await self.transact(load)

    def _receipt(self, tx_id: str) -> Receipt:
        return Receipt(id=NodeId(f"rcp_{tx_id}"), workspace=WorkspaceId(""), created_at=self._clock.now())


def _rows(state: Tables) -> Iterator[Row]:
    for table in state.nodes.values():
        yield from table.values()
    yield from state.edges.values()
    yield from state.guards.values()
    yield from state.audiences.values()
    yield from state.texts.values()


async def _sorted_out(
    rows: AsyncIterator[Row],
) -> tuple[list[Node], list[Edge], list[Guard], list[Audience], list[TextRow]]:
    nodes: list[Node] = []
    edges: list[Edge] = []
    guards: list[Guard] = []
    audiences: list[Audience] = []
    texts: list[TextRow] = []
    async for row in rows:
        match row:
            case Node():
                nodes.append(row)
            case Edge():
                edges.append(row)
            case Guard():
                guards.append(row)
            case Audience():
                audiences.append(row)
            case TextRow():
                texts.append(row)
    return nodes, edges, guards, audiences, texts
