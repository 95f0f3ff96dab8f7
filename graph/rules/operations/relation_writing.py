"""The steps that relations are made of, put into a `Work`. Nothing is checked here. Source: KN-13, KN-26 to KN-31."""

from __future__ import annotations

from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Relation, RelationVersion
from graph.rules.operations.content import Validity
from graph.rules.operations.drafting import modified, placed, supersedes
from graph.rules.operations.state import Cited, RelationState, Support, cites
from graph.rules.operations.work import Work


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
        id=work.new_id(Relation.PREFIX), **placed(work), subject_id=subject, type=type_, object_id=object_
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


def put_relation_version(
    work: Work, relation: Relation, validity: Validity, attributes: Json, *, number: int
) -> RelationVersion:
    """Put a version of a relation's validity."""
    version = RelationVersion(
        id=work.new_id(RelationVersion.PREFIX),
        **placed(work),
        **modified(work),
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
