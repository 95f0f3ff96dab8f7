"""Reading knowledge for a visit: on one state of rights, in the conversation of the request, with a trace if due."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from api.mcp.place import Visit
from api.node_ids import named_id, shown_id
from graph.model.errors import BadInput, Unauthenticated
from graph.model.ids import NodeId
from graph.model.nodes.people import PrincipalKind
from graph.services.access.recorded_reads import read_recorded
from graph.services.access.session import Session
from graph.services.settings import load_settings

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """Reads of one visit."""

    visit: Visit

    @property
    def conversation(self) -> NodeId | None:
        """The conversation that the request names."""
        given = self.visit.conversation
        return None if given is None else self.inside(given)

    def inside(self, text: str) -> NodeId:
        """Return the internal id that a client names."""
        return named_id(text, self.visit.caller.workspace)

    def outside(self, node: NodeId) -> str:
        """Return what a client sees of an internal id."""
        return shown_id(node, self.visit.caller.workspace)

    async def run(self, work: Callable[[Session], Awaitable[T]]) -> T:
        """Run a read; an agent reads in a conversation and in no other way (KN-56).

        Raises:
            BadInput: an agent, and no conversation.
            NotFound: no such conversation for the caller.
            Unauthenticated: the principal was disabled meanwhile.
        """

        async def entered(session: Session) -> T:
            await self._enter(session)
            return await work(session)

        return await read_recorded(self.visit.deps, self.visit.caller, entered)

    async def _enter(self, session: Session) -> None:
        if session.facts.disabled:
            raise Unauthenticated("send a valid token: Authorization: Bearer rw_…")
        if self.conversation is not None:
            settings = await load_settings(session.reader, session.caller.workspace)
            await session.speak_in(self.conversation, idle_hours=float(settings["conversation.idle_hours"]))
        elif session.facts.kind is PrincipalKind.AGENT:
            raise BadInput("an agent reads in a conversation: name it in the header Rootward-Conversation")
