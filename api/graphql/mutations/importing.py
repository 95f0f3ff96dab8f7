"""Loading chats of other programs, and binding the audit on demand."""

from __future__ import annotations

from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import context
from api.graphql.mutations.conversations import MessageInput, message_of
from api.graphql.scalars import JSON
from api.graphql.types import enums
from api.graphql.types.administration import Anchor, ImportCounts, ImportedChannel, ImportedSpeaker
from graph.rules.audit_anchors import heads_to_json
from graph.rules.ingest import Arrival
from graph.services.knowledge.anchors import anchor_now
from graph.services.knowledge.importing import ImportedTalk, import_channel, import_messages


@strawberry.input
class ImportedMessageInput:
    """A message with the name of the stretch of talk it belongs to."""

    conversation: str
    message: MessageInput


@strawberry.type
class ImportMutations:
    """Loading chats of other programs."""

    @strawberry.mutation(description="Makes a channel and its people as needed; nobody leaves.")
    async def import_channel(
        self,
        info: Info[Any, Any],
        agent_id: strawberry.ID,
        kind: enums.ChannelKind,
        name: str,
        speakers: list[str],
    ) -> ImportedChannel:
        ctx = context(info)
        place = await ctx.run(info, lambda cmd: import_channel(cmd, ctx.id(agent_id), kind, name, speakers))
        return ImportedChannel(
            channel_id=ctx.out(place.channel_id),
            speakers=[ImportedSpeaker(name=who, principal_id=ctx.out(id_)) for who, id_ in place.speakers.items()],
        )

    @strawberry.mutation(description="Takes messages with their own times; known ones are passed over.")
    async def import_messages(
        self, info: Info[Any, Any], channel_id: strawberry.ID, messages: list[ImportedMessageInput]
    ) -> ImportCounts:
        ctx = context(info)
        talk = [ImportedTalk(conversation=one.conversation, message=message_of(ctx, one.message)) for one in messages]
        counts = await ctx.run(info, lambda cmd: import_messages(cmd, ctx.id(channel_id), talk))
        return ImportCounts(
            stored=counts[Arrival.STORED],
            unchanged=counts[Arrival.UNCHANGED],
            new_versions=counts[Arrival.NEW_VERSION],
        )


@strawberry.type
class AnchorMutations:
    """Binding the audit."""

    @strawberry.mutation(description="Binds the heads of all knowledge bases now.")
    async def anchor_audit(self, info: Info[Any, Any]) -> Anchor:
        made = await context(info).run(info, anchor_now)
        return Anchor(
            seq=made.seq,
            recorded_at=made.recorded_at,
            heads=JSON(heads_to_json(made.heads)),
            hash=made.hash,
            prev_hash=made.prev_hash,
        )
