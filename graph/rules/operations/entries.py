"""The operation that makes an entry, with its first blocks, names and attributes.

Source: DR-43, DR-65, KN-18, KN-33, KN-34, KN-107.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from graph.model.edges import Edge, EdgeType
from graph.model.errors import OperationRejected
from graph.model.ids import NodeId
from graph.model.nodes.evidence import SourceKind
from graph.model.nodes.knowledge import Basis, Entry, FacetField, KbKind, ModifierKind
from graph.rules.audit_operations import AuditOperation
from graph.rules.operations import imaging
from graph.rules.operations.attributes import put_attribute
from graph.rules.operations.block_content import block_content
from graph.rules.operations.block_places import GAP
from graph.rules.operations.block_writing import make_block
from graph.rules.operations.content import BlockContent
from graph.rules.operations.drafting import draft
from graph.rules.operations.entry_writing import place_entry, with_first_version
from graph.rules.operations.evidence import distinct_evidence, not_found
from graph.rules.operations.facet_writing import make_facet
from graph.rules.operations.limits import (
    MAX_ATTRIBUTES,
    MAX_SUMMARY,
    PERSON,
    check_count,
    check_length,
    check_type,
    checked_aliases,
)
from graph.rules.operations.naming import check_name, check_not_near, clean_name
from graph.rules.operations.schema import CreateEntry, citations_in
from graph.rules.operations.state import BlockState, EntryState, FacetState, Support
from graph.rules.operations.targets import readable_entry
from graph.rules.operations.verdicts import Done, PartRejection, refuse
from graph.rules.operations.work import Work

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
    if all(content.basis == Basis.INDUCED for content in contents):
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
    check_name(work, shown, type_, may_be_dated=True)
    op = CreateEntry.model_construct(op="createEntry", name=shown, type=type_, blocks=())
    state, blocks = _put_entry(work, op, shown, (), contents)
    work.entries[state.id] = state
    _draft_creation(work, state, blocks)
    return state


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
    entry = place_entry(
        work,
        id_,
        name,
        op.type,
        origin=work.actor.origin or _ORIGINS.get(work.actor.kind, "agent"),
        principal=NodeId(op.principal) if op.principal else None,
    )
    work.changes.links.append(shown_by(id_, named))
    facets = tuple(make_facet(work, id_, FacetField.ALIAS, alias, rests_on) for alias in aliases)
    summary = make_facet(work, id_, FacetField.SUMMARY, op.summary, rests_on) if op.summary else None
    work.visible.add(id_)
    return with_first_version(work, entry, named, facets, summary), blocks


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


def shown_by(entry: NodeId, name: FacetState) -> Edge:
    """Return the edge from an entry to the name by which it is shown (KN-124)."""
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
