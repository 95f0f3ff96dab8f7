"""One question in a reader of its own, for tests that need no more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from graph.model.access import Audience, Guard, Scope
from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.port import Store
from graph.store.query import (
    After,
    By,
    Direction,
    Find,
    Match,
    Matches,
    Neighbour,
    Order,
    Page,
    Reached,
    TextIndex,
    TextRow,
    Where,
)

N = TypeVar("N", bound=Node)


def comparable(matches: Matches) -> tuple[object, ...]:
    """Return matches with their hits in id order: a store may give them in any."""
    return sorted(matches.hits, key=lambda hit: hit.id), dict(matches.df), matches.total


class Ask:
    """Opens a reader for each question."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def get(self, scope: Scope, *ids: NodeId) -> Mapping[NodeId, Node]:
        async with self.store.reading() as reader:
            return await reader.get(scope, ids)

    async def page(
        self,
        scope: Scope,
        kind: type[N],
        where: Where | None = None,
        *,
        order: Order | None = None,
        first: int | None = None,
        after: After | None = None,
        backward: bool = False,
    ) -> Page[N]:
        query = Find(kind=kind, where=where, order=order or By("id"), first=first, after=after, backward=backward)
        async with self.store.reading() as reader:
            return await reader.find(scope, query)

    async def ids(
        self,
        scope: Scope,
        kind: type[Node],
        where: Where | None = None,
        *,
        order: Order | None = None,
        first: int | None = None,
        after: After | None = None,
        backward: bool = False,
    ) -> list[NodeId]:
        """Return the ids of a page."""
        page = await self.page(scope, kind, where, order=order, first=first, after=after, backward=backward)
        return [node.id for node in page.nodes]

    async def count(self, scope: Scope, kind: type[Node], where: Where | None = None) -> int:
        async with self.store.reading() as reader:
            return (await reader.aggregate(scope, kind, where))[None]

    async def counts(self, scope: Scope, kind: type[Node], by: str, where: Where | None = None) -> Mapping[Any, int]:
        async with self.store.reading() as reader:
            return await reader.aggregate(scope, kind, where, by)

    async def edges(
        self,
        scope: Scope,
        ids: Sequence[NodeId],
        *types: EdgeType,
        direction: Direction = Direction.OUT,
    ) -> list[Edge]:
        async with self.store.reading() as reader:
            return list(await reader.edges(scope, ids, types or (EdgeType.CITES,), direction))

    async def closure(
        self,
        *ids: NodeId,
        types: Iterable[EdgeType] = LAW_EDGES,
        direction: Direction = Direction.OUT,
        depth: int | None = None,
        limit: int | None = None,
        guarded: bool = False,
    ) -> Reached:
        async with self.store.reading() as reader:
            return await reader.closure(ids, types, direction, depth=depth, limit=limit, guarded=guarded)

    async def guards(self, *ids: NodeId) -> Mapping[NodeId, Guard]:
        async with self.store.reading() as reader:
            return await reader.guards(ids)

    async def audiences(self, *ids: NodeId) -> Mapping[NodeId, Audience]:
        async with self.store.reading() as reader:
            return await reader.audiences(ids)

    async def match(
        self,
        scope: Scope,
        *words: str,
        index: TextIndex = TextIndex.ENTRY,
        limit: int = 1_000,
        parts: tuple[str, ...] | None = None,
        pools: tuple[NodeId, ...] | None = None,
        df_limit: int = 10_000,
    ) -> Matches:
        question = Match(index=index, words=words, limit=limit, parts=parts, pools=pools, df_limit=df_limit)
        async with self.store.reading() as reader:
            return await reader.match(scope, question)

    async def found(self, scope: Scope, *words: str, **options: Any) -> list[str]:
        """Return the ids of matching texts, sorted."""
        matches = await self.match(scope, *words, **options)
        return sorted(hit.id for hit in matches.hits)

    async def nearest(
        self,
        scope: Scope,
        kind: type[Node],
        vector: Sequence[float],
        *,
        model: str = "m",
        limit: int = 10,
        where: Where | None = None,
    ) -> list[Neighbour]:
        async with self.store.reading() as reader:
            return list(await reader.nearest(scope, kind, vector, model=model, limit=limit, where=where))

    async def texts_of(self, *guards: NodeId) -> list[TextRow]:
        async def work(writer: Any) -> list[TextRow]:
            return list(await writer.texts_of(guards))

        return await self.store.transact(work)
