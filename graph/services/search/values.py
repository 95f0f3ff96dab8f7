"""What a search is asked and what it answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from graph.model.ids import NodeId
from graph.model.time import Millis
from graph.rules.ranking import ItemKind
from graph.services.knowledge.views import CitationView


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchQuestion:
    """A question to `memory_search` (RE-35).

    Attributes:
        conversation_id: an agent names the conversation it speaks in.
        owner_id, kb_ids: others name an owner and, to narrow, knowledge bases.
        total_tokens, max_items: override the settings, within their ranges.
        rerank: false leaves the order of fusion and decay.
    """

    query: str
    conversation_id: NodeId | None = None
    owner_id: NodeId | None = None
    kb_ids: tuple[NodeId, ...] | None = None
    total_tokens: int | None = None
    max_items: int | None = None
    rerank: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class RouteSkip:
    """A route that was left out, and why (RE-31)."""

    route: str
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranking:
    """What a route found.

    Attributes:
        items: best first; beyond `search.route_depth` they count only with the reranker ``graph``.
        matched: of an entry the visible statements by which it was found.
        strengths: how strongly the route speaks for each, the best with 1; see `graph.rules.strength`.
    """

    items: tuple[NodeId, ...]
    matched: Mapping[NodeId, Collection[NodeId]]
    strengths: Mapping[str, float]


Route = Callable[[], Awaitable[Ranking]]
"""One way of finding."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RerankInfo:
    """Whether a reranker had a say, and if not, why (RE-18)."""

    applied: bool
    provider: str
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryItem:
    """One result (RE-29): `sources` are citations of an entry's statements; of a message, the message itself."""

    ref: NodeId
    kind: ItemKind
    score: float
    ranks: dict[str, int]
    text: str
    tokens: int
    time: Millis
    standing: str | None
    sources: tuple[CitationView, ...]
    authority: str | None
    stale: bool
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchAnswer:
    """The items that fit the budget, best first."""

    items: tuple[MemoryItem, ...]
    total_tokens: int
    tokenizer: str
    routes_skipped: tuple[RouteSkip, ...]
    rerank: RerankInfo


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """Something that a route found, before its text is opened.

    Attributes:
        strength: how strongly the routes together speak for it.
        matched: of an entry the ids of the statements whose text matched.
        time: what it is aged by and ordered by.
        node: the opened message, or None for an entry.
    """

    id: NodeId
    kind: ItemKind
    fused: float
    strength: float
    ranks: dict[str, int]
    matched: tuple[NodeId, ...]
    time: Millis
    node: Any = None
