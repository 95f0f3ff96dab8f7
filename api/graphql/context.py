"""What resolvers work with: one caller, one session of reading, one set of loaders a request (KN-116).

A query runs whole inside `read`, so that it is repeated if the rights moved. What it must ask of others than the store
is asked between two runs, never while a session is open, for sessions are few. A mutation runs each command once, keeps
its outcome by response key, and reads its payload in a session that was opened after the command; should the rights
move while it reads, the document is run again on the kept outcomes, never on the commands.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import strawberry
from graphql import DocumentNode
from strawberry.types import Info

from api.graphql.ids import to_global, to_node, to_nodes
from api.graphql.loaders import Loaders
from dreaming.jobs import ModelMaker, no_models
from dreaming.sandbox.rules import SandboxRules
from graph.model.ids import NodeId
from graph.model.nodes.people import PrincipalKind
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.session import Session
from graph.services.deps import Deps
from graph.services.settings import load_settings

T = TypeVar("T")

Opener = Callable[[], Awaitable[Session]]
Act = Callable[[], Awaitable[Any]]


class Pending(Exception):
    """A field of a query waits for what is asked outside; the query is run again when it is there."""


@dataclass(kw_only=True, slots=True)
class Outcome:
    """What a command gave: a value or an error, kept so that it never runs twice."""

    value: Any = None
    error: Exception | None = None


@dataclass(kw_only=True, slots=True)
class RequestContext:
    """The context of one operation.

    Attributes:
        models: makes models out of profiles, for what an operation asks of a model itself.
        sandbox: what is set for sandbox memory.
        document: parsed and checked before execution.
        open_session: opens a fresh session for the payload of a mutation; None in a query.
        leave_session: lets go of the session of the payload before; None in a query.
        conversation: internal id of the conversation in which an agent reads (KN-56), if the request names one.
        outcomes: of the commands of a mutation, by response key; of what a query asked outside, by response path.
        pending: what a query must ask outside before it can be answered, by response path.
        still_valid: asks again whether the credential of a subscription holds.
        repeats: it is a query, which may be run again.
        afterwards: done once when a query was answered from one state of rights, such as keeping what it found.
    """

    deps: Deps
    caller: Caller
    models: ModelMaker = no_models
    sandbox: SandboxRules = field(default_factory=SandboxRules)
    document: DocumentNode | None = None
    conversation: NodeId | None = None
    open_session: Opener | None = None
    leave_session: Act | None = None
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    pending: dict[str, Act] = field(default_factory=dict)
    still_valid: Callable[[], Awaitable[object]] | None = None
    repeats: bool = False
    afterwards: list[Callable[[], Awaitable[None]]] = field(default_factory=list)
    _session: Session | None = None
    _loaders: Loaders | None = None

    def use(self, session: Session) -> None:
        """Read through `session` from now on, with fresh loaders."""
        self._session, self._loaders = session, Loaders(session)

    @property
    def session(self) -> Session:
        """The session of reading."""
        assert self._session is not None
        return self._session

    @property
    def loaders(self) -> Loaders:
        """The loaders of the session."""
        assert self._loaders is not None
        return self._loaders

    def id(self, text: str) -> NodeId:
        """Return the internal id that a client names; an id of nothing if it is none of this workspace."""
        return to_node(text, self.caller.workspace)

    def id_or_none(self, text: str | None) -> NodeId | None:
        """Return the internal id that a client names; None stays None."""
        return None if text is None else self.id(text)

    def ids(self, texts: list[strawberry.ID] | None) -> tuple[NodeId, ...] | None:
        """Return the internal ids of a list; None stays None."""
        return to_nodes(texts, self.caller.workspace)

    def out(self, node: NodeId) -> strawberry.ID:
        """Return what a client sees of an internal id."""
        return to_global(node, self.caller.workspace)

    async def run(self, info: Info[Any, Any], work: Callable[[Command], Awaitable[T]]) -> T:
        """Run a command of a mutation field once, then read its payload from a fresh session."""
        return await self.once(info, lambda: command(self.deps, self.caller, work))

    async def once(self, info: Info[Any, Any], act: Callable[[], Awaitable[T]]) -> T:
        """Act once for a mutation field, however often its document runs, and read its payload from a fresh session."""
        key = str(info.path.key)
        if key not in self.outcomes:
            if self.leave_session is not None:
                await self.leave_session()  # acts open sessions of their own
            self.outcomes[key] = await outcome_of(act)
        outcome = self.outcomes[key]
        if outcome.error is not None:
            raise outcome.error
        if self.open_session is not None:
            self.use(await self.open_session())
        value: T = outcome.value
        return value

    async def asked(self, info: Info[Any, Any], act: Callable[[], Awaitable[T]], *, of: object = "") -> T:
        """Return what was asked outside for a field of a query, which is run again when it is there.

        Rights are checked before, so they are checked again with what came. What is no query asks at once.

        Args:
            info: of the field.
            act: asks; it must have no effect.
            of: what the question depends on, if the next run may ask about another state.

        Raises:
            Pending: it is not there yet.
        """
        if not self.repeats:
            return await act()
        key = f"{'/'.join(map(str, info.path.as_list()))}#{of}"
        outcome = self.outcomes.get(key)
        if outcome is None:
            self.pending[key] = act
            raise Pending
        if outcome.error is not None:
            raise outcome.error
        value: T = outcome.value
        return value

    async def pause(self, seconds: float) -> None:
        """Wait between two looks of a subscription, then make sure that its credential is still valid (AD-7).

        Raises:
            Unauthenticated: it is not.
        """
        await self.deps.clock.sleep(seconds)
        if self.still_valid is not None:
            await self.still_valid()

    async def speak_in(self, conversation: NodeId | None) -> None:
        """Read on as in a conversation (an agent reads in no other way, KN-56); None changes nothing."""
        if conversation is None or self.session.facts.kind is not PrincipalKind.AGENT:
            return
        settings = await load_settings(self.session.reader, self.caller.workspace)
        await self.session.speak_in(conversation, idle_hours=float(settings["conversation.idle_hours"]))


async def outcome_of(act: Act) -> Outcome:
    """Return what an act gave."""
    try:
        return Outcome(value=await act())
    except Exception as error:  # noqa: BLE001 - kept and raised by `once` and `asked`, so that a repeat answers alike
        return Outcome(error=error)


def context(info: Info[Any, Any]) -> RequestContext:
    """Return the context of a resolver."""
    found: RequestContext = info.context
    return found
