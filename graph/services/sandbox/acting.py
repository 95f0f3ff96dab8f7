"""Who changes a sandbox, in which transaction; and the removal of bytes that nothing names any more.

Every change goes through `change`, or through an `Act` of a job's own transaction. Source: SB-100, AD-32.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from graph.model.errors import StoreError
from graph.model.fields import Json, Node
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.sandbox import SandboxSession
from graph.model.time import Millis
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.access.guards import put_all_alone
from graph.services.admin.blobs import remove_unnamed
from graph.services.blob_rows import named_blobs
from graph.services.deps import Deps
from graph.services.pool_audit import PoolStep, record_step
from graph.services.workspace.run_finding import shared_rules
from graph.store.port import Writer

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """One transaction that changes a sandbox.

    Attributes:
        actor: who does it.
        gone: blobs that a row named and does not name any more; see `forget`.
    """

    deps: Deps
    writer: Writer
    actor: NodeId
    actor_kind: ModifierKind
    tx_id: str
    at: Millis
    gone: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, cmd: Command) -> Act:
        """Return what a caller does."""
        return cls(
            deps=cmd.deps,
            writer=cmd.writer,
            actor=cmd.facts.principal,
            actor_kind=cmd.actor_kind,
            tx_id=cmd.tx_id,
            at=cmd.at,
        )

    async def put(self, nodes: Sequence[Node]) -> None:
        """Write new nodes for whoever may read the workspace (SB-100)."""
        if nodes:
            await put_all_alone(self.writer, nodes, shared_rules(nodes[0].workspace))

    async def set(self, session: SandboxSession, **fields: Any) -> SandboxSession:
        """Change a session that is held locked."""
        changed = {**fields, "version": session.version + 1}
        await self.writer.patch_many({session.id: changed})
        return replace(session, **changed)

    async def note(
        self, session: SandboxSession, operation: str, target: NodeId | None = None, codes: Json = None
    ) -> SandboxSession:
        """Write the audit record of a change in a session held locked; return it with the head of its chain."""
        step = PoolStep(
            operation=operation,
            actor=self.actor,
            actor_kind=self.actor_kind,
            target=target or session.id,
            rules=shared_rules(session.workspace),
            codes=codes,
        )
        record = await record_step(self.writer, self.deps, session, step, tx_id=self.tx_id, at=self.at)
        return replace(session, audit_seq=record.seq, audit_head=record.hash)


async def change(deps: Deps, caller: Caller, work: Callable[[Command, Act], Awaitable[T]]) -> T:
    """Run a change of a caller in one transaction, then remove the bytes that nothing names any more."""

    async def run(cmd: Command) -> tuple[T, list[str]]:
        act = Act.of(cmd)
        return await work(cmd, act), act.gone

    result, gone = await command(deps, caller, run)
    await forget(deps, gone)
    return result


async def forget(deps: Deps, gone: Iterable[str]) -> None:
    """Remove those of the blobs that no row names; what cannot be removed now is left to the collector (AD-32)."""
    wanted = set(gone)
    if not wanted:
        return
    with suppress(StoreError):
        async with deps.store.reading() as reader:
            wanted -= await named_blobs(reader, wanted)
        await remove_unnamed(deps, wanted)
