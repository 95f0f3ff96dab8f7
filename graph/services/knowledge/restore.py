"""Undoing audited changes: the preview that shows both sides, and the restore that does all of it or nothing.

`graph.rules.restore` decides on the present that is read here, under the locks of everything that changes;
`graph.rules.restore_writing` turns its steps into changes; the ledger writes them with their audience, keyword texts
and one `restore` record each. Source: KN-91 to KN-103.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from graph.model.access import SystemScope
from graph.model.errors import BadInput, LimitExceeded, NotFound, NotRestorable, OperationRejected
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import CurationGuide, KnowledgeBase
from graph.model.nodes.work import AdminRecord, AuditRecord
from graph.rules.audit_chain import AuditDraft, SealedAudit
from graph.rules.changes import Changes
from graph.rules.operations.limits import MAX_REASON
from graph.rules.operations.memo import memo_id
from graph.rules.operations.state import KnowledgeState
from graph.rules.operations.work import Work
from graph.rules.pools import scope_of
from graph.rules.restore import (
    RestorePlan,
    RestoreStep,
    newest_first,
    plan_restore,
    require_restorable,
    require_undoable,
    restore_drafts,
    without_current,
)
from graph.rules.restore_writing import carry_out
from graph.rules.scopes import check_write, may_write_guide
from graph.services.access.admin_log import reads_administration
from graph.services.access.commands import Command
from graph.services.access.session import Session
from graph.services.audience import hold_dependents
from graph.services.knowledge.restore_present import Present, named_objects, read_present, sources_named
from graph.services.knowledge.state import bases_read
from graph.services.knowledge.statements import PRESENT
from graph.services.knowledge.targets import actor_of
from graph.services.learning.learned import load_lessons
from graph.services.ledger import Commit, commit
from graph.services.settings import load_settings

MAX_RECORDS = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class RestoreResult:
    """What a restore wrote: one record for each restored record, in the order of execution within each pool."""

    records: tuple[AuditRecord, ...]
    tx_id: str


async def restore_preview(session: Session, audit_ids: Sequence[NodeId]) -> RestorePlan:
    """Return what restoring these records would do now; writes nothing.

    Raises:
        NotFound: a record that the caller may not see or that is none.
        NotRestorable: an operation of KN-103, or a record without images, with erased or changed ones.
        BadInput: no record at all; LimitExceeded: too many.
    """
    records = await _records(session, audit_ids)
    present = await read_present(session.reader, records)
    return await _shown(session, plan_restore(records, present.images, present.names))


async def restore(
    cmd: Command, audit_ids: Sequence[NodeId], *, reason: str, preview_hash: str | None = None
) -> RestoreResult:
    """Undo these records, newest first, all or none of them.

    Args:
        cmd: the command of the caller.
        audit_ids: records to undo, in any order.
        reason: why; kept with every record that is written.
        preview_hash: of the preview that the caller confirmed; if it no longer holds, nothing is written.

    Raises:
        NotFound: a record that the caller may not see or that is none.
        OperationRejected: ``REASON_REQUIRED``; ``SCOPE_FORBIDDEN``: a knowledge base that the caller may not write;
            ``GUIDE_HUMAN_ONLY``: a guide that is not his to write.
        NotRestorable, PreviewStale, RestoreConflict, NameTaken: as `graph.rules.restore` says.
        BadInput: no record at all; LimitExceeded: too many, or too long a reason.
        OperationRejected: ``MEMO_OVER_BUDGET``, ``LIMIT_EXCEEDED``: a memo or lessons that have no room any more.
    """
    reason = _checked_reason(reason)
    await _hold(cmd, await _records(cmd.session, audit_ids))
    records = await _records(cmd.session, audit_ids)
    bases = await _writable(cmd, records)
    present = await read_present(cmd.writer, records)
    plan = await _shown(cmd.session, plan_restore(records, present.images, present.names))
    require_restorable(plan, preview_hash)
    written: list[AuditRecord] = []
    for base in bases:
        written += await _carry_out(cmd, base, present, plan, reason)
    return RestoreResult(records=tuple(written), tx_id=cmd.tx_id)


def _checked_reason(reason: str) -> str:
    if not reason.strip():
        raise OperationRejected("REASON_REQUIRED", "say why this is restored", field="reason")
    if len(reason) > MAX_REASON:
        raise LimitExceeded(f"a reason has at most {MAX_REASON} characters", field="reason", limit=MAX_REASON)
    return reason.strip()


async def _records(session: Session, audit_ids: Sequence[NodeId]) -> list[SealedAudit]:
    wanted = list(dict.fromkeys(audit_ids))
    if not wanted:
        raise BadInput("name at least one audit record", field="auditIds")
    if len(wanted) > MAX_RECORDS:
        raise LimitExceeded(f"restore at most {MAX_RECORDS} records at once", field="auditIds", limit=MAX_RECORDS)
    found = await session.open(wanted)
    records = [found.get(id_) for id_ in wanted]
    sealed = [SealedAudit.from_node(record) for record in records if isinstance(record, AuditRecord)]
    if len(sealed) != len(wanted):
        await _refuse_administration(session, wanted)
        raise NotFound
    ordered = newest_first(sealed)
    require_undoable(ordered)
    return ordered


async def _refuse_administration(session: Session, wanted: Sequence[NodeId]) -> None:
    """Tell who reads administration that its records, those of settings among them, cannot be restored (KN-103)."""
    own = SystemScope(reason=PRESENT.reason, workspace=session.caller.workspace)
    found = await session.reader.get(own, wanted) if reads_administration(session) else {}
    refused = tuple(id_ for id_, node in found.items() if isinstance(node, AdminRecord))
    if refused:
        raise NotRestorable("leave out the records that cannot be restored", records=refused)


async def _shown(session: Session, plan: RestorePlan) -> RestorePlan:
    """Take out of the plan what the caller may not see: present values that rest on hidden evidence."""
    named = {step.record.id: sources_named(step.current) for step in plan.steps if step.conflict}
    every = sorted({id_ for ids in named.values() for id_ in ids})
    seen = await session.prove(every)
    return without_current(plan, {record for record, ids in named.items() if not ids <= seen})


async def _hold(cmd: Command, records: Sequence[SealedAudit]) -> None:
    """Lock the pools, what returning statements rest on, what changes and all that rests on that."""
    objects = await named_objects(cmd.writer, records)
    pools = {record.pool for record in records}
    images = (image for record in records for image in (record.draft.before, record.draft.after))
    evidence = {id_ for image in images for id_ in sources_named(image)}
    there = await cmd.writer.get(PRESENT, sorted(evidence | objects))
    await cmd.writer.lock(sorted(pools | there.keys()))
    await hold_dependents(cmd.writer, there.keys() & objects)


async def _writable(cmd: Command, records: Iterable[SealedAudit]) -> list[KnowledgeBase]:
    """Return the bases of the records, in id order, if the caller may write every one of them."""
    by_pool: dict[NodeId, list[SealedAudit]] = {}
    for record in records:
        by_pool.setdefault(record.pool, []).append(record)
    bases = await cmd.writer.get(PRESENT, sorted(by_pool))
    writable = []
    for pool, own in sorted(by_pool.items()):
        base = bases.get(pool)
        if not isinstance(base, KnowledgeBase):
            raise NotFound
        _check_rights(cmd, base, own)
        writable.append(base)
    return writable


def _check_rights(cmd: Command, base: KnowledgeBase, records: Sequence[SealedAudit]) -> None:
    guides = [record for record in records if prefix_of(record.draft.target_id) == CurationGuide.PREFIX]
    if guides and not may_write_guide(cmd.facts, scope_of(base)):
        raise OperationRejected("GUIDE_HUMAN_ONLY", "only a person who may write the guide restores it")
    if len(guides) < len(records):
        check_write(cmd.facts, scope_of(base), conversation=cmd.session.conversation)


async def _carry_out(
    cmd: Command, base: KnowledgeBase, present: Present, plan: RestorePlan, reason: str
) -> tuple[AuditRecord, ...]:
    steps = [step for step in plan.steps if step.record.pool == base.id]
    work = await _work(cmd, base, present, reason)
    carry_out(work, present.states.past, steps)
    work.changes.drafts += _drafts(cmd, plan, steps, reason)
    await _free_names(cmd, work.changes, present.states.entries.keys())
    where = Commit(pool=base.id, tx_id=cmd.tx_id, at=cmd.at, language=work.settings["search.default_language"])
    return await commit(cmd.writer, cmd.deps, where, work.changes)


async def _work(cmd: Command, base: KnowledgeBase, present: Present, reason: str) -> Work:
    settings = await load_settings(cmd.writer, cmd.caller.workspace, base.owner_id)
    states, learned = present.states, present.learned
    overlays = (lesson.overlay_id for lesson in learned.last.values() if lesson.pool == base.id)
    lessons = await load_lessons(cmd.session, overlays, bases_read(base))
    state = KnowledgeState(
        base=base,
        entries={id_: state for id_, state in states.entries.items() if state.entry.pool == base.id},
        blocks={id_: state for id_, state in states.blocks.items() if state.block.pool == base.id},
        relations={id_: state for id_, state in states.relations.items() if state.relation.pool == base.id},
        names=present.owners.get(base.id, {}),
        lessons={**lessons, **{i: state for i, state in learned.lessons.items() if state.lesson.pool == base.id}},
        memo=learned.memos.get(memo_id(base.id)),
    )
    work = Work.on(state, actor_of(cmd, reason), settings, cmd.at, cmd.deps.new_id)
    work.count_tokens = cmd.deps.tokenizer.count
    return work


def _drafts(cmd: Command, plan: RestorePlan, steps: Sequence[RestoreStep], reason: str) -> list[AuditDraft]:
    own = {step.record.id for step in steps}
    drafts = restore_drafts(plan, actor_id=cmd.facts.principal, actor_kind=cmd.actor_kind, reason=reason)
    return [draft for draft in drafts if draft.restores_id in own]


async def _free_names(cmd: Command, changes: Changes, live: Collection[NodeId]) -> None:
    """Let all entries whose name changes give it up first, so that two may swap theirs."""
    moving = [id_ for id_, fields in changes.patches.items() if "live_name" in fields and id_ in live]
    await cmd.writer.patch_many({id_: {"live_name": None} for id_ in moving})
