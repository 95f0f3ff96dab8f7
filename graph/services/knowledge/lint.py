"""The lint of an agent's knowledge as a reader sees it: counts, and findings page by page (CO-70 to CO-75).

Computed on read, from what the index shows to the caller; an entry is proved before it is named. It reads every
visible entry, name and current block of the agent, and writes nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graph.model.access import Viewer
from graph.model.edges import EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import BlockVersion, Entry, Facet, FacetField
from graph.model.time import Millis
from graph.rules.as_of import NOW
from graph.rules.guarding import LIVE_ENTRY
from graph.rules.lint import (
    Finding,
    LintedEntry,
    LintLimits,
    LintRule,
    count,
    limits_of,
    lint,
    nearest,
    without_distinct,
)
from graph.rules.names import NearPair
from graph.services.access.session import Session
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.listing import Listing, Row, believed_where, counted, cut_rows
from graph.services.knowledge.owners import watched_bases
from graph.services.knowledge.views import EntryView
from graph.services.settings import load_settings
from graph.store.query import After, And, Direction, Eq, Find, In, Tagged, both

IN_A_THREAD = 500
"""From so many entries on, names are compared beside the event loop."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LintFindingView:
    """A finding with its entries, proved; `detail` names them and nothing that the caller does not see."""

    rule: LintRule
    entries: tuple[EntryView, ...]
    detail: str
    measure: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Linted:
    """All findings for one reader.

    Attributes:
        updated: when each linted entry was last changed.
    """

    findings: tuple[Finding, ...]
    updated: Mapping[NodeId, Millis]

    @property
    def counts(self) -> dict[LintRule, int]:
        """How many findings each rule has."""
        return count(self.findings)

    def since(self, finding: Finding) -> Millis:
        """Return when the last of its entries was changed: not before that it became a finding."""
        return max(self.updated[entry] for entry in finding.entries)


async def lint_findings(
    session: Session,
    owner_id: NodeId,
    *,
    rules: Collection[LintRule] | None = None,
    first: int,
    after: After | None = None,
) -> Listing[LintFindingView]:
    """Return a page of findings, by rule, then by ids.

    Raises:
        NotFound: the caller reads nothing of this agent.
    """
    linted = await lint_of(session, owner_id, tuple(LintRule) if rules is None else rules)
    by_place = {_row(finding).place: finding for finding in linted.findings}
    rows, more = cut_rows([_row(finding) for finding in linted.findings], first=first, after=after)
    wanted = [by_place[row.place] for row in rows]
    shown = await entry_views(session, sorted({entry for finding in wanted for entry in finding.entries}))
    page = Listing(
        items=tuple(wanted),
        places=tuple(row.place for row in rows),
        more=more,
        count=counted(len(linted.findings)),
    )
    return page.mapped(lambda finding: _view(finding, shown))


async def lint_of(session: Session, owner_id: NodeId, rules: Collection[LintRule] = tuple(LintRule)) -> Linted:
    """Return everything that is found in what the caller sees of an agent's live entries, mirrors left out.

    Raises:
        NotFound: the caller reads nothing of this agent.
    """
    bases = await watched_bases(session, owner_id)
    if not bases:
        return Linted(findings=(), updated={})
    viewer = session.narrowed([base.id for base in bases])
    settings = await load_settings(session.reader, session.caller.workspace, owner_id)
    where = And((Tagged((LIVE_ENTRY,)), Eq("read_only", False)))
    pages = (await session.reader.find(viewer, Find(kind=Entry, where=where))).nodes
    entries = await _as_seen(session, viewer, pages)
    found = await _found(entries, limits_of(settings), rules)
    distinct = await _distinct(session, found)
    return Linted(
        findings=tuple(without_distinct(found, distinct)), updated={page.id: page.updated_at for page in pages}
    )


