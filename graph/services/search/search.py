"""`memorySearch`: what is believed and what was said about a question, inside one token budget (RE-6 to RE-35)."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from graph.model.access import Viewer
from graph.model.edges import EdgeType
from graph.model.errors import BadInput
from graph.model.ids import NodeId
from graph.model.nodes.knowledge import Entry
from graph.rules.knowledge_settings import Settings, checked
from graph.rules.packing import PackedItem, pack, without_repeats
from graph.rules.ranking import ItemKind
from graph.services.access.session import Session
from graph.services.search.candidates import scored
from graph.services.search.expand import Expanded, expand
from graph.services.search.measured import measured
from graph.services.search.routes import run_routes
from graph.services.search.scope import searched
from graph.services.search.values import Candidate, MemoryItem, SearchAnswer, SearchQuestion
from graph.services.settings import load_settings
from graph.store.query import Direction
from graph.text.words import query_words

MAX_QUERY_CHARACTERS = 1_000
_SPARE = 8
"""Candidates expanded beyond those still wanted, once some turned out to be inside better items."""


async def memory_search(session: Session, question: SearchQuestion) -> SearchAnswer:
    """Return the best of what the caller may read, labelled entry, episode or message (KN-8).

    Raises:
        BadInput: an empty or too long query, a bad limit, or nowhere to search.
        NotFound: no such conversation for the caller.
        SearchUnavailable: every route failed.
    """
    figures = session.deps.figures
    with measured(figures):
        answer = await _search(session, question)
    for skip in answer.routes_skipped:
        figures.count("search_routes_skipped", route=skip.route)
    return answer


async def _search(session: Session, question: SearchQuestion) -> SearchAnswer:
    query = _query(question.query)
    settings = await load_settings(session.reader, session.caller.workspace)
    viewer = await searched(
        session,
        settings,
        conversation_id=question.conversation_id,
        owner_id=question.owner_id,
        kb_ids=question.kb_ids,
    )
    words = query_words(query, default=settings["search.default_language"])
    routed = await run_routes(session, viewer, query, words, settings)
    ranked, rerank = await scored(session, query, routed.rankings, settings, rerank=question.rerank)
    ranked = await _narrower_first(session, viewer, ranked)
    expanded, packed = await _fill(session, viewer, ranked, words, settings, question)
    return SearchAnswer(
        items=tuple(_item(expanded[p.ref], p) for p in packed),
        total_tokens=sum(p.tokens for p in packed),
        tokenizer=session.deps.tokenizer.name,
        routes_skipped=tuple(routed.skipped),
        rerank=rerank,
    )


def _query(text: str) -> str:
    query = unicodedata.normalize("NFC", text).strip()
    if not 1 <= len(query) <= MAX_QUERY_CHARACTERS:
        raise BadInput(f"a query has 1 to {MAX_QUERY_CHARACTERS} characters after trimming", field="query")
    return query


async def _fill(
    session: Session,
    viewer: Viewer,
    ranked: Sequence[Candidate],
    words: Sequence[str],
    settings: Settings,
    question: SearchQuestion,
) -> tuple[dict[str, Expanded], list[PackedItem]]:
    """Expand candidates in rank order until the budget or the number of items is full."""
    total = _limit("search.total_tokens", question.total_tokens, settings)
    most = _limit("search.max_items", question.max_items, settings)
    expanded: list[Expanded] = []
    packed: list[PackedItem] = []
    taken = 0
    while taken < len(ranked):
        wanted = most - len(packed) + (_SPARE if taken else 0)
        chunk = ranked[taken : taken + wanted]
        taken += len(chunk)
        expanded += await expand(session, viewer, chunk, words, settings)
        packed = pack(
            [e.item for e in expanded],
            total_tokens=total,
            item_tokens=settings["search.item_tokens"],
            max_items=most,
            tokenizer=session.deps.tokenizer,
        )
        if len(packed) >= most or len(packed) < len(without_repeats(e.item for e in expanded)):
            break  # full, or one could not be taken: nothing behind it is
    return {e.item.ref: e for e in expanded}, packed


def _limit(name: str, asked: int | None, settings: Settings) -> int:
    return int(settings[name] if asked is None else checked(name, asked))


def _item(expanded: Expanded, packed: PackedItem) -> MemoryItem:
    candidate = expanded.candidate
    return MemoryItem(
        ref=candidate.id,
        kind=candidate.kind,
        score=candidate.fused,
        ranks=candidate.ranks,
        text=packed.text,
        tokens=packed.tokens,
        time=candidate.time,
        standing=expanded.standing,
        sources=expanded.sources,
        authority=expanded.authority,
        stale=expanded.stale,
        truncated=packed.truncated,
    )


async def _narrower_first(session: Session, viewer: Viewer, ranked: Sequence[Candidate]) -> list[Candidate]:
    """Put the entry of a narrower base directly before the wider one that it is the same as (DR-66)."""
    entries = [c.id for c in ranked if c.kind is ItemKind.ENTRY]
    if not entries:
        return list(ranked)
    edges = await session.reader.edges(viewer, entries, [EdgeType.SAME_AS], Direction.IN)
    if not edges:
        return list(ranked)
    narrower: dict[NodeId, list[NodeId]] = {}
    for edge in edges:
        narrower.setdefault(edge.target, []).append(edge.source)
    opened = await session.open([edge.source for edge in edges])
    known = {c.id: c for c in ranked}
    ordered: dict[NodeId, Candidate] = {}
    for candidate in ranked:
        for id_ in narrower.get(candidate.id, ()):
            node = opened.get(id_)
            if isinstance(node, Entry) and node.deleted_at is None:
                ordered.setdefault(id_, known.get(id_) or _beside(candidate, node))
        ordered.setdefault(candidate.id, candidate)
    return list(ordered.values())


def _beside(candidate: Candidate, node: Entry) -> Candidate:
    """Return the narrower entry of one that was found; it was found through that one."""
    return Candidate(
        id=node.id,
        kind=ItemKind.ENTRY,
        fused=candidate.fused,
        strength=candidate.strength,
        ranks=candidate.ranks,
        matched=(),
        time=node.updated_at,
        node=node,
    )
