"""memorySearch and memoryBrowse."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.types import enums
from api.graphql.types.inputs import MemorySearchInput
from api.graphql.types.statements import Citation
from graph.model.time import Millis
from graph.services.search import values
from graph.services.search.browse import memory_browse
from graph.services.search.pages import BrowsePage
from graph.services.search.search import memory_search


@strawberry.type
class RouteRank:
    """Where a route had the item, from 1."""

    route: str
    rank: int


@strawberry.type
class RouteSkip:
    """A route that was left out, and why (RE-31)."""

    route: str
    reason: str


@strawberry.type
class RerankInfo:
    """Whether a reranker had a say, and if not, why (RE-18)."""

    applied: bool
    provider: str
    reason: str | None


@strawberry.type
class MemoryItem:
    """One result (RE-29)."""

    ref: strawberry.ID
    kind: enums.ResultKind
    score: float
    routes: list[RouteRank]
    text: str
    tokens: int
    time: Millis
    standing: enums.Standing | None
    sources: list[Citation]
    authority: str | None
    stale: bool
    truncated: bool

    @classmethod
    def from_domain(cls, ctx: RequestContext, item: values.MemoryItem) -> MemoryItem:
        return cls(
            ref=ctx.out(item.ref),
            kind=enums.ResultKind(str(item.kind)),
            score=item.score,
            routes=[RouteRank(route=route, rank=rank) for route, rank in sorted(item.ranks.items())],
            text=item.text,
            tokens=item.tokens,
            time=item.time,
            standing=None if item.standing is None else enums.Standing(item.standing),
            sources=[Citation.from_domain(view) for view in item.sources],
            authority=item.authority,
            stale=item.stale,
            truncated=item.truncated,
        )


@strawberry.type
class MemorySearchResult:
    """The items that fit the budget, best first."""

    items: list[MemoryItem]
    total_tokens: int
    tokenizer: str
    routes_skipped: list[RouteSkip]
    rerank: RerankInfo

    @classmethod
    def from_domain(cls, ctx: RequestContext, answer: values.SearchAnswer) -> MemorySearchResult:
        rerank = answer.rerank
        return cls(
            items=[MemoryItem.from_domain(ctx, item) for item in answer.items],
            total_tokens=answer.total_tokens,
            tokenizer=answer.tokenizer,
            routes_skipped=[RouteSkip(route=skip.route, reason=skip.reason) for skip in answer.routes_skipped],
            rerank=RerankInfo(applied=rerank.applied, provider=rerank.provider, reason=rerank.reason),
        )


@strawberry.type
class MemoryBrowsePage:
    """One page of a longer text (RE-34)."""

    ref: strawberry.ID
    text: str
    tokens: int
    next: str | None
    previous: str | None
    sources: list[Citation]

    @classmethod
    def from_domain(cls, ctx: RequestContext, page: BrowsePage) -> MemoryBrowsePage:
        return cls(
            ref=ctx.out(page.ref),
            text=page.text,
            tokens=page.tokens,
            next=page.next,
            previous=page.previous,
            sources=[Citation.from_domain(view) for view in page.sources],
        )


@strawberry.type
class MemoryQueries:
    """memorySearch and memoryBrowse."""

    @strawberry.field
    async def memory_search(self, info: Info[Any, Any], input: MemorySearchInput) -> MemorySearchResult:
        ctx = context(info)
        question = values.SearchQuestion(
            query=input.query,
            conversation_id=None if input.conversation_id is None else ctx.id(input.conversation_id),
            owner_id=None if input.owner_id is None else ctx.id(input.owner_id),
            kb_ids=ctx.ids(input.kb_ids),
            total_tokens=input.total_tokens,
            max_items=input.max_items,
            rerank=input.rerank is not False,
        )
        return MemorySearchResult.from_domain(ctx, await memory_search(ctx.session, question))

    @strawberry.field
    async def memory_browse(
        self,
        info: Info[Any, Any],
        ref: strawberry.ID,
        conversation_id: strawberry.ID | None = None,
        after: str | None = None,
        before: str | None = None,
        max_tokens: int | None = None,
    ) -> MemoryBrowsePage:
        ctx = context(info)
        page = await memory_browse(
            ctx.session,
            ctx.id(ref),
            conversation_id=None if conversation_id is None else ctx.id(conversation_id),
            after=after,
            before=before,
            max_tokens=max_tokens,
        )
        return MemoryBrowsePage.from_domain(ctx, page)
