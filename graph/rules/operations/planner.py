"""The planner: a list of operations and the present in, verdicts and changes out. Pure.

Each operation is tried on a copy of what the ones before it left; only what is accepted is taken over. So the order
of the list is the order of effects, and a refused operation leaves no trace. Source: DR-42, DR-54, KN-111, KN-112.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from graph.model.errors import OperationRejected
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.changes import Changes
from graph.rules.knowledge_settings import Settings
from graph.rules.operations.actors import ActorRules
from graph.rules.operations.attributes import set_attributes
from graph.rules.operations.blocks import add_block, delete_block, revise_block
from graph.rules.operations.entries import create_entry
from graph.rules.operations.entry_edits import rename_entry, set_aliases, set_summary, set_type
from graph.rules.operations.limits import MAX_REASON, check_length
from graph.rules.operations.memo import write_memo
from graph.rules.operations.parsing import Parsed
from graph.rules.operations.relations import add_relation, remove_relation
from graph.rules.operations.schema import (
    AddBlock,
    AddRelation,
    CreateEntry,
    DeleteBlock,
    EditBlock,
    Operation,
    RemoveRelation,
    RenameEntry,
    SetAliases,
    SetAttributes,
    SetSummary,
    SetType,
    UpdateSkillOverlay,
    WriteMemo,
)
from graph.rules.operations.skills import update_overlay
from graph.rules.operations.state import KnowledgeState
from graph.rules.operations.verdicts import Done, Outcome, Plan, Verdict, refuse, rejected
from graph.rules.operations.work import Work
from graph.text.tokens import DEFAULT_TOKENIZER


def plan(
    operations: Sequence[Parsed],
    state: KnowledgeState,
    actor: ActorRules,
    settings: Settings,
    at: Millis,
    new_id: Callable[[str], NodeId],
    count_tokens: Callable[[str], int] = DEFAULT_TOKENIZER.count,
) -> Plan:
    """Return what each operation would do now, and what to write.

    If one is rejected and the actor does not skip rejected ones, there is nothing to write.

    Args:
        operations: of `parse_operations`.
        state: loaded for these operations.
        actor: who applies them, and how.
        settings: in force for the owner of the base.
        at: time of the commit.
        new_id: makes ids of new nodes from the prefix of their kind.
        count_tokens: what a text costs in the budgets of memo and Overlays.
    """
    work = Work.on(state, actor, settings, at, new_id)
    work.count_tokens = count_tokens
    return plan_on(work, operations)


def plan_on(work: Work, operations: Sequence[Parsed]) -> Plan:
    """Return the plan of a list, and leave in `work` what the accepted operations made of the state."""
    refused: set[str] = set()
    verdicts = []
    for parsed in operations:
        verdict = _attempt(work, parsed, refused)
        if verdict.is_rejected and parsed.ref is not None and parsed.ref not in work.refs:
            refused.add(parsed.ref)
        verdicts.append(verdict)
    whole = work.actor.skip_rejected or not any(verdict.is_rejected for verdict in verdicts)
    return Plan(verdicts=tuple(verdicts), changes=work.changes if whole else Changes())


def entries_named(operation: Operation) -> tuple[str, ...]:
    """Return the fields of an operation that name entries, by id or by `ref`."""
    match operation:
        case AddRelation():
            return (operation.subject, operation.object)
        case CreateEntry():
            return (operation.sameAs,) if operation.sameAs else ()
        case RenameEntry() | SetType() | SetSummary() | SetAliases() | SetAttributes() | AddBlock():
            return (operation.entry,)
        case EditBlock() | DeleteBlock() | RemoveRelation() | WriteMemo() | UpdateSkillOverlay():
            return ()


def _attempt(work: Work, parsed: Parsed, refused: set[str]) -> Verdict:
    if parsed.operation is None:
        error = parsed.error or refuse("SCHEMA_INVALID", "the operation cannot be read")
        return rejected(parsed.index, parsed.op, error)
    trial = work.fork(parsed.operation.reason)
    try:
        _check_refs(work, parsed.operation, refused)
        check_length(parsed.operation.reason or "", "reason", 0, MAX_REASON)
        done = _carry_out(trial, parsed.operation)
    except OperationRejected as error:
        return rejected(parsed.index, parsed.op, error)
    if done.outcome is not Outcome.NOOP:
        work.adopt(trial)
    return Verdict(index=parsed.index, op=parsed.op, outcome=done.outcome, created=done.created, left_out=done.left_out)


def _check_refs(work: Work, operation: Operation, refused: set[str]) -> None:
    """Refuse what builds on a refused operation, and a name for an entry that is given twice.

    Raises:
        OperationRejected: ``DEPENDS_ON_REJECTED``, ``SCHEMA_INVALID``.
    """
    if any(named in refused for named in entries_named(operation)):
        raise refuse("DEPENDS_ON_REJECTED", "the operation that makes this entry was rejected")
    if isinstance(operation, CreateEntry) and operation.ref in work.refs:
        raise refuse("SCHEMA_INVALID", "each ref names one entry", field="ref")


def _carry_out(work: Work, operation: Operation) -> Done:
    match operation:
        case CreateEntry():
            return create_entry(work, operation)
        case RenameEntry():
            return rename_entry(work, operation)
        case SetType():
            return set_type(work, operation)
        case SetSummary():
            return set_summary(work, operation)
        case SetAliases():
            return set_aliases(work, operation)
        case SetAttributes():
            return set_attributes(work, operation)
        case AddBlock():
            return add_block(work, operation)
        case EditBlock():
            return revise_block(work, operation)
        case DeleteBlock():
            return delete_block(work, operation)
        case AddRelation():
            return add_relation(work, operation)
        case RemoveRelation():
            return remove_relation(work, operation)
        case WriteMemo():
            return write_memo(work, operation)
        case UpdateSkillOverlay():
            return update_overlay(work, operation)
