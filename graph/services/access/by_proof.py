"""Reading while the audience index of some pools is being brought up to date: there the law decides, not the index.

A change of what very much rests on is committed at once, and the audiences of its dependents are settled by a job
(`graph.services.audience_later`). Until then the index shows too much or too little of the pools they live in. So
everything of those pools is proposed whatever the index says, and shown or counted only if it is proved.
Source: KN-114, ADR 0026.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key
from typing import Any, TypeVar, cast

from graph.model.access import Scope, SystemScope, Viewer
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import Job
from graph.rules.jobs import RECOMPUTE_AUDIENCE, JobState
from graph.rules.scopes import narrowed
from graph.rules.visibility import visible_to
from graph.services.audience import rests_on
from graph.services.deps import Figures
from graph.store.port import Reader
from graph.store.query import After, And, By, Direction, Eq, Find, In, Order, Page, Where
from graph.store.wrapping import WrappedReader

N = TypeVar("N", bound=Node)
T = TypeVar("T")

_BATCH = 500
_OPEN = tuple(str(state) for state in JobState if state is not JobState.SUCCEEDED)
"""A job that was given up has not settled anything either."""


def count_proved(figures: Figures, proposed: int, proved: int) -> None:
    """Count what the index let through and the law proved, and as a bug what it did not."""
    if proved:
        figures.count("visibility_proved", proved)
    if proved != proposed:
        figures.count("audience_mismatch", proposed - proved)


async def unsettled_pools(reader: Reader, workspace: WorkspaceId) -> frozenset[NodeId]:
    """Return the pools that hold dependents of a change which a job has still to work in."""
    scope = SystemScope(reason="audiences that are not settled", workspace=workspace)
    where = And((Eq("kind", RECOMPUTE_AUDIENCE), In("state", _OPEN)))
    jobs = (await reader.find(scope, Find(kind=Job, where=where))).nodes
    return frozenset(NodeId(pool) for job in jobs for pool in (job.arguments or {}).get("pools", ()))


async def _through(operation: str, call: Callable[[], Awaitable[T]], /) -> T:
    return await call()


class ProvingReader(WrappedReader):
    """Answers of the index for all but some pools; what lies in those is read unfiltered and then proved.

    Which pools these are is looked up once, at the first question of a viewer. Keyword and vector search go to the
    index as ever: what it proposes is proved before it is shown.
    """

    def __init__(self, inner: Reader, workspace: WorkspaceId) -> None:
        super().__init__(inner, _through)
        self._inner = inner
        self._workspace = workspace
        self._unsettled: frozenset[NodeId] | None = None
        self._all = SystemScope(reason="proof before anything is shown", workspace=workspace)

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        if isinstance(scope, SystemScope):
            return await self._inner.get(scope, ids)
        if self._unsettled is None:  # mostly nothing is, so the index is asked at once
            asked: Sequence[Callable[[], Awaitable[Any]]] = (
                lambda: unsettled_pools(self._inner, self._workspace),
                lambda: self._inner.get(scope, ids),
            )
            self._unsettled, indexed = await self._inner.together(asked)
            if not self._unsettled:
                return cast(Mapping[NodeId, Node], indexed)
        if not await self._asks_for_unsettled(scope):
            return await self._inner.get(scope, ids)
        found = {id_: node for id_, node in (await self._inner.get(scope, ids)).items() if not self._is_unsettled(node)}
        every = (await self._inner.get(self._all, ids)).values()
        return found | {node.id: node for node in await self._proved(scope, filter(self._is_unsettled, every))}

    async def find(self, scope: Scope, query: Find[N]) -> Page[N]:
        if isinstance(scope, SystemScope) or not await self._asks_for_unsettled(scope):
            return await self._inner.find(scope, query)
        most = None if query.first is None else query.first + 1
        indexed = await self._gather(scope, query, most, self._settled)
        inside = self._of_unsettled(query)
        proved = await self._gather(self._all, inside, most, lambda nodes: self._proved(scope, nodes))
        rows = sorted([*indexed, *proved], key=cmp_to_key(_comparing(query.order, backward=query.backward)))
        kept = rows if query.first is None else rows[: query.first]
        nodes, places = tuple(node for node, _ in kept), tuple(place for _, place in kept)
        return Page(nodes=nodes, places=places, more=len(rows) > len(kept))

    async def aggregate(
        self, scope: Scope, kind: type[Node], where: Where | None = None, by: str | None = None
    ) -> Mapping[Any, int]:
        counts = dict(await self._inner.aggregate(scope, kind, where, by))
        if isinstance(scope, SystemScope) or not await self._asks_for_unsettled(scope):
            return counts
        # What the index counts of the unsettled pools is taken off again, and what is proved is added.
        told = await self._inner.aggregate(narrowed(scope, self._pools), kind, where, by)
        for value, count in told.items():
            counts[value] = counts.get(value, 0) - count
        query = self._of_unsettled(Find(kind=kind, where=where))
        for node, _ in await self._gather(self._all, query, None, lambda nodes: self._proved(scope, nodes)):
            value = None if by is None else getattr(node, by)
            counts[value] = counts.get(value, 0) + 1
        return {value: count for value, count in counts.items() if count or by is None}

    async def edges(
        self, scope: Scope, ids: Sequence[NodeId], types: Iterable[EdgeType], direction: Direction
    ) -> Sequence[Edge]:
        if isinstance(scope, SystemScope) or not await self._asks_for_unsettled(scope):
            return await self._inner.edges(scope, ids, types, direction)
        every = await self._inner.edges(self._all, ids, types, direction)
        shown = await self.get(scope, sorted({end for edge in every for end in (edge.source, edge.target)}))
        return [edge for edge in every if edge.source in shown and edge.target in shown]

    def _is_unsettled(self, node: Node) -> bool:
        return node.pool in self._pools

    @property
    def _pools(self) -> frozenset[NodeId]:
        return self._unsettled or frozenset()

    async def _asks_for_unsettled(self, viewer: Viewer) -> bool:
        if self._unsettled is None:
            self._unsettled = await unsettled_pools(self._inner, self._workspace)
        return bool(self._unsettled if viewer.pools is None else self._unsettled & viewer.pools)

    def _of_unsettled(self, query: Find[N]) -> Find[N]:
        inside: Where = In("pool", sorted(self._pools))
        return replace(query, where=inside if query.where is None else And((inside, query.where)))

    async def _settled(self, nodes: Sequence[N]) -> Collection[N]:
        return [node for node in nodes if not self._is_unsettled(node)]

    async def _proved(self, viewer: Viewer, nodes: Iterable[N]) -> Collection[N]:
        """Return those that the law shows to the viewer and that lie in the pools he asks for."""
        asked = [node for node in nodes if viewer.pools is None or node.pool in viewer.pools]
        if not asked:
            return ()
        shown = visible_to(await rests_on(self._inner, [node.id for node in asked]), viewer)
        return [node for node in asked if node.id in shown]

    async def _gather(
        self, scope: Scope, query: Find[N], most: int | None, keep: Callable[[Sequence[N]], Awaitable[Collection[N]]]
    ) -> list[tuple[N, After]]:
        """Return the first `most` nodes of a query that are kept, with their places."""
        rows: list[tuple[N, After]] = []
        after, more = query.after, True
        while more and (most is None or len(rows) < most):
            page = await self._inner.find(scope, replace(query, first=_BATCH, after=after))
            kept = {node.id for node in await keep(page.nodes)}
            rows += [(n, place) for n, place in zip(page.nodes, page.places, strict=True) if n.id in kept]
            more, after = page.more, page.places[-1] if page.places else None
        return rows if most is None else rows[:most]


def _comparing(order: Order, *, backward: bool) -> Callable[[tuple[Node, After], tuple[Node, After]], int]:
    """Return the comparison of an order: nodes without a value last, ties by id, all of it reversed backwards."""
    descending = order.descending if isinstance(order, By) else True

    def compare(one: tuple[Node, After], other: tuple[Node, After]) -> int:
        result = _compare_places(one[1], other[1], descending=descending)
        return -result if backward else result

    return compare


def _compare_places(one: After, other: After, *, descending: bool) -> int:
    if one.value != other.value:
        if one.value is None or other.value is None:
            return 1 if one.value is None else -1
        return 1 if (one.value < other.value) is descending else -1
    return (one.id > other.id) - (one.id < other.id)
