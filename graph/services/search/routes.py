"""The routes of a search: each gives a ranking of items and the texts by which they were found (RE-7 to RE-11).

A keyword route asks the store for the visible texts that hold a word of the question and scores them by BM25 with
the counts of visible texts only. Vector routes are in `vector_routes`; they are left out, and named so, while no
embedder is configured.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from graph.model.access import Viewer
from graph.model.errors import RootwardError, SearchUnavailable
from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.knowledge_settings import Settings
from graph.rules.ranking import AVERAGE_WORDS, Bm25, TextKind, best_first, entry_score, message_score
from graph.rules.strength import shares
from graph.services.access.session import Session
from graph.services.search.values import Ranking, Route, RouteSkip
from graph.services.search.vector_routes import (
    BLOCK_VECTOR,
    EPISODE_VECTOR,
    NO_EMBEDDER,
    embedded_question,
    vector_routes,
)
from graph.store.query import Match, Matches, TextIndex

ENTRY_KEYWORD = "entry_keyword"
MESSAGE_KEYWORD = "message_keyword"

_TEXT_KINDS: Mapping[str, TextKind] = {
    "name": TextKind.NAME,
    "alias": TextKind.ALIAS,
    "summary": TextKind.SUMMARY,
    "block": TextKind.BLOCK,
    "message": TextKind.MESSAGE,
    "window": TextKind.MESSAGE_WINDOW,
}


@dataclass(kw_only=True, slots=True)
class Routed:
    """What the routes gave."""

    rankings: dict[str, Ranking] = field(default_factory=dict)
    skipped: list[RouteSkip] = field(default_factory=list)


async def run_routes(session: Session, viewer: Viewer, query: str, words: Sequence[str], settings: Settings) -> Routed:
    """Return the rankings of all routes that answered in time; the question is embedded while words are looked up.

    Raises:
        SearchUnavailable: none of the configured routes answered.
    """
    routes: dict[str, Route] = {
        ENTRY_KEYWORD: lambda: entry_keyword(session, viewer, words, settings),
        MESSAGE_KEYWORD: lambda: message_keyword(session, viewer, words, settings),
    }
    timeout_s = settings["search.route_timeout_ms"] / 1_000
    routed = Routed()
    async with embedded_question(session, query, settings, timeout_s) as question:
        if question is None:
            routed.skipped += [RouteSkip(route=name, reason=NO_EMBEDDER) for name in (BLOCK_VECTOR, EPISODE_VECTOR)]
        else:
            routes |= vector_routes(session, viewer, question, settings)
        for name, route in routes.items():
            await _run(routed, name, route, timeout_s)
    if not routed.rankings:
        raise SearchUnavailable("no search route answered: try again", routes=tuple(s.route for s in routed.skipped))
    return routed


async def _run(routed: Routed, name: str, route: Route, timeout_s: float) -> None:
    try:
        async with asyncio.timeout(timeout_s):
            routed.rankings[name] = await route()
    except TimeoutError:
        routed.skipped.append(RouteSkip(route=name, reason="needed more than search.route_timeout_ms"))
    except RootwardError as error:
        routed.skipped.append(RouteSkip(route=name, reason=f"failed: {error.wire_code}"))


async def entry_keyword(session: Session, viewer: Viewer, words: Sequence[str], settings: Settings) -> Ranking:
    """Rank entries by the weighted BM25 of their visible names, aliases, summaries and blocks."""
    found = await _match(session, viewer, TextIndex.ENTRY, words, settings)
    scorers = _scorers(found, words)
    texts: dict[str, list[tuple[TextKind, float]]] = {}
    for hit in found.hits:
        kind = _TEXT_KINDS[hit.part]
        texts.setdefault(hit.item, []).append((kind, scorers[kind].score(hit.counts, length=hit.length)))
    scores = {item: entry_score(scored) for item, scored in texts.items()}
    times: dict[str, Millis] = {}
    matched: dict[NodeId, set[NodeId]] = {}
    for hit in found.hits:
        times[hit.item] = max(times.get(hit.item, hit.sort_at), hit.sort_at)
        matched.setdefault(NodeId(hit.item), set()).add(hit.guard)
    return _ranking(scores, times, matched)


async def message_keyword(session: Session, viewer: Viewer, words: Sequence[str], settings: Settings) -> Ranking:
    """Rank messages by the BM25 of their text alone and with their neighbours."""
    found = await _match(session, viewer, TextIndex.MESSAGE, words, settings)
    scorers = _scorers(found, words)
    alone: dict[str, float] = {}
    window: dict[str, float] = {}
    times: dict[str, Millis] = {}
    for hit in found.hits:
        kind = _TEXT_KINDS[hit.part]
        into = alone if kind is TextKind.MESSAGE else window
        into[hit.item] = scorers[kind].score(hit.counts, length=hit.length)
        times[hit.item] = hit.sort_at
    scores = {item: message_score(alone.get(item, 0.0), window.get(item, 0.0)) for item in times}
    return _ranking(scores, times, {})


async def _match(
    session: Session, viewer: Viewer, index: TextIndex, words: Sequence[str], settings: Settings
) -> Matches:
    if not words:
        return Matches(hits=(), df={}, total=0)
    question = Match(index=index, words=tuple(words), limit=settings["search.match_limit"])
    return await session.reader.match(viewer, question)


def _scorers(found: Matches, words: Sequence[str]) -> Mapping[TextKind, Bm25]:
    return {
        kind: Bm25(words=words, visible_texts=found.total, document_frequency=found.df, average_words=average)
        for kind, average in AVERAGE_WORDS.items()
    }


def _ranking(
    scores: Mapping[str, float], times: Mapping[str, Millis], matched: Mapping[NodeId, Collection[NodeId]]
) -> Ranking:
    items = tuple(NodeId(item) for item in best_first(scores, times))
    return Ranking(items=items, matched=matched, strengths=shares(scores))
