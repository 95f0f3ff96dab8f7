"""The writes of the port: gathered, and done in the thread of the one connection that writes with the next visit to it.

A visit to the thread costs as much as ten rows, so what needs no answer waits for the next question, or for the commit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from graph.model.access import Audience, Guard, Scope, SystemScope
from graph.model.edges import Edge
from graph.model.errors import AlreadyExists, BadInput, StoreError, StoreUnavailable
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.work import Job
from graph.model.time import Millis
from graph.store.embedded import filing, links, nodes, texts
from graph.store.embedded.faults import own_error
from graph.store.embedded.reader import EmbeddedReader
from graph.store.embedded.remembered import Remembered
from graph.store.embedded.session import Session
from graph.store.query import TextRow, Where

P = ParamSpec("P")
T = TypeVar("T")

Write = tuple[Callable[..., None], tuple[Any, ...]]
"""A write that waits: what does it on a session, and what it is given."""

_READ = SystemScope(reason="what a transaction remembers")


class EmbeddedWriter(EmbeddedReader):
    """Writes one transaction and reads its own writes.

    An error of a write (a taken key) comes with the next call that reads, or with the commit.

    Attributes:
        given_up: why the transaction cannot be committed any more, even if `work` went on.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.given_up: Exception | None = None
        self._waiting: list[Write] = []
        self._nodes: Remembered[Node] = Remembered()
        self._guards: Remembered[Guard] = Remembered()

    async def get(self, scope: Scope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        if not isinstance(scope, SystemScope):
            return await super().get(scope, ids)
        found = await self._nodes.of(ids, partial(super().get, _READ))
        if scope.workspace is None:
            return found
        return {id: node for id, node in found.items() if node.workspace == scope.workspace}

    async def guards(self, ids: Sequence[NodeId]) -> Mapping[NodeId, Guard]:
        return await self._guards.of(ids, super().guards)

    async def put(self, new: Sequence[Node]) -> None:
        if new:
            self._nodes.forget([node.id for node in new])
            self._later(nodes.put, new)

    async def patch(self, id: NodeId, changes: Mapping[str, Any], *, expected: Mapping[str, Any] | None = None) -> None:
        self._nodes.forget([id])
        await self.run(nodes.patch, id, changes, expected)

    async def patch_many(self, changes: Mapping[NodeId, Mapping[str, Any]]) -> None:
        if changes:
            self._nodes.forget(changes)
            self._later(nodes.patch_many, changes)

    async def patch_where(self, kind: type[Node], where: Where, changes: Mapping[str, Any]) -> int:
        self._nodes.clear()
        return await self.run(nodes.patch_where, kind, where, changes)

    async def delete(self, ids: Sequence[NodeId]) -> None:
        if ids:
            self._nodes.forget(ids)
            self._guards.forget(ids)
            self._later(nodes.delete, ids)

    async def link(self, edges: Sequence[Edge]) -> None:
        if edges:
            self._later(links.link, edges)

    async def unlink(self, edges: Sequence[Edge]) -> None:
        if edges:
            self._later(links.unlink, edges)

    async def guard(self, guards: Sequence[Guard]) -> None:
        if guards:
            self._guards.forget([guard.node for guard in guards])
            self._later(filing.guard, guards)

    async def admit(self, audiences: Sequence[Audience]) -> None:
        if not audiences:
            return
        if self._waiting and self._waiting[-1][0] is filing.guard:
            guards = self._waiting.pop()[1][0]
            self._later(filing.guard_and_admit, guards, audiences)
        else:
            self._later(filing.admit, audiences)

    async def index(self, new: Sequence[TextRow]) -> None:
        if new:
            self._later(texts.index, new)

    async def unindex(self, text_ids: Sequence[str]) -> None:
        if text_ids:
            self._later(texts.unindex, text_ids)

    async def texts_of(self, guards: Sequence[NodeId]) -> Sequence[TextRow]:
        return await self._step(len(guards))(texts.texts_of, guards)

    async def lock(self, ids: Sequence[NodeId]) -> None:
        """Do nothing: there is one writer at a time, so it holds everything."""

    async def hold(self, scope: SystemScope, ids: Sequence[NodeId]) -> Mapping[NodeId, Node]:
        return await self.get(scope, ids)

    async def increment(self, id: NodeId, field: str, by: int = 1) -> int:
        self._nodes.forget([id])
        return await self.run(nodes.increment, id, field, by)

    async def claim(self, kinds: Sequence[str], owner: str, now: Millis, lease_ms: int) -> Job | None:
        self._nodes.clear()
        return await self.run(nodes.claim, kinds, owner, now, lease_ms)

    async def look(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a reading step: a brief one without a visit to the thread, unless writes wait for one."""
        if self._waiting:
            return await self.run(work, *args, **kwargs)
        return await self._noting(self._session.look(work, *args, **kwargs))

    async def run(self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a step after the writes that wait; if it fails, nothing can be committed any more.

        Writes may not have begun or may have stopped half way, and SQLite may have undone all that was written before.
        """
        waiting = self._take()
        if not waiting:
            return await self._noting(self._session.run(work, *args, **kwargs))
        return await self._noting(self._session.run(self._after, waiting, work, *args, **kwargs))

    async def _noting(self, step: Awaitable[T]) -> T:
        """Note why the transaction cannot be committed if a step fails."""
        try:
            return await step
        except (AlreadyExists, BadInput, StoreError) as error:
            self.given_up = self.given_up or error
            raise
        except asyncio.CancelledError:
            self.given_up = StoreUnavailable("a step of the transaction was cancelled; nothing was written")
            raise

    def last(self) -> Callable[[Session], None]:
        """Return what does the writes that still wait, to be run just before the commit."""
        waiting = self._take()
        return lambda session: self._write(session, waiting)

    def _later(self, work: Callable[Concatenate[Session, P], None], *args: P.args, **kwargs: P.kwargs) -> None:
        self._waiting.append((work, args))

    def _take(self) -> Sequence[Write]:
        waiting, self._waiting = self._waiting, []
        return waiting

    def _after(
        self,
        session: Session,
        waiting: Sequence[Write],
        work: Callable[Concatenate[Session, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        self._write(session, waiting)
        return work(session, *args, **kwargs)

    def _write(self, session: Session, waiting: Sequence[Write]) -> None:
        try:
            for work, args in waiting:
                work(session, *args)
        except Exception as error:  # whatever it was, the rest was not written
            self.given_up = self.given_up or own_error(error, writing=True)
            raise
