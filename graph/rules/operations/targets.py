"""What an operation may lay hands on: entries, blocks and relations of the base that is written.

Source: KN-86, KN-87, DR-44, DR-53, MA-21.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from graph.model.ids import NodeId
from graph.rules.operations.evidence import not_found
from graph.rules.operations.state import BlockState, EntryState, RelationState
from graph.rules.operations.verdicts import refuse
from graph.rules.operations.work import Work
from graph.rules.scopes import evidence_allowed


def own_entry(work: Work, given: str) -> EntryState:
    """Return an entry that may be written, by its id or by the name that the list gave it.

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``.
    """
    state = _entry(work, given)
    if state.entry.pool != work.pool:
        raise refuse("SCOPE_FORBIDDEN", "write to entries of this knowledge base alone")
    if state.entry.read_only:
        raise refuse("READ_ONLY_MIRROR", "a mirror follows its document; write to an entry of your own")
    return state


def readable_entry(work: Work, given: str) -> EntryState:
    """Return an entry of this base or of one that it reads (KN-27).

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``SCOPE_FORBIDDEN``.
    """
    state = _entry(work, given)
    scope = work.scope_of_pool(state.entry.pool)
    if scope is None or not evidence_allowed(work.scope, scope):
        raise refuse("SCOPE_FORBIDDEN", "point only to what this knowledge base reads")
    return state


def own_block(work: Work, given: str) -> BlockState:
    """Return a current block that may be written: one that is seen, or one without a text that was offered (MA-24).

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``.
    """
    id_ = NodeId(given)
    state = work.blocks.get(id_)
    if state is None or state.entry_id not in work.entries:
        raise not_found()
    if id_ in work.visible:
        work.visible.add(state.entry_id)
    elif not is_offered(work, state):
        raise not_found()
    own_entry(work, state.entry_id)
    return state


def is_offered(work: Work, state: BlockState) -> bool:
    """True for a block that is written without being seen: its evidence is gone, and its text binds nobody (MA-24)."""
    return state.id in work.actor.offered and state.id not in work.visible


def block_of(work: Work, entry: NodeId, given: str) -> BlockState:
    """Return a current block of one entry.

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``.
    """
    id_ = NodeId(given)
    state = work.blocks.get(id_)
    if state is None or id_ not in work.visible or state.entry_id != entry:
        raise not_found()
    return state


def own_relation(work: Work, given: str) -> RelationState:
    """Return a current relation that may be written.

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``SCOPE_FORBIDDEN``.
    """
    id_ = NodeId(given)
    state = work.relations.get(id_)
    if state is None or id_ not in work.visible:
        raise not_found()
    if state.relation.pool != work.pool:
        raise refuse("SCOPE_FORBIDDEN", "write to relations of this knowledge base alone")
    return state


def expect_version(expected: int, current: int, value: Mapping[str, Any]) -> None:
    """Refuse to change what was changed since it was read.

    Raises:
        OperationRejected: ``VERSION_CONFLICT`` with `current`: the version and the value (KN-87).
    """
    if expected != current:
        raise refuse(
            "VERSION_CONFLICT",
            "it was changed since: look at the current version and decide again",
            current={"version": current, **value},
        )


def require_reason(work: Work) -> None:
    """Refuse a person's correction without a reason.

    Raises:
        OperationRejected: ``REASON_REQUIRED`` (KN-86).
    """
    if work.actor.is_human and not (work.reason or "").strip():
        raise refuse("REASON_REQUIRED", "say why the block is corrected", field="reason")


def _entry(work: Work, given: str) -> EntryState:
    id_ = work.refs.get(given, NodeId(given))
    state = work.entries.get(id_)
    if state is None or id_ not in work.visible:
        raise not_found()
    return state
