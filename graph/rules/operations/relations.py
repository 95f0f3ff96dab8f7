"""The operations `addRelation` and `removeRelation`. Source: KN-13, KN-27 to KN-31, DR-47, DR-49, DR-59, DR-73."""

from __future__ import annotations

from graph.model.ids import NodeId
from graph.model.nodes.evidence import SourceKind
from graph.rules.audit_operations import AuditOperation
from graph.rules.operations import imaging
from graph.rules.operations.content import Validity
from graph.rules.operations.drafting import draft, note
from graph.rules.operations.entry_writing import touch_entry
from graph.rules.operations.evidence import (
    cite_or_note,
    is_hearsay,
    is_statement,
    not_found,
    quoted,
    require_other_voice,
    source_of,
)
from graph.rules.operations.facet_writing import gather
from graph.rules.operations.limits import check_relation_type
from graph.rules.operations.naming import has_word, mentions, mentions_any
from graph.rules.operations.relation_writing import add_evidence, make_relation, retract_relation, revise_relation
from graph.rules.operations.schema import AddRelation, RemoveRelation
from graph.rules.operations.schema_parts import CitationIn
from graph.rules.operations.schema_values import How
from graph.rules.operations.state import Cited, EntryState, RelationState, Support
from graph.rules.operations.targets import expect_version, own_entry, own_relation, readable_entry
from graph.rules.operations.validity import closing, validity_of
from graph.rules.operations.verdicts import Done, Outcome, refuse
from graph.rules.operations.work import Work


def add_relation(work: Work, op: AddRelation) -> Done:
    """State a relation; if it is stated already for that time, its evidence is added there (KN-30)."""
    check_relation_type(op.type)
    subject, object_ = own_entry(work, op.subject), readable_entry(work, op.object)
    if subject.id == object_.id:
        raise refuse("SCHEMA_INVALID", "subject and object of a relation differ", field="object")
    validity = validity_of(op)
    known = _equal_relation(work, subject.id, op.type, object_.id, validity)
    if known is not None and op.source is None and work.actor.is_human:
        return Done(outcome=Outcome.NOOP, created=(known.id,))
    cited = _evidence(work, op, subject, object_)
    if known is not None:
        return _merge(work, known, cited)
    made = make_relation(work, subject.id, op.type, object_.id, validity, (cited,))
    draft(
        work,
        AuditOperation.RELATION_ADD,
        made.id,
        after=imaging.relation(made),
        sources=work.sources_behind(Support(citations=made.evidence)),
    )
    _support_names(work, made, cited)
    touch_entry(work, subject.id)
    return Done(created=(made.id,))


def remove_relation(work: Work, op: RemoveRelation) -> Done:
    """Close a relation in the world, or take it back as wrong."""
    relation = own_relation(work, op.relation)
    shown = {"how": "current", "validTo": relation.version.valid_to}
    expect_version(op.expectedVersion, relation.relation.current_version, shown)
    citations = _removal_evidence(work, op)
    if op.how is How.RETRACTED:
        _retract(work, relation, citations)
        return Done(created=(relation.id,))
    return _end(work, relation, op, citations)


def support_both_names(work: Work, relation: RelationState) -> None:
    """Let the names that the evidence of a relation says rest on it too."""
    for cited in relation.evidence:
        _support_names(work, relation, cited)


def _evidence(work: Work, op: AddRelation, subject: EntryState, object_: EntryState) -> Cited:
    """Return the citation of a relation that says it in so many words (DR-49).

    Raises:
        OperationRejected: ``RELATION_NOT_EXPLICIT``, ``RUMOUR_OVERRIDE``, ``AGENT_SELF_EVIDENCE``, or that of the
            citation.
    """
    if op.source is None:
        return _typed(work, op, subject, object_)
    if op.quote is None:
        raise refuse("SCHEMA_INVALID", "quote the words that say it", field="quote")
    if op.source in work.visible and is_statement(op.source):
        raise _not_explicit()
    source = source_of(work, op.source)
    if source.kind == SourceKind.TASK_RESULT:
        raise _not_explicit()
    cited = quoted(source, CitationIn(source=op.source, quote=op.quote))
    if not _says(work, cited, subject, object_):
        raise _not_explicit()
    require_other_voice(work, (cited,))
    if not work.actor.is_human and is_hearsay(work, cited):
        raise refuse("RUMOUR_OVERRIDE", "an unconfirmed statement carries no relation")
    return cited


def _typed(work: Work, op: AddRelation, subject: EntryState, object_: EntryState) -> Cited:
    """Return the note of a person who states a relation himself; the note says it in full (KN-68)."""
    if not work.actor.is_human:
        raise refuse("SCHEMA_INVALID", "name the source that says it", field="source")
    typed = (op.quote or "").strip()
    says_all = mentions_any(typed, object_.names) and mentions_any(typed, subject.names)
    sentence = f"{subject.entry.name} {op.type} {object_.entry.name}"
    return note(work, typed if says_all else f"{sentence}: {typed}" if typed else sentence)


