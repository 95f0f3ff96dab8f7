"""Conversations and what is said in them."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.scalars import SaidAt
from api.graphql.types import enums
from api.graphql.types.evidence import Conversation, RoutingRule, Source, source_of
from graph.model.ids import NodeId
from graph.rules.ingest import IncomingMessage
from graph.services.knowledge.conversations import close_conversation, open_conversation, set_routing_rule
from graph.services.knowledge.ingest import IngestReceipt, ingest_messages


@strawberry.input
class MessageInput:
    """A message as its channel reports it (KN-65)."""

    external_id: str
    sent_at: SaidAt
    text: str
    speaker_id: strawberry.ID | None = None
    speaker: str = ""
    speaker_is_agent: bool = False
    thread: str | None = None


@strawberry.type
class IngestPayload:
    """What became of the messages, in their order."""

    source_ids: list[strawberry.ID]
    arrivals: list[enums.Arrival]
    tx_id: strawberry.ID
    ids: strawberry.Private[tuple[NodeId, ...]]

    @classmethod
    def from_domain(cls, ctx: RequestContext, receipt: IngestReceipt) -> IngestPayload:
        return cls(
            source_ids=[ctx.out(id_) for id_ in receipt.source_ids],
            arrivals=list(receipt.arrivals),
            tx_id=strawberry.ID(receipt.tx_id),
            ids=receipt.source_ids,
        )

    @strawberry.field(description="The sources; null for those that the caller may not read.")
    async def sources(self, info: Info[Any, Any]) -> list[Source | None]:
        return [await source_of(info, id_) for id_ in self.ids]


@strawberry.type
class ConversationMutations:
    """Conversations and what is said in them."""

    @strawberry.mutation
    async def open_conversation(self, info: Info[Any, Any], channel_id: strawberry.ID) -> Conversation:
        ctx = context(info)
        return Conversation.from_domain(await ctx.run(info, lambda cmd: open_conversation(cmd, ctx.id(channel_id))))

    @strawberry.mutation
    async def close_conversation(self, info: Info[Any, Any], id: strawberry.ID) -> Conversation:
        ctx = context(info)
        return Conversation.from_domain(await ctx.run(info, lambda cmd: close_conversation(cmd, ctx.id(id))))

    @strawberry.mutation
    async def set_routing_rule(
        self,
        info: Info[Any, Any],
        channel_id: strawberry.ID,
        memory_scope: enums.MemoryScope,
        isolated: bool | None = False,
    ) -> RoutingRule:
        ctx = context(info)
        rule = await ctx.run(
            info, lambda cmd: set_routing_rule(cmd, ctx.id(channel_id), memory_scope, isolated=bool(isolated))
        )
        return RoutingRule.from_domain(rule)

    @strawberry.mutation
    async def ingest_messages(
        self, info: Info[Any, Any], conversation_id: strawberry.ID, messages: list[MessageInput]
    ) -> IngestPayload:
        ctx = context(info)
        incoming = [message_of(ctx, message) for message in messages]
        receipt = await ctx.run(info, lambda cmd: ingest_messages(cmd, ctx.id(conversation_id), incoming))
        return IngestPayload.from_domain(ctx, receipt)


def message_of(ctx: RequestContext, message: MessageInput) -> IncomingMessage:
    """Return a message as services take it."""
    return IncomingMessage(
        external_id=message.external_id,
        sent_at=message.sent_at.at,
        sent_offset=message.sent_at.offset,
        text=message.text,
        speaker_id=None if message.speaker_id is None else ctx.id(message.speaker_id),
        speaker=message.speaker,
        speaker_is_agent=message.speaker_is_agent,
        thread=message.thread,
    )
