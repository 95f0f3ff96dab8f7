"""Builders of audit drafts and chains, with salts and times that a test can foresee."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.audit_chain import GENESIS, AuditDraft, Head, SealedAudit, seal


def make_draft(operation: str = "block.edit", target: str = "blk_1", **fields: Any) -> AuditDraft:
    """Return a draft; by default an edit of one block's text by a human."""
    images: dict[str, Any] = {"before": {"text": "old"}, "after": {"text": "new"}, "reason": "a typing error"}
    values: dict[str, Any] = {"actor_id": NodeId("prn_w/human/ana"), "actor_kind": "human", "target_kind": "Block"}
    return AuditDraft(operation=operation, target_id=NodeId(target), **{**images, **values, **fields})


def make_chain(
    drafts: Iterable[AuditDraft], *, pool: str = "knb_1", head: Head = GENESIS, start: int = 1_700_000_000_000
) -> list[SealedAudit]:
    """Return the drafts as a chain, one transaction and one second each."""
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
        chain.append(record)
        head = record.head
    return chain
