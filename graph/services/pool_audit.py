"""The audit chain of the pools of sessions, agents, bots and workspaces: who did what to which object, never content.

Knowledge has its own way (`graph.services.ledger`) with images; here a record is an operation, an object and codes.
Source: AD-26, AD-27.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from graph.model.access import Clause
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Json, Node
from graph.model.ids import NodeId
from graph.model.nodes.bots import BotPool
from graph.model.nodes.knowledge import ModifierKind
from graph.model.nodes.sandbox import SandboxSession
from graph.model.nodes.sessions import AgentMemory, Session
from graph.model.nodes.work import AuditRecord
from graph.model.nodes.workspace import WorkspaceMemory
from graph.model.schema import kind_of
from graph.model.time import Millis
from graph.rules.audit_chain import AuditDraft, Head, seal
from graph.services.access.guards import put_all_alone
from graph.services.deps import Deps
from graph.store.port import Writer

Pool: TypeAlias = Session | AgentMemory | BotPool | WorkspaceMemory | SandboxSession

_SALT_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolStep:
    """One step in a pool.

    Attributes:
        operation: such as ``session.remember`` or ``bot.purge``.
        actor: who did it; `on_behalf_of` the person that a host named (AD-16).
        target: the object it was done to; of a step that several objects share, the pool.
        codes: ids and codes, never content or keys.
        rules: who may read the record (the rules of the pool).
    """

    operation: str
    actor: NodeId
    actor_kind: ModifierKind
    target: NodeId
    rules: Clause
    on_behalf_of: NodeId | None = None
    codes: Json = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Beside:
    """What is written in the same round trips as a record.

    Attributes:
        nodes: new ones, for who may read the record.
        changes: of nodes that are there, by id; also of the pool itself.
    """

    nodes: Sequence[Node] = ()
    changes: Mapping[NodeId, Mapping[str, Any]] = field(default_factory=dict)


NOTHING: Final = Beside()


async def record_step(
    writer: Writer,
    deps: Deps,
    pool: Pool,
    step: PoolStep,
    *,
    tx_id: str,
    at: Millis,
    beside: Beside = NOTHING,
) -> AuditRecord:
    """Write a step as the next record of a pool that the caller holds locked and read under the lock.

    Call it once a transaction for each pool, or hand on the pool with the head that the record has.
    """
    sealed = seal(
        _draft(step),
        Head(seq=pool.audit_seq, hash=pool.audit_head),
        record_id=deps.new_id(AuditRecord.PREFIX),
        pool=pool.id,
        tx_id=tx_id,
        recorded_at=at,
        salt=deps.randomness.bytes(_SALT_BYTES),
    )
    record = sealed.to_node(pool.workspace)
    await put_all_alone(writer, [*beside.nodes, record], step.rules)
    await writer.link([Edge(type=EdgeType.TARGETS, source=record.id, target=step.target)])
    of_pool = {**beside.changes.get(pool.id, {}), "audit_seq": record.seq, "audit_head": record.hash}
    await writer.patch_many({**beside.changes, pool.id: of_pool})
    return record


def _draft(step: PoolStep) -> AuditDraft:
    spec = kind_of(step.target)
    return AuditDraft(
        operation=step.operation,
        actor_id=step.actor,
        actor_kind=step.actor_kind,
        target_id=step.target,
        target_kind=spec.name if spec else "",
        on_behalf_of=step.on_behalf_of,
        after=step.codes,
    )
