"""Builders of audit drafts and chains, with salts and times that a test can foresee."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.audit_chain import GENESIS, AuditDraft, Head, SealedAudit, chain_hash, seal


def make_draft(operation: str = "block.edit", target: str = "blk_1", **fields: Any) -> AuditDraft:
    """Return a draft; by default an edit of one block's text by a human."""
    images: dict[str, Any] = {"before": {"text": "old"}, "after": {"text": "new"}, "reason": "a typing error"}
    values: dict[str, Any] = {"actor_id": NodeId("prn_w/human/ana"), "actor_kind": "human", "target_kind": "Block"}
    return AuditDraft(operation=operation, target_id=NodeId(target), **{**images, **values, **fields})


def make_chain(
    drafts: Iterable[AuditDraft],
    *,
    pool: str = "knb_1",
    head: Head = GENESIS,
    start: int = 1_700_000_000_000,
    first_form: bool = False,
) -> list[SealedAudit]:
    """Return the drafts as a chain, one transaction and one second each; in the first form their reasons are hashed."""
    chain: list[SealedAudit] = []
    for draft in drafts:
        number = head.seq + 1
        name = f"{pool}/{number}"
        record = seal(
            draft,
            head,
            record_id=NodeId(f"aud_{name}"),
            pool=NodeId(pool),
            tx_id=f"tx_{name}",
            recorded_at=Millis(start + 1000 * number),
            salt=hashlib.sha256(name.encode()).digest(),
        )
        if first_form:
            record = _in_first_form(record)
        chain.append(record)
        head = record.head
    return chain


def _in_first_form(record: SealedAudit) -> SealedAudit:
    """Return the record as the first version of the service wrote it."""
    salt = record.salt if record.before_commitment or record.after_commitment else ""
    old = replace(record, reason_commitment=None, salt=salt)
    bare = {"before", "after", "salt", "prev_hash", "hash"}
    body = {key: value for key, value in old.to_export().items() if key not in bare}
    return replace(old, hash=chain_hash(body, old.prev_hash))
