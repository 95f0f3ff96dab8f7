"""An auditor's reading of a private chat that he is not part of leaves a record, before he gets the answer (KN-59)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.rules.audit_chain import AuditDraft
from graph.rules.audit_operations import AuditOperation
from graph.rules.changes import Changes
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.session import Session, read
from graph.services.deps import Deps
from graph.services.ledger import Commit, commit, hold

T = TypeVar("T")


async def read_recorded(deps: Deps, caller: Caller, work: Callable[[Session], Awaitable[T]]) -> T:
    """Run a read like `read`, write the records it calls for, and only then return the answer."""
    result, session = await read(deps, caller, work)
    await record_reads(deps, caller, session.recorded)
    return result


async def record_reads(deps: Deps, caller: Caller, pools: Collection[NodeId]) -> None:
    """Write one `access.read` record for each of these knowledge bases, all in one transaction."""
    if not pools:
        return

    async def work(cmd: Command) -> None:
        for pool in sorted(pools):
            await hold(cmd.writer, pool)
            await commit(cmd.writer, deps, Commit(pool=pool, tx_id=cmd.tx_id, at=cmd.at), _changes(cmd, pool))

    await command(deps, caller, work)


def _changes(cmd: Command, pool: NodeId) -> Changes:
    draft = AuditDraft(
        operation=AuditOperation.ACCESS_READ,
        actor_id=cmd.caller.principal,
        actor_kind=cmd.actor_kind,
        target_id=pool,
        target_kind=KnowledgeBase.__name__,
    )
    return Changes(drafts=[draft])
