"""Reads: each call is one statement, or a few."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from graph.model import schema
from graph.model.access import Audience, Guard, Scope, SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.neo4j import aggregate, closure, find, search, vectors, visible
from graph.store.neo4j.asking import Asking, First, table
from graph.store.neo4j.conditions import relationship_types
from graph.store.neo4j.driver import ONE_WAY, Rows, Runner
from graph.store.neo4j.encoding import columns, decode_node, is_whole
from graph.store.neo4j.facts import GUARD, whole_guards
from graph.store.neo4j.links import whole_edges
from graph.store.query import Direction, Find, Match, Matches, Neighbour, Page, Reached, Where

N = TypeVar("N", bound=Node)
T = TypeVar("T")

_MANY = 20
"""Of so many nodes or more it is worth a round trip to know the clauses that the viewer passes."""


class Neo4jReader:
    """Reads committed data statement by statement; inside a transaction also its own writes."""

    def __init__(self, runner: Runner, first: First | None = None) -> None:
        self._runner = Asking(runner, first)
        self._clauses: dict[Scope, Sequence[str]] = {}

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        wanted = visible.guarded_ids(scope, ids)
        kinds = {kind.name for id in wanted if (kind := schema.kind_of(id)) is not None}
        if not kinds:
            return {}
        rows = await self._seen(scope, wanted, columns(*kinds))
        found = {node.id: node for (values,) in rows if is_whole(values) for node in [decode_node(values)]}
        return {id: found[id] for id in wanted if id in found}

    async def shown(self, scope: Scope, ids: Sequence[NodeId]) -> Collection[NodeId]:
        """Return which of these nodes `get` would return."""
        rows = await self._seen(scope, visible.guarded_ids(scope, ids), "n.id")
        return {NodeId(id) for (id,) in rows}

    async def _seen(self, scope: Scope, ids: Sequence[NodeId], what: str) -> Rows:
        passed = await self._passed(scope, len(ids))
        return await table(
            self._runner,
            f"{_kept(scope)}UNWIND $ids AS id MATCH (n:Node {{id: id}}) USING INDEX SEEK n:Node(id) "
            f"WHERE {visible.seen(scope, passed=bool(passed))}",
            what,
            ids=ids,
            **visible.scope_parameters(scope),
            **passed,
        )

    async def find(self, scope: Scope, query: Find[N]) -> Page[N]:
        return await find.find(self._runner, scope, query, lambda: self._clauses_of(scope))

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        return await aggregate.aggregate(self._runner, scope, kind, where, by, await self._clauses_of(scope))

    async def edges(
        self, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
    ) -> Sequence[Edge]:
        among = relationship_types(types)
        if not ids or not among:
            return ()
        near, far = ("n", "o") if direction is Direction.OUT else ("o", "n")
        passed = await self._passed(scope, len(ids))
        shown = f"{_end(scope, 'n', passed=bool(passed))} AND {_end(scope, 'o', passed=bool(passed))}"
        rows = await table(
            self._runner,
            "UNWIND $ids AS id MATCH (n:Node {id: id}) USING INDEX SEEK n:Node(id) "
            f"MATCH ({near})-[r:{among}]->({far}) WHERE {shown}",
            f"{near}.id, {far}.id, properties(r), type(r)",
            ids=sorted(set(ids)),
            **visible.scope_parameters(scope),
            **passed,
        )
        return whole_edges(rows)

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
        among = frozenset(types)
        if guarded and ids and among and limit is None:
            return await closure.guarded_closure(self._runner, ids, among, direction, depth=depth)
        reached = await closure.closure(self._runner, ids, among, direction, depth=depth, limit=limit)
        return replace(reached, guards=await self.guards(list(reached.depths))) if guarded else reached

    async def guards(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
        rows = await table(
            self._runner,
            f"{ONE_WAY}UNWIND $ids AS id MATCH (n:Node {{id: id}}) USING INDEX SEEK n:Node(id) "
            "WHERE n.guardKind IS NOT NULL",
            GUARD,
            ids=list(dict.fromkeys(ids)),
        )
        return {guard.node: guard for guard in whole_guards(rows)}

    async def audiences(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Audience]:
        if not ids:
            return {}
        rows, clauses = await self._runner.ask(visible.AUDIENCES, "[found, clauses]", ids=list(dict.fromkeys(ids)))
        return {audience.node: audience for audience in visible.whole_audiences(rows, clauses)}

    async def match(self, scope: Scope, question: Match) -> Matches:
        return await search.match(self._runner, scope, question, await self._clauses_of(scope))

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
        clauses = await self._clauses_of(scope)
        return await vectors.nearest(
            self._runner, scope, kind, vector, model=model, limit=limit, clauses=clauses, where=where
        )

    async def together(self, questions: Sequence[Callable[[], Awaitable[T]]]) -> Sequence[T]:
        return await self._runner.together(questions)

    async def _clauses_of(self, scope: Scope) -> Sequence[str]:
        """Return the clauses a viewer passes, looked up once a reader; a writer forgets them when it admits."""
        if isinstance(scope, SystemScope):
            return ()
        if scope not in self._clauses:
            self._clauses[scope] = await visible.clauses_of(self._runner, scope)
        return self._clauses[scope]

    async def _passed(self, scope: Scope, count: int) -> Mapping[str, Any]:
        """Return the clauses that a viewer passes as a parameter of `visible.seen`, where that saves work."""
        if isinstance(scope, SystemScope) or (count < _MANY and scope not in self._clauses):
            return {}
        clauses = await self._clauses_of(scope)
        return {"passed": clauses} if len(clauses) <= find.MANY_CLAUSES else {}


def _kept(scope: Scope) -> str:
    """Return what begins a look-up by id: what is asked about a viewer looks for clauses as well."""
    return ONE_WAY if isinstance(scope, SystemScope) else ""


def _end(scope: Scope, variable: str, *, passed: bool) -> str:
    """Return the condition on an end of an edge: a system scope also sees edges to placeholders."""
    if isinstance(scope, SystemScope):
        return "true" if scope.workspace is None else f"({variable}:Placeholder OR {variable}.workspaceId = $workspace)"
    return visible.seen(scope, variable, passed=passed)
