"""The operations on an entry itself: rename, type, summary, aliases.

Source: DR-51, KN-18, KN-19, KN-21, KN-124.
"""

from __future__ import annotations

from dataclasses import replace

from graph.model.ids import NodeId
from graph.model.nodes.knowledge import FacetField
from graph.rules.audit_operations import AuditOperation
from graph.rules.names import normalised_name
from graph.rules.operations import imaging
from graph.rules.operations.drafting import draft, note
from graph.rules.operations.entries import shown_by
from graph.rules.operations.entry_writing import next_entry_version
from graph.rules.operations.evidence import check_moved
from graph.rules.operations.facet_writing import end_facet, make_facet
from graph.rules.operations.limits import (
    MAX_ALIASES,
    MAX_SUMMARY,
    check_count,
    check_length,
    check_type,
    checked_aliases,
)
from graph.rules.operations.naming import check_name, clean_name, resting_on_all, said_by, take_name
from graph.rules.operations.schema import RenameEntry, SetAliases, SetSummary, SetType
from graph.rules.operations.state import EntryState, FacetState, Support
from graph.rules.operations.targets import block_of, expect_version, own_entry
from graph.rules.operations.verdicts import Done, Outcome, refuse
from graph.rules.operations.work import Work


def rename_entry(work: Work, op: RenameEntry) -> Done:
    """Give an entry another name; the old one becomes an alias."""
    before = own_entry(work, op.entry)
    expect_version(op.expectedVersion, before.entry.current_version, {"name": before.entry.name})
    name = clean_name(op.name)
    if name == before.entry.name:
        return Done(outcome=Outcome.NOOP, created=(before.id,))
    check_name(work, name, before.entry.type, of=before.id)
    facet = make_facet(work, before.id, FacetField.NAME, name, _support_of_name(work, before, name))
    aliases = _aliases_after_rename(work, before, name)
    end_facet(work, before.name)
    work.changes.unlinks.append(shown_by(before.id, before.name))
    work.changes.links.append(shown_by(before.id, facet))
    work.changes.touched.add(before.id)
    live_name = take_name(work, before.id, name, old=before.entry.name)
    entry = replace(before.entry, name=name, live_name=live_name)
    after = next_entry_version(work, replace(before, entry=entry, name=facet, aliases=aliases))
    _draft_edit(work, AuditOperation.ENTRY_RENAME, before, after, names=True)
    return Done(created=(before.id,))


def set_type(work: Work, op: SetType) -> Done:
    """Give an entry another type."""
    before = own_entry(work, op.entry)
    expect_version(op.expectedVersion, before.entry.current_version, {"type": before.entry.type})
    check_type(work, op.type)
    if op.type == before.entry.type:
        return Done(outcome=Outcome.NOOP, created=(before.id,))
    values = [state.rests_on for state in before.values]
    check_moved(work, [*values, *(block.rests_on for block in work.blocks_of(before.id))], op.type)
    after = next_entry_version(work, replace(before, entry=replace(before.entry, type=op.type)))
    draft(
        work,
        AuditOperation.ENTRY_SET_TYPE,
        before.id,
        before={"type": before.entry.type},
        after={"type": after.entry.type},
    )
    return Done(created=(before.id,))


def set_summary(work: Work, op: SetSummary) -> Done:
    """Write the summary of an entry from some of its current blocks."""
    before = own_entry(work, op.entry)
    shown = before.summary.facet.value if before.summary else ""
    expect_version(op.expectedVersion, before.entry.current_version, {"summary": shown})
    check_length(op.summary, "summary", 0, MAX_SUMMARY)
    blocks = [block_of(work, before.id, id_) for id_ in dict.fromkeys(op.fromBlocks)]
    basis = tuple(sorted(block.version.id for block in blocks))
    if op.summary == shown and (not basis or (before.summary and basis == before.summary.rests_on.derived_from)):
        return Done(outcome=Outcome.NOOP, created=(before.id,))
    after = next_entry_version(work, replace(before, summary=_new_summary(work, before, op.summary, basis)))
    draft(
        work,
        AuditOperation.ENTRY_SET_SUMMARY,
        before.id,
        before=imaging.summary(before.summary),
        after=imaging.summary(after.summary),
        sources=work.sources_behind(*(s.rests_on for s in (before.summary, after.summary) if s)),
    )
    return Done(created=(before.id,))


