"""Loads the state that an operation list is decided on, in a number of round trips that does not grow with it.

Statements are read whether the actor sees them or not, since they decide about names, places and versions; `visible`
says what he may name, and nothing else is ever shown to him. Source: KN-60, DR-44.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from graph.model.edges import EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import (
    Block,
    BlockVersion,
    CurationGuide,
    Entry,
    Facet,
    FacetField,
    KbKind,
    KnowledgeBase,
    Relation,
    Standing,
)
from graph.model.nodes.people import Principal
from graph.rules.guide import limits_of
from graph.rules.names import NamedEntry
from graph.rules.operations.needs import Needs
from graph.rules.operations.state import Cited, GuideLimits, KnowledgeState, NameOwner, cited_of
from graph.rules.pools import base_id, scope_of
from graph.rules.scopes import KbScope
from graph.services.access.session import Session
from graph.services.knowledge.statements import PRESENT, Statements, find_all, load_statements
from graph.services.learning.learned import lessons_named, load_lessons, load_memo, load_skills
from graph.store.port import Reader
from graph.store.query import And, Direction, Eq, Find, In, Linked


async def load_state(
    session: Session, base: KnowledgeBase, needs: Needs, *, offered: frozenset[NodeId] = frozenset()
) -> KnowledgeState:
    """Return the present as far as a list needs it, under the locks that the caller holds.

    Of blocks that are offered though nobody sees them the states are loaded as well, if their entry is seen (MA-24).
    """
    reader = session.reader
    shown = dict(await session.open(sorted(needs.named)))
    unseen = await _offered_blocks(session, offered & needs.blocks - shown.keys())
    shown |= await session.open(sorted({block.entry_id for block in unseen}))
    statements = await _statements(reader, base, needs, shown, unseen)
    sources = {id_: node for id_, node in shown.items() if isinstance(node, Source)}
    extra = await _said(session, needs, statements)
    sources |= {id_: node for id_, node in extra.items() if isinstance(node, Source)}
    asked: Sequence[Callable[[], Awaitable[Any]]] = (
        lambda: _names(reader, base, needs),
        lambda: _guide(reader, base),
    )
    (owners, same), guide = await reader.together(asked)
    skills = await load_skills(reader, base, needs.skills)
    lessons = await load_lessons(session, (skill.overlay for skill in skills.values()), bases_read(base))
    memo = await load_memo(reader, base.id) if needs.memo else None
    lines = [state.line.id for state in memo.lines] if memo else []
    return KnowledgeState(
        base=base,
        visible=frozenset(shown)
        | frozenset(extra)
        | await _visible_versions(session, statements)
        | await session.prove(lines),
        scopes=await _scopes(reader, [*shown.values(), *(state.entry for state in statements.entries.values())]),
        entries=statements.entries,
        blocks=statements.blocks,
        relations=statements.relations,
        sources=sources,
        names=owners,
        same_names=same,
        readable=await _readable_names(session, base) if needs.near else (),
        guide=guide,
        rumours=await _rumours(reader, base, sources) if needs.hearsay else {},
        derivations=statements.derivations,
        block_of=await _blocks_of(reader, statements) if needs.deduces else {},
        roots=statements.roots,
        principals=await _principals(reader, base, needs),
        skills=skills,
        lessons=lessons,
        lesson_of=lessons_named(shown),
        memo=memo,
    )


def bases_read(base: KnowledgeBase) -> tuple[NodeId, ...]:
    """Return the ids of the knowledge bases that statements in `base` may rest on (KN-53)."""
    wider = (base_id(base.workspace, base.owner_id, kind) for kind in (KbKind.SHARED, KbKind.AGENT))
    return tuple(dict.fromkeys((base.id, *wider)))


async def _offered_blocks(session: Session, ids: Collection[NodeId]) -> list[Block]:
    found = await session.reader.get(PRESENT, sorted(ids)) if ids else {}
    return [node for node in found.values() if isinstance(node, Block)]


async def _statements(
    reader: Reader, base: KnowledgeBase, needs: Needs, shown: Mapping[NodeId, Node], unseen: Iterable[Block]
) -> Statements:
    blocks = [node for node in shown.values() if isinstance(node, Block)]
    blocks += [block for block in unseen if block.entry_id in shown]
    relations = {node.id: node for node in shown.values() if isinstance(node, Relation) and node.current}
    relations |= {relation.id: relation for relation in await _equal_relations(reader, base, needs)}
    whole = {id_ for id_ in needs.edited if id_ in shown} | {block.entry_id for block in blocks}
    ends = {end for relation in relations.values() for end in (relation.subject_id, relation.object_id)}
    entries = whole | ends | {id_ for id_ in needs.pointed if id_ in shown}
    only_entries = [id_ for id_ in entries if prefix_of(id_) == Entry.PREFIX]
    return await load_statements(
        reader, entries=only_entries, whole=whole, relations=sorted(relations.values(), key=lambda r: r.id)
    )


async def _equal_relations(reader: Reader, base: KnowledgeBase, needs: Needs) -> list[Relation]:
    """Return the current relations of the base that say what the list adds."""
    if not needs.triples:
        return []
    subjects = sorted({subject for subject, _, _ in needs.triples})
    objects = sorted({object_ for _, _, object_ in needs.triples})
    where = And(
        (In("subject_id", subjects), In("object_id", objects), Eq("current", True), Eq("pool", base.id)),
    )
    found = await find_all(reader, Relation, where)
    return [r for r in found if (r.subject_id, r.type, r.object_id) in needs.triples]


async def _visible_versions(session: Session, statements: Statements) -> frozenset[NodeId]:
    """Return the current versions of loaded blocks that the actor sees, though the list does not name them."""
    versions = [state.version.id for state in statements.blocks.values()]
    return frozenset(await session.reader.get(session.viewer, versions)) if versions else frozenset()


async def _said(session: Session, needs: Needs, statements: Statements) -> Mapping[NodeId, Node]:
    """Return the visible sources in which new names are looked for, and those behind what moves elsewhere."""
    wanted = needs.said | needs.moved
    if not wanted:
        return {}
    supports = [state.rests_on for state in statements.blocks.values() if wanted & {state.id, state.entry_id}]
    for id_ in wanted & statements.entries.keys():
        entry = statements.entries[id_]
        supports += [facet.rests_on for facet in entry.facets]
        if id_ in needs.moved:
            supports += [value.rests_on for value in entry.values]
    return await session.open(sorted({cited.source for support in supports for cited in support.citations}))


async def _scopes(reader: Reader, nodes: Iterable[Node]) -> dict[NodeId, KbScope]:
    pools = sorted({node.pool for node in nodes if node.pool})
    found = await reader.get(PRESENT, pools)
    return {id_: scope_of(node) for id_, node in found.items() if isinstance(node, KnowledgeBase)}


async def _names(reader: Reader, base: KnowledgeBase, needs: Needs) -> tuple[dict[str, NameOwner], dict[str, NodeId]]:
    """Return which entries of the base have the wanted names, and which have the same ones but for signs."""
    if not needs.names:
        return {}, {}
    owned = And((Eq("pool", base.id), In("live_name", sorted(needs.names))))
    wanted = And(
        (
            Eq("pool", base.id),
            Eq("field", FacetField.NAME),
            Eq("invalidated_at", None),
            In("norm_value", sorted(needs.keys)),
        )
    )
    asked: Sequence[Callable[[], Awaitable[Any]]] = (
        lambda: find_all(reader, Entry, owned),
        lambda: find_all(reader, Facet, wanted),
    )
    owners, facets = await reader.together(asked)
    entries = await reader.get(PRESENT, [facet.entry_id for facet in facets])
    audiences = await reader.audiences([*(owner.id for owner in owners), *entries])
    live = {id_ for id_, audience in audiences.items() if audience.live}
    named = {o.live_name: NameOwner(entry=o.id, live=o.id in live) for o in owners if o.live_name is not None}
    there = {id_ for id_, node in entries.items() if isinstance(node, Entry) and node.deleted_at is None}
    return named, {facet.norm_value: facet.entry_id for facet in facets if facet.entry_id in there & live}


async def _readable_names(session: Session, base: KnowledgeBase) -> tuple[NamedEntry, ...]:
    """Return the names and aliases of all live entries that the base reads and the actor sees (DR-65)."""
    where = And((In("field", [FacetField.NAME, FacetField.ALIAS]), Eq("invalidated_at", None)))
    viewer = session.narrowed(bases_read(base))
    facets = (await session.reader.find(viewer, Find(kind=Facet, where=where))).nodes
    entries = await session.reader.get(viewer, sorted({facet.entry_id for facet in facets}))
    names: dict[NodeId, list[str]] = {}
    for facet in facets:
        entry = entries.get(facet.entry_id)
        if isinstance(entry, Entry) and entry.deleted_at is None:
            names.setdefault(entry.id, []).append(facet.value)
    return tuple(NamedEntry(id=id_, names=tuple(values)) for id_, values in sorted(names.items()))


async def _guide(reader: Reader, base: KnowledgeBase) -> GuideLimits:
    guides = await find_all(reader, CurationGuide, Eq("principal_id", base.owner_id))
    return limits_of(guides[0].text) if guides else GuideLimits()


async def _rumours(
    reader: Reader, base: KnowledgeBase, sources: Mapping[NodeId, Source]
) -> dict[NodeId, tuple[Cited, ...]]:
    """Return what the unconfirmed blocks that the base reads quote of the sources."""
    if not sources:
        return {}
    unsure = And(
        (
            Eq("standing", Standing.UNCONFIRMED),
            Eq("invalidated_at", None),
            In("pool", bases_read(base)),
            Linked((EdgeType.CITES,), sorted(sources)),
        )
    )
    rumours = [version.id for version in await find_all(reader, BlockVersion, unsure)]
    edges = await reader.edges(PRESENT, rumours, (EdgeType.CITES,), Direction.OUT) if rumours else ()
    found: dict[NodeId, tuple[Cited, ...]] = {}
    for edge in edges:
        found[edge.target] = (*found.get(edge.target, ()), cited_of(edge))
    return found


async def _blocks_of(reader: Reader, statements: Statements) -> dict[NodeId, NodeId]:
    ends = {end for edge in statements.derivations for end in (edge.source, edge.target)}
    versions = await reader.get(PRESENT, sorted(id_ for id_ in ends if prefix_of(id_) == BlockVersion.PREFIX))
    return {id_: node.block_id for id_, node in versions.items() if isinstance(node, BlockVersion)}


async def _principals(reader: Reader, base: KnowledgeBase, needs: Needs) -> frozenset[NodeId]:
    if not needs.principals:
        return frozenset()
    found = await reader.get(PRESENT, sorted(needs.principals))
    return frozenset(
        id_ for id_, node in found.items() if isinstance(node, Principal) and node.workspace == base.workspace
    )
