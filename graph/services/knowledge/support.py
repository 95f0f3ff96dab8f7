"""What statements rest on: visible citations, visible bases, and whether they are stale; for many at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graph.model.edges import Edge, EdgeType
from graph.model.fields import Node
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source
from graph.model.nodes.knowledge import BlockVersion, Relation
from graph.model.time import Millis
from graph.rules.staleness import CitedVersion, is_relation_stale, is_stale, outdated
from graph.services.access.session import Session
from graph.services.knowledge.views import CitationView, SupportView
from graph.store.query import And, Direction, Eq, Find, In


async def supports_of(session: Session, statements: Sequence[Node]) -> Mapping[NodeId, SupportView]:
    """Return what each of the statements rests on; the statements are ones that the caller was found to see.

    Citations come by the time of what was said, then by source and place. A constant number of round trips.
    """
    ids = [statement.id for statement in statements]
    if not ids:
        return {}
    types = (EdgeType.CITES, EdgeType.DERIVED_FROM)
    edges = await session.reader.edges(session.viewer, ids, types, Direction.OUT)
    shown = await session.open([edge.target for edge in edges])
    by_statement: dict[NodeId, list[Edge]] = {id_: [] for id_ in ids}
    for edge in edges:
        if edge.target in shown:
            by_statement[edge.source].append(edge)
    replaced = await _replaced_at(session, statements, by_statement, shown)
    return {s.id: _support(s, by_statement[s.id], shown, replaced) for s in statements}


def _support(
    statement: Node, edges: Iterable[Edge], shown: Mapping[NodeId, Node], replaced_at: Mapping[NodeId, Millis]
) -> SupportView:
    citations: list[CitationView] = []
    bases: list[NodeId] = []
    for edge in edges:
        target = shown[edge.target]
        if edge.type is EdgeType.CITES and isinstance(target, Source):
            citations.append(_citation(edge, target))
        elif edge.type is EdgeType.DERIVED_FROM:
            bases.append(edge.target)
    return SupportView(
        citations=tuple(sorted(citations, key=_order)),
        derived_from=tuple(dict.fromkeys(bases)),
        stale=_is_stale(statement, citations, [shown[basis] for basis in bases], replaced_at),
    )


def _citation(edge: Edge, source: Source) -> CitationView:
    props = edge.props
    return CitationView(
        source=source,
        quote=props.get("quote", ""),
        start=props.get("start", 0),
        end=props.get("end", 0),
        role=props.get("role", "supports"),
        speaker_id=props.get("speaker_id"),
        said_at=props.get("said_at"),
    )


def _order(citation: CitationView) -> tuple[Millis, NodeId, int, int, str]:
    said_at = citation.source.occurred_at if citation.said_at is None else citation.said_at
    return said_at, citation.source.id, citation.start, citation.end, citation.role


def _is_stale(
    statement: Node, citations: Iterable[CitationView], bases: Iterable[Node], replaced_at: Mapping[NodeId, Millis]
) -> bool:
    cited = [_cited(citation.source) for citation in citations]
    if isinstance(statement, Relation):
        return statement.current and is_relation_stale(cited)
    if getattr(statement, "invalidated_at", None) is not None:
        return False
    return is_stale(cited, map(_is_current, bases), confirmed_at=_confirmed_at(statement), replaced_at=replaced_at)


def _cited(source: Source) -> CitedVersion:
    return CitedVersion(series=source.series, latest=source.latest)


def _is_current(basis: Node) -> bool:
    if isinstance(basis, Relation):
        return basis.current
    return getattr(basis, "invalidated_at", None) is None


def _confirmed_at(statement: Node) -> Millis | None:
    return statement.confirmed_at if isinstance(statement, BlockVersion) else None


async def _replaced_at(
    session: Session,
    statements: Iterable[Node],
    by_statement: Mapping[NodeId, Sequence[Edge]],
    shown: Mapping[NodeId, Node],
) -> Mapping[NodeId, Millis]:
    """Return when the latest version was recorded of each outdated source of a statement that a human confirmed."""
    series: set[NodeId] = set()
    for statement in statements:
        if _confirmed_at(statement) is not None:
            sources = (shown[edge.target] for edge in by_statement[statement.id])
            series |= outdated(_cited(source) for source in sources if isinstance(source, Source))
    if not series:
        return {}
    where = And((In("series", sorted(series)), Eq("latest", True)))
    page = await session.page(Find(kind=Source, where=where))
    return {source.series: source.recorded_at for source in page.nodes}
