"""Verifying the audit: every chain that the caller reads is followed from the records in the store (KN-85).

Only numbers, hashes and codes leave here, never a record, so that records which the caller may not see are followed
too: a chain cannot be verified in part.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.errors import BadInput
from graph.model.ids import NodeId
from graph.model.nodes.work import Anchor, AuditRecord
from graph.rules.audit_anchors import SealedAnchor, heads_at
from graph.rules.audit_chain import GENESIS, Head, SealedAudit, erased_sources
from graph.rules.audit_following import ChainBreak, ChainReport, verify_chain
from graph.rules.audit_operations import AuditOperation
from graph.services.access.admin_log import reads_administration, verify_admin_log
from graph.services.access.session import Session
from graph.services.chained_pools import ChainedPool, head_of, readable_pools
from graph.services.knowledge.anchors import sealed_anchor, verify_anchor_chain
from graph.store.port import Reader
from graph.store.query import After, And, By, Eq, Find, Range

VERIFY = SystemScope(reason="verifying the audit chains of readable pools")
BATCH = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class PoolReport:
    """What became of one chain; `pool` is readable by the caller."""

    pool: NodeId
    report: ChainReport


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditVerification:
    """The chains that the caller reads.

    Attributes:
        pools: of knowledge bases, sessions, agent memories and bot pools, in the order of their ids.
        administration, anchors: of the workspace; None for who reads neither, and if only some pools were asked for.
    """

    pools: tuple[PoolReport, ...]
    administration: ChainReport | None = None
    anchors: ChainReport | None = None

    @property
    def reports(self) -> tuple[ChainReport, ...]:
        """What became of every chain."""
        of_workspace = [report for report in (self.administration, self.anchors) if report is not None]
        return (*(found.report for found in self.pools), *of_workspace)

    @property
    def ok(self) -> bool:
        """True if every chain holds."""
        return all(report.ok for report in self.reports)

    @property
    def first_broken_seq(self) -> int | None:
        """The lowest number at which a chain breaks; None if all hold."""
        return min((report.first_broken_seq or 0 for report in self.reports if not report.ok), default=None)


async def verify_audit(session: Session, from_seq: int = 1, pools: Sequence[NodeId] | None = None) -> AuditVerification:
    """Follow the chains of the caller's pools from `from_seq` on, up to the head that each pool names.

    Records before `from_seq` are taken as good. Heads that anchors bind must be met, and erased images must be
    explained by a `source.erase` record of the workspace. For auditors of the workspace and admins the chains of
    administration and of the anchors themselves are followed too, always from their first record.

    Args:
        session: whose pools are verified.
        from_seq: the first number to verify in each pool, from 1.
        pools: only these; ids that the caller does not read are left out.

    Raises:
        BadInput: `from_seq` is below 1.
    """
    if from_seq < 1:
        raise BadInput("records are numbered from 1", field="fromSeq")
    readable = await readable_pools(session, pools)
    anchors = await _anchors(session)
    erased = await _erased(session)
    reports = [
        PoolReport(pool=pool.id, report=await _follow(session.reader, pool, from_seq, anchors, erased))
        for pool in readable
    ]
    if pools is not None or not reads_administration(session):
        return AuditVerification(pools=tuple(reports))
    place = session.caller.workspace_node
    return AuditVerification(
        pools=tuple(reports),
        administration=await verify_admin_log(session.reader, session.caller.workspace, heads_at(anchors, place)),
        anchors=await verify_anchor_chain(session),
    )


async def chain_of(reader: Reader, pool: NodeId, after: int = 0) -> AsyncIterator[list[SealedAudit]]:
    """Yield the records of a pool behind number `after` in their order, some hundred at a time."""
    where = And((Eq("pool", pool), Range("seq", low=after + 1)))
    place: After | None = None
    while True:
        page = await reader.find(VERIFY, Find(kind=AuditRecord, where=where, order=By("seq"), first=BATCH, after=place))
        if page.nodes:
            yield [SealedAudit.from_node(node) for node in page.nodes]
            place = page.places[-1]
        if not page.more:
            return


async def _follow(
    reader: Reader, pool: ChainedPool, from_seq: int, anchors: Iterable[SealedAnchor], erased: frozenset[str]
) -> ChainReport:
    head = head_of(pool)
    known = [*heads_at(anchors, pool.id), head]
    last = await _before(reader, pool, from_seq)
    if last is None:
        return ChainReport(ok=False, head=GENESIS, first_broken_seq=from_seq - 1, reason=ChainBreak.ORDER)
    blank = 0
    async for records in chain_of(reader, pool.id, last.seq):
        met = [found for found in known if found.seq <= records[-1].seq]
        report = verify_chain(records, after=last, anchored=met, erased=erased)
        blank += report.erased
        if not report.ok:
            return ChainReport(
                ok=False,
                head=report.head,
                first_broken_seq=report.first_broken_seq,
                reason=report.reason,
                erased=blank,
            )
        last = report.head
    return _ended(last, known, head, blank)


async def _before(reader: Reader, pool: ChainedPool, from_seq: int) -> Head | None:
    """Return the head that the first record to verify must follow; None if its record is missing."""
    before = min(from_seq - 1, pool.audit_seq)
    if before == 0:
        return GENESIS
    where = And((Eq("pool", pool.id), Eq("seq", before)))
    page = await reader.find(VERIFY, Find(kind=AuditRecord, where=where, first=1))
    return SealedAudit.from_node(page.nodes[0]).head if page.nodes else None


def _ended(last: Head, known: Sequence[Head], head: Head, blank: int) -> ChainReport:
    """Judge a chain that was found good up to `last`: it must reach every known head, and not go beyond its own."""
    if any(found.seq > last.seq for found in known):
        return ChainReport(ok=False, head=last, first_broken_seq=last.seq + 1, reason=ChainBreak.TAIL, erased=blank)
    if last.seq > head.seq:
        return ChainReport(ok=False, head=head, first_broken_seq=head.seq + 1, reason=ChainBreak.ORDER, erased=blank)
    return ChainReport(ok=True, head=last, erased=blank)


async def _anchors(session: Session) -> list[SealedAnchor]:
    where = Eq("workspace", session.caller.workspace)
    page = await session.reader.find(VERIFY, Find(kind=Anchor, where=where, order=By("seq")))
    return [sealed_anchor(node) for node in page.nodes]


async def _erased(session: Session) -> frozenset[str]:
    where = And((Eq("operation", str(AuditOperation.SOURCE_ERASE)), Eq("workspace", session.caller.workspace)))
    page = await session.reader.find(VERIFY, Find(kind=AuditRecord, where=where))
    return erased_sources(SealedAudit.from_node(node) for node in page.nodes)
