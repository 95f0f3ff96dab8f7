"""Facts of entries as search and browse show them: with when they hold, how they stand and what they rest on.

What held once and what holds now never come back as equals (KN-2), and a judgement brings the words behind its basis
(DR-56). The marks are those of the Markdown projection.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from graph.model.edges import EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Basis, BlockVersion, ModifierKind, Relation
from graph.rules.projection import marks_of
from graph.rules.validity import shown_day, shown_validity
from graph.services.access.session import Session
from graph.services.knowledge.support import supports_of
from graph.services.knowledge.views import BlockVersionView, CitationView
from graph.store.query import Direction

_STATEMENTS: Final = (BlockVersion.PREFIX, Relation.PREFIX)


def fact_line(view: BlockVersionView) -> str:
    """Return the text of a block with its marks behind it."""
    version = view.node
    held = shown_validity(version.valid_from, version.valid_to, version.from_precision, version.to_precision)
    return " ".join([version.text, *_judged(version), *marks_of(held, version.standing, stale=view.stale)])


def _judged(version: BlockVersion) -> list[str]:
    """Return who deduced something and when (DR-58); a person or agent is named among who changed it."""
    if version.basis != Basis.DEDUCED:
        return []
    by = "Dreaming" if version.modifier_kind == ModifierKind.DREAMING else version.modifier_kind
    return [f"({by}, {shown_day(version.recorded_at if version.inferred_at is None else version.inferred_at)})"]


def citations_of(
    versions: Iterable[BlockVersionView], behind: Mapping[NodeId, Sequence[CitationView]]
) -> Iterator[CitationView]:
    """Yield what versions cite, and what is cited behind those of them that are judgements."""
    for version in versions:
        yield from version.support.citations
        yield from behind.get(version.node.id, ())


async def behind_judgements(
    session: Session, versions: Iterable[BlockVersionView]
) -> Mapping[NodeId, Sequence[CitationView]]:
    """Return, by version, the citations of all statements that a deduction is derived from, as far as they are seen."""
    deduced = [version.node.id for version in versions if version.node.basis == Basis.DEDUCED]
    if not deduced:
        return {}
    reached = await session.reader.closure(deduced, (EdgeType.DERIVED_FROM,), Direction.OUT)
    shown = await session.open([id_ for id_ in reached.depths if prefix_of(id_) in _STATEMENTS])
    supports = await supports_of(session, list(shown.values()))
    below: dict[NodeId, list[NodeId]] = {}
    for edge in reached.edges:
        below.setdefault(edge.source, []).append(edge.target)
    return {
        id_: [cited for basis in _below(id_, below) if basis in supports for cited in supports[basis].citations]
        for id_ in deduced
    }


def _below(start: NodeId, below: Mapping[NodeId, Sequence[NodeId]]) -> list[NodeId]:
    found = {start: None}
    queue = [start]
    while queue:
        fresh = [id_ for id_ in below.get(queue.pop(0), ()) if id_ not in found]
        found |= dict.fromkeys(fresh)
        queue += fresh
    return list(found)[1:]
