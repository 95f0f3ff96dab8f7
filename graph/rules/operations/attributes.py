"""The operation `setAttributes`, and attributes of a new entry. Source: KN-21, KN-32, DR-43, DR-46, DR-47, DR-75."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from graph.rules.audit_operations import AuditOperation
from graph.rules.canonical import canonical_json
from graph.rules.images import PAST_PREFIX
from graph.rules.operations import imaging
from graph.rules.operations.content import Validity
from graph.rules.operations.drafting import draft
from graph.rules.operations.entry_writing import end_attribute, make_attribute, next_entry_version
from graph.rules.operations.evidence import cite_or_note, corrects, require_other_voice
from graph.rules.operations.limits import MAX_ATTRIBUTES, check_attribute, check_count
from graph.rules.operations.schema import SetAttributes
from graph.rules.operations.schema_parts import AttributeIn
from graph.rules.operations.schema_values import Change, Role
from graph.rules.operations.state import AttributeState, EntryState, Support
from graph.rules.operations.targets import expect_version, own_entry
from graph.rules.operations.validity import closing, validity_of
from graph.rules.operations.verdicts import Done, Outcome, refuse
from graph.rules.operations.work import Work

_CHANGES: Final = frozenset({Change.ADDITION, Change.EVOLUTION, Change.CORRECTION})
"""An attribute has no standing, so it is neither disputed nor a rumour nor inferred."""


def set_attributes(work: Work, op: SetAttributes) -> Done:
    """Set and unset attributes; what is said already with the same evidence changes nothing."""
    entry = own_entry(work, op.entry)
    expect_version(op.expectedVersion, entry.entry.current_version, {"attributes": sorted(entry.attributes)})
    after = entry
    for given in op.set:
        after = put_attribute(work, after, given)
    for key in op.unset:
        after = _unset(work, after, key)
    touched = [key for key in {*entry.attributes, *after.attributes} if _differs(entry, after, key)]
    if not touched:
        return Done(outcome=Outcome.NOOP, created=(entry.id,))
    check_count(len(after.attributes), "attributes", MAX_ATTRIBUTES)
    next_entry_version(work, after)
    _draft(work, entry, after, touched)
    return Done(created=(entry.id,))


def put_attribute(work: Work, entry: EntryState, given: AttributeIn) -> EntryState:
    """Return the entry with one value set; the old value is closed or believed no more, never overwritten.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED``, ``SCHEMA_INVALID``, ``CONFLICT_UNEXPLAINED``,
            ``AGENT_SELF_EVIDENCE``, or that of a citation.
    """
    check_attribute(given.key, given.value)
    if given.change not in _CHANGES:
        raise refuse("SCHEMA_INVALID", "an attribute changes by addition, evolution or correction", field="change")
    value = list(given.value) if isinstance(given.value, tuple) else given.value
    old = entry.attributes.get(given.key)
    if old is not None and not given.citations and work.actor.is_human and _is_value(old, value, given):
        return entry
    rests_on = _evidence(work, entry, given)
    if old is None:
        validity = validity_of(given)
        made = make_attribute(work, entry.id, given.key, value, validity, rests_on, number=1)
        return _with(entry, given.key, made)
    if _is_value(old, value, given):
        return _more_evidence(work, entry, old, rests_on)
    _check_replacing(work, given, rests_on)
    return _replace(work, entry, old, given, value, rests_on)


def _evidence(work: Work, entry: EntryState, given: AttributeIn) -> Support:
    role = Role.CORRECTS if given.change is Change.CORRECTION else Role.SUPPORTS
    text = f"{given.key}: {_shown(given.value)}"
    citations = cite_or_note(work, given.citations, text, entry_type=entry.entry.type, role=role)
    require_other_voice(work, citations)
    return Support(citations=citations)


def _check_replacing(work: Work, given: AttributeIn, rests_on: Support) -> None:
    if work.actor.is_human:
        return
    if given.change is Change.ADDITION:
        raise refuse("CONFLICT_UNEXPLAINED", "there is a value: say whether it changed or was wrong", field="change")
    if given.change is Change.CORRECTION and not corrects(work, rests_on.citations):
        raise refuse("CONFLICT_UNEXPLAINED", "a correction cites a person's words with the role corrects")


def _replace(
    work: Work, entry: EntryState, old: AttributeState, given: AttributeIn, value: object, rests_on: Support
) -> EntryState:
    end_attribute(work, old)
    number, validity = old.attribute.version + 1, validity_of(given)
    closed = entry.closed_attributes
    if given.change is Change.EVOLUTION:
        begin, precision = closing(validity, rests_on, work.sources)
        validity = replace(validity, valid_from=begin, from_precision=precision)
        held = Validity.of(old.attribute)
        if begin is not None and (held.valid_to is None or held.valid_to > begin):
            if held.valid_from is not None and held.valid_from >= begin:
                raise refuse("CONFLICT_UNEXPLAINED", "the new value begins after the old one did", field="validFrom")
            held = held.closed_at(begin, precision)
        past = make_attribute(work, entry.id, given.key, old.attribute.value, held, old.rests_on, number=number)
        closed, number = (*closed, past), number + 1
    made = make_attribute(work, entry.id, given.key, value, validity, rests_on, number=number)
    return replace(_with(entry, given.key, made), closed_attributes=closed)


def _more_evidence(work: Work, entry: EntryState, old: AttributeState, more: Support) -> EntryState:
    union = old.rests_on.union(more)
    if union == old.rests_on:
        return entry
    end_attribute(work, old)
    kept = old.attribute
    made = make_attribute(work, entry.id, kept.key, kept.value, Validity.of(kept), union, number=kept.version + 1)
    return _with(entry, kept.key, made)


def _unset(work: Work, entry: EntryState, key: str) -> EntryState:
    old = entry.attributes.get(key)
    if old is None:
        raise refuse("SCHEMA_INVALID", "unset only attributes that are set", field="unset")
    end_attribute(work, old)
    left = {name: state for name, state in entry.attributes.items() if name != key}
    return replace(entry, attributes=left)


def _with(entry: EntryState, key: str, state: AttributeState) -> EntryState:
    return replace(entry, attributes={**entry.attributes, key: state})


def _is_value(old: AttributeState, value: object, given: AttributeIn) -> bool:
    same = canonical_json(old.attribute.value) == canonical_json(value)
    unsaid = given.validFrom is None and given.validTo is None
    return same and (unsaid or Validity.of(old.attribute) == validity_of(given))


def _differs(before: EntryState, after: EntryState, key: str) -> bool:
    return before.attributes.get(key) is not after.attributes.get(key)


def _draft(work: Work, before: EntryState, after: EntryState, keys: Sequence[str]) -> None:
    values = [state.attributes[key].rests_on for state in (before, after) for key in keys if key in state.attributes]
    past = [s.rests_on for state in (before, after) for s in state.closed_attributes if s.attribute.key in keys]
    old, new = imaging.attributes(before, keys), imaging.attributes(after, keys)
    never = {key for key in old if key.startswith(PAST_PREFIX) and old[key] is None and new[key] is None}
    draft(
        work,
        AuditOperation.ENTRY_SET_ATTRIBUTES,
        after.id,
        before={key: image for key, image in old.items() if key not in never},
        after={key: image for key, image in new.items() if key not in never},
        sources=work.sources_behind(*values, *past),
    )


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(item) for item in value)
    return ("true" if value else "false") if isinstance(value, bool) else str(value)
