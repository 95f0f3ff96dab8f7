"""The audit chain: sealing a record over keeping it unchained, and verifying a whole chain.

    python -m bench.chain [--scale 1]

No store takes part: what a record costs beside its row is one commitment for each image and one hash.
"""

from __future__ import annotations

import asyncio
import hashlib

from bench._table import Goal, Table, arguments, at_once, scaled, timed
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.audit_chain import GENESIS, AuditDraft, SealedAudit, seal
from graph.rules.audit_following import verify_chain
from graph.rules.canonical import canonical_json

POOL = NodeId("knb_bench")
RECORDS = 50_000
BATCH = 1_000


def draft(number: int) -> AuditDraft:
    """Return an edit of one block, about as long as usual."""
    return AuditDraft(
        operation="block.edit",
        target_id=NodeId(f"blk_{number}"),
        target_kind="Block",
        actor_id=NodeId("prn_bench/human/ana"),
        actor_kind="human",
        before={"text": f"Builds kilns, number {number}.", "version": 1},
        after={"text": f"Builds kilns and ovens, number {number}.", "version": 2},
        reason="a later message says so",
    )


def chain(count: int) -> list[SealedAudit]:
    """Return so many records, each on the one before."""
    head, records = GENESIS, []
    for number in range(count):
        record = seal(
            draft(number),
            head,
            record_id=NodeId(f"aud_{number}"),
            pool=POOL,
            tx_id=f"tx_{number}",
            recorded_at=Millis(1_700_000_000_000 + number),
            salt=hashlib.sha256(str(number).encode()).digest(),
        )
        records.append(record)
        head = record.head
    return records


def unchained(count: int) -> list[bytes]:
    """Return the same records as canonical JSON, with neither commitments nor hashes."""
    drafts = map(draft, range(count))
    return [canonical_json({"before": d.before, "after": d.after, "target": d.target_id}) for d in drafts]


async def main() -> None:
    """Measure sealing and verifying."""
    scale = arguments(__doc__).scale
    table = Table("Audit chain", scale)
    batch = scaled(BATCH, scale, least=50)
    sealed = (await timed(at_once(lambda: chain(batch)), 20)).per(batch)
    plain = (await timed(at_once(lambda: unchained(batch)), 20)).per(batch)
    table.add("seal one record", sealed, of="the same unchained", reference=plain, goal=Goal(most_ms=1))
    count = scaled(RECORDS, scale, least=500)
    records = chain(count)
    assert verify_chain(records, records[-1].head).ok
    verified = (await timed(at_once(lambda: verify_chain(records, records[-1].head)), 5)).per(count)
    body = b"x" * 300
    hashed = (await timed(at_once(lambda: [hashlib.sha256(body) for _ in range(count)]), 5)).per(count)
    goal = Goal(least_a_second=50_000)
    table.add("verify one record", verified, of="SHA-256 of 300 bytes", reference=hashed, goal=goal)
    table.print()


if __name__ == "__main__":
    asyncio.run(main())
