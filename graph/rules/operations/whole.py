"""What is done to whole entries, beside the operation list: delete, merge, mark as distinct.

What ends stays readable as history, and a deletion record brings it back whole.

Source: KN-35, KN-36, KN-83, KN-101, CO-73.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import FacetField
from graph.rules.audit_operations import AuditOperation
from graph.rules.images import distinct_fields
from graph.rules.names import normalised_name
from graph.rules.operations import imaging
from graph.rules.operations.block_places import next_position
from graph.rules.operations.block_writing import TEXT_OF_BLOCK
from graph.rules.operations.content import Validity
from graph.rules.operations.drafting import draft
from graph.rules.operations.ending import end_entry
from graph.rules.operations.entry_writing import next_entry_version, touch_entry
from graph.rules.operations.facet_writing import gather, make_facet
from graph.rules.operations.limits import MAX_ALIASES, check_count
from graph.rules.operations.relation_writing import add_evidence, make_relation, retract_relation
from graph.rules.operations.relations import support_both_names
from graph.rules.operations.state import BlockState, EntryState, FacetState, RelationState, Support
from graph.rules.operations.targets import own_entry
from graph.rules.operations.work import Work


def delete_entry(work: Work, entry: NodeId) -> None:
    """End an entry with all that belongs to it in its base, as one audited step.

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``.
    """
    state = own_entry(work, entry)
    blocks, relations = work.blocks_of(entry), work.relations_of(entry)
    draft(
        work,
        AuditOperation.ENTRY_DELETE,
        entry,
        before=imaging.whole_entry(state, blocks, relations),
        sources=work.sources_behind(*imaging.supports_of_entry(state, blocks, relations)),
    )
    end_entry(work, state)


def merge_entries(
    work: Work,
    keep: NodeId,
    other: NodeId,
    *,
    versions: Mapping[NodeId, Sequence[NodeId]],
    same_as_other: Iterable[Edge] = (),
) -> None:
    """Move blocks, relations and names of one entry to another, and delete the emptied one.

    Args:
        work: the working copy.
        keep: the entry that stays.
        other: the entry that goes; of the same base.
        versions: ids of all versions, also former ones, of each block of `other`.
        same_as_other: SAME_AS edges of narrower entries to `other`, which then lead to `keep`.

    Raises:
        OperationRejected: ``LIMIT_EXCEEDED``: too many aliases; or as `delete_entry`.
    """
    own_entry(work, keep)
    own_entry(work, other)
    for block in work.blocks_of(other):
        _move_block(work, block, keep, versions.get(block.id, ()))
    for relation in work.relations_of(other):
        _move_relation(work, relation, keep, other)
    _take_names(work, keep, work.entries[other])
    for edge in same_as_other:
        work.changes.unlinks.append(edge)
        work.changes.links.append(replace(edge, target=keep))
    delete_entry(work, other)


def end_relations(work: Work, entry: NodeId) -> None:
    """Take back what a narrower base relates to an entry that is deleted (KN-36)."""
    for relation in work.relations_of(entry):
        _end_relation(work, relation)


def move_relations(work: Work, keep: NodeId, other: NodeId) -> None:
    """Let what a narrower base relates to a merged entry be related to the one that is kept (KN-35)."""
    for relation in work.relations_of(other):
        _move_relation(work, relation, keep, other)


def mark_distinct(work: Work, one: NodeId, other: NodeId) -> bool:
    """Note that two entries with near names are two topics; return whether that is new.

    Raises:
        OperationRejected: ``EVIDENCE_NOT_FOUND``, ``SCOPE_FORBIDDEN``, ``READ_ONLY_MIRROR``.
    """
    first, second = sorted((own_entry(work, one), own_entry(work, other)), key=lambda state: state.id)
    if second.id in first.distinct_from:
        return False
    props = {"recorded_at": work.at}
    edge = Edge(type=EdgeType.DISTINCT_FROM, source=first.id, target=second.id, props=props)
    work.changes.links.append(edge)
    after = replace(first, distinct_from=tuple(sorted((*first.distinct_from, second.id))))
    draft(
        work,
        AuditOperation.ENTRY_MARK_DISTINCT,
        first.id,
        before=distinct_fields(imaging.marked_by(first)),
        after=distinct_fields(imaging.marked_by(after)),
    )
    work.entries[first.id] = after
    return True


def _move_block(work: Work, state: BlockState, keep: NodeId, versions: Sequence[NodeId]) -> None:
    position = next_position(work, keep)
    block = replace(state.block, entry_id=keep, position=position)
    moved = replace(state, block=block, version=replace(state.version, entry_id=keep))
    work.changes.patch(state.id, entry_id=keep, position=position)
    for version in versions:
        work.changes.patch(version, entry_id=keep)
    work.changes.unlinks.append(Edge(type=EdgeType.HAS_BLOCK, source=state.entry_id, target=state.id))
    work.changes.links.append(Edge(type=EdgeType.HAS_BLOCK, source=keep, target=state.id))
    work.changes.text(state.version.id, keep, TEXT_OF_BLOCK, state.version.text)
    work.blocks[state.id] = moved
    gather(work, keep, work.entries[keep].name, Support(derived_from=(state.version.id,)))
    draft(work, AuditOperation.BLOCK_MOVE, state.id, before=imaging.place(state), after=imaging.place(moved))


def _move_relation(work: Work, state: RelationState, keep: NodeId, other: NodeId) -> None:
    """End a relation and state it of the kept entry; between the two it only ends."""
    relation = state.relation
    subject = keep if relation.subject_id == other else relation.subject_id
    object_ = keep if relation.object_id == other else relation.object_id
    _end_relation(work, state)
    if subject == object_:
        return
    equal = _equal(work, state, subject, object_)
    if equal is not None:
        _join_evidence(work, equal, state)
        return
    validity = Validity.of(state.version)
    made = make_relation(work, subject, relation.type, object_, validity, state.evidence, state.version.attributes)
    draft(
        work,
        AuditOperation.RELATION_ADD,
        made.id,
        after=imaging.relation(made),
        sources=work.sources_behind(Support(citations=made.evidence)),
    )
    support_both_names(work, made)


def _end_relation(work: Work, state: RelationState) -> None:
    draft(
        work,
        AuditOperation.RELATION_REMOVE,
        state.id,
        before=imaging.relation(state),
        sources=work.sources_behind(Support(citations=state.evidence)),
    )
    retract_relation(work, state)


def _equal(work: Work, state: RelationState, subject: NodeId, object_: NodeId) -> RelationState | None:
    wanted, when = (subject, state.relation.type, object_), Validity.of(state.version)
    for found in work.relations_of(subject):
        ends = (found.relation.subject_id, found.relation.type, found.relation.object_id)
        if ends == wanted and Validity.of(found.version).overlaps(when):
            return found
    return None


def _join_evidence(work: Work, equal: RelationState, gone: RelationState) -> None:
    spans = {cited.span for cited in equal.evidence}
    more = tuple(cited for cited in gone.evidence if cited.span not in spans)
    if not more:
        return
    grown = add_evidence(work, equal, more)
    draft(
        work,
        AuditOperation.RELATION_ADD_EVIDENCE,
        equal.id,
        before=imaging.evidence(equal),
        after=imaging.evidence(grown),
        sources=work.sources_behind(Support(citations=grown.evidence)),
    )


def _take_names(work: Work, keep: NodeId, other: EntryState) -> None:
    """Make name and aliases of the other entry aliases of the kept one."""
    before = work.entries[keep]
    known = {normalised_name(name) for name in before.names}
    new = [facet for facet in other.facets if normalised_name(facet.facet.value) not in known]
    check_count(len(before.aliases) + len(new), "aliases", MAX_ALIASES)
    facets = tuple(_as_alias(work, keep, facet) for facet in new)
    if not facets:
        touch_entry(work, keep)
        return
    after = next_entry_version(work, replace(before, aliases=(*before.aliases, *facets)))
    draft(
        work,
        AuditOperation.ENTRY_SET_ALIASES,
        keep,
        before=imaging.aliases(before.aliases),
        after=imaging.aliases(after.aliases),
        sources=work.sources_behind(*(facet.rests_on for facet in after.aliases)),
    )


def _as_alias(work: Work, keep: NodeId, facet: FacetState) -> FacetState:
    return make_facet(work, keep, FacetField.ALIAS, facet.facet.value, facet.rests_on, facet.gathered)
