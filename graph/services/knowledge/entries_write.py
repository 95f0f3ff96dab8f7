"""Use cases on whole entries: delete, merge, mark as distinct. Source: KN-35, KN-36, KN-86, KN-87, DR-53, CO-17."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput, Forbidden, NotFound, OperationRejected, VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import BlockVersion, Entry, KnowledgeBase
from graph.model.nodes.people import PrincipalKind
from graph.model.nodes.work import AuditRecord
from graph.rules.knowledge_settings import Settings
from graph.rules.operations.state import KnowledgeState
from graph.rules.operations.whole import delete_entry as plan_deletion
from graph.rules.operations.whole import end_relations, move_relations
from graph.rules.operations.whole import mark_distinct as plan_mark
from graph.rules.operations.whole import merge_entries as plan_merge
from graph.rules.operations.work import Work
from graph.services.access.commands import Command
from graph.services.knowledge.narrower_relations import change_narrower
from graph.services.knowledge.operations import hold_for
from graph.services.knowledge.statements import PRESENT, find_all, load_statements, relations_at
from graph.services.knowledge.targets import actor_of, writable_base
from graph.services.ledger import Commit, commit
from graph.services.settings import load_settings
from graph.store.query import Direction, In


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangeResult:
    """The audit records that a command wrote, and its transaction."""

    records: tuple[AuditRecord, ...]
    tx_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Desk:
    """A working copy with what is needed to write it."""

    work: Work
    base: KnowledgeBase
    settings: Settings


async def delete_entry(cmd: Command, entry_id: NodeId, *, expected_version: int, reason: str) -> ChangeResult:
    """Delete an entry: it leaves reads and search at once, and can be restored whole from its record.

    Raises:
        NotFound: there is no such live entry for the caller.
        Forbidden: the caller is an agent.
        VersionConflict: it was changed since.
        OperationRejected: ``REASON_REQUIRED``, ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``.
    """
    _require_reason(reason)
    desk = await _open(cmd, [entry_id], reason)
    entry = desk.work.entries[entry_id].entry
    if entry.current_version != expected_version:
        current = {"version": entry.current_version, "name": entry.name}
        raise VersionConflict("the entry was changed since: look at it again", current=current)
    await change_narrower(cmd, desk.base.id, [entry_id], reason, lambda work: end_relations(work, entry_id))
    plan_deletion(desk.work, entry_id)
    return await _commit(cmd, desk)


async def merge_entries(cmd: Command, keep_id: NodeId, other_id: NodeId, *, reason: str) -> ChangeResult:
    """Merge one entry into another of the same knowledge base; people only.

    Raises:
        NotFound: one of them is no live entry for the caller.
        Forbidden: the caller is no person.
        BadInput: both are the same.
        OperationRejected: ``REASON_REQUIRED``, ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``, ``LIMIT_EXCEEDED``.
    """
    if cmd.facts.kind is not PrincipalKind.HUMAN:
        raise Forbidden("only a person merges entries")
    _require_reason(reason)
    _require_two(keep_id, other_id)
    desk = await _open(cmd, [keep_id, other_id], reason)
    both = [keep_id, other_id]
    await change_narrower(cmd, desk.base.id, both, reason, lambda work: move_relations(work, keep_id, other_id))
    blocks = [state.id for state in desk.work.blocks_of(other_id)]
    plan_merge(
        desk.work,
        keep_id,
        other_id,
        versions=await _versions(cmd, blocks),
        same_as_other=await _same_as(cmd, other_id),
    )
    return await _commit(cmd, desk)


async def mark_distinct(cmd: Command, one_id: NodeId, other_id: NodeId) -> ChangeResult:
    """Note that two entries with near names are two topics; again, it changes nothing.

    Raises:
        NotFound: one of them is no live entry for the caller.
        Forbidden: the caller is an agent.
        BadInput: both are the same.
        OperationRejected: ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``.
    """
    _require_two(one_id, other_id)
    desk = await _open(cmd, [one_id, other_id], "")
    if not plan_mark(desk.work, one_id, other_id):
        return ChangeResult(records=(), tx_id=cmd.tx_id)
    return await _commit(cmd, desk)


async def _open(cmd: Command, ids: Sequence[NodeId], reason: str) -> _Desk:
    """Lock entries of one base and return them as they are now, with all that belongs to them."""
    if cmd.facts.kind is PrincipalKind.AGENT:
        raise Forbidden("an agent neither deletes nor merges entries")
    base = await _base_of(cmd, ids)
    base = await hold_for(cmd, base.id, ids)
    shown = await cmd.session.open(ids)
    relations = await relations_at(cmd.writer, ids, base.id)
    ends = {end for relation in relations for end in (relation.subject_id, relation.object_id)}
    loaded = await load_statements(cmd.writer, entries=ends, whole=ids, relations=relations)
    if not set(ids) <= shown.keys() & loaded.entries.keys():
        raise NotFound
    state = KnowledgeState(
        base=base,
        visible=frozenset(shown),
        entries=loaded.entries,
        blocks=loaded.blocks,
        relations=loaded.relations,
        roots=loaded.roots,
    )
    settings = await load_settings(cmd.writer, cmd.caller.workspace, base.owner_id)
    actor = actor_of(cmd, reason.strip() or None)
    return _Desk(work=Work.on(state, actor, settings, cmd.at, cmd.deps.new_id), base=base, settings=settings)


async def _base_of(cmd: Command, ids: Sequence[NodeId]) -> KnowledgeBase:
    """Return the base of entries that the caller sees and may write."""
    shown = await cmd.session.open(ids)
    pools = {node.pool for node in shown.values() if isinstance(node, Entry)}
    if len(shown) < len(set(ids)) or None in pools:
        raise NotFound
    if len(pools) != 1:
        raise OperationRejected("SCOPE_FORBIDDEN", "take two entries of one knowledge base")
    return await writable_base(cmd, NodeId(str(*pools)))


async def _commit(cmd: Command, desk: _Desk) -> ChangeResult:
    where = Commit(pool=desk.base.id, tx_id=cmd.tx_id, at=cmd.at, language=desk.settings["search.default_language"])
    records = await commit(cmd.writer, cmd.deps, where, desk.work.changes)
    return ChangeResult(records=records, tx_id=cmd.tx_id)


async def _versions(cmd: Command, blocks: Collection[NodeId]) -> dict[NodeId, list[NodeId]]:
    found: dict[NodeId, list[NodeId]] = {}
    for version in await find_all(cmd.writer, BlockVersion, In("block_id", sorted(blocks))):
        found.setdefault(version.block_id, []).append(version.id)
    return found


async def _same_as(cmd: Command, entry: NodeId) -> Sequence[Edge]:
    return await cmd.writer.edges(PRESENT, [entry], (EdgeType.SAME_AS,), Direction.IN)


def _require_reason(reason: str) -> None:
    if not reason.strip():
        raise OperationRejected("REASON_REQUIRED", "say why", field="reason")


def _require_two(one: NodeId, other: NodeId) -> None:
    if one == other:
        raise BadInput("name two different entries", field="id")
