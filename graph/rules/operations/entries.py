"""The operations on an entry itself: create, rename, type, summary, aliases.

Source: DR-43, DR-51, DR-65, KN-18, KN-19, KN-21, KN-33, KN-34, KN-107, KN-124.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from graph.model.edges import Edge, EdgeType
from graph.model.errors import OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import SourceKind
from graph.model.nodes.knowledge import Basis, Entry, EntryVersion, FacetField, KbKind, ModifierKind
from graph.rules.audit_operations import AuditOperation
from graph.rules.names import normalised_name
from graph.rules.operations import imaging
from graph.rules.operations.attributes import put_attribute
from graph.rules.operations.blocks import GAP, block_content
from graph.rules.operations.evidence import distinct_evidence, not_found
from graph.rules.operations.limits import (
    MAX_ALIASES,
    MAX_ATTRIBUTES,
    MAX_SUMMARY,
    PERSON,
    check_count,
    check_length,
    check_type,
    checked_aliases,
)
from graph.rules.operations.naming import (
    check_name,
    check_not_near,
    clean_name,
    resting_on_all,
    said_by,
    take_name,
)
from graph.rules.operations.schema import (
    CreateEntry,
    RenameEntry,
    SetAliases,
    SetSummary,
    SetType,
    citations_in,
)
from graph.rules.operations.state import BlockState, EntryState, FacetState, Support
from graph.rules.operations.targets import block_of, expect_version, own_entry, readable_entry
from graph.rules.operations.verdicts import Done, Outcome, PartRejection, refuse
from graph.rules.operations.work import Work
from graph.rules.operations.writing import (
    BlockContent,
    draft,
    end_facet,
    make_block,
    make_facet,
    next_entry_version,
    note,
    put_entry_version,
)

_WIDTH: Final = {KbKind.PRIVATE: 0, KbKind.CHANNEL: 0, KbKind.AGENT: 1, KbKind.SHARED: 2}
"""How wide a base is read, for `sameAs`: from the narrower to the wider (KN-34)."""

_ORIGINS: Final = {ModifierKind.HUMAN: "human", ModifierKind.DREAMING: "dreaming"}


def create_entry(work: Work, op: CreateEntry) -> Done:
    """Make an entry with its first blocks; its name, aliases and summary rest on them."""
    name, aliases = clean_name(op.name), checked_aliases(op.aliases)
    check_type(work, op.type)
    check_name(work, name, op.type)
    check_length(op.summary, "summary", 0, MAX_SUMMARY)
    same_as = _wider_entry(work, op.sameAs) if op.sameAs else None
    _check_principal(work, op)
    contents, left_out = _accepted_blocks(work, op)
    _check_enough(work, contents)
    if all(block.basis is Basis.INDUCED for block in op.blocks):
        check_not_near(work, name)
    state, blocks = _put_entry(work, op, name, aliases, contents)
    state = _link(work, state, same_as)
    state, more = _put_attributes(work, op, state)
    work.entries[state.id] = state
    if op.ref is not None:
        work.refs[op.ref] = state.id
    _draft_creation(work, state, blocks)
    made = (state.id, *(block.id for block in blocks))
    return Done(created=made, left_out=(*left_out, *more))


def put_entry(work: Work, name: str, type_: str, contents: Sequence[BlockContent]) -> EntryState:
    """Make an entry of blocks whose content was decided elsewhere, such as the paragraphs of pasted text.

    Raises:
        OperationRejected: with the code of what is wrong with name or type.
    """
    shown = clean_name(name)
    check_type(work, type_)
    check_name(work, shown, type_)
    op = CreateEntry.model_construct(op="createEntry", name=shown, type=type_, blocks=())
    state, blocks = _put_entry(work, op, shown, (), contents)
    work.entries[state.id] = state
    _draft_creation(work, state, blocks)
    return state


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
    work.changes.unlinks.append(_shown_by(before.id, before.name))
    work.changes.links.append(_shown_by(before.id, facet))
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


def _accepted_blocks(work: Work, op: CreateEntry) -> tuple[list[BlockContent], list[PartRejection]]:
    """Return the blocks that are in order; where refused ones are skipped, at least one must be left."""
    contents: list[BlockContent] = []
    left_out: list[PartRejection] = []
    first: OperationRejected | None = None
    for index, given in enumerate(op.blocks):
        part = work.fork(given.reason)
        try:
            contents.append(block_content(part, given, entry_type=op.type))
        except OperationRejected as error:
            if not work.actor.skip_rejected:
                raise
            first = first or error
            left_out.append(_left_out("blocks", index, error))
        else:
            work.adopt(part)
    if not contents and first is not None:
        raise first
    return contents, left_out


def _put_entry(
    work: Work, op: CreateEntry, name: str, aliases: Sequence[str], contents: Sequence[BlockContent]
) -> tuple[EntryState, list[BlockState]]:
    id_ = work.new_id(Entry.PREFIX)
    blocks = [make_block(work, id_, content, GAP * number) for number, content in enumerate(contents, start=1)]
    rests_on = Support(derived_from=tuple(sorted(block.version.id for block in blocks)))
    named = make_facet(work, id_, FacetField.NAME, name, rests_on)
    entry = Entry(
        id=id_,
        workspace=work.state.base.workspace,
        pool=work.pool,
        created_at=work.at,
        owner_id=work.state.base.owner_id,
        live_name=take_name(work, id_, name),
        name=name,
        type=op.type,
        origin=work.actor.origin or _ORIGINS.get(work.actor.kind, "agent"),
        updated_at=work.at,
        last_modifier_id=work.actor.id,
        principal_id=NodeId(op.principal) if op.principal else None,
    )
    work.changes.puts.append(entry)
    work.changes.links.append(Edge(type=EdgeType.CONTAINS, source=work.pool, target=id_))
    work.changes.links.append(_shown_by(id_, named))
    facets = tuple(make_facet(work, id_, FacetField.ALIAS, alias, rests_on) for alias in aliases)
    summary = make_facet(work, id_, FacetField.SUMMARY, op.summary, rests_on) if op.summary else None
    work.visible.add(id_)
    return with_first_version(work, entry, named, facets, summary), blocks


def with_first_version(
    work: Work, entry: Entry, name: FacetState, aliases: tuple[FacetState, ...] = (), summary: FacetState | None = None
) -> EntryState:
    """Return the state of a new entry, and put its first version."""
    unversioned = EntryVersion(
        id=NodeId(""),
        workspace=entry.workspace,
        created_at=work.at,
        entry_id=entry.id,
        version=0,
        name=entry.name,
        norm_name=normalised_name(entry.name),
        type=entry.type,
        recorded_at=work.at,
        modifier_id=work.actor.id,
        modifier_kind=work.actor.kind,
    )
    state = EntryState(entry=entry, version=unversioned, name=name, aliases=aliases, summary=summary)
    return replace(state, version=put_entry_version(work, state, 1))


def _link(work: Work, state: EntryState, same_as: EntryState | None) -> EntryState:
    principal = state.entry.principal_id
    props = {"recorded_at": work.at}
    if principal is not None:
        work.changes.links.append(Edge(type=EdgeType.IDENTIFIES, source=state.id, target=principal, props=props))
    if same_as is None:
        return state
    work.changes.links.append(Edge(type=EdgeType.SAME_AS, source=state.id, target=same_as.id, props=props))
    return replace(state, same_as=(same_as.id,))


def _put_attributes(work: Work, op: CreateEntry, state: EntryState) -> tuple[EntryState, list[PartRejection]]:
    left_out: list[PartRejection] = []
    for index, given in enumerate(op.attributes):
        part = work.fork()
        try:
            state = put_attribute(part, state, given)
        except OperationRejected as error:
            if not work.actor.skip_rejected:
                raise
            left_out.append(_left_out("attributes", index, error))
        else:
            work.adopt(part)
    check_count(len(state.attributes), "attributes", MAX_ATTRIBUTES)
    return state, left_out


def _draft_creation(work: Work, state: EntryState, blocks: Sequence[BlockState]) -> None:
    draft(
        work,
        AuditOperation.ENTRY_CREATE,
        state.id,
        after=imaging.whole_entry(state, blocks),
        sources=work.sources_behind(*imaging.supports_of_entry(state, blocks)),
    )


def _draft_edit(work: Work, operation: AuditOperation, before: EntryState, after: EntryState, *, names: bool) -> None:
    images = [
        {**(imaging.name(state.name) if names else {}), **imaging.aliases(state.aliases)} for state in (before, after)
    ]
    supports = [facet.rests_on for state in (before, after) for facet in state.facets[0 if names else 1 :]]
    draft(work, operation, after.id, before=images[0], after=images[1], sources=work.sources_behind(*supports))


def _wider_entry(work: Work, given: str) -> EntryState:
    """Return the entry of a wider base that the new one is the same as (KN-34)."""
    state = readable_entry(work, given)
    scope = work.scope_of_pool(state.entry.pool)
    if scope is None or _WIDTH.get(scope.kind, -1) <= _WIDTH.get(work.scope.kind, 3):
        raise refuse("SCOPE_FORBIDDEN", "sameAs points to an entry of a wider knowledge base", field="sameAs")
    return state


def _check_principal(work: Work, op: CreateEntry) -> None:
    """Refuse a link to a principal by anyone but a person, unless he is the speaker of a cited message (KN-33)."""
    if op.principal is None:
        return
    if op.type != PERSON:
        raise refuse("SCHEMA_INVALID", "only an entry of type person is linked to a principal", field="principal")
    principal = NodeId(op.principal)
    if principal not in work.state.principals:
        raise not_found()
    if not work.actor.is_human and principal not in set(_speakers(work, op)):
        raise not_found()


def _speakers(work: Work, op: CreateEntry) -> Iterator[NodeId]:
    for citation in citations_in(op):
        source = work.sources.get(NodeId(citation.source))
        if source is not None and source.kind == SourceKind.MESSAGE and source.author_id is not None:
            yield source.author_id


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


def _shown_by(entry: NodeId, name: FacetState) -> Edge:
    return Edge(type=EdgeType.SHOWN_BY, source=entry, target=name.facet.id)


def _check_enough(work: Work, contents: Sequence[BlockContent]) -> None:
    """Refuse an entry with fewer distinct sources behind it than the guide asks for (KN-107)."""
    least = work.state.guide.min_evidence
    behind = work.sources_behind(*(content.rests_on for content in contents))
    loaded = [work.sources[NodeId(id_)] for id_ in behind if id_ in work.sources]
    if distinct_evidence(loaded) + len(behind) - len(loaded) < least:
        raise refuse("NOT_ENOUGH_EVIDENCE", f"cite at least {least} distinct sources", needed=least)


def _left_out(part: str, index: int, error: OperationRejected) -> PartRejection:
    return PartRejection(part=part, index=index, code=error.rule_code, reason=error.message)
