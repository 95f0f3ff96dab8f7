"""Chats of bots and their items, and the records of the Memory Bot in them.

A sealed text is opened by the field that shows it, when it is asked for, after the checks (BM-60).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import strawberry
from strawberry.dataloader import DataLoader
from strawberry.types import Info

from api.graphql.connection import Connection, Cursors, check_first, connection_of
from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.types.bots import BotEntry
from api.graphql.types.node import Node
from api.graphql.types.people import Principal, principal_of
from api.graphql.types.sessions import Turn
from graph.model.ids import NodeId, local_part
from graph.model.nodes import bots, sessions
from graph.model.time import Millis
from graph.services.bots.nodes import chat_text, record_text, usable_records
from graph.services.knowledge.listing import find_listing
from graph.store.query import By, Eq, Find


@strawberry.type
class ChatItem(Node):
    """Something that happened in a chat: a source."""

    local_id: str
    type: str
    tool: str | None
    characters: int
    occurred_at: Millis
    created_at: Millis
    node: strawberry.Private[bots.ChatItem]

    @classmethod
    def from_domain(cls, node: bots.ChatItem) -> ChatItem:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=local_part(node.id),
            type=node.type,
            tool=node.tool,
            characters=node.chars,
            occurred_at=node.occurred_at,
            created_at=node.created_at,
            node=node,
        )

    @strawberry.field(description="Null once the chat's history was deleted.")
    async def text(self, info: Info[Any, Any]) -> str | None:
        return chat_text(context(info).deps, self.node)

    @strawberry.field
    async def turn(self, info: Info[Any, Any]) -> Turn | None:
        return await turn_of(info, self.node.turn_id)

    @strawberry.field
    async def chat(self, info: Info[Any, Any]) -> Chat | None:
        found = await context(info).loaders.nodes.load(self.node.chat_id)
        return Chat.from_domain(found) if isinstance(found, bots.Chat) else None


@strawberry.type
class ChatItemConnection(Connection[ChatItem]):
    """A page of items."""


@strawberry.type
class Chat(Node):
    """A history of a bot with one person, or the group chat of a channel."""

    local_id: str
    review: bool
    created_at: Millis
    history_deleted_at: Millis | None
    node: strawberry.Private[bots.Chat]

    @classmethod
    def from_domain(cls, node: bots.Chat) -> Chat:
        return cls(
            id=to_global(node.id, node.workspace),
            local_id=local_part(node.id),
            review=node.review,
            created_at=node.created_at,
            history_deleted_at=node.deleted_at,
            node=node,
        )

    @strawberry.field
    async def bot(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.node.bot_id)

    @strawberry.field
    async def person(self, info: Info[Any, Any]) -> Principal | None:
        return await principal_of(info, self.node.person_id) if self.node.person_id else None

    @strawberry.field
    def group_id(self, info: Info[Any, Any]) -> strawberry.ID | None:
        return context(info).out(self.node.group_id) if self.node.group_id else None

    @strawberry.field
    def organization_id(self, info: Info[Any, Any]) -> strawberry.ID:
        return context(info).out(self.node.organization_id)

    @strawberry.field(description="Oldest first.")
    async def items(self, info: Info[Any, Any], first: int | None = 20, after: str | None = None) -> ChatItemConnection:
        cursors = Cursors.of("Chat.items", {"chat": self.node.id})
        query = Find(
            kind=bots.ChatItem,
            where=Eq("chat_id", self.node.id),
            order=By("seq"),
            first=check_first(first),
            after=cursors.decode(after),
        )
        listing = await find_listing(context(info).session, query)
        return connection_of(ChatItemConnection, listing, ChatItem.from_domain, cursors, after)


@strawberry.type(
    description="What a bot confided and what it was answered; read docs/how-to/bot-learning.md before showing it."
)
class Confession(Node):
    """What a bot confided."""

    turn_id: strawberry.ID
    created_at: Millis
    node: strawberry.Private[bots.Confession]

    @classmethod
    def from_domain(cls, node: bots.Confession) -> Confession:
        return cls(
            id=to_global(node.id, node.workspace),
            turn_id=to_global(node.turn_id, node.workspace),
            created_at=node.created_at,
            node=node,
        )

    @strawberry.field
    async def text(self, info: Info[Any, Any]) -> str:
        return record_text(context(info).deps, self.node, "text") or ""

    @strawberry.field(description="Null if it is withheld, or not given yet.")
    async def answer(self, info: Info[Any, Any]) -> str | None:
        return record_text(context(info).deps, self.node, "answer") if await _is_usable(info, self.node.id) else None

    @strawberry.field(description="What the answer rests on, as far as the caller may see it.")
    async def entries(self, info: Info[Any, Any]) -> list[BotEntry]:
        return await _entries(info, self.node.id, self.node.entries)

    @strawberry.field(description="What it rests on may not be used any more: only the bot's own words are left.")
    async def withheld(self, info: Info[Any, Any]) -> bool:
        return not await _is_usable(info, self.node.id)


@strawberry.type
class Enrichment(Node):
    """How the input of a turn was rewritten."""

    turn_id: strawberry.ID
    created_at: Millis
    node: strawberry.Private[bots.Enrichment]

    @classmethod
    def from_domain(cls, node: bots.Enrichment) -> Enrichment:
        return cls(
            id=to_global(node.id, node.workspace),
            turn_id=to_global(node.turn_id, node.workspace),
            created_at=node.created_at,
            node=node,
        )

    @strawberry.field(description="The new text; null if it is withheld.")
    async def text(self, info: Info[Any, Any]) -> str | None:
        return record_text(context(info).deps, self.node, "text") if await _is_usable(info, self.node.id) else None

    @strawberry.field(description="The person's own words; null in old records.")
    async def original(self, info: Info[Any, Any]) -> str | None:
        return record_text(context(info).deps, self.node, "original")

    @strawberry.field(description="What the text rests on, as far as the caller may see it.")
    async def entries(self, info: Info[Any, Any]) -> list[BotEntry]:
        return await _entries(info, self.node.id, self.node.entries)

    @strawberry.field(description="What it rests on may not be used any more: only the original is left.")
    async def withheld(self, info: Info[Any, Any]) -> bool:
        return not await _is_usable(info, self.node.id)


async def turn_of(info: Info[Any, Any], id_: NodeId | None) -> Turn | None:
    """Return a turn that the caller may see."""
    found = await context(info).loaders.nodes.load(id_) if id_ else None
    return Turn.from_domain(found) if isinstance(found, sessions.Turn) else None


async def _is_usable(info: Info[Any, Any], record: NodeId) -> bool:
    loader: DataLoader[NodeId, bool] = context(info).loaders.get("usable_records", usable_records, bool)
    return await loader.load(record)


async def _entries(info: Info[Any, Any], record: NodeId, entries: Sequence[str]) -> list[BotEntry]:
    if not await _is_usable(info, record):
        return []
    found = await context(info).loaders.nodes.load_many([NodeId(entry) for entry in entries])
    return [BotEntry.from_domain(node) for node in found if isinstance(node, bots.BotEntry)]
