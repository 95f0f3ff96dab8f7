"""The reads of the port: none for nothing, brief ones in the event loop, each other one visit to the thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from graph.model.access import Audience, Guard, Scope
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.store.embedded import closure, guards, listing, search, vectors
from graph.store.embedded.conditions import named_in
from graph.store.embedded.session import Session
from graph.store.query import Direction, Find, Match, Matches, Neighbour, Page, Reached, Where

N = TypeVar("N", bound=Node)
P = ParamSpec("P")
T = TypeVar("T")

_MOST_NAMED = 256
"""Who names more ids or values asks for more than a brief read has steps for, and writing them down takes time too."""


class _Step(Protocol):
    """How a step is run on the connection."""

    async def __call__(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T: ...


class EmbeddedReader:
    """Reads one snapshot, from the first read to the last."""

    def __init__(self, session: Session) -> None:
        self._session = session

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        return await self._step(len(ids))(listing.get, scope, ids) if ids else {}

    async def find(self, scope: Scope, query: Find[N]) -> Page[N]:
        return await self._step(named_in(query.where))(listing.find, scope, query)

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        return await self._step(named_in(where))(listing.aggregate, scope, kind, where, by)

    async def edges(
        self, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
    ) -> Sequence[Edge]:
        return await self._step(len(ids))(closure.edges, scope, ids, frozenset(types), direction)

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
        return await self.run(closure.closure, ids, types, direction, depth, limit, guarded=guarded)

    async def guards(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
        return await self._step(len(ids))(guards.guards, ids) if ids else {}

    async def audiences(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Audience]:
        return await self._step(len(ids))(guards.audiences, ids) if ids else {}

    async def match(self, scope: Scope, question: Match) -> Matches:
        return await self.run(search.match, scope, question)

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
        return await self.run(vectors.nearest, scope, kind, vector, model, limit, where)

    async def together(self, questions: Sequence[Callable[[], Awaitable[T]]]) -> Sequence[T]:
        return [await question() for question in questions]

    async def look(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step that is brief as a rule, without a visit to the thread if it is."""
        return await self._session.look(work, *args, **kwargs)

    def _step(self, named: int) -> _Step:
        """Return how a read is run that names so many ids or values."""
        return self.look if named <= _MOST_NAMED else self.run

    async def run(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step in the thread."""
        return await self._session.run(work, *args, **kwargs)
