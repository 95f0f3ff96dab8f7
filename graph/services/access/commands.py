"""A session of writing: the facts about the caller are read inside the transaction that writes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from graph.model.errors import Forbidden
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import PrincipalKind
from graph.model.time import Millis
from graph.rules.rights import ViewerFacts, may_administer, may_host
from graph.rules.scopes import make_viewer
from graph.services.access.caller import Caller
from graph.services.access.facts import load_facts
from graph.services.access.session import Session
from graph.services.deps import Deps
from graph.store.port import Writer

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """What a command works with.

    Attributes:
        session: the caller's reads inside the same transaction (they see its own writes).
        at: time of the commit; `recorded_at` of all it writes.
    """

    deps: Deps
    writer: Writer
    caller: Caller
    facts: ViewerFacts
    session: Session
    tx_id: str
    at: Millis

    @property
    def actor_kind(self) -> ModifierKind:
        """How audit records name the kind of the caller; a service acts for the system."""
        kinds = {PrincipalKind.HUMAN: ModifierKind.HUMAN, PrincipalKind.AGENT: ModifierKind.AGENT}
        return kinds.get(self.facts.kind, ModifierKind.SYSTEM)

    def require_admin(self) -> None:
        """Refuse all but admins of the workspace.

        Raises:
            Forbidden: the caller is none.
        """
        if not may_administer(self.facts):
            raise Forbidden("this needs the right admin on the workspace")

    def require_host(self, organization: NodeId | None = None) -> None:
        """Refuse all but hosts (AD-15).

        Raises:
            Forbidden: the caller is none.
        """
        if not may_host(self.facts, organization):
            raise Forbidden("this needs the right host on the workspace or organization")


async def command(deps: Deps, caller: Caller, work: Callable[[Command], Awaitable[T]]) -> T:
    """Run `work` in one write transaction with the caller's rights as they are now.

    `work` may run again after a deadlock or a lost connection; it writes through its `Command` alone.
    """
    tx_id = deps.ids.new()

    async def run(writer: Writer) -> T:
        facts = await load_facts(writer, caller)
        session = Session(deps=deps, reader=writer, caller=caller, facts=facts, viewer=make_viewer(facts))
        made = Command(
            deps=deps, writer=writer, caller=caller, facts=facts, session=session, tx_id=tx_id, at=deps.now()
        )
        return await work(made)

    return await deps.store.transact(run, tx_id=tx_id)
