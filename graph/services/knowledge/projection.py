"""The text of entries that Agents read, made for one reader (KN-37, KN-38)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graph.model.edges import EdgeType
from graph.model.errors import NotFound
from graph.model.ids import GlobalId, NodeId, prefix_of
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import Basis, BlockVersion, KbKind, ModifierKind, Relation, RelationVersion
from graph.model.nodes.people import Principal
from graph.model.time import Millis, clock_reading
from graph.rules.as_of import NOW, AsOf
from graph.rules.pools import scope_of
from graph.rules.projection import (
    MAX_RELATIONS,
    ShownBlock,
    ShownDeduction,
    ShownEntry,
    ShownRelation,
    ShownSource,
    ShownValidity,
    project,
)
from graph.rules.scopes import may_read, needs_access_record, viewer_of_base
from graph.services.access.session import Session
from graph.services.knowledge.blocks import blocks_of
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.owners import check_named
from graph.services.knowledge.relations import RelationDirection, at_entries, relation_views
from graph.services.knowledge.views import BlockVersionView, BlockView, EntryView, RelationView, SupportView
from graph.store.query import Direction, Eq, Find, Newest, both


async def projection(
    session: Session, entry_id: NodeId, as_of: AsOf = NOW, *, read_set_of: NodeId | None = None
) -> str:
    """Return the Markdown of an entry for the caller, or for a read set within his (CO-22).

    Args:
        session: whose reader it is made for.
        entry_id: the entry.
        as_of: the time to show.
        read_set_of: a knowledge base: only what it reads is shown, as an agent that writes there gets it.

    Raises:
        NotFound: the entry, or the knowledge base, is missing or hidden.
        OperationRejected: ``SCOPE_FORBIDDEN``: an agent names a base that its conversation does not read (KN-56).
    """
    reader = session if read_set_of is None else await _as_base(session, read_set_of)
    found = await projections(reader, [entry_id], as_of)
    if entry_id not in found:
        raise NotFound
    return found[entry_id]


async def projections(session: Session, ids: Sequence[NodeId], as_of: AsOf = NOW) -> Mapping[NodeId, str]:
    """Return the Markdown of those of the entries that the caller sees, in a constant number of round trips."""
    entries = await entry_views(session, ids, as_of)
    blocks = await blocks_of(session, list(entries), as_of)
    relations = await _relations(session, list(entries), as_of)
    names = await entry_views(session, sorted(_ends(relations)), as_of)
    behind = await _behind_deductions(session, blocks)
    authors = await _authors(session, blocks)
    made = _Maker(names=names, behind=behind, authors=authors)
    return {id_: made.text(entry, blocks[id_], relations.get(id_, ())) for id_, entry in entries.items()}


async def _as_base(session: Session, base_id: NodeId) -> Session:
    check_named(session, [base_id])
    base = await session.base(base_id)
    if base is None or base.workspace != session.caller.workspace or base.kind == KbKind.GUIDE:
        raise NotFound
    scope = scope_of(base)
    if not may_read(session.viewer, scope):
        raise NotFound
    if needs_access_record(session.viewer, scope):
        session.recorded.add(base_id)
    return replace(session, own_viewer=viewer_of_base(session.viewer, scope))


async def _relations(session: Session, ids: Sequence[NodeId], as_of: AsOf) -> Mapping[NodeId, Sequence[RelationView]]:
    """Return the relations of each entry; of very many the newest."""
    if not ids:
        return {}
    current = Eq("current", True) if as_of.recorded is None else None
    where = both(at_entries(ids, RelationDirection.BOTH, None), current)
    most = (MAX_RELATIONS + 1) * len(ids)
    page = await session.page(Find(kind=Relation, where=where, order=Newest(), first=most))
    views = await relation_views(session, [relation.id for relation in page.nodes], as_of)
    found: dict[NodeId, list[RelationView]] = {id_: [] for id_ in ids}
    for view in views.values():
        for end in {view.node.subject_id, view.node.object_id} & found.keys():
            found[end].append(view)
    return found


def _ends(relations: Mapping[NodeId, Sequence[RelationView]]) -> set[NodeId]:
    views = (view for all_ in relations.values() for view in all_)
    return {end for view in views for end in (view.node.subject_id, view.node.object_id)}


async def _behind_deductions(
    session: Session, blocks: Mapping[NodeId, Sequence[BlockView]]
) -> Mapping[NodeId, tuple[Source, ...]]:
    """Return the visible raw sources behind the basis of each deduced version, oldest first."""
    deduced = [version.id for version in _versions(blocks) if version.basis == Basis.DEDUCED]
    if not deduced:
        return {}
    types = (EdgeType.DERIVED_FROM, EdgeType.CITES)
    reached = await session.reader.closure(deduced, types, Direction.OUT)
    sources = await session.open([id_ for id_ in reached.depths if prefix_of(id_) == Source.PREFIX])
    below: dict[NodeId, list[NodeId]] = {}
    for edge in reached.edges:
        below.setdefault(edge.source, []).append(edge.target)
    return {id_: _sources_below(id_, below, sources) for id_ in deduced}


def _sources_below(
    start: NodeId, below: Mapping[NodeId, Sequence[NodeId]], sources: Mapping[NodeId, object]
) -> tuple[Source, ...]:
    seen, queue = {start}, [start]
    while queue:
        for target in below.get(queue.pop(), ()):
            if target not in seen:
                seen.add(target)
                queue.append(target)
    found = [source for id_ in seen if isinstance(source := sources.get(id_), Source)]
    return tuple(sorted(found, key=lambda source: (source.occurred_at, source.id)))


async def _authors(session: Session, blocks: Mapping[NodeId, Sequence[BlockView]]) -> Mapping[NodeId, str]:
    """Return the names of those who deduced something and are not Dreaming."""
    wanted = {v.modifier_id for v in _versions(blocks) if v.basis == Basis.DEDUCED and not _is_dreamt(v)}
    people = await session.open(sorted(wanted))
    return {id_: person.display_name for id_, person in people.items() if isinstance(person, Principal)}


def _versions(blocks: Mapping[NodeId, Sequence[BlockView]]) -> Iterator[BlockVersion]:
    return (view.current.node for views in blocks.values() for view in views if view.current is not None)


def _is_dreamt(version: BlockVersion) -> bool:
    return version.modifier_kind == ModifierKind.DREAMING


@dataclass(frozen=True, kw_only=True, slots=True)
class _Maker:
    """Turns views into what the pure projection takes."""

    names: Mapping[NodeId, EntryView]
    behind: Mapping[NodeId, tuple[Source, ...]]
    authors: Mapping[NodeId, str]

    def text(self, entry: EntryView, blocks: Sequence[BlockView], relations: Sequence[RelationView]) -> str:
        versions = [view.current for view in blocks if view.current is not None]
        shown = [view for view in relations if self._is_named(view)]
        shown.sort(key=lambda view: self._order(entry.id, view))
        sources = dict(_shown_sources(self._all_sources(versions, shown)))
        made = ShownEntry(
            name=entry.name,
            type=entry.type,
            aliases=entry.aliases,
            updated_at=_updated(entry, (version.node for version in versions)),
            summary=entry.summary,
            blocks=tuple(self._block(version.node, version.support) for version in versions),
            relations=tuple(self._relation(view) for view in shown),
            sources=sources,
        )
        return project(made)

    def _block(self, version: BlockVersion, support: SupportView) -> ShownBlock:
        return ShownBlock(
            text=version.text,
            standing=version.standing,
            sources=tuple(source.id for source in self._sources(version, support)),
            validity=_validity(version),
            stale=support.stale,
            deduction=self._deduction(version),
        )

    def _deduction(self, version: BlockVersion) -> ShownDeduction | None:
        if version.basis != Basis.DEDUCED or version.condition is None or version.conclusion is None:
            return None
        by = "Dreaming" if _is_dreamt(version) else self.authors.get(version.modifier_id, version.modifier_kind)
        return ShownDeduction(
            condition=version.condition,
            conclusion=version.conclusion,
            by=by,
            at=version.recorded_at if version.inferred_at is None else version.inferred_at,
        )

    def _relation(self, view: RelationView) -> ShownRelation:
        return ShownRelation(
            subject=self.names[view.node.subject_id].name,
            type=view.node.type,
            object=self.names[view.node.object_id].name,
            sources=tuple(citation.source.id for citation in view.support.citations),
            validity=_validity(view.version),
        )

    def _is_named(self, view: RelationView) -> bool:
        return view.node.subject_id in self.names and view.node.object_id in self.names

    def _order(self, entry: NodeId, view: RelationView) -> tuple[bool, str, str, NodeId]:
        outgoing = view.node.subject_id == entry
        other = view.node.object_id if outgoing else view.node.subject_id
        return not outgoing, view.node.type, self.names[other].name, view.id

    def _sources(self, version: BlockVersion, support: SupportView) -> Sequence[Source]:
        cited = [citation.source for citation in support.citations]
        return [*cited, *self.behind.get(version.id, ())]

    def _all_sources(self, versions: Iterable[BlockVersionView], relations: Iterable[RelationView]) -> Iterator[Source]:
        for version in versions:
            yield from self._sources(version.node, version.support)
        for view in relations:
            yield from (citation.source for citation in view.support.citations)


def _shown_sources(sources: Iterable[Source]) -> Iterator[tuple[NodeId, ShownSource]]:
    for source in sources:
        shown = GlobalId(kind=Source.__name__, workspace=source.workspace, node=source.id).encode()
        title = source.title or source.speaker
        said_at = clock_reading(source.occurred_at, source.said_offset)
        yield source.id, ShownSource(shown_id=shown, kind=source.kind, title=title, at=said_at)


def _validity(version: BlockVersion | RelationVersion) -> ShownValidity:
    return ShownValidity(
        valid_from=version.valid_from,
        valid_to=version.valid_to,
        from_precision=version.from_precision,
        to_precision=version.to_precision,
    )


def _updated(entry: EntryView, versions: Iterable[BlockVersion]) -> Millis:
    """Return the last update; in a read of the past, the newest of what is shown."""
    if entry.as_of.recorded is None:
        return entry.updated_at
    return max([entry.recorded_at, *(version.recorded_at for version in versions)])