def set_aliases(work: Work, op: SetAliases) -> Done:
    """Set all aliases of an entry; each new one must be said by its blocks or sources."""
    before = own_entry(work, op.entry)
    shown = [alias.facet.value for alias in before.aliases]
    expect_version(op.expectedVersion, before.entry.current_version, {"aliases": shown})
    wanted = checked_aliases(op.aliases)
    if wanted == shown:
        return Done(outcome=Outcome.NOOP, created=(before.id,))
    present = {alias.facet.value: alias for alias in before.aliases}
    for value, facet in present.items():
        if value not in wanted:
            end_facet(work, facet)
    aliases = tuple(present.get(value) or _new_alias(work, before, value) for value in wanted)
    after = next_entry_version(work, replace(before, aliases=aliases))
    _draft_edit(work, AuditOperation.ENTRY_SET_ALIASES, before, after, names=False)
    return Done(created=(before.id,))


def _draft_edit(work: Work, operation: AuditOperation, before: EntryState, after: EntryState, *, names: bool) -> None:
    images = [
        {**(imaging.name(state.name) if names else {}), **imaging.aliases(state.aliases)} for state in (before, after)
    ]
    supports = [facet.rests_on for state in (before, after) for facet in state.facets[0 if names else 1 :]]
    draft(work, operation, after.id, before=images[0], after=images[1], sources=work.sources_behind(*supports))


def _support_of_name(work: Work, entry: EntryState, name: str) -> Support:
    """Return what a new name rests on: who says it in the entry, a person who gives it, else all its blocks."""
    said = said_by(work, entry.id, name)
    if not said.is_empty:
        return said
    if work.actor.is_human:
        return Support(citations=(note(work, name),))
    every = resting_on_all(work, entry.id)
    return entry.name.rests_on if every.is_empty else every


def _aliases_after_rename(work: Work, before: EntryState, name: str) -> tuple[FacetState, ...]:
    """Return the aliases with the old name among them; an alias that is the new name is one no more."""
    taken = {normalised_name(name)}
    kept = [alias for alias in before.aliases if normalised_name(alias.facet.value) not in taken]
    for alias in before.aliases:
        if alias not in kept:
            end_facet(work, alias)
    old = before.entry.name
    if normalised_name(old) in taken | {normalised_name(alias.facet.value) for alias in kept}:
        return tuple(kept)
    check_count(len(kept) + 1, "aliases", MAX_ALIASES)
    facet = make_facet(work, before.id, FacetField.ALIAS, old, before.name.rests_on, before.name.gathered)
    return (*kept, facet)


def _new_alias(work: Work, entry: EntryState, alias: str) -> FacetState:
    rests_on = said_by(work, entry.id, alias)
    if rests_on.is_empty:
        if not work.actor.is_human:
            raise refuse("EVIDENCE_NOT_FOUND", "an alias is said by a source or block of its entry", field="aliases")
        rests_on = Support(citations=(note(work, alias),))
    return make_facet(work, entry.id, FacetField.ALIAS, alias, rests_on)


def _new_summary(work: Work, before: EntryState, summary: str, basis: tuple[NodeId, ...]) -> FacetState | None:
    if before.summary is not None:
        end_facet(work, before.summary)
    if not summary:
        return None
    if basis:
        return make_facet(work, before.id, FacetField.SUMMARY, summary, Support(derived_from=basis))
    if not work.actor.is_human:
        raise refuse("SCHEMA_INVALID", "name at least one current block of the entry", field="fromBlocks")
    return make_facet(work, before.id, FacetField.SUMMARY, summary, Support(citations=(note(work, summary),)))
