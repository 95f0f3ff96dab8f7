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
    GROUP_CREATE = "group.create"
    CHANNEL_CREATE = "channel.create"
    MEMBERS_SET = "members.set"
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


def first_broken(records: Iterable[AdminRecord], head: Head = GENESIS) -> int | None:
    """Return the number at which a chain that follows `head` breaks, or None if it holds.

    Args:
        records: in ascending `seq`.
        head: the last record already verified.
    """
    for record in records:
        follows = record.seq == head.seq + 1 and record.prev_hash == head.hash
        if not follows or record.hash != chain_hash(_body(record), record.prev_hash):
            return min(record.seq, head.seq + 1)
        head = Head(seq=record.seq, hash=record.hash)
    return None


def _values(record: AdminRecord) -> dict[str, Json]:
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _body(record: AdminRecord) -> dict[str, Json]:
    return {name: value for name, value in _values(record).items() if name not in _BARE_FIELDS}
