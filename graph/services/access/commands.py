"""A session of writing: the facts about the caller are read inside the transaction that writes.

On a store that keeps one state a transaction, that is all. On one that reads committed data, a right may go between
the facts and the commit; so the caller's access version is locked and compared last, and the command begins again if
it moved: whatever commits after a revocation was decided without the right. Source: KN-116, ADR 0025.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from graph.model.errors import Forbidden, StoreUnavailable
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.people import Principal, PrincipalKind
from graph.model.time import Millis
from graph.rules.rights import ViewerFacts, may_administer, may_host
from graph.services.access.by_proof import ProvingReader
from graph.services.access.caller import Caller
from graph.services.access.facts import VIEWER_FACTS, load_facts
from graph.services.access.session import Session
from graph.services.deps import Deps
from graph.store.port import Isolation, Writer

T = TypeVar("T")

MAX_REPEATS = 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """What a command works with.

    Attributes:
        session: the caller's reads inside the same transaction (they see its own writes).
        at: time of the commit; `recorded_at` of all it writes.
        moved: whose access versions it moved itself, and by how much.
    """

    deps: Deps
    writer: Writer
    caller: Caller
    facts: ViewerFacts
    session: Session
    tx_id: str
    at: Millis
    moved: Counter[NodeId] = field(default_factory=Counter)

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


class _RightsMoved(Exception):
    """Somebody changed the caller's rights meanwhile; nothing was written."""


async def command(deps: Deps, caller: Caller, work: Callable[[Command], Awaitable[T]]) -> T:
    """Run `work` in one write transaction with the caller's rights as they are when it commits.

    `work` may run again after a deadlock, a lost connection or a change of the caller's rights; it writes through its
    `Command` alone.

    Raises:
        StoreUnavailable: the caller's rights moved during every one of many tries.
    """
    tx_id = deps.ids.new()

    async def run(writer: Writer) -> T:
        facts = await load_facts(writer, caller)
        reader = ProvingReader(writer, caller.workspace)
        session = Session(deps=deps, reader=reader, caller=caller, facts=facts)
        made = Command(
            deps=deps, writer=writer, caller=caller, facts=facts, session=session, tx_id=tx_id, at=deps.now()
        )
        result = await work(made)
        if deps.store.isolation is not Isolation.SNAPSHOT:
            await _hold_rights(made)
        return result

    for _ in range(MAX_REPEATS):
        try:
            return await deps.store.transact(run, tx_id=tx_id)
        except _RightsMoved:
            deps.figures.count("command_repeated")
    raise StoreUnavailable("rights are changing too fast to write with one state of them: try again")


async def _hold_rights(cmd: Command) -> None:
    """Lock the caller until the commit and see that his rights are those that the command was decided with.

    Last of all, in id order with the others for whom it was done (`Session.facts_of`): a revocation locks whom it
    concerns first, so that the two meet and one of them waits.
    """
    known = {**cmd.session.others, cmd.facts.principal: cmd.facts.access_version}
    held = await cmd.writer.hold(VIEWER_FACTS, sorted(known))
    for id_, version in known.items():
        now = held.get(id_)
        if not isinstance(now, Principal) or now.access_version != version + cmd.moved[id_]:
            raise _RightsMoved
