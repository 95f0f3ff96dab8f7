"""Reads of bot memory, always the caller's own view, and of the records in his chats (AD-22, BM-136 to BM-143)."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.tagging import tagged
from api.graphql.types.bots import BotEntry, BotMemory, BotMemoryChange, BotMemorySettings
from api.graphql.types.chats import Confession, Enrichment
from graph.model.errors import InvalidRequest
from graph.model.nodes import bots
from graph.services.bots.nodes import chat_records, entry_nodes
from graph.services.bots.settings import settings_of
from graph.services.bots.view import LOG_LIMIT, MAX_LOG_LIMIT, log_of


@strawberry.type
class BotQueries:
    """Bot memory."""

    @strawberry.field(description="Entries that have all of the tags, newest first, those of the past too.")
    async def bot_memory(self, info: Info[Any, Any], bot_id: strawberry.ID, tags: list[str] | None = None) -> BotMemory:
        ctx = context(info)
        wanted = [tag.strip() for tag in tags or () if tag.strip()]
        with tagged():
            found = await entry_nodes(ctx.session, ctx.id(bot_id), wanted)
        return BotMemory(entries=[BotEntry.from_domain(entry) for entry in found.entries], version=found.version)

    @strawberry.field(description="Newest version first; limit 1 to 1000.")
    async def bot_memory_log(
        self, info: Info[Any, Any], bot_id: strawberry.ID, limit: int | None = LOG_LIMIT, before: int | None = None
    ) -> list[BotMemoryChange]:
        ctx = context(info)
        most = LOG_LIMIT if limit is None else limit
        with tagged():
            # The bot comes before its arguments, so that a hidden one answers like an unknown one (BM-182).
            found = await log_of(ctx.session, ctx.id(bot_id), limit=min(max(most, 1), MAX_LOG_LIMIT), before=before)
            if not 1 <= most <= MAX_LOG_LIMIT:
                raise InvalidRequest(f"limit is 1 to {MAX_LOG_LIMIT}", path="limit")
            if before is not None and before < 0:
                raise InvalidRequest("a version is at least 0", path="before")
        return [BotMemoryChange.from_domain(info, change) for change in found]

    @strawberry.field(description="For who may write the bot; a linked bot has none of its own.")
    async def bot_memory_settings(self, info: Info[Any, Any], bot_id: strawberry.ID) -> BotMemorySettings:
        ctx = context(info)
        with tagged():
            return BotMemorySettings.from_domain(await settings_of(ctx.session, ctx.id(bot_id)))

    @strawberry.field(description="Oldest first; for who may read the chat.")
    async def chat_confessions(self, info: Info[Any, Any], chat_id: strawberry.ID) -> list[Confession]:
        ctx = context(info)
        with tagged():
            found = await chat_records(ctx.session, ctx.id(chat_id), bots.Confession)
        return [Confession.from_domain(record) for record in found]

    @strawberry.field(description="Oldest first, one for each turn that was rewritten; for who may read the chat.")
    async def chat_enrichments(self, info: Info[Any, Any], chat_id: strawberry.ID) -> list[Enrichment]:
        ctx = context(info)
        with tagged():
            found = await chat_records(ctx.session, ctx.id(chat_id), bots.Enrichment)
        return [Enrichment.from_domain(record) for record in found]
