"""The writes of the port, each one visit to the thread of the one connection that writes; none for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from graph.model.access import Audience, Guard
from graph.model.edges import Edge
from graph.model.errors import AlreadyExists, BadInput, RootwardError, StoreError, StoreUnavailable
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.store.embedded import filing, links, nodes, texts
from graph.store.embedded.reader import EmbeddedReader
from graph.store.embedded.session import Session
from graph.store.query import TextRow, Where

P = ParamSpec("P")
T = TypeVar("T")


class EmbeddedWriter(EmbeddedReader):
    """Writes one transaction and reads its own writes.

    Attributes:
        given_up: why the transaction cannot be committed any more, even if `work` went on.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.given_up: RootwardError | None = None

    async def put(self, new: Sequence[Node]) -> None:
        if new:
            await self.run(nodes.put, new)

    async def patch(self, id: NodeId, changes: Mapping[str, Any], *, expected: Mapping[str, Any] | None = None) -> None:
        await self.run(nodes.patch, id, changes, expected)

    async def patch_many(self, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
        if changes:
            await self.run(nodes.patch_many, changes)

    async def patch_where(self, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
        return await self.run(nodes.patch_where, kind, where, changes)

    async def delete(self, ids: Sequence[NodeId]) -> None:
        if ids:
            await self.run(nodes.delete, ids)

    async def link(self, edges: Sequence[Edge]) -> None:
        if edges:
            await self.run(links.link, edges)

    async def unlink(self, edges: Sequence[Edge]) -> None:
        if edges:
            await self.run(links.unlink, edges)

    async def guard(self, guards: Sequence[Guard]) -> None:
        if guards:
            await self.run(filing.guard, guards)

    async def admit(self, audiences: Sequence[Audience]) -> None:
        if audiences:
            await self.run(filing.admit, audiences)

    async def index(self, new: Sequence[TextRow]) -> None:
        if new:
            await self.run(texts.index, new)

    async def unindex(self, text_ids: Sequence[str]) -> None:
        if text_ids:
            await self.run(texts.unindex, text_ids)

    async def texts_of(self, guards: Sequence[NodeId]) -> Sequence[TextRow]:
        return await self._session.run(texts.texts_of, guards)

    async def lock(self, ids: Sequence[NodeId]) -> None:
        """Do nothing: there is one writer at a time, so it holds everything."""

    async def increment(self, id: NodeId, field: str, by: int = 1) -> int:
        return await self.run(nodes.increment, id, field, by)

    async def claim(self, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
        return await self.run(nodes.claim, kinds, owner, now, lease_ms)

    async def run(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step; one that may have stopped half way keeps the transaction from being committed."""
        try:
            return await self._session.run(work, *args, **kwargs)
        except (AlreadyExists, BadInput, StoreError) as error:
            self.given_up = self.given_up or error
            raise
        except asyncio.CancelledError:
            self.given_up = StoreUnavailable("a step of the transaction was cancelled; nothing was written")
            raise
