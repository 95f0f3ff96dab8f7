"""From rankings to scored candidates: fusion, then age, then the reranker (RE-12 to RE-19)."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from numbers import Real
from typing import Any

from graph.model.edges import EdgeType
from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.knowledge import Entry
from graph.model.time import Millis, to_datetime
from graph.rules.decay import DecaySettings, age_in_days, decay
from graph.rules.knowledge_settings import Settings
from graph.rules.ranking import Fused, ItemKind, fuse, order_key
from graph.rules.rerank_graph import graph_scores
from graph.rules.rerank_surroundings import GraphCandidate
from graph.rules.strength import best_places, runners_up, together
from graph.services.access.session import Session
from graph.services.knowledge.entries import entry_views
from graph.services.knowledge.views import EntryView
from graph.services.learning.episode_messages import episode_messages
from graph.services.search.values import Candidate, Ranking, RerankInfo
from graph.store.query import Direction
from graph.text.times import asks_for_time, names_time
from graph.text.tokens import Tokenizer

_KINDS = {Entry.PREFIX: ItemKind.ENTRY, Episode.PREFIX: ItemKind.EPISODE, Source.PREFIX: ItemKind.MESSAGE}
GRAPH, NONE = "graph", "none"
_LOOKED_AT = 300
"""So many characters tell whether a message says much."""
_DEEPER = 2
"""So many times the depth of a route are candidates of the reranker ``graph``: the strongest by all routes together."""


async def scored(
    session: Session, query: str, rankings: Mapping[str, Ranking], settings: Settings, *, rerank: bool
) -> tuple[list[Candidate], RerankInfo]:
    """Return the proved candidates in their final order, and whether a reranker had a say."""
    provider = settings["rerank.provider"] if rerank else NONE
    candidates = await _candidates(session, rankings, settings, deeper=provider == GRAPH)
    aging = _Aging.of(session.deps.now(), settings)
    if provider == GRAPH:
        ranked = await _by_graph(session, query, candidates, aging)
        return _ordered(ranked), RerankInfo(applied=True, provider=GRAPH)
    aged = [replace(c, fused=c.fused * aging.of_one(c)) for c in candidates]
    if provider == NONE:
        reason = "rerank.provider is none" if rerank else "not asked for"
        return _ordered(aged), RerankInfo(applied=False, provider=NONE, reason=reason)
    return await _by_provider(session, query, aged, aging, settings)


async def _candidates(
    session: Session, rankings: Mapping[str, Ranking], settings: Settings, *, deeper: bool
) -> list[Candidate]:
    strengths = together(ranking.strengths for ranking in rankings.values())
    fused = _fused(rankings, strengths, settings, deeper=deeper)
    opened = await session.open([NodeId(id_) for id_ in fused])
    found = []
    for id_, node in opened.items():
        matched = {guard for ranking in rankings.values() for guard in ranking.matched.get(id_, ())}
        found.append(
            Candidate(
                id=id_,
                kind=_KINDS[prefix_of(id_)],
                fused=fused[id_].score,
                strength=strengths.get(id_, 0.0),
                ranks=dict(fused[id_].ranks),
                matched=tuple(sorted(matched)),
                time=_time(node),
                node=node,
            )
        )
    return found


def _fused(
    rankings: Mapping[str, Ranking], strengths: Mapping[str, float], settings: Settings, *, deeper: bool
) -> dict[str, Fused]:
    """Return what the routes found within their depth; if asked for deeper, also what all of them together put forward.

    A reranker that looks at strengths can find a message that no route alone has among its best.
    """
    depth = settings["search.route_depth"]
    fused = fuse({route: ranking.items[:depth] for route, ranking in rankings.items()}, k=settings["search.rrf_k"])
    if not deeper:
        return fused
    places = best_places(ranking.items for ranking in rankings.values())
    more = dict.fromkeys(runners_up(strengths, places, fused, _DEEPER * depth), 0.0)
    ranks = {route: _ranks(ranking.items, more) for route, ranking in rankings.items()}
    return fused | {
        id_: Fused(score=score, ranks={route: found[id_] for route, found in ranks.items() if id_ in found})
        for id_, score in more.items()
    }


def _ranks(items: Sequence[NodeId], of: Container[str]) -> dict[str, int]:
    return {item: rank for rank, item in enumerate(items, start=1) if item in of}


def _time(node: object) -> Millis:
    """Return what a candidate is aged by: when it was said, ended or last changed (RE-16)."""
    if isinstance(node, Entry):
        return node.updated_at
    if isinstance(node, Episode):
        return node.to_at
    assert isinstance(node, Source)
    return node.occurred_at


@dataclass(frozen=True, slots=True)
class _Aging:
    """How much age takes, at one time under one set of settings."""

    now: datetime
    settings: DecaySettings

    @classmethod
    def of(cls, now: Millis, settings: Settings) -> _Aging:
        return cls(
            to_datetime(now),
            DecaySettings(
                message_half_life_days=settings["search.message_half_life_days"],
                entry_half_life_days=settings["search.entry_half_life_days"],
                entry_floor=settings["search.entry_decay_floor"],
            ),
        )

    def of_one(self, candidate: Candidate) -> float:
        return decay(candidate.kind, age_in_days(to_datetime(candidate.time), self.now), self.settings)


def _ordered(candidates: Sequence[Candidate]) -> list[Candidate]:
    return sorted(candidates, key=lambda c: order_key(c.fused, c.kind, to_datetime(c.time), c.id))


async def _by_graph(session: Session, query: str, candidates: Sequence[Candidate], aging: _Aging) -> list[Candidate]:
    """Score every candidate by the built-in reranker, then by its age."""
    features = await _features(session, candidates, timed=asks_for_time(query))
    scores = graph_scores(query, features, today=aging.now.date())
    return [
        replace(candidate, fused=score * aging.of_one(candidate))
        for candidate, score in zip(candidates, scores, strict=True)
    ]


async def _features(session: Session, candidates: Sequence[Candidate], *, timed: bool) -> list[GraphCandidate]:
    entries = [c for c in candidates if c.kind is ItemKind.ENTRY]
    views = await entry_views(session, [c.id for c in entries]) if entries else {}
    cited = await _cited(session, entries)
    places = {_place(c.node): c.id for c in candidates if c.kind is ItemKind.MESSAGE}
    talks = await episode_messages(session, [c.id for c in candidates if c.kind is ItemKind.EPISODE])
    made = []
    for candidate in candidates:
        if candidate.kind is ItemKind.ENTRY:
            made.append(_entry_features(candidate, views.get(candidate.id), cited.get(candidate.id, frozenset())))
        elif candidate.kind is ItemKind.EPISODE:
            made.append(_episode_features(candidate, talks[candidate.id]))
        else:
            made.append(_message_features(session.deps.tokenizer, candidate, places, timed=timed))
    return made


def _entry_features(candidate: Candidate, view: EntryView | None, sources: frozenset[str]) -> GraphCandidate:
    names = (view.name, *view.aliases) if view else ()
    return GraphCandidate(id=candidate.id, strength=candidate.strength, is_entry=True, names=names, sources=sources)


def _episode_features(candidate: Candidate, talk: Sequence[Source]) -> GraphCandidate:
    """Return an episode by who spoke in it, its days, and the messages that it stands for."""
    node = candidate.node
    return GraphCandidate(
        id=candidate.id,
        strength=candidate.strength,
        names=tuple(dict.fromkeys(message.speaker for message in talk if message.speaker)),
        first_day=_day(node.from_at),
        last_day=_day(node.to_at),
        group=_one_of(
            message.thread_id or f"{message.conversation_id}:{_day(message.occurred_at)}" for message in talk
        ),
        sources=frozenset(message.id for message in talk),
    )


def _one_of(groups: Iterable[str]) -> str | None:
    """Return the group that all share; None if they differ."""
    different = set(groups)
    return different.pop() if len(different) == 1 else None


def _message_features(
    tokenizer: Tokenizer, candidate: Candidate, places: Mapping[tuple[str, str, int], NodeId], *, timed: bool
) -> GraphCandidate:
    """Return a message as the reranker sees it; whether it names a time is looked at only if somebody wants to know."""
    node = candidate.node
    channel, thread, seq = _place(node)
    day, text = _day(node.occurred_at), node.text[:_LOOKED_AT]
    return GraphCandidate(
        id=candidate.id,
        strength=candidate.strength,
        names=(node.speaker,) if node.speaker else (),
        first_day=day,
        group=thread or f"{node.conversation_id}:{day}",
        place=(node.occurred_at, seq),
        before=places.get((channel, thread, seq - 1)),
        tokens=tokenizer.count(text),
        asks=node.text.rstrip().endswith(("?", "？")),
        tells_time=timed and names_time(text),
        sources=frozenset({candidate.id}),
    )


def _place(node: Source) -> tuple[str, str, int]:
    return node.channel_id or "", node.thread_id or "", node.seq


def _day(time: Millis) -> date:
    return to_datetime(time).date()


async def _cited(session: Session, entries: Sequence[Candidate]) -> Mapping[NodeId, frozenset[str]]:
    """Return the sources that the matched statements of each entry cite, as far as the caller sees them."""
    matched = sorted({guard for c in entries for guard in c.matched})
    if not matched:
        return {}
    edges = await session.reader.edges(session.viewer, matched, [EdgeType.CITES], Direction.OUT)
    by_guard: dict[NodeId, set[str]] = {}
    for edge in edges:
        by_guard.setdefault(edge.source, set()).add(edge.target)
    return {c.id: frozenset().union(*(by_guard.get(guard, ()) for guard in c.matched)) for c in entries}


async def _by_provider(
    session: Session, query: str, aged: Sequence[Candidate], aging: _Aging, settings: Settings
) -> tuple[list[Candidate], RerankInfo]:
    """Let an external reranker order the best candidates; if it fails in any way the order by `s` stands (RE-18)."""
    ordered, provider = _ordered(aged), settings["rerank.provider"]
    if session.deps.reranker is None:
        return ordered, RerankInfo(applied=False, provider=provider, reason="no such reranker is configured")
    best = ordered[: settings["search.rerank_depth"]]
    try:
        async with asyncio.timeout(settings["search.rerank_timeout_ms"] / 1_000):
            scores = list(await session.deps.reranker.score(query, [await _text(session, c) for c in best]))
    except TimeoutError:
        return ordered, RerankInfo(applied=False, provider=provider, reason="needed more than search.rerank_timeout_ms")
    except Exception:  # noqa: BLE001  # whatever an outside reranker raises, the search goes on without it
        return ordered, RerankInfo(applied=False, provider=provider, reason="the reranker failed")
    reason = _refused(scores, len(best))
    if reason:
        return ordered, RerankInfo(applied=False, provider=provider, reason=reason)
    reranked = [replace(c, fused=s * aging.of_one(c)) for c, s in zip(best, scores, strict=True)]
    return [*_ordered(reranked), *ordered[len(best) :]], RerankInfo(applied=True, provider=provider)


def _refused(scores: Sequence[Any], wanted: int) -> str | None:
    if len(scores) != wanted:
        return f"returned {len(scores)} scores for {wanted} candidates"
    if not all(isinstance(score, Real) and not isinstance(score, bool) for score in scores):
        return "returned a score that is no number"
    if not all(0 <= score <= 1 for score in scores):
        return "returned a score outside 0 to 1"
    return None


async def _text(session: Session, candidate: Candidate) -> str:
    if candidate.kind is ItemKind.MESSAGE:
        return str(candidate.node.text)
    if candidate.kind is ItemKind.EPISODE:
        return f"{candidate.node.topic}\n{candidate.node.summary}"
    view = (await entry_views(session, [candidate.id])).get(candidate.id)
    return f"{view.name}\n{view.summary or ''}" if view else ""
