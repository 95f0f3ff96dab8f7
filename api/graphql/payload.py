"""Sessions of reading for operations: entering one, those of a mutation, and what is asked between two of a query."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Final

from api.graphql.context import Act, Outcome, RequestContext, outcome_of
from graph.model.errors import Unauthenticated
from graph.model.ids import NodeId
from graph.services.access.session import Session, open_session
from graph.services.deps import Deps
from graph.services.settings import load_settings

AT_ONCE: Final = 16
"""So many questions of one query are asked at the same time."""


async def enter(ctx: RequestContext, session: Session, conversation: str | None) -> None:
    """Let the context read through a session, in a conversation if the request names one (KN-56).

    Raises:
        NotFound: no such conversation for the caller.
        Unauthenticated: the principal is disabled.
    """
    if session.facts.disabled:
        raise Unauthenticated("send a valid token: Authorization: Bearer rw_…")
    ctx.use(session)
    if conversation is not None:
        settings = await load_settings(session.reader, session.caller.workspace)
        await session.speak_in(ctx.id(conversation), idle_hours=float(settings["conversation.idle_hours"]))


async def outcomes_of(acts: Mapping[str, Act]) -> Mapping[str, Outcome]:
    """Return what acts gave, `AT_ONCE` of them at the same time."""
    places = asyncio.Semaphore(AT_ONCE)

    async def one(act: Act) -> Outcome:
        async with places:
            return await outcome_of(act)

    found = await asyncio.gather(*map(one, acts.values()))
    return dict(zip(acts, found, strict=True))


@dataclass(kw_only=True, slots=True)
class Payload:
    """The sessions in which a mutation reads its payloads, one after each command."""

    deps: Deps
    ctx: RequestContext
    conversation: str | None
    stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    recorded: set[NodeId] = field(default_factory=set)
    _last: Session | None = None
    _unsteady: bool = False

    async def open(self) -> Session:
        """Let go of the session before and open one that sees what was just committed."""
        await self.leave()
        session = await self.stack.enter_async_context(open_session(self.deps, self.ctx.caller))
        self._last = session
        await enter(self.ctx, session, self.conversation)
        return session

    async def leave(self) -> None:
        """Let go of the session before."""
        await self.steady()
        await self.stack.aclose()

    async def steady(self) -> bool:
        """True if rights did not move while any of the sessions was open."""
        if self._last is not None:
            self.recorded |= self._last.recorded
            self._unsteady = self._unsteady or await self._last.moved()
            self._last = None
        return not self._unsteady
