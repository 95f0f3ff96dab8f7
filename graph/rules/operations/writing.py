"""The steps that every operation is made of: nodes, edges, keyword texts and audit drafts, put into a `Work`.

Nothing is checked here. Source: KN-22, KN-23, KN-30 to KN-33, KN-82 to KN-84.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from graph.model.edges import Edge, EdgeType
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind
from graph.model.nodes.knowledge import (
    Attribute,
    Block,
    BlockVersion,
    EntryVersion,
    Facet,
    FacetField,
    Relation,
    RelationVersion,
)
from graph.model.schema import kind_of
from graph.model.time import Millis
from graph.rules.audit_chain import AuditDraft
from graph.rules.audit_operations import AuditOperation
from graph.rules.images import Image
from graph.rules.ingest import content_hash
from graph.rules.names import normalised_name
from graph.rules.operations.state import (
    AttributeState,
    BlockState,
    Cited,
    EntryState,
    FacetState,
    RelationState,
    Support,
    cites,
    derives,
    support_edges,
)
from graph.rules.operations.work import Work
from graph.text.quotes import MAX_QUOTE_CHARACTERS, normalise_source
from graph.text.similarity import name_key

TEXT_OF_BLOCK = "block"
MAX_GATHERED = 50
"""Most pieces of later evidence that a name or alias keeps beside those it was given with."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Validity:
    """When a statement holds in the world (KN-73, KN-74)."""

    valid_from: Millis | None = None
    valid_to: Millis | None = None
    from_precision: str | None = None
    to_precision: str | None = None

    @classmethod
    def of(cls, node: BlockVersion | RelationVersion | Attribute) -> Validity:
        """Return the validity of a stored version."""
        return cls(
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            from_precision=node.from_precision,
            to_precision=node.to_precision,
        )

    def closed_at(self, end: Millis, precision: str | None) -> Validity:
        """Return the same with another end."""
        return replace(self, valid_to=end, to_precision=precision)

    def fields(self) -> dict[str, Any]:
        """Return the fields of a node."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def overlaps(self, other: Validity) -> bool:
        """True if both share a moment; a missing bound is open."""
        return _starts_before_end(self, other) and _starts_before_end(other, self)


@dataclass(frozen=True, kw_only=True, slots=True)
class BlockContent:
    """All that a version of a block says."""

    text: str
    basis: str
    standing: str
    change: str | None = None
    authority: str | None = None
    condition: str | None = None
    conclusion: str | None = None
    inferred_at: Millis | None = None
    validity: Validity = field(default_factory=Validity)
    rests_on: Support = field(default_factory=Support)

    @classmethod
    def of(cls, state: BlockState) -> BlockContent:
        """Return what the current version of a block says."""
        version = state.version
        return cls(
            text=version.text,
            basis=version.basis,
            standing=version.standing,
            change=version.change,
            authority=version.authority,
            condition=version.condition,
            conclusion=version.conclusion,
            inferred_at=version.inferred_at,
            validity=Validity.of(version),
            rests_on=state.rests_on,
        )


def draft(
    work: Work,
    operation: AuditOperation,
    target: NodeId,
    *,
    before: Image | None = None,
    after: Image | None = None,
    sources: Iterable[str] = (),
) -> None:
    """Put an audit record among the changes."""
    spec = kind_of(target)
    work.changes.drafts.append(
        AuditDraft(
            operation=operation,
            actor_id=work.actor.id,
            actor_kind=work.actor.kind,
            on_behalf_of=work.actor.on_behalf_of,
            target_id=target,
            target_kind=spec.name if spec else "",
            before=before,
            after=after,
            reason=work.reason,
            dream_run_id=work.actor.dream_run_id,
            image_sources=tuple(sorted(set(sources))),
        )
    )


def note(work: Work, text: str, *, role: str = "supports") -> Cited:
    """Store what a person typed as a source of its own and return the citation of it (KN-68)."""
    id_ = work.new_id(Source.PREFIX)
    source = Source(
        id=id_,
        **_place(work),
        kind=SourceKind.HUMAN_NOTE,
        content_hash=content_hash(text),
        text=text,
        author_id=work.actor.id,
        speaker=work.actor.name,
        occurred_at=work.at,
        recorded_at=work.at,
        series=id_,
    )
    work.sources[id_] = source
    work.visible.add(id_)
    work.changes.puts.append(source)
    work.changes.links.append(Edge(type=EdgeType.SCOPED_TO, source=id_, target=work.pool))
    quote = normalise_source(text)[:MAX_QUOTE_CHARACTERS]
    return Cited(source=id_, quote=quote, start=0, end=len(quote), role=role, speaker_id=work.actor.id, said_at=work.at)


def make_block(work: Work, entry: NodeId, content: BlockContent, position: int) -> BlockState:
    """Put a new block with its first version into an entry."""
    block = Block(id=work.new_id(Block.PREFIX), **_place(work), entry_id=entry, position=position)
    work.changes.puts.append(block)
    work.changes.links.append(Edge(type=EdgeType.HAS_BLOCK, source=entry, target=block.id))
    return put_version(work, block, content, number=1)


def edit_block(work: Work, state: BlockState, content: BlockContent, *, change: str | None) -> BlockState:
    """Give a block its next version; the present one is believed no more (KN-22, KN-23)."""
    end_version(work, state)
    number = state.block.current_version + 1
    work.changes.patch(state.id, current_version=number)
    made = put_version(work, replace(state.block, current_version=number), content, number=number)
    work.changes.links.append(supersedes(made.version.id, state.version.id, change, work.reason))
    work.changes.touched.add(state.id)
    return made


def end_block(work: Work, state: BlockState) -> None:
    """End a block: it has no current version any more."""
    end_version(work, state)
    work.changes.patch(state.id, deleted_at=work.at)
    del work.blocks[state.id]


def supersedes(newer: NodeId, older: NodeId, change: str | None, reason: str | None) -> Edge:
    """Return the edge from a newer version to the one whose place it takes."""
    return Edge(type=EdgeType.SUPERSEDES, source=newer, target=older, props={"change": change, "reason": reason})


def make_facet(
    work: Work,
    entry: NodeId,
    kind: FacetField,
    value: str,
    rests_on: Support,
    gathered: Support | None = None,
) -> FacetState:
    """Put a name, alias or summary with its evidence."""
    facet = Facet(
        id=work.new_id(Facet.PREFIX),
        **_place(work),
        entry_id=entry,
        field=kind,
        value=value,
        norm_value=name_key(value) if kind is not FacetField.SUMMARY else "",
        recorded_at=work.at,
    )
    later = gathered or Support()
    work.changes.puts.append(facet)
    work.changes.links.append(Edge(type=EdgeType.HAS_FACET, source=entry, target=facet.id))
    work.changes.links += support_edges(facet.id, rests_on, work.at)
    work.changes.links += support_edges(facet.id, later, work.at, gathered=True)
    work.changes.text(facet.id, entry, kind, value)
    work.remember_roots(facet.id, rests_on)
    return FacetState(facet=facet, rests_on=rests_on, gathered=later)


def end_facet(work: Work, state: FacetState) -> None:
    """Believe a name, alias or summary no more; it stays readable as history."""
    work.changes.patch(state.facet.id, invalidated_at=work.at)
    work.changes.untext(state.facet.id, state.facet.field)


def gather(work: Work, entry: NodeId, facet: FacetState, more: Support) -> None:
    """Let a name or alias rest on later evidence too, so that it outlives the first (KN-124).

    Only evidence from other sources helps, and of what was gathered the newest `MAX_GATHERED` pieces are kept: a
    popular name must not weigh more with everything that is said about it.
    """
    pieces = [*_pieces(facet.rests_on), *_pieces(facet.gathered)]
    rooted = [frozenset(work.sources_behind(piece)) for piece in pieces]
    new = [
        piece for piece in _pieces(more) if not any(known <= frozenset(work.sources_behind(piece)) for known in rooted)
    ]
    if not new:
        return
    kept = [*_pieces(facet.gathered), *new]
    for gone in kept[:-MAX_GATHERED]:
        work.changes.unlinks += support_edges(facet.facet.id, gone, work.at, gathered=True)
    for piece in new:
        work.changes.links += support_edges(facet.facet.id, piece, work.at, gathered=True)
    gathered = Support()
    for piece in kept[-MAX_GATHERED:]:
        gathered = gathered.union(piece)
    state, grown = work.entries[entry], replace(facet, gathered=gathered)
    work.changes.touched.add(facet.facet.id)
    work.entries[entry] = replace(
        state,
        name=grown if state.name is facet else state.name,
        aliases=tuple(grown if alias is facet else alias for alias in state.aliases),
    )


def _pieces(support: Support) -> list[Support]:
    """Return each citation and each basis alone."""
    quoted = [Support(citations=(cited,)) for cited in support.citations]
    return quoted + [Support(derived_from=(basis,)) for basis in support.derived_from]


def make_attribute(
    work: Work, entry: NodeId, key: str, value: Json, validity: Validity, rests_on: Support, *, number: int
) -> AttributeState:
    """Put a value of an attribute."""
    attribute = Attribute(
        id=work.new_id(Attribute.PREFIX),
        **_place(work),
        **_modifier(work),
        **validity.fields(),
        entry_id=entry,
        key=key,
        version=number,
        value=value,
        recorded_at=work.at,
    )
    work.changes.puts.append(attribute)
    work.changes.links.append(Edge(type=EdgeType.HAS_ATTRIBUTE, source=entry, target=attribute.id))
    work.changes.links += support_edges(attribute.id, rests_on, work.at)
    work.remember_roots(attribute.id, rests_on)
    return AttributeState(attribute=attribute, rests_on=rests_on)


def end_attribute(work: Work, state: AttributeState) -> None:
    """Believe a value of an attribute no more."""
    work.changes.patch(state.attribute.id, invalidated_at=work.at)


def touch_entry(work: Work, entry: NodeId) -> EntryState:
    """Note that an entry or a block of it was changed now."""
    state = work.entries[entry]
    changed = replace(state.entry, updated_at=work.at, last_modifier_id=work.actor.id)
    work.changes.patch(entry, updated_at=work.at, last_modifier_id=work.actor.id)
    work.changes.reguard.add(entry)
    work.entries[entry] = replace(state, entry=changed)
    return work.entries[entry]


def next_entry_version(work: Work, state: EntryState) -> EntryState:
    """Give an entry whose name, type, aliases, summary or attributes changed its next version."""
    number = state.entry.current_version + 1
    work.changes.patch(state.version.id, invalidated_at=work.at)
    version = put_entry_version(work, state, number)
    work.changes.links.append(supersedes(version.id, state.version.id, None, work.reason))
    work.changes.patch(
        state.id,
        name=state.entry.name,
        live_name=state.entry.live_name,
        type=state.entry.type,
        current_version=number,
    )
    work.entries[state.id] = replace(state, version=version, entry=replace(state.entry, current_version=number))
    return touch_entry(work, state.id)


def put_entry_version(work: Work, state: EntryState, number: int) -> EntryVersion:
    """Put the version that says what an entry is called and what it is now."""
    version = EntryVersion(
        id=work.new_id(EntryVersion.PREFIX),
        **_place(work),
        **_modifier(work),
        entry_id=state.id,
        version=number,
        name=state.entry.name,
        norm_name=normalised_name(state.entry.name),
        type=state.entry.type,
        aliases=tuple(alias.facet.value for alias in state.aliases),
        summary=state.summary.facet.value if state.summary else "",
        recorded_at=work.at,
    )
    work.changes.puts.append(version)
    work.changes.links.append(Edge(type=EdgeType.HAS_VERSION, source=state.id, target=version.id))
    work.changes.links.append(Edge(type=EdgeType.SHOWN_BY, source=version.id, target=state.name.facet.id))
    return version


def make_relation(
    work: Work,
    subject: NodeId,
    type_: str,
    object_: NodeId,
    validity: Validity,
    evidence: tuple[Cited, ...],
    attributes: Json = None,
) -> RelationState:
    """Put a relation with its first version, its ends and its shortcut (KN-13)."""
    relation = Relation(
        id=work.new_id(Relation.PREFIX), **_place(work), subject_id=subject, type=type_, object_id=object_
    )
    work.changes.puts.append(relation)
    work.changes.links += [
        Edge(type=EdgeType.SUBJECT, source=relation.id, target=subject),
        Edge(type=EdgeType.OBJECT, source=relation.id, target=object_),
        *(cites(relation.id, cited, work.at) for cited in evidence),
    ]
    work.remember_roots(relation.id, Support(citations=evidence))
    version = put_relation_version(work, relation, validity, attributes, number=1)
    state = RelationState(relation=relation, version=version, evidence=evidence)
    work.changes.links.append(relates(state))
    work.relations[relation.id] = state
    work.visible.add(relation.id)
    return state


def add_evidence(work: Work, state: RelationState, more: tuple[Cited, ...]) -> RelationState:
    """Let a relation rest on further citations."""
    work.changes.links += [cites(state.id, cited, work.at) for cited in more]
    work.changes.touched.add(state.id)
    grown = replace(state, evidence=state.evidence + more)
    work.remember_roots(state.id, Support(citations=grown.evidence))
    work.relations[state.id] = grown
    return grown


def revise_relation(work: Work, state: RelationState, validity: Validity) -> RelationState:
    """Give a relation its next version, with another validity."""
    number = state.relation.current_version + 1
    work.changes.patch(state.version.id, invalidated_at=work.at)
    work.changes.patch(state.id, current_version=number)
    relation = replace(state.relation, current_version=number)
    version = put_relation_version(work, relation, validity, state.version.attributes, number=number)
    work.changes.links.append(supersedes(version.id, state.version.id, None, work.reason))
    revised = replace(state, relation=relation, version=version)
    work.changes.links.append(relates(revised))
    work.relations[state.id] = revised
    return revised


def retract_relation(work: Work, state: RelationState) -> None:
    """Take a relation back: only its version ends and its shortcut goes (KN-31)."""
    work.changes.patch(state.version.id, invalidated_at=work.at)
    work.changes.patch(state.id, current=False)
    work.changes.unlinks.append(relates(state))
    del work.relations[state.id]


def relates(state: RelationState) -> Edge:
    """Return the shortcut of a current relation (KN-11)."""
    relation, version = state.relation, state.version
    props = {
        "relationId": relation.id,
        "type": relation.type,
        "validFrom": version.valid_from,
        "validTo": version.valid_to,
    }
    return Edge(
        type=EdgeType.RELATES,
        source=relation.subject_id,
        target=relation.object_id,
        key=relation.id,
        props=props,
    )


def put_version(work: Work, block: Block, content: BlockContent, *, number: int) -> BlockState:
    """Put a version of a block, with its evidence and its keyword text."""
    version = BlockVersion(
        id=work.new_id(BlockVersion.PREFIX),
        **_place(work),
        **_modifier(work),
        **content.validity.fields(),
        block_id=block.id,
        entry_id=block.entry_id,
        version=number,
        text=content.text,
        basis=content.basis,
        standing=content.standing,
        change=content.change,
        authority=content.authority,
        condition=content.condition,
        conclusion=content.conclusion,
        inferred_at=content.inferred_at,
        recorded_at=work.at,
    )
    state = BlockState(block=block, version=version, rests_on=content.rests_on)
    work.changes.puts.append(version)
    work.changes.links += [
        Edge(type=EdgeType.HAS_VERSION, source=block.id, target=version.id),
        Edge(type=EdgeType.SHOWN_BY, source=block.id, target=version.id),
        *(cites(version.id, cited, work.at) for cited in content.rests_on.citations),
        *(derives(version.id, basis) for basis in content.rests_on.derived_from),
    ]
    work.changes.text(version.id, block.entry_id, TEXT_OF_BLOCK, content.text)
    work.remember_roots(version.id, content.rests_on)
    work.blocks[block.id] = state
    work.visible.add(block.id)
    return state


def end_version(work: Work, state: BlockState) -> None:
    """Believe the current version of a block no more."""
    work.changes.patch(state.version.id, invalidated_at=work.at)
    work.changes.untext(state.version.id, TEXT_OF_BLOCK)


def put_relation_version(
    work: Work, relation: Relation, validity: Validity, attributes: Json, *, number: int
) -> RelationVersion:
    """Put a version of a relation's validity."""
    version = RelationVersion(
        id=work.new_id(RelationVersion.PREFIX),
        **_place(work),
        **_modifier(work),
        **validity.fields(),
        relation_id=relation.id,
        version=number,
        attributes=attributes,
        recorded_at=work.at,
    )
    work.changes.puts.append(version)
    work.changes.links += [
        Edge(type=EdgeType.HAS_VERSION, source=relation.id, target=version.id),
        Edge(type=EdgeType.SHOWN_BY, source=version.id, target=relation.id),
    ]
    return version


def _place(work: Work) -> Mapping[str, Any]:
    return {"workspace": work.state.base.workspace, "pool": work.pool, "created_at": work.at}


def _modifier(work: Work) -> Mapping[str, Any]:
    return {
        "modifier_id": work.actor.id,
        "modifier_kind": work.actor.kind,
        "reason": work.reason,
        "dream_run_id": work.actor.dream_run_id,
    }


def _starts_before_end(one: Validity, other: Validity) -> bool:
    return one.valid_from is None or other.valid_to is None or one.valid_from < other.valid_to