def _says(work: Work, cited: Cited, subject: EntryState, object_: EntryState) -> bool:
    if not mentions_any(cited.quote, object_.names):
        return False
    if mentions_any(cited.quote, subject.names):
        return True
    linked = subject.entry.principal_id
    speaks = linked is not None and cited.speaker_id == linked
    return speaks and has_word(cited.quote, work.settings["dream.first_person"])


def _equal_relation(
    work: Work, subject: NodeId, type_: str, object_: NodeId, validity: Validity
) -> RelationState | None:
    """Return the current relation of the same ends and type whose time overlaps; one that still holds first."""
    equal = [
        state
        for state in work.relations_of(subject)
        if (state.relation.subject_id, state.relation.type, state.relation.object_id) == (subject, type_, object_)
        and Validity.of(state.version).overlaps(validity)
    ]
    return min(equal, key=lambda state: (state.version.valid_to is not None, state.id), default=None)


def _merge(work: Work, known: RelationState, cited: Cited) -> Done:
    if cited.span in {old.span for old in known.evidence}:
        return Done(outcome=Outcome.NOOP, created=(known.id,))
    grown = add_evidence(work, known, (cited,))
    draft(
        work,
        AuditOperation.RELATION_ADD_EVIDENCE,
        known.id,
        before=imaging.evidence(known),
        after=imaging.evidence(grown),
        sources=work.sources_behind(Support(citations=grown.evidence)),
    )
    _support_names(work, grown, cited)
    touch_entry(work, known.relation.subject_id)
    return Done(outcome=Outcome.MERGED, created=(known.id,))


def _support_names(work: Work, relation: RelationState, cited: Cited) -> None:
    """Let a name that the quote says outlive the evidence it was given with."""
    for id_ in (relation.relation.subject_id, relation.relation.object_id):
        state = work.entries.get(id_)
        if state is None or state.entry.pool != work.pool or state.entry.read_only:
            continue
        for facet in state.facets:
            if mentions(cited.quote, facet.facet.value):
                gather(work, id_, facet, Support(citations=(cited,)))


def _removal_evidence(work: Work, op: RemoveRelation) -> tuple[Cited, ...]:
    text = (op.reason or work.reason or "").strip()
    if not op.citations and work.actor.is_human and not text:
        raise refuse("REASON_REQUIRED", "cite a source or say why", field="reason")
    citations = cite_or_note(work, op.citations, text, entry_type="")
    require_other_voice(work, citations)
    return citations


def _retract(work: Work, relation: RelationState, citations: tuple[Cited, ...]) -> None:
    draft(
        work,
        AuditOperation.RELATION_REMOVE,
        relation.id,
        before=imaging.relation(relation),
        sources=work.sources_behind(Support(citations=(*relation.evidence, *citations))),
    )
    retract_relation(work, relation)
    _touch_subject(work, relation)


def _end(work: Work, relation: RelationState, op: RemoveRelation, citations: tuple[Cited, ...]) -> Done:
    held = Validity.of(relation.version)
    if op.validTo is not None:
        end, precision = op.validTo.at, str(op.toPrecision or op.validTo.precision)
    else:
        said, said_precision = closing(Validity(), Support(citations=citations), work.sources)
        if said is None or said_precision is None:
            raise not_found()
        end, precision = said, said_precision
    if held.valid_from is not None and end <= held.valid_from:
        raise refuse("SCHEMA_INVALID", "validTo lies after the relation began", field="validTo")
    if held.valid_to == end and held.to_precision == precision:
        return Done(outcome=Outcome.NOOP, created=(relation.id,))
    revised = revise_relation(work, relation, held.closed_at(end, precision))
    spans = {cited.span for cited in relation.evidence}
    revised = add_evidence(work, revised, tuple(cited for cited in citations if cited.span not in spans))
    draft(
        work,
        AuditOperation.RELATION_REMOVE,
        relation.id,
        before={**imaging.validity(relation), **imaging.evidence(relation)},
        after={**imaging.validity(revised), **imaging.evidence(revised)},
        sources=work.sources_behind(Support(citations=(*relation.evidence, *citations))),
    )
    _touch_subject(work, relation)
    return Done(created=(relation.id,))


def _touch_subject(work: Work, relation: RelationState) -> None:
    if relation.relation.subject_id in work.entries:
        touch_entry(work, relation.relation.subject_id)


def _not_explicit() -> Exception:
    return refuse(
        "RELATION_NOT_EXPLICIT",
        "quote a source that names the object, and the subject or its speaker as I or we",
    )
