"""Audit, jobs and receipts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.time import Millis


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditRecord(Node):
    """One audited step in the chain of its pool (KN-83 to KN-85, AD-26 to AD-28).

    The images (`before`, `after`) rest on the sources they came from (IMAGES edges), so the law shows a record only
    to who may see those, and erasure finds them; `image_sources` repeats their ids, because the hash covers them.

    Attributes:
        reason_commitment: stands in the hash in place of the reason, "" for none; None in records of the first form,
            whose hash covers the reason itself.
    """

    PREFIX: ClassVar[str] = "aud"
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("pool", "seq"),)
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("pool", "seq"),)
    seq: int
    tx_id: str = indexed()
    recorded_at: Millis = indexed()
    actor_id: NodeId = indexed()
    actor_kind: str
    on_behalf_of: NodeId | None = None
    operation: str = indexed()
    target_id: NodeId = indexed()
    target_kind: str
    before: Json = None
    after: Json = None
    before_commitment: str = ""
    after_commitment: str = ""
    salt: str = ""
    image_sources: tuple[str, ...] = ()
    reason: str | None = None
    reason_commitment: str | None = None
    dream_run_id: NodeId | None = indexed(None)
    restores_id: NodeId | None = indexed(None)
    prev_hash: str
    hash: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Anchor(Node):
    """Binds the heads of all pools of a workspace in a chain of its own (AD-27)."""

    PREFIX: ClassVar[str] = "anc"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("workspace", "seq"),)
    seq: int
    heads: Json
    prev_hash: str
    hash: str


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminRecord(Node):
    """One audited step of provisioning, settings or grants: object ids and codes, never content."""

    PREFIX: ClassVar[str] = "adr"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("workspace", "seq"),)
    seq: int
    tx_id: str = indexed()
    actor_id: NodeId = indexed()
    on_behalf_of: NodeId | None = None
    operation: str = indexed()
    target_id: NodeId = indexed()
    codes: Json = None
    prev_hash: str
    hash: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Job(Node):
    """Durable background work (AD-33).

    Attributes:
        agent_id: whose budget and model profile it uses.
        attempts: claims since it was last asked for, handed back or done: failures in a row, and the present try.
        again_at: asked for again while it ran: due then, once it succeeded.
    """

    PREFIX: ClassVar[str] = "job"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("unique_key",),)
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("state", "due_at"),)
    kind: str = indexed()
    state: str = "queued"
    subject_id: NodeId | None = indexed(None)
    agent_id: NodeId | None = indexed(None)
    unique_key: str | None = None
    arguments: Json = None
    due_at: Millis
    again_at: Millis | None = None
    attempts: int = 0
    fence: int = 0
    lease_until: Millis | None = None
    heartbeat_at: Millis | None = None
    owner: str | None = None
    last_error: str | None = None
    result: Json = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt(Node):
    """What a request with an idempotency key, or a transaction with an id, did; its id is made from the key."""

    PREFIX: ClassVar[str] = "rcp"
    GUARDED: ClassVar[bool] = False
    result: Json = None
