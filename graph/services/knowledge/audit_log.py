"""The audit as a reader sees it: filtered, newest first; records by id, of an entry, and what undid them.

A record of knowledge is shown to who reads its knowledge base and all the sources of its images, one of a session, an
agent's memory or a bot's pool to whom its own guard says (`graph.services.pool_audit`). The trail of a deleted entry is
reached by its id, in the filter as well as by `entry_audit`. Source: KN-88 to KN-90.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from graph.model.access import Viewer
from graph.model.edges import EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Block, Entry, KnowledgeBase, Relation
from graph.model.nodes.work import AuditRecord
from graph.model.time import Millis
from graph.rules.guarding import operation_tag
from graph.services.access.session import Session
from graph.services.knowledge.listing import Listing, Row, cut_rows, find_listing, misplaced, nothing
from graph.services.knowledge.owners import check_named, narrowed_to, watched_bases
from graph.store.query import After, By, Eq, Find, In, Linked, Newest, Range, Tagged, Where, both


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditFilter:
    """What the audit is narrowed by: filters combine with AND, values within one with OR; None is no filter.

    Attributes:
        owner_id: an agent whose knowledge bases are asked; None for those of all.
        kb_ids: knowledge bases or pools of other surfaces; None for all that the caller reads.
        from_at, to_at: when it was recorded; `to_at` is exclusive.
    """

    owner_id: NodeId | None = None
    kb_ids: tuple[NodeId, ...] | None = None
    operations: tuple[str, ...] | None = None
    actor_ids: tuple[NodeId, ...] | None = None
    actor_kinds: tuple[str, ...] | None = None
    dream_run_id: NodeId | None = None
    target_id: NodeId | None = None
    tx_id: str | None = None
    from_at: Millis | None = None
    to_at: Millis | None = None


async def audit_log(
    session: Session, filter: AuditFilter, *, first: int, after: After | None = None
) -> Listing[AuditRecord]:
    """Return a page of audit records, newest first.

    Within one knowledge base that is by falling `seq`; across several by falling time, then by knowledge base, then
    by falling `seq`.

    Raises:
        OperationRejected: ``SCOPE_FORBIDDEN``: an agent names a base that its conversation does not read (KN-56).
    """
    viewer = await _viewer(session, filter)
    if viewer.pools is not None and not viewer.pools:
        return nothing()
    return await _newest(session, viewer, _where(filter), _one_pool(filter), first, after)


async def entry_audit(
    session: Session, entry_id: NodeId, *, first: int, after: After | None = None
) -> Listing[AuditRecord]:
    """Return the records of an entry, its blocks and its relations, newest first; also those of a deleted entry.

    Raises:
        NotFound: the entry is missing or hidden.
    """
    entry = await session.open_one(entry_id, Entry)
    blocks = await session.reader.find(session.viewer, Find(kind=Block, where=Eq("entry_id", entry_id)))
    ends = (EdgeType.SUBJECT, EdgeType.OBJECT)
    relations = await session.reader.find(session.viewer, Find(kind=Relation, where=Linked(ends, [entry_id])))
    targets = [entry_id, *(block.id for block in blocks.nodes), *(relation.id for relation in relations.nodes)]
    return await _newest(session, session.viewer, In("target_id", targets), entry.pool, first, after)


async def restored_by(session: Session, ids: Sequence[NodeId]) -> Mapping[NodeId, tuple[AuditRecord, ...]]:
    """Return the restore records that undid each of these records, oldest first."""
    found: dict[NodeId, list[AuditRecord]] = {id_: [] for id_ in ids}
    if ids:
        query = Find(kind=AuditRecord, where=In("restores_id", list(ids)), order=By("recorded_at"))
        for record in (await session.page(query)).nodes:
            if record.restores_id is not None:
                found[record.restores_id].append(record)
    return {id_: tuple(records) for id_, records in found.items()}


async def audit_actors(session: Session, owner_id: NodeId) -> Sequence[NodeId]:
    """Return who did what the audit of an agent's knowledge tells to the caller, by id.

    Raises:
        NotFound: the caller reads nothing of this agent.
    """
    bases = await watched_bases(session, owner_id)
    if not bases:
        return ()
    viewer = session.narrowed([base.id for base in bases])
    return sorted(await session.reader.aggregate(viewer, AuditRecord, by="actor_id"))


async def _viewer(session: Session, filter: AuditFilter) -> Viewer:
    check_named(session, [pool for pool in filter.kb_ids or () if prefix_of(pool) == KnowledgeBase.PREFIX])
    if filter.owner_id is None:
        return session.viewer if filter.kb_ids is None else session.narrowed(filter.kb_ids)
    return await narrowed_to(session, filter.owner_id, filter.kb_ids)


def _where(filter: AuditFilter) -> Where | None:
    parts: list[Where] = []
    if filter.operations is not None:
        parts.append(Tagged(tuple(operation_tag(operation) for operation in filter.operations)))
    several = {"actor_id": filter.actor_ids, "actor_kind": filter.actor_kinds}
    parts += [In(field, values) for field, values in several.items() if values is not None]
    one = {"dream_run_id": filter.dream_run_id, "target_id": filter.target_id, "tx_id": filter.tx_id}
    parts += [Eq(field, value) for field, value in one.items() if value is not None]
    if filter.from_at is not None or filter.to_at is not None:
        parts.append(Range("recorded_at", filter.from_at, filter.to_at))
    return both(*parts)


def _one_pool(filter: AuditFilter) -> NodeId | None:
    """Return the only knowledge base of a filter: within it `seq` alone is the order."""
    return filter.kb_ids[0] if filter.kb_ids is not None and len(set(filter.kb_ids)) == 1 else None


async def _newest(
    session: Session, viewer: Viewer, where: Where | None, pool: NodeId | None, first: int, after: After | None
) -> Listing[AuditRecord]:
    if pool is None:
        return await _across(session, viewer, where, first, after)
    within = both(Eq("pool", pool), where)
    order = By("seq", descending=True)
    return await find_listing(
        session, Find(kind=AuditRecord, where=within, order=order, first=first, after=after), viewer
    )


async def _across(
    session: Session, viewer: Viewer, where: Where | None, first: int, after: After | None
) -> Listing[AuditRecord]:
    """Return a page across knowledge bases.

    A store orders by one field and id, so records of one moment are put in order here: the page is taken in whole
    moments, and the one at its end is completed.
    """
    start, skipped = None, 0
    if after is not None:
        moment = -_first_key(after)
        start = After(moment, NodeId(""))  # before the first record of its moment
        skipped = await _count(session, viewer, both(where, Eq("recorded_at", moment)))
    query = Find(kind=AuditRecord, where=where, order=Newest(), first=first + 1 + skipped, after=start)
    found = (await session.reader.find(viewer, query)).nodes
    if found:
        last = both(where, Eq("recorded_at", found[-1].recorded_at))
        found += (await session.reader.find(viewer, Find(kind=AuditRecord, where=last))).nodes
    rows, more = cut_rows([_row(record) for record in {r.id: r for r in found}.values()], first=first, after=after)
    shown = await session.open([row.id for row in rows])
    kept = [(record, row) for row in rows if isinstance(record := shown.get(row.id), AuditRecord)]

    return Listing(
        items=tuple(record for record, _ in kept),
        places=tuple(row.place for _, row in kept),
        more=more,
        count=partial(_count, session, viewer, where),
    )


def _first_key(after: After) -> int:
    key = after.value[0] if isinstance(after.value, tuple) and after.value else None
    if not isinstance(key, int):
        raise misplaced()
    return key


async def _count(session: Session, viewer: Viewer, where: Where | None) -> int:
    return (await session.reader.aggregate(viewer, AuditRecord, where)).get(None, 0)


def _row(record: AuditRecord) -> Row:
    return Row(key=(-record.recorded_at, record.pool or "", -record.seq), id=record.id)
