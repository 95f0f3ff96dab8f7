"""Reads of one state."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, cast

from graph.model.access import Audience, Guard, Scope
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.memory import texts
from graph.store.memory.conditions import check_fields, fits, place_of, sort_key
from graph.store.memory.sight import Sight
from graph.store.memory.tables import EdgeKey, Tables
from graph.store.query import After, Direction, Find, Match, Matches, Neighbour, Page, Reached, Where

N = TypeVar("N", bound=Node)
T = TypeVar("T")


class MemoryReader:
    """Answers from one state, which does not change while it is read."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        await round_trip()
        sight = Sight(self._tables, scope)
        found = ((id, self._tables.node(id)) for id in ids)
        return {id: node for id, node in found if node is not None and sight.sees(node)}

    async def find(self, scope: Scope, query: Find[N]) -> Page[N]:
        await round_trip()
        check_fields(query.kind, query.where, query.order)
        places = {
            place_of(self._tables, node, query.order): node for node in self._fitting(scope, query.kind, query.where)
        }
        ordered = _cut(places, query)
        first = len(ordered) if query.first is None else query.first
        return Page(
            nodes=tuple(cast(N, places[place]) for place in ordered[:first]),
            places=tuple(ordered[:first]),
            more=len(ordered) > first,
        )

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        await round_trip()
        check_fields(kind, where)
        nodes = self._fitting(scope, kind, where)
        if by is None:
            return {None: sum(1 for _ in nodes)}
        return dict(Counter(getattr(node, by) for node in nodes))

    async def edges(
        self, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
    ) -> Sequence[Edge]:
        await round_trip()
        sight, wanted = Sight(self._tables, scope), frozenset(types)
        keys = {key for id in ids for key in self._edges_at(id, wanted, direction)}
        return [edge for key in sorted(keys) if sight.sees_edge(edge := self._tables.edges[key])]

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
        await round_trip()
        wanted = frozenset(types)
        depths: dict[NodeId, int] = {}
        walked: set[EdgeKey] = set()
        level, distance, truncated = sorted(set(ids)), 0, False
        while level:
            room = len(level) if limit is None else max(0, limit - len(depths))
            truncated |= len(level) > room
            kept = level[:room]
            depths.update(dict.fromkeys(kept, distance))
            keys = {key for id in kept for key in self._edges_at(id, wanted, direction)}
            if not keys or distance == depth:
                truncated |= bool(keys)
                break
            walked |= keys
            level = sorted({_far_end(key, direction) for key in keys} - depths.keys())
            distance += 1
        edges = (self._tables.edges[key] for key in sorted(walked) if key[1] in depths and key[2] in depths)
        guards = self._guards(depths) if guarded else {}
        return Reached(depths=depths, edges=tuple(edges), truncated=truncated, guards=guards)

    async def guards(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
        await round_trip()
        return self._guards(ids)

    async def audiences(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Audience]:
        await round_trip()
        return {id: self._tables.audiences[id] for id in ids if id in self._tables.audiences}

    async def match(self, scope: Scope, question: Match) -> Matches:
        await round_trip()
        return texts.match(self._tables, scope, question)

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
        await round_trip()
        return texts.nearest(self._tables, scope, kind, vector, model=model, limit=limit, where=where)

    async def together(self, questions: Sequence[Callable[[], Awaitable[T]]]) -> Sequence[T]:
        return [await question() for question in questions]

    def _fitting(self, scope: Scope, kind: type[Node], where: Where | None) -> Iterable[Node]:
        sight = Sight(self._tables, scope)
        for node in self._tables.of_kind(kind).values():
            if fits(self._tables, node, where) and sight.sees(node):
                yield node

    def _guards(self, ids: Iterable[NodeId]) -> Mapping[NodeId, Guard]:
        return {id: self._tables.guards[id] for id in ids if id in self._tables.guards}

    def _edges_at(self, id: NodeId, types: frozenset[EdgeType], direction: Direction) -> Iterable[EdgeKey]:
        at = self._tables.outgoing if direction is Direction.OUT else self._tables.incoming
        return (key for key in at.get(id, ()) if key[0] in types)


def _cut(places: Iterable[After], query: Find[N]) -> list[After]:
    key = sort_key(query.order)
    ordered = sorted(places, key=key, reverse=query.backward)
    if query.after is None:
        return ordered
    start = key(query.after)
    return [place for place in ordered if (key(place) < start if query.backward else key(place) > start)]


def _far_end(key: EdgeKey, direction: Direction) -> NodeId:
    return key[2] if direction is Direction.OUT else key[1]


async def round_trip() -> None:
    """Let others run, as an engine would, so that races show on the reference too."""
    await asyncio.sleep(0)
