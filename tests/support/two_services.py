"""Two service processes on one store, and models that let both get so far before either goes on.

For races of learning, of turns and of commands. On Neo4j each service has a driver of its own, so that nothing but the
database is shared; the embedded store has one process by its file lock, so that there they are two services (two
workers) on one open store. Use it so::

    async with two_services(deps, uri=neo4j_uri_or_none) as (one, other):
        together = Meeting(2)
        models = [MeetingModel(scripted, together, when="bot.learn") for _ in range(2)]
        await asyncio.gather(learn(one, models[0]), learn(other, models[1]))

Both have read and asked before either may commit; who has to begin anew (BM-87, AM-53) asks a second time and meets
nobody then. `HeldModel` is for "answers while the other is blocked" (BM-63): it answers when it is told to.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from secrets import randbits

from dreaming.models.port import ModelAnswer, ModelPort, ModelRequest
from graph.services.deps import Deps
from graph.store.neo4j import Neo4jStore
from tests.support.ids import SequentialIds
from tests.support.neo4j_store import AUTH


@asynccontextmanager
async def two_services(deps: Deps, *, uri: str | None = None) -> AsyncIterator[tuple[Deps, Deps]]:
    """Give `deps` and those of a second process on the same store, with ids of its own.

    Args:
        deps: of the first; its store is open.
        uri: of the Neo4j server, if that is the engine; the second gets a driver of its own.
    """
    other = replace(deps, ids=SequentialIds(randbits(60)))
    if deps.store.engine != "neo4j":
        yield deps, other
        return
    assert uri is not None, "name the server, so that the second service has a driver of its own"
    store = Neo4jStore(uri, auth=AUTH, clock=deps.clock)
    await store.open()
    try:
        yield deps, replace(other, store=store)
    finally:
        await store.close()


class Meeting:
    """A place where nobody goes on before so many have come; who comes later passes."""

    def __init__(self, parties: int = 2) -> None:
        self._missing = parties
        self._complete = asyncio.Event()

    async def come(self) -> None:
        """Wait for the others."""
        self._missing -= 1
        if self._missing <= 0:
            self._complete.set()
        await self._complete.wait()


@dataclass
class MeetingModel:
    """Answers as another model does, but lets no answer out before every party has one.

    Attributes:
        when: how the purposes of requests that meet begin; the others pass.
        asked: every request, in order.
    """

    inner: ModelPort
    meeting: Meeting
    when: str = ""
    asked: list[ModelRequest] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer of the inner model once all have met."""
        self.asked.append(request)
        answer = await self.inner.complete(request)
        if request.purpose.startswith(self.when):
            await self.meeting.come()
        return answer


@dataclass
class HeldModel:
    """Answers as another model does, when it is let.

    Attributes:
        asked: set when it was asked first; a test waits for it.
        go: set by the test; until then nobody gets an answer.
    """

    inner: ModelPort
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def name(self) -> str:
        return self.inner.name

    async def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the answer of the inner model once the test lets it."""
        self.asked.set()
        await self.go.wait()
        return await self.inner.complete(request)
