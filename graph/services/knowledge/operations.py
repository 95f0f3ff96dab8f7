"""The use case `applyOperations`: locks, loads, decides, writes; all in one transaction. Source: KN-111, KN-112, DR-76.

A list is decided under the lock of its knowledge base, on what is there then. So of many writers each sees what the
others did, no one waits for a retry of his own, and the same statement sent twice is made once.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from graph.model.errors import LimitExceeded, NameTaken, OperationRejected, RootwardError, VersionConflict
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import KnowledgeBase
from graph.model.nodes.work import AuditRecord
from graph.rules.operations.actors import ActorRules
from graph.rules.operations.limits import MAX_REASON
from graph.rules.operations.needs import needs_of
from graph.rules.operations.parsing import parse_operations
from graph.rules.operations.planner import plan
from graph.rules.operations.verdicts import Plan, Verdict
from graph.services.access.commands import Command
from graph.services.knowledge.state import load_state
from graph.services.knowledge.targets import actor_of, write_target
from graph.services.ledger import Commit, commit, hold
from graph.services.settings import load_settings


@dataclass(frozen=True, kw_only=True, slots=True)
class ApplyResult:
    """What became of a list.

    Attributes:
        verdicts: one an operation, in the order of the list.
        records: the audit records that were written, in the order of the operations.
        tx_id: the transaction; with a dry run, or if nothing changed, it wrote nothing.
    """

    verdicts: tuple[Verdict, ...]
    records: tuple[AuditRecord, ...]
    tx_id: str


async def apply_operations(
    cmd: Command,
    *,
    operations: Sequence[Any],
    reason: str,
    conversation_id: NodeId | None = None,
    kb_id: NodeId | None = None,
    dry_run: bool = False,
) -> ApplyResult:
    """Apply a list of operations as a person or an agent: all of it or nothing.

    Args:
        cmd: the command of the caller.
        operations: JSON objects with internal ids (`graph.rules.operations.parsing.map_ids` turns others into them).
        reason: why; kept with what is written. A person's correction of a block needs one.
        conversation_id: the conversation that the caller speaks in; an agent needs it.
        kb_id: the knowledge base that is written, where no conversation says it.
        dry_run: only tell the verdicts.

    Raises:
        NotFound: the conversation or knowledge base does not exist for the caller.
        OperationRejected: ``SCOPE_FORBIDDEN``, ``CONVERSATION_CLOSED``; or, unless it is a dry run, with the code of
            the first rejected operation (then as `VersionConflict`, `NameTaken` or `LimitExceeded` where these fit);
            details: `index`, `op`, and all rejections.
    """
    if len(reason) > MAX_REASON:
        raise LimitExceeded(f"a reason has at most {MAX_REASON} characters", field="reason", limit=MAX_REASON)
    base = await write_target(cmd, conversation_id=conversation_id, kb_id=kb_id)
    actor = actor_of(cmd, reason.strip() or None)
    return await apply_to_base(cmd, base, operations, actor, dry_run=dry_run)


async def apply_to_base(
    cmd: Command, base: KnowledgeBase, operations: Sequence[Any], actor: ActorRules, *, dry_run: bool = False
) -> ApplyResult:
    """Apply a list to a base that the actor was found to be allowed to write.

    Dreaming and learning tasks enter here: `cmd.session.viewer` must read as their batch does, and `actor` says what
    was shown to the model and that rejected operations are skipped. They add their progress in the same transaction.

    Raises:
        RootwardError: as `apply_operations`.
    """
    settings = await load_settings(cmd.writer, cmd.caller.workspace, base.owner_id)
    parsed = parse_operations(operations, max_operations=settings["dream.max_operations"])
    needs = needs_of(found.operation for found in parsed if found.operation is not None)
    if not dry_run:
        base = await hold_for(cmd, base.id, needs.named)
    state = await load_state(cmd.session, base, needs, offered=actor.offered)
    decided = plan(parsed, state, actor, settings, cmd.at, cmd.deps.new_id, cmd.deps.tokenizer.count)
    if dry_run:
        return ApplyResult(verdicts=decided.verdicts, records=(), tx_id=cmd.tx_id)
    if not actor.skip_rejected:
        _require_accepted(decided)
    records: tuple[AuditRecord, ...] = ()
    if decided.changes.drafts:
        where = Commit(pool=base.id, tx_id=cmd.tx_id, at=cmd.at, language=settings["search.default_language"])
        records = await commit(cmd.writer, cmd.deps, where, decided.changes)
    return ApplyResult(verdicts=decided.verdicts, records=records, tx_id=cmd.tx_id)


async def hold_for(cmd: Command, pool: NodeId, named: Collection[NodeId]) -> KnowledgeBase:
    """Lock a base, what a write rests on, and the pools of the statements among it; return the base as it is now.

    Withdrawing a source locks the pools of all that rests on it; so whoever names a statement of another pool must
    hold that pool as well. Ids that do not exist are not locked: they come from outside.

    Raises:
        NotFound: there is no such base any more.
    """
    there = await cmd.writer.guards(sorted(named))
    own = {id_: guard for id_, guard in there.items() if guard.workspace == cmd.caller.workspace}
    pools = {guard.pool for guard in own.values() if guard.pool}
    return await hold(cmd.writer, pool, {*own, *pools})


def _require_accepted(decided: Plan) -> None:
    """Return if nothing was rejected.

    Raises:
        RootwardError: of the class that fits the first rejection, with its code.
    """
    first = decided.first_rejection
    if first is None:
        return
    rejections = [
        {"index": verdict.index, "op": verdict.op, "code": verdict.code, "reason": verdict.reason}
        for verdict in decided.verdicts
        if verdict.is_rejected
    ]
    raise _error(first, {**first.details, "index": first.index, "op": first.op, "rejections": rejections})


def _error(verdict: Verdict, details: dict[str, Any]) -> RootwardError:
    code, reason = verdict.code or "INTERNAL", verdict.reason or ""
    for kind in (VersionConflict, NameTaken, LimitExceeded):
        if kind.code == code:
            return kind(reason, **details)
    return OperationRejected(code, reason, **details)