async def _found(entries: Sequence[LintedEntry], limits: LintLimits, rules: Collection[LintRule]) -> list[Finding]:
    if len(entries) < IN_A_THREAD:
        return lint(entries, limits, rules)
    return await asyncio.to_thread(lint, entries, limits, rules)


async def _as_seen(session: Session, viewer: Viewer, pages: Sequence[Entry]) -> list[LintedEntry]:
    names = await _names(session, viewer)
    tokens, blocks = await _bodies(session, viewer)
    return [
        LintedEntry(
            id=page.id,
            pool=page.pool,
            type=page.type,
            names=names[page.id],
            tokens=tokens.get(page.id, 0),
            blocks=blocks.get(page.id, 0),
        )
        for page in pages
        if page.pool is not None and page.id in names
    ]


async def _names(session: Session, viewer: Viewer) -> dict[NodeId, tuple[str, ...]]:
    """Return the visible names of each entry, its name first; an entry whose name is hidden has none."""
    fields = [str(FacetField.NAME), str(FacetField.ALIAS)]
    where = both(In("field", fields), believed_where(NOW))
    facets = (await session.reader.find(viewer, Find(kind=Facet, where=where))).nodes
    found: dict[NodeId, list[str]] = {f.entry_id: [f.value] for f in facets if f.field == FacetField.NAME}
    for facet in facets:
        if facet.field == FacetField.ALIAS and facet.entry_id in found:
            found[facet.entry_id].append(facet.value)
    return {entry: tuple(values) for entry, values in found.items()}


async def _bodies(session: Session, viewer: Viewer) -> tuple[dict[NodeId, int], dict[NodeId, int]]:
    """Return tokens and number of the visible current blocks of each entry."""
    versions = (await session.reader.find(viewer, Find(kind=BlockVersion, where=believed_where(NOW)))).nodes
    tokens: dict[NodeId, int] = {}
    blocks: dict[NodeId, int] = {}
    for version in versions:
        tokens[version.entry_id] = tokens.get(version.entry_id, 0) + session.deps.tokenizer.count(version.text)
        blocks[version.entry_id] = blocks.get(version.entry_id, 0) + 1
    return tokens, blocks


async def _distinct(session: Session, findings: Iterable[Finding]) -> frozenset[NearPair]:
    """Return which of the near pairs a person marked as two topics."""
    ids = sorted({entry for f in findings if f.rule is LintRule.NEAR_NAME for entry in f.entries})
    if not ids:
        return frozenset()
    edges = await session.reader.edges(session.viewer, ids, [EdgeType.DISTINCT_FROM], Direction.OUT)
    return frozenset(
        NearPair(first=min(edge.source, edge.target), second=max(edge.source, edge.target)) for edge in edges
    )


def _row(finding: Finding) -> Row:
    rank, entries = finding.key
    return Row(key=(rank, *entries), id=finding.entries[0])


def _view(finding: Finding, shown: Mapping[NodeId, EntryView]) -> LintFindingView | None:
    entries = tuple(shown[entry] for entry in finding.entries if entry in shown)
    if len(entries) < len(finding.entries):
        return None
    detail, measure = _detail(finding, entries)
    return LintFindingView(rule=finding.rule, entries=entries, detail=detail, measure=measure)


def _detail(finding: Finding, entries: Sequence[EntryView]) -> tuple[str, float | None]:
    if finding.rule is LintRule.NEAR_NAME:
        one, other = ([entry.name, *entry.aliases] for entry in entries)
        measure, name, near = nearest(one, other)
        return f"“{name}” and “{near}” may be one topic: merge them, or mark them as distinct", round(measure, 4)
    name = f"“{entries[0].name}”"
    if finding.rule is LintRule.DATED_NAME:
        return f"{name} carries a date: name the topic, and keep the date in its blocks", None
    if finding.rule is LintRule.LONG_ENTRY:
        return f"{name} has {finding.measure:,.0f} {finding.unit}: split it, or tighten it", finding.measure
    return f"{name} has no current block that you see: write one, or delete it", None
