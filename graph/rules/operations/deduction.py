"""Deductions: conditional judgements that name their basis. Source: DR-56 to DR-60, KN-72, DR-73."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from graph.model.edges import Edge, EdgeType
from graph.model.errors import BadInput
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.knowledge import Block, Relation, Standing
from graph.model.time import Millis
from graph.rules.operations.dates import day_of, parse_date
from graph.rules.operations.evidence import not_found
from graph.rules.operations.schema_parts import DeductionIn
from graph.rules.operations.state import BlockState
from graph.rules.operations.verdicts import refuse
from graph.rules.operations.work import Work
from graph.rules.provenance import check_derivation
from graph.rules.scopes import evidence_allowed


@dataclass(frozen=True, kw_only=True, slots=True)
class Deduced:
    """A checked deduction: its parts, and the block versions and relations it is derived from."""

    condition: str
    conclusion: str
    inferred_at: Millis
    basis: tuple[NodeId, ...]

    @property
    def text(self) -> str:
        """The judgement alone; a reader adds author, date and basis (`shown_deduction`)."""
        return f"If {self.condition}: {self.conclusion}"


def shown_deduction(condition: str, conclusion: str, *, by: str, day: str, basis: Iterable[str]) -> str:
    """Return a deduction as readers get it (DR-58).

    >>> shown_deduction("it rains", "the match is off", by="Dreaming", day="2025-05-10", basis=["1", "2"])
    'If it rains: the match is off (Dreaming, 2025-05-10; basis [1], [2])'
    """
    return f"If {condition}: {conclusion} ({by}, {day}; basis {', '.join(f'[{mark}]' for mark in basis)})"


def check_deduction(work: Work, given: DeductionIn | None, *, edited: BlockState | None = None) -> Deduced:
    """Return a deduction that is conditional, dated and rests on something current.

    A block `edited` that gets it may not be among its own reasons.

    Raises:
        OperationRejected: ``NOT_CONDITIONAL``, ``EVIDENCE_NOT_FOUND``, ``SCOPE_FORBIDDEN``, ``RUMOUR_OVERRIDE``,
            ``PROVENANCE_CYCLE``.
    """
    if given is None or not given.condition.strip() or not given.conclusion.strip() or not given.basis:
        raise refuse("NOT_CONDITIONAL", "give condition, conclusion, at least one basis and the date of the run")
    at = _date_of_run(work, given.date)
    basis = tuple(dict.fromkeys(_basis(work, NodeId(id_)) for id_ in given.basis))
    _check_acyclic(work, basis, edited)
    return Deduced(condition=given.condition.strip(), conclusion=given.conclusion.strip(), inferred_at=at, basis=basis)


def _date_of_run(work: Work, given: str) -> Millis:
    """Return when a run of the given day was: a run over midnight has two days."""
    try:
        day = day_of(parse_date(given).at)
    except BadInput:
        day = ""
    days = {day_of(at): at for at in (work.actor.run_started_at, work.at) if at is not None}
    if day not in days:
        raise refuse("NOT_CONDITIONAL", "date a deduction with the day of the run", field="date")
    return days[day]


def _basis(work: Work, id_: NodeId) -> NodeId:
    """Return the version or relation that a named basis stands for."""
    if id_ not in work.visible or prefix_of(id_) not in (Block.PREFIX, Relation.PREFIX):
        raise not_found()
    block, relation = work.blocks.get(id_), work.relations.get(id_)
    if block is None and relation is None:
        raise refuse("NOT_CONDITIONAL", "name current blocks or relations as the basis", field="basis")
    scope = work.scope_of_pool(block.block.pool if block else relation.relation.pool if relation else None)
    if scope is None or not evidence_allowed(work.scope, scope):
        raise refuse("SCOPE_FORBIDDEN", "name only a basis that this knowledge base reads")
    if block is None:
        return id_
    if block.version.standing == Standing.UNCONFIRMED and not work.actor.is_human:
        raise refuse("RUMOUR_OVERRIDE", "an unconfirmed statement is no basis")
    return block.version.id


def _check_acyclic(work: Work, basis: tuple[NodeId, ...], edited: BlockState | None) -> None:
    """Refuse a derivation that is too deep, or that comes back to a version of the block it would be in."""
    new = NodeId("new")
    below = [*work.state.derivations, *_made(work)]
    edges = [*below, *(Edge(type=EdgeType.DERIVED_FROM, source=new, target=target) for target in basis)]
    reached = _reached(edges, new)
    check_derivation(edge for edge in edges if edge.source in reached)
    own = edited.id if edited else None
    if own is not None and any(_block_of(work, version) == own for version in reached):
        raise refuse("PROVENANCE_CYCLE", "a statement may not be derived from itself")


def _made(work: Work) -> list[Edge]:
    """Return the derivations of the list so far."""
    return [
        Edge(type=EdgeType.DERIVED_FROM, source=state.version.id, target=target)
        for state in work.blocks.values()
        for target in state.rests_on.derived_from
    ]


def _reached(edges: Iterable[Edge], start: NodeId) -> set[NodeId]:
    below: dict[NodeId, list[NodeId]] = {}
    for edge in edges:
        below.setdefault(edge.source, []).append(edge.target)
    found, queue = {start}, [start]
    while queue:
        fresh = [target for target in below.get(queue.pop(), ()) if target not in found]
        found.update(fresh)
        queue += fresh
    return found


def _block_of(work: Work, version: NodeId) -> NodeId | None:
    made = {state.version.id: state.id for state in work.blocks.values()}
    return made.get(version) or work.state.block_of.get(version)
