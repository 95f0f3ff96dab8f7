"""A wrapper of the port that passes every call through one function; `observing` and the tests' faults build on it.

An `Around` gets the name of the operation and a function that runs it. It may measure, refuse, delay, repeat the
answer or lose it, but it cannot change what is asked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TypeVar

from graph.model.access import Audience, Guard, Scope, SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.store.port import Health, Isolation, Migration, Reader, Row, Store, Writer
from graph.store.query import Direction, Find, Match, Matches, Neighbour, Page, Reached, TextRow, Where

N = TypeVar("N", bound=Node)
T = TypeVar("T")


class Around(Protocol):
    """What every call passes through."""

    async def __call__(self, operation: str, call: Callable[[], Awaitable[T]], /) -> T:
        """Run `call`, which does the operation of this name: a method of `Reader` or `Writer`, ``begin`` (a reader
        is opened), ``transact`` (a whole transaction) or ``commit`` (its work is done and about to be committed).
        """
        ...


class WrappedReader:
    """Reads through an `Around`."""

    def __init__(self, inner: Reader, around: Around) -> None:
        self._reader = inner
        self._around = around

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        return await self._around("get", lambda: self._reader.get(scope, ids))

    async def find(self, scope: Scope, query: Find[N]) -> Page[N]:
        return await self._around("find", lambda: self._reader.find(scope, query))

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        return await self._around("aggregate", lambda: self._reader.aggregate(scope, kind, where, by))

    async def edges(
        self, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
    ) -> Sequence[Edge]:
        return await self._around("edges", lambda: self._reader.edges(scope, ids, types, direction))

    async def closure(
        self,
        ids: Sequence[NodeId],
        types: Iterable[EdgeType],
        direction: Direction,
        *,
        depth: int | None = None,
        limit: int | None = None,
        guarded: bool = False,
    ) -> Reached:
        return await self._around(
            "closure",
            lambda: self._reader.closure(ids, types, direction, depth=depth, limit=limit, guarded=guarded),
        )

    async def guards(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
        return await self._around("guards", lambda: self._reader.guards(ids))

    async def audiences(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Audience]:
        return await self._around("audiences", lambda: self._reader.audiences(ids))

    async def match(self, scope: Scope, question: Match) -> Matches:
        return await self._around("match", lambda: self._reader.match(scope, question))

    async def nearest(
        self,
        scope: Scope,
        kind: type[Node],
        vector: Sequence[float],
        *,
        model: str,
        limit: int,
        where: Where | None = None,
    ) -> Sequence[Neighbour]:
        return await self._around(
            "nearest", lambda: self._reader.nearest(scope, kind, vector, model=model, limit=limit, where=where)
        )

    async def together(self, questions: Sequence[Callable[[], Awaitable[T]]]) -> Sequence[T]:
        return await self._reader.together(questions)


class WrappedWriter(WrappedReader):
    """Reads and writes through an `Around`."""

    def __init__(self, inner: Writer, around: Around) -> None:
        super().__init__(inner, around)
        self._writer = inner

    async def put(self, nodes: Sequence[Node]) -> None:
        await self._around("put", lambda: self._writer.put(nodes))

    async def patch(self, id: NodeId, changes: Mapping[str, Any], *, expected: Mapping[str, Any] | None = None) -> None:
        await self._around("patch", lambda: self._writer.patch(id, changes, expected=expected))

    async def patch_many(self, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
        await self._around("patch_many", lambda: self._writer.patch_many(changes))

    async def patch_where(self, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
        return await self._around("patch_where", lambda: self._writer.patch_where(kind, where, changes))

    async def delete(self, ids: Sequence[NodeId]) -> None:
        await self._around("delete", lambda: self._writer.delete(ids))

    async def link(self, edges: Sequence[Edge]) -> None:
        await self._around("link", lambda: self._writer.link(edges))

    async def unlink(self, edges: Sequence[Edge]) -> None:
        await self._around("unlink", lambda: self._writer.unlink(edges))

    async def guard(self, guards: Sequence[Guard]) -> None:
        await self._around("guard", lambda: self._writer.guard(guards))

    async def admit(self, audiences: Sequence[Audience]) -> None:
        await self._around("admit", lambda: self._writer.admit(audiences))

    async def index(self, texts: Sequence[TextRow]) -> None:
        await self._around("index", lambda: self._writer.index(texts))

    async def unindex(self, text_ids: Sequence[str]) -> None:
        await self._around("unindex", lambda: self._writer.unindex(text_ids))

    async def texts_of(self, guards: Sequence[NodeId]) -> Sequence[TextRow]:
        return await self._around("texts_of", lambda: self._writer.texts_of(guards))

    async def lock(self, ids: Sequence[NodeId]) -> None:
        await self._around("lock", lambda: self._writer.lock(ids))

    async def hold(self, scope: SystemScope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        return await self._around("hold", lambda: self._writer.hold(scope, ids))

    async def increment(self, id: NodeId, field: str, by: int = 1) -> int:
        return await self._around("increment", lambda: self._writer.increment(id, field, by))

    async def claim(self, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
        return await self._around("claim", lambda: self._writer.claim(kinds, owner, now, lease_ms))


class WrappedStore:
    """A store whose readers and transactions go through an `Around`; its life is passed on untouched."""

    def __init__(self, inner: Store, around: Around) -> None:
        self._inner = inner
        self._around = around

    @property
    def engine(self) -> str:
        return self._inner.engine

    @property
    def isolation(self) -> Isolation:
        return self._inner.isolation

    async def open(self) -> None:
        await self._inner.open()

    async def close(self) -> None:
        await self._inner.close()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Reader]:
        """Open a reader of the inner store."""
        await self._around("begin", _nothing)
        async with self._inner.reading() as reader:
            yield WrappedReader(reader, self._around)

    async def transact(self, work: Callable[[Writer], Awaitable[T]], *, tx_id: str | None = None) -> T:
        async def wrapped(writer: Writer) -> T:
            result = await work(WrappedWriter(writer, self._around))
            await self._around("commit", _nothing)
            return result

        return await self._around("transact", lambda: self._inner.transact(wrapped, tx_id=tx_id))

    async def scrub(self) -> None:
        await self._inner.scrub()

    async def health(self) -> Health:
        return await self._inner.health()

    async def migrations(self) -> Sequence[Migration]:
        return await self._inner.migrations()

    def export_rows(self) -> AsyncIterator[Row]:
        return self._inner.export_rows()

    async def import_rows(self, rows: AsyncIterator[Row]) -> int:
        return await self._inner.import_rows(rows)


async def _nothing() -> None:
    return None
