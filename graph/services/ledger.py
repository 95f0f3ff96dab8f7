"""The one way in which knowledge is written: changes, audit, audiences and keyword texts in one transaction.

A caller locks (`hold`), reads and decides under the lock, then calls `commit` once. Source: KN-82,
docs/design.md#consistency.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.model.access import Clause, Guard, SystemScope
from graph.model.edges import LAW_EDGES, Edge, EdgeType
from graph.model.errors import LimitExceeded, NotFound
from graph.model.ids import NodeId, WorkspaceId, is_made, node_id
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.work import AuditRecord
from graph.model.schema import kind_of
from graph.model.time import Millis
from graph.rules.audit_chain import AuditDraft, Head, seal
from graph.rules.changes import Changes, text_id
from graph.rules.guarding import guard_of
from graph.rules.operations.limits import MAX_REASON
from graph.rules.pools import clause_of
from graph.services.audience import decide_new
from graph.services.audience_later import Change, decide_change
from graph.services.deps import Deps
from graph.services.statement_vectors import drop_renamed
from graph.store.port import Reader, Writer
from graph.store.query import TextIndex, TextRow
from graph.text.words import analyze

COMMIT_GUARD = SystemScope(reason="guards of a commit")
_SALT_BYTES = 32


@dataclass(frozen=True, kw_only=True, slots=True)
class Commit:
    """Where and when a set of changes is written."""

    pool: NodeId
    tx_id: str
    at: Millis
    language: str = "en"


async def hold(writer: Writer, pool: NodeId, ids: Iterable[NodeId] = ()) -> KnowledgeBase:
    """Lock a pool and what a write rests on, in id order, and return the pool as it is now.

    Raises:
        NotFound: there is no such pool.
    """
    await writer.lock(sorted({pool, *ids}))
    found = (await writer.get(COMMIT_GUARD, [pool])).get(pool)
    if not isinstance(found, KnowledgeBase):
        raise NotFound
    return found


async def commit(writer: Writer, deps: Deps, where: Commit, changes: Changes) -> tuple[AuditRecord, ...]:
    """Write `changes` with their audit records into `where.pool`, which the caller holds.

    Returns the audit records in the order of the drafts. The audiences of everything that rests on what changed
    are up to date when this returns.

    Raises:
        LimitExceeded: a reason is too long.
    """
    _check_reasons(changes.drafts)
    pool = (await writer.get(COMMIT_GUARD, [where.pool]))[where.pool]
    assert isinstance(pool, KnowledgeBase)
    records = _seal_all(deps, where, pool, changes.drafts)
    await drop_renamed(writer, changes)
    await _write_nodes(writer, changes, records)
    links = [*changes.links, *(edge for record in records for edge in _record_edges(record))]
    await writer.unlink(changes.unlinks)
    await writer.link(links)
    guards = await _guards(writer, changes, records, pool)
    change = Change(
        workspace=pool.workspace,
        tx_id=where.tx_id,
        at=where.at,
        moved=changes.reguard,
        at_once=deps.dependents_at_once,
    )
    await _decide(writer, change, changes, guards, links)
    await _write_texts(writer, where, changes)
    await _move_pool(writer, pool, records)
    return records


async def _decide(
    writer: Writer, change: Change, changes: Changes, guards: Sequence[Guard], links: Sequence[Edge]
) -> None:
    """Bring the audiences up to date, by the short way where everything that changed is new."""
    relinked = {edge.source for edge in (*changes.links, *changes.unlinks) if edge.type in LAW_EDGES}
    also = changes.touched | relinked
    made = {guard.node for guard in guards}
    if not changes.reguard and also <= made and all(map(is_made, made)):
        await decide_new(writer, guards, links)
    else:
        await decide_change(writer, change, guards, also)


def _check_reasons(drafts: Sequence[AuditDraft]) -> None:
    """Refuse a reason that is too long, whoever gave it: it is kept for ever and shown with every record."""
    if any(len(draft.reason or "") > MAX_REASON for draft in drafts):
        raise LimitExceeded(f"a reason has at most {MAX_REASON} characters", field="reason", limit=MAX_REASON)


def _seal_all(deps: Deps, where: Commit, pool: KnowledgeBase, drafts: Sequence[AuditDraft]) -> tuple[AuditRecord, ...]:
    head = Head(seq=pool.audit_seq, hash=pool.audit_head)
    records = []
    for draft in drafts:
        sealed = seal(
            draft,
            head,
            record_id=deps.new_id(AuditRecord.PREFIX),
            pool=where.pool,
            tx_id=where.tx_id,
            recorded_at=where.at,
            salt=deps.randomness.bytes(_SALT_BYTES),
        )
        head = sealed.head
        records.append(sealed.to_node(pool.workspace))
    return tuple(records)


async def _write_nodes(writer: Writer, changes: Changes, records: Sequence[AuditRecord]) -> None:
    for node, expected in changes.expected.items():
        await writer.patch(node, changes.patches.pop(node, {}), expected=expected)
    await writer.patch_many(changes.patches)
    await writer.put([*changes.puts, *records])


def _record_edges(record: AuditRecord) -> list[Edge]:
    edges = [Edge(type=EdgeType.TARGETS, source=record.id, target=record.target_id)]
    edges += [Edge(type=EdgeType.IMAGES, source=record.id, target=NodeId(s)) for s in record.image_sources]
    if record.restores_id:
        edges.append(Edge(type=EdgeType.RESTORES, source=record.id, target=record.restores_id))
    return edges


async def _guards(writer: Writer, changes: Changes, records: Sequence[AuditRecord], pool: KnowledgeBase) -> list[Guard]:
    known: dict[NodeId, Clause] = {pool.id: clause_of(pool)}
    again = (await writer.get(COMMIT_GUARD, sorted(changes.reguard))).values()
    guards = []
    for node in (*changes.puts, *records, *again):
        spec = kind_of(node.id)
        if spec is not None and spec.guarded:
            rules = changes.own_rules.get(node.id) or await _rules_of(writer, known, node.pool or pool.id)
            guards.append(guard_of(node, rules))
    return guards


async def _rules_of(reader: Reader, known: dict[NodeId, Clause], pool: NodeId) -> Clause:
    if pool not in known:
        found = (await reader.get(COMMIT_GUARD, [pool])).get(pool)
        if not isinstance(found, KnowledgeBase):
            raise NotFound
        known[pool] = clause_of(found)
    return known[pool]


async def _write_texts(writer: Writer, where: Commit, changes: Changes) -> None:
    await writer.unindex(changes.untexts)
    await writer.index(
        [
            TextRow(
                id=text_id(text.guard, text.part),
                index=TextIndex.ENTRY,
                guard=text.guard,
                item=text.item,
                part=text.part,
                pool=where.pool,
                words=analyze(text.text, default=where.language),
                sort_at=where.at,
            )
            for text in changes.texts
        ]
    )


async def _move_pool(writer: Writer, pool: KnowledgeBase, records: Sequence[AuditRecord]) -> None:
    moved: dict[str, object] = {"version": pool.version + 1}
    if records:
        moved |= {"audit_seq": records[-1].seq, "audit_head": records[-1].hash}
    await writer.patch_many({pool.id: moved})


def guide_base_id(workspace: WorkspaceId, principal: NodeId) -> NodeId:
    """Return the id of the base that holds only a person's Curation Guide (KN-104)."""
    return node_id(KnowledgeBase.PREFIX, f"{workspace}/{principal}/guide")
