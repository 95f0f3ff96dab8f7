"""Reading the present, and what is ended, of entries, blocks and relations as the values that decisions are made on.

Under the scope of a commit: what is returned here decides, and is never shown. A constant number of round trips.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import (
    Attribute,
    Block,
    BlockVersion,
    CurationGuide,
    Entry,
    EntryVersion,
    Facet,
    FacetField,
    Relation,
    RelationVersion,
)
from graph.rules.operations.state import (
    AttributeState,
    BlockState,
    Cited,
    EntryState,
    FacetState,
    RelationState,
    cited_of,
    support_of,
)
from graph.rules.restore_past import BlockPast, EntryPast, Past, RelationPast
from graph.services.knowledge.statements import PRESENT, find_all, present_values
from graph.store.port import Reader
from graph.store.query import And, Direction, Eq, In, Or, Where

P = TypeVar("P", EntryVersion, Facet, Attribute)

SUPPORT = (EdgeType.CITES, EdgeType.DERIVED_FROM)
POINTERS = (EdgeType.SHOWN_BY, EdgeType.SAME_AS)


@dataclass(kw_only=True, slots=True)
class States:
    """Live objects by id, and the past of all objects read, live or not."""

    entries: dict[NodeId, EntryState] = field(default_factory=dict)
    blocks: dict[NodeId, BlockState] = field(default_factory=dict)
    relations: dict[NodeId, RelationState] = field(default_factory=dict)
    past: Past = field(default_factory=Past)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Rows:
    """What was read of the objects asked for."""

    entries: Sequence[Entry]
    blocks: Sequence[Block]
    relations: Sequence[Relation]
    entry_versions: Mapping[NodeId, list[EntryVersion]]
    facets: Mapping[NodeId, list[Facet]]
    attributes: Mapping[NodeId, list[Attribute]]
    block_versions: Mapping[NodeId, list[BlockVersion]]
    relation_versions: Mapping[NodeId, RelationVersion]
    support: Mapping[NodeId, list[Edge]]
    pointers: Mapping[NodeId, list[Edge]]
    distinct: Mapping[NodeId, set[NodeId]]


async def read_states(
    reader: Reader,
    ids: Collection[NodeId],
    *,
    whole: Collection[NodeId] = (),
    relations_where: Iterable[Where] = (),
) -> States:
    """Return the states of these objects.

    Args:
        reader: of the transaction that decides.
        ids: entries, blocks, relations and guides; of other kinds and unknown ones nothing is returned.
        whole: entries whose live blocks and current relations are read too; a relation counts for an entry of its
            own knowledge base only.
        relations_where: further current relations to read.
    """
    named = await reader.get(PRESENT, sorted({*ids, *whole}))
    entries = [node for node in named.values() if isinstance(node, Entry)]
    blocks = {node.id: node for node in named.values() if isinstance(node, Block)}
    relations = {node.id: node for node in named.values() if isinstance(node, Relation)}
    if whole:
        blocks |= {node.id: node for node in await _live_blocks(reader, whole)}
        relations |= {node.id: node for node in await _relations_at(reader, whole, entries)}
    further = list(relations_where)
    if further:
        where = And((Eq("current", True), Or(further)))
        relations |= {node.id: node for node in await find_all(reader, Relation, where)}
    rows = await _rows(reader, entries, list(blocks.values()), list(relations.values()))
    states = _assembled(rows)
    states.past.guides = {node.id: node for node in named.values() if isinstance(node, CurationGuide)}
    return states


async def _live_blocks(reader: Reader, entries: Collection[NodeId]) -> Sequence[Block]:
    return await find_all(reader, Block, And((In("entry_id", sorted(entries)), Eq("deleted_at", None))))


async def _relations_at(reader: Reader, whole: Collection[NodeId], entries: Iterable[Entry]) -> list[Relation]:
    pools = {entry.id: entry.pool for entry in entries}
    ids = sorted(whole)
    where = And((Eq("current", True), Or((In("subject_id", ids), In("object_id", ids)))))
    found = await find_all(reader, Relation, where)
    return [r for r in found if r.pool in {pools.get(end) for end in (r.subject_id, r.object_id) if end in whole}]


async def _rows(
    reader: Reader, entries: Sequence[Entry], blocks: Sequence[Block], relations: Sequence[Relation]
) -> _Rows:
    entry_ids = sorted(entry.id for entry in entries)
    versions = await find_all(reader, EntryVersion, In("entry_id", entry_ids)) if entries else ()
    facets = await find_all(reader, Facet, In("entry_id", entry_ids)) if entries else ()
    attributes = await find_all(reader, Attribute, In("entry_id", entry_ids)) if entries else ()
    block_ids, relation_ids = sorted(b.id for b in blocks), sorted(r.id for r in relations)
    block_versions = await find_all(reader, BlockVersion, In("block_id", block_ids)) if blocks else ()
    relation_versions = await find_all(reader, RelationVersion, In("relation_id", relation_ids)) if relations else ()
    by_block: dict[NodeId, list[BlockVersion]] = {}
    for version in sorted(block_versions, key=lambda v: v.version):
        by_block.setdefault(version.block_id, []).append(version)
    last_relations = {v.relation_id: v for v in sorted(relation_versions, key=lambda v: v.version)}
    holders = [n.id for n in (*facets, *attributes, *(found[-1] for found in by_block.values()), *relations)]
    return _Rows(
        entries=entries,
        blocks=blocks,
        relations=relations,
        entry_versions=_by_entry(versions),
        facets=_by_entry(facets),
        attributes=_by_entry(attributes),
        block_versions=by_block,
        relation_versions=last_relations,
        support=await _edges(reader, holders, SUPPORT),
        pointers=await _edges(reader, entry_ids, POINTERS),
        distinct=await _distinct(reader, entry_ids),
    )


def _assembled(rows: _Rows) -> States:
    states = States()
    for entry in rows.entries:
        _add_entry(states, rows, entry)
    for block in rows.blocks:
        every = rows.block_versions[block.id]
        version = every[-1]
        states.past.blocks[block.id] = BlockPast(block=block, version=version, versions=tuple(v.id for v in every))
        if block.deleted_at is None:
            rests_on = support_of(rows.support.get(version.id, ()))
            states.blocks[block.id] = BlockState(block=block, version=version, rests_on=rests_on)
    for relation in rows.relations:
        current = rows.relation_versions[relation.id]
        evidence = _cited(rows.support.get(relation.id, ()))
        states.past.relations[relation.id] = RelationPast(relation=relation, version=current, evidence=evidence)
        if relation.current:
            states.relations[relation.id] = RelationState(relation=relation, version=current, evidence=evidence)
    return states


def _add_entry(states: States, rows: _Rows, entry: Entry) -> None:
    version = max(rows.entry_versions[entry.id], key=lambda v: v.version)
    facets = [_facet_state(rows, facet) for facet in rows.facets.get(entry.id, ())]
    values = [_attribute_state(rows, value) for value in rows.attributes.get(entry.id, ())]
    pointers = rows.pointers.get(entry.id, ())
    past = EntryPast(
        entry=entry,
        version=version,
        shown_by=_targets(pointers, EdgeType.SHOWN_BY),
        facets=tuple(facets),
        attributes=tuple(values),
        distinct_from=tuple(sorted(rows.distinct.get(entry.id, ()))),
        same_as=_targets(pointers, EdgeType.SAME_AS),
    )
    states.past.entries[entry.id] = past
    if entry.deleted_at is None:
        states.entries[entry.id] = _entry_state(past)


def _entry_state(past: EntryPast) -> EntryState:
    current = [state for state in past.facets if state.facet.invalidated_at is None]
    names = [state for state in current if state.facet.field == FacetField.NAME]
    summaries = [state for state in current if state.facet.field == FacetField.SUMMARY]
    aliases = [state for state in current if state.facet.field == FacetField.ALIAS]
    order = {value: index for index, value in enumerate(past.version.aliases)}
    present, closed = present_values(past.attributes)
    return EntryState(
        entry=past.entry,
        version=past.version,
        name=next(state for state in names if state.facet.id in past.shown_by),
        aliases=tuple(sorted(aliases, key=lambda s: (order.get(s.facet.value, len(order)), s.facet.id))),
        summary=summaries[0] if summaries else None,
        attributes=present,
        closed_attributes=closed,
        distinct_from=past.distinct_from,
        same_as=past.same_as,
    )


def _facet_state(rows: _Rows, facet: Facet) -> FacetState:
    edges = rows.support.get(facet.id, ())
    return FacetState(facet=facet, rests_on=support_of(edges), gathered=support_of(edges, gathered=True))


def _attribute_state(rows: _Rows, value: Attribute) -> AttributeState:
    return AttributeState(attribute=value, rests_on=support_of(rows.support.get(value.id, ())))


def _cited(edges: Iterable[Edge]) -> tuple[Cited, ...]:
    return tuple(cited_of(edge) for edge in edges if edge.type is EdgeType.CITES)


def _targets(edges: Iterable[Edge], type_: EdgeType) -> tuple[NodeId, ...]:
    return tuple(edge.target for edge in edges if edge.type is type_)


def _by_entry(parts: Iterable[P]) -> dict[NodeId, list[P]]:
    found: dict[NodeId, list[P]] = {}
    for part in parts:
        found.setdefault(part.entry_id, []).append(part)
    return found


async def _edges(reader: Reader, ids: Sequence[NodeId], types: Iterable[EdgeType]) -> dict[NodeId, list[Edge]]:
    found: dict[NodeId, list[Edge]] = {}
    for edge in await reader.edges(PRESENT, ids, types, Direction.OUT) if ids else ():
        found.setdefault(edge.source, []).append(edge)
    return found


async def _distinct(reader: Reader, entries: Sequence[NodeId]) -> dict[NodeId, set[NodeId]]:
    """Return from which entries each is marked distinct; the mark holds both ways, whichever way it was made."""
    found: dict[NodeId, set[NodeId]] = {}
    for way in (Direction.OUT, Direction.IN):
        for edge in await reader.edges(PRESENT, entries, [EdgeType.DISTINCT_FROM], way) if entries else ():
            one, other = (edge.source, edge.target) if way is Direction.OUT else (edge.target, edge.source)
            found.setdefault(one, set()).add(other)
    return found
