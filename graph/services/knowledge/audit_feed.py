"""The audit as it grows: what came since the last look, in the chains that the caller reads now (KN-123, AD-35)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graph.model.ids import NodeId
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.services.access.session import Session
from graph.services.chained_pools import readable_pools
from graph.services.knowledge.audit_log import AuditFilter, audit_log

POLL_SECONDS = 1.0
"""Half of what AD-35 allows."""
_PAGE = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class FeedPlace:
    """How far a feed has been read.

    Attributes:
        since: when the feed began; older chains that come into sight later are not told from their beginning.
        seqs: the last number seen of each chain.
    """

    since: Millis
    seqs: Mapping[NodeId, int] = field(default_factory=dict)


async def begin_feed(session: Session) -> FeedPlace:
    """Return the place of now: what is there already is not told."""
    pools = await readable_pools(session)
    return FeedPlace(since=session.deps.now(), seqs={pool.id: pool.audit_seq for pool in pools})


async def newer_records(
    session: Session, filter: AuditFilter, place: FeedPlace
) -> tuple[tuple[AuditRecord, ...], FeedPlace]:
    """Return the records behind a place that fit a filter and that the caller may see, oldest first, and the new place.

    Only chains that have moved are read.
    """
    seqs = dict(place.seqs)
    found: list[AuditRecord] = []
    for pool in await readable_pools(session):
        last = seqs.get(pool.id, 0 if pool.created_at >= place.since else pool.audit_seq)
        seqs[pool.id] = pool.audit_seq
        wanted = filter.kb_ids is None or pool.id in filter.kb_ids
        if wanted and pool.audit_seq > last:
            found += await _behind(session, replace(filter, kb_ids=(pool.id,)), last)
    ordered = sorted(found, key=lambda record: (record.recorded_at, record.pool or "", record.seq))
    return tuple(ordered), replace(place, seqs=seqs)


async def _behind(session: Session, filter: AuditFilter, last: int) -> list[AuditRecord]:
    found: list[AuditRecord] = []
    after = None
    while True:
        page = await audit_log(session, filter, first=_PAGE, after=after)
        fresh = [record for record in page.items if record.seq > last]
        found += fresh
        if not page.more or len(fresh) < len(page.items) or not page.places:
            return found
        after = page.places[-1]
