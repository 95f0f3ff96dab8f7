"""Loads entries with all that is believed about them now, for writing: names, blocks, attributes, relations, evidence.

For deciding about changes only, under the lock of their pool; a reader gets entries through a `Session`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from graph.model.access import SystemScope
from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import (
    Attribute,
    Block,
    BlockVersion,
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
    EntryState,
    FacetState,
    RelationState,
    cited_of,
    support_of,
)
from graph.store.port import Reader
from graph.store.query import And, Direction, Eq, Find, In, Where

N = TypeVar("N", bound=Node)

PRESENT = SystemScope(reason="the present that a change is decided on")
_EVIDENCE = (EdgeType.CITES, EdgeType.DERIVED_FROM)
_MARKS = (EdgeType.SAME_AS, EdgeType.DISTINCT_FROM)


@dataclass(frozen=True, kw_only=True, slots=True)
class Statements:
    """Entries, blocks and relations by id, as they are now.

    Attributes:
        roots: raw sources behind each statement.
        derivations: all DERIVED_FROM edges below them.
    """

    entries: Mapping[NodeId, EntryState] = field(default_factory=dict)
    blocks: Mapping[NodeId, BlockState] = field(default_factory=dict)
    relations: Mapping[NodeId, RelationState] = field(default_factory=dict)
    roots: Mapping[NodeId, frozenset[NodeId]] = field(default_factory=dict)
    derivations: tuple[Edge, ...] = ()


async def load_statements(
    reader: Reader,
    *,
    entries: Collection[NodeId],
    whole: Collection[NodeId] = (),
    relations: Sequence[Relation] = (),
) -> Statements:
    """Return live entries with their names, and what belongs to them.

    Takes about a dozen round trips, however many entries there are.

    Args:
        reader: inside the transaction that writes.
        entries: ids of entries; those that do not exist or are deleted are left out.
        whole: those of them whose blocks and attributes are needed.
        relations: relations to load with their evidence.
    """
    found = await reader.get(PRESENT, sorted({*entries, *whole}))
    live = {id_: node for id_, node in found.items() if isinstance(node, Entry) and node.deleted_at is None}
    ids, inside = sorted(live), sorted(live.keys() & set(whole))
    versions = await _current(reader, EntryVersion, ids)
    facets = await _current(reader, Facet, ids)
    attributes = await find_all(reader, Attribute, In("entry_id", inside)) if inside else ()
    block_versions = await _current(reader, BlockVersion, inside)
    blocks = await find_all(reader, Block, And((In("entry_id", inside), Eq("deleted_at", None)))) if inside else ()
    relation_ids = sorted(relation.id for relation in relations)
    relation_versions = await _current(reader, RelationVersion, relation_ids, "relation_id")
    statements = [node.id for node in (*facets, *attributes, *block_versions, *relations)]
    evidence = _by_source(await reader.edges(PRESENT, statements, _EVIDENCE, Direction.OUT) if statements else ())
    roots, derivations = await roots_of(reader, statements)
    marks = await reader.edges(PRESENT, inside, _MARKS, Direction.OUT) if inside else ()
    back = await reader.edges(PRESENT, inside, (EdgeType.DISTINCT_FROM,), Direction.IN) if inside else ()
    return Statements(
        entries=_entries(live, versions, facets, attributes, evidence, (*marks, *back)),
        blocks=_blocks(blocks, block_versions, evidence),
        relations=_relations(relations, relation_versions, evidence),
        roots=roots,
        derivations=derivations,
    )


async def relations_at(reader: Reader, entries: Collection[NodeId], pool: NodeId) -> tuple[Relation, ...]:
    """Return the current relations of a pool that begin or end at one of the entries."""
    ids = sorted(entries)
    from_here = await find_all(reader, Relation, And((In("subject_id", ids), Eq("current", True), Eq("pool", pool))))
    to_here = await find_all(reader, Relation, And((In("object_id", ids), Eq("current", True), Eq("pool", pool))))
    return tuple({relation.id: relation for relation in (*from_here, *to_here)}.values())


async def find_all(reader: Reader, kind: type[N], where: Where) -> tuple[N, ...]:
    """Return all nodes of a kind that fit, in id order."""
    return (await reader.find(PRESENT, Find(kind=kind, where=where))).nodes


async def roots_of(
    reader: Reader, statements: Sequence[NodeId]
) -> tuple[dict[NodeId, frozenset[NodeId]], tuple[Edge, ...]]:
    """Return the raw sources behind statements, at any distance, and the derivations that lead there."""
    if not statements:
        return {}, ()
    reached = await reader.closure(list(statements), _EVIDENCE, Direction.OUT)
    below: dict[NodeId, list[NodeId]] = {}
    for edge in reached.edges:
        below.setdefault(edge.source, []).append(edge.target)
    roots = {node: _raw(node, below) for node in reached.depths if prefix_of(node) != Source.PREFIX}
    return roots, tuple(edge for edge in reached.edges if edge.type is EdgeType.DERIVED_FROM)


def _raw(start: NodeId, below: Mapping[NodeId, Sequence[NodeId]]) -> frozenset[NodeId]:
    seen, queue = {start}, [start]
    while queue:
        fresh = [target for target in below.get(queue.pop(), ()) if target not in seen]
        seen.update(fresh)
        queue += fresh
    return frozenset(node for node in seen if prefix_of(node) == Source.PREFIX)


async def _current(reader: Reader, kind: type[N], ids: Sequence[NodeId], owner: str = "entry_id") -> tuple[N, ...]:
    if not ids:
        return ()
    return await find_all(reader, kind, And((In(owner, ids), Eq("invalidated_at", None))))


def _by_source(edges: Iterable[Edge]) -> dict[NodeId, list[Edge]]:
    found: dict[NodeId, list[Edge]] = {}
    for edge in edges:
        found.setdefault(edge.source, []).append(edge)
    return found


def _entries(
    live: Mapping[NodeId, Entry],
    versions: Iterable[EntryVersion],
    facets: Iterable[Facet],
    attributes: Iterable[Attribute],
    evidence: Mapping[NodeId, Sequence[Edge]],
    marks: Iterable[Edge],
) -> dict[NodeId, EntryState]:
    version_of = {version.entry_id: version for version in versions}
    facets_of = _grouped(facets)
    values_of = _grouped(attributes)
    marked = list(marks)
    states = {}
    for id_, entry in live.items():
        own = [_facet(facet, evidence) for facet in facets_of.get(id_, ())]
        names = [state for state in own if state.facet.field == FacetField.NAME]
        if id_ in version_of and names:
            states[id_] = _entry(entry, version_of[id_], names[0], own, values_of.get(id_, ()), evidence, marked)
    return states


def _entry(
    entry: Entry,
    version: EntryVersion,
    name: FacetState,
    facets: Sequence[FacetState],
    values: Sequence[Attribute],
    evidence: Mapping[NodeId, Sequence[Edge]],
    marks: Sequence[Edge],
) -> EntryState:
    order = {alias: place for place, alias in enumerate(version.aliases)}
    aliases = [state for state in facets if state.facet.field == FacetField.ALIAS]
    summaries = [state for state in facets if state.facet.field == FacetField.SUMMARY]
    present, closed = present_values(
        [AttributeState(attribute=v, rests_on=support_of(evidence.get(v.id, ()))) for v in values]
    )
    same = tuple(edge.target for edge in marks if edge.source == entry.id and edge.type is EdgeType.SAME_AS)
    distinct = {
        edge.target if edge.source == entry.id else edge.source
        for edge in marks
        if edge.type is EdgeType.DISTINCT_FROM and entry.id in (edge.source, edge.target)
    }
    return EntryState(
        entry=entry,
        version=version,
        name=name,
        aliases=tuple(sorted(aliases, key=lambda s: (order.get(s.facet.value, len(order)), s.facet.id))),
        summary=summaries[0] if summaries else None,
        attributes=present,
        closed_attributes=closed,
        distinct_from=tuple(sorted(distinct)),
        same_as=same,
    )


def present_values(
    states: Iterable[AttributeState],
) -> tuple[dict[str, AttributeState], tuple[AttributeState, ...]]:
    """Tell the present value of each key from the current values that hold no more.

    The value written last is the present one, unless it was ended since: then the key is not set, and what is
    current beside it is past.

    Args:
        states: all values of an entry, ended ones too.
    """
    listed = sorted(states, key=lambda s: (s.attribute.recorded_at, s.attribute.version, s.attribute.id))
    last = {state.attribute.key: state for state in listed}
    present = {key: state for key, state in sorted(last.items()) if state.attribute.invalidated_at is None}
    chosen = {state.attribute.id for state in present.values()}
    closed = [s for s in listed if s.attribute.invalidated_at is None and s.attribute.id not in chosen]
    return present, tuple(closed)


def _facet(facet: Facet, evidence: Mapping[NodeId, Sequence[Edge]]) -> FacetState:
    edges = evidence.get(facet.id, ())
    return FacetState(facet=facet, rests_on=support_of(edges), gathered=support_of(edges, gathered=True))


def _blocks(
    blocks: Iterable[Block], versions: Iterable[BlockVersion], evidence: Mapping[NodeId, Sequence[Edge]]
) -> dict[NodeId, BlockState]:
    version_of = {version.block_id: version for version in versions}
    return {
        block.id: BlockState(
            block=block,
            version=version_of[block.id],
            rests_on=support_of(evidence.get(version_of[block.id].id, ())),
        )
        for block in blocks
        if block.id in version_of
    }


def _relations(
    relations: Iterable[Relation], versions: Iterable[RelationVersion], evidence: Mapping[NodeId, Sequence[Edge]]
) -> dict[NodeId, RelationState]:
    version_of = {version.relation_id: version for version in versions}
    return {
        relation.id: RelationState(
            relation=relation,
            version=version_of[relation.id],
            evidence=tuple(cited_of(e) for e in evidence.get(relation.id, ()) if e.type is EdgeType.CITES),
        )
        for relation in relations
        if relation.id in version_of
    }


def _grouped(nodes: Iterable[N]) -> dict[NodeId, list[N]]:
    found: dict[NodeId, list[N]] = {}
    for node in nodes:
        found.setdefault(getattr(node, "entry_id"), []).append(node)  # noqa: B009 - of several kinds
    return found
