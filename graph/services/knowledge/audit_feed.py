"""The audit as it grows: what came since the last look, in the chains that the caller reads now (KN-123, AD-35)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.services.access.session import Session
from graph.services.knowledge.audit_log import AuditFilter, audit_log
from graph.store.query import Find

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
    bases = await _bases(session)
    return FeedPlace(since=session.deps.now(), seqs={base.id: base.audit_seq for base in bases})


async def newer_records(
    session: Session, filter: AuditFilter, place: FeedPlace
) -> tuple[tuple[AuditRecord, ...], FeedPlace]:
    """Return the records behind a place that fit a filter and that the caller may see, oldest first, and the new place.

    Only chains that have moved are read.
    """
    seqs = dict(place.seqs)
    found: list[AuditRecord] = []
    for base in await _bases(session):
        last = seqs.get(base.id, 0 if base.created_at >= place.since else base.audit_seq)
        seqs[base.id] = base.audit_seq
        wanted = filter.kb_ids is None or base.id in filter.kb_ids
        if wanted and base.audit_seq > last:
            found += await _behind(session, replace(filter, kb_ids=(base.id,)), last)
    ordered = sorted(found, key=lambda record: (record.recorded_at, record.pool or "", record.seq))
    return tuple(ordered), replace(place, seqs=seqs)


async def _bases(session: Session) -> tuple[KnowledgeBase, ...]:
    """Return the knowledge bases whose chains the caller may follow; nothing of them is shown."""
    page = await session.reader.find(session.viewer, Find(kind=KnowledgeBase))
    proved = await session.prove([base.id for base in page.nodes])
    return tuple(base for base in page.nodes if base.id in proved)


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
