"""The steps that names, aliases and summaries are made of, put into a `Work`.

Nothing is checked here. Source: KN-124.
"""

from __future__ import annotations

from dataclasses import replace

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Facet, FacetField
from graph.rules.operations.drafting import placed
from graph.rules.operations.state import FacetState, Support, support_edges
from graph.rules.operations.work import Work
from graph.text.similarity import name_key

MAX_GATHERED = 50
"""Most pieces of later evidence that a name or alias keeps beside those it was given with."""


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
        **placed(work),
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
