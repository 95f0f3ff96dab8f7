"""The chain of administration: one per workspace, with ids and codes and never content. Source: AD-26, AD-27.

Pure: ids and time come from the caller's ports. It hashes like every other chain of the service (`chain_hash`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

from graph.model.fields import Json
from graph.model.ids import NodeId, WorkspaceId
from graph.model.nodes.work import AdminRecord
from graph.model.time import Millis
from graph.rules.audit_chain import GENESIS, Head, chain_hash
from graph.rules.audit_following import ChainBreak, ChainReport

_BARE_FIELDS = frozenset({"pool", "prev_hash", "hash"})


class AdminOperation(StrEnum):
    """What an audited step of administration did."""

    WORKSPACE_CREATE = "workspace.create"
    ORGANIZATION_CREATE = "organization.create"
    ORGANIZATION_SET = "organization.set"
    PRINCIPAL_CREATE = "principal.create"
    PRINCIPAL_SET = "principal.set"
    PRINCIPAL_DISABLE = "principal.disable"
    PRINCIPAL_ENABLE = "principal.enable"
    AGENT_DELETE = "agent.delete"
    SESSION_DELETE = "session.delete"
    MEMORY_DELETE = "memory.delete"
    SANDBOX_DELETE = "sandbox.delete"
    SNAPSHOT_DELETE = "snapshot.delete"
    MEMORY_PROVIDER_CREATE = "memory_provider.create"
    MEMORY_PROVIDER_SET = "memory_provider.set"
    GROUP_CREATE = "group.create"
    CHANNEL_CREATE = "channel.create"
    MEMBERS_SET = "members.set"
    ROUTING_SET = "routing.set"
    GRANT_ADD = "grant.add"
    GRANT_REVOKE = "grant.revoke"
    SHARED_GRANT = "shared.grant"
    SHARED_REVOKE = "shared.revoke"
    TOKEN_CREATE = "token.create"
    TOKEN_REVOKE = "token.revoke"
    SETTINGS_WRITE = "settings.write"
    MODEL_PROFILE_SET = "model_profile.set"
    MODEL_PROFILE_DELETE = "model_profile.delete"
    JOB_CANCEL = "job.cancel"
    JOB_RELEASE = "job.release"
    SKILL_SET = "skill.set"
    SKILL_ENABLE = "skill.enable"
    SKILL_DISABLE = "skill.disable"
    SIGNAL_SOURCE_SET = "signal_source.set"
    CONNECTOR_SET = "connector.set"
    CONNECTOR_SYNC = "connector.sync"
    KEY_ROTATE = "key.rotate"
    KEY_RETIRE = "key.retire"


@dataclass(frozen=True, kw_only=True, slots=True)
class AdminStep:
    """One step before it has its place in the chain.

    Attributes:
        on_behalf_of: the person that a host named (AD-16).
        codes: ids and words of the service; never names, texts or secrets.
    """

    workspace: WorkspaceId
    actor_id: NodeId
    tx_id: str
    at: Millis
    operation: AdminOperation
    target_id: NodeId
    codes: Mapping[str, Json] | None = None
    on_behalf_of: NodeId | None = None


def seal_step(step: AdminStep, head: Head, record_id: NodeId) -> AdminRecord:
    """Return the record of a step, as the next after `head`."""
    unsealed = AdminRecord(
        id=record_id,
        workspace=step.workspace,
        created_at=step.at,
        seq=head.seq + 1,
        tx_id=step.tx_id,
        actor_id=step.actor_id,
        on_behalf_of=step.on_behalf_of,
        operation=step.operation,
        target_id=step.target_id,
        codes=None if step.codes is None else dict(step.codes),
        prev_hash=head.hash,
        hash="",
    )
    body = _body(unsealed)
    return AdminRecord(**{**_values(unsealed), "hash": chain_hash(body, head.hash)})


def export_step(record: AdminRecord) -> dict[str, Json]:
    """Return the JSON object that stands for a record in an export; the offline verifier reads it."""
    return {**_body(record), "prev_hash": record.prev_hash, "hash": record.hash}


def verify_steps(
    records: Iterable[AdminRecord], *, after: Head = GENESIS, anchored: Iterable[Head] = ()
) -> ChainReport:
    """Follow the chain of administration and report the first place where it breaks.

    Args:
        records: in ascending `seq`, starting after `after`; read once.
        after: the last record already verified.
        anchored: heads known from elsewhere, such as those that anchors bind; each must be met.
    """
    known = [head for head in anchored if head.seq > after.seq]
    last = after
    for record in records:
        reason = _step_break(record, last, known)
        if reason:
            broken = min(record.seq, last.seq + 1)
            return ChainReport(ok=False, head=last, first_broken_seq=broken, reason=reason)
        last = Head(seq=record.seq, hash=record.hash)
    if any(head.seq > last.seq for head in known):
        return ChainReport(ok=False, head=last, first_broken_seq=last.seq + 1, reason=ChainBreak.TAIL)
    return ChainReport(ok=True, head=last)


def _step_break(record: AdminRecord, last: Head, known: Iterable[Head]) -> ChainBreak | None:
    if record.seq != last.seq + 1:
        return ChainBreak.ORDER
    if record.prev_hash != last.hash:
        return ChainBreak.LINK
    if record.hash != chain_hash(_body(record), record.prev_hash):
        return ChainBreak.HASH
    forked = any(head.seq == record.seq and head.hash != record.hash for head in known)
    return ChainBreak.FORK if forked else None


def _values(record: AdminRecord) -> dict[str, Json]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _body(record: AdminRecord) -> dict[str, Json]:
    return {name: value for name, value in _values(record).items() if name not in _BARE_FIELDS}
