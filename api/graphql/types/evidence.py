"""Channels, conversations and sources: where and by whom something was said or handed in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import strawberry
from strawberry.dataloader import DataLoader
from strawberry.types import Info

from api.graphql.connection import Connection
from api.graphql.context import context
from api.graphql.ids import to_global
from api.graphql.scalars import Long, SaidAt
from api.graphql.types import enums
from api.graphql.types.node import Node
from api.graphql.types.people import KnowledgeBase, Principal, base_of, principal_of
from graph.model.ids import NodeId
from graph.model.nodes import evidence
from graph.model.time import Millis
from graph.services.learning.episode_messages import conclusion_messages, episode_messages


@strawberry.type
class Channel(Node):
    """One agent's view of a group or of a private chat."""

    kind: enums.ChannelKind
    display_name: str
    owner_id: strawberry.Private[NodeId]
    node_id: strawberry.Private[NodeId]

    @classmethod
    def from_domain(cls, node: evidence.Channel) -> Channel:
        return cls(
            id=to_global(node.id, node.workspace),
            kind=evidence.ChannelKind(node.kind),
            display_name=node.display_name,
            owner_id=node.owner_id,
            node_id=node.id,
        )

    @strawberry.field
    async def owner(self, info: Info[Any, Any]) -> Principal:
        return await principal_of(info, self.owner_id)

    @strawberry.field(description="Which memory its next conversation uses; null while nobody routed it.")
    async def routing(self, info: Info[Any, Any]) -> RoutingRule | None:
        found = await context(info).loaders.routing.load(self.node_id)
        return None if found is None else RoutingRule.from_domain(found)


@strawberry.type
class Conversation(Node):
    """A stretch of talk in a channel; what it writes goes to one knowledge base for ever (KN-49)."""

    opened_at: Millis
    closed_at: Millis | None
    memory_scope: enums.MemoryScope
    channel_id: strawberry.ID
    pool: strawberry.Private[NodeId | None]

    @classmethod
    def from_domain(cls, node: evidence.Conversation) -> Conversation:
        return cls(
            id=to_global(node.id, node.workspace),
            opened_at=node.opened_at,
            closed_at=node.closed_at,
            memory_scope=enums.MemoryScope(node.memory_scope),
            channel_id=to_global(node.channel_id, node.workspace),
            pool=node.pool,
        )

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.pool)


@strawberry.type
class RoutingRule:
    """Which memory the next conversation of a channel uses (KN-46 to KN-50)."""

    id: strawberry.ID
    channel_id: strawberry.ID
    memory_scope: enums.MemoryScope
    isolated: bool
    version: int

    @classmethod
    def from_domain(cls, node: evidence.RoutingRule) -> RoutingRule:
        return cls(
            id=to_global(node.id, node.workspace),
            channel_id=to_global(node.channel_id, node.workspace),
            memory_scope=enums.MemoryScope(node.memory_scope),
            isolated=node.isolated,
            version=node.version,
        )


@strawberry.type
class Thread(Node):
    """A thread inside a channel."""

    channel_id: strawberry.ID

    @classmethod
    def from_domain(cls, node: evidence.Thread) -> Thread:
        return cls(id=to_global(node.id, node.workspace), channel_id=to_global(node.channel_id, node.workspace))


@strawberry.type
class ErasedCopies:
    """How many copies of one kind an erasure reached (KN-81)."""

    kind: str
    count: int


@strawberry.type
class Source(Node):
    """One version of something that happened or was handed in; never edited (KN-63, KN-64)."""

    kind: enums.SourceKind
    state: enums.SourceState
    version: int
    latest: bool
    source_version: str | None = strawberry.field(description="The name that its place gives this version.")
    address: str | None = strawberry.field(description="Where a page or a document of a connector was found.")
    title: str | None
    text: str
    content_hash: str
    external_id: str | None
    occurred_at: Millis
    said_at: SaidAt = strawberry.field(description="When it was said or made, in the zone of who did.")
    recorded_at: Millis
    media_type: str | None
    size_bytes: Long | None
    speaker_name: str
    pool: strawberry.Private[NodeId | None]
    author_id: strawberry.Private[NodeId | None]
    has_blob: strawberry.Private[bool]
    receipt: strawberry.Private[Mapping[str, int] | None]

    @classmethod
    def from_domain(cls, node: evidence.Source, receipt: Mapping[str, int] | None = None) -> Source:
        return cls(
            id=to_global(node.id, node.workspace),
            kind=evidence.SourceKind(node.kind),
            state=evidence.SourceState(node.state),
            version=node.version,
            latest=node.latest,
            source_version=node.source_version,
            address=node.meta.get("address") if isinstance(node.meta, dict) else None,
            title=node.title,
            text=node.text,
            content_hash=node.content_hash,
            external_id=node.external_id,
            occurred_at=node.occurred_at,
            said_at=SaidAt(node.occurred_at, node.said_offset),
            recorded_at=node.recorded_at,
            media_type=node.media_type,
            size_bytes=None if node.size_bytes is None else Long(node.size_bytes),
            speaker_name=node.speaker,
            pool=node.pool,
            author_id=node.author_id,
            has_blob=node.blob_ref is not None,
            receipt=receipt,
        )

    @strawberry.field
    async def author(self, info: Info[Any, Any]) -> Principal | None:
        return await principal_of(info, self.author_id) if self.author_id else None

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.pool)

    @strawberry.field(description="Where the stored original can be downloaded, with the same credential.")
    def download_path(self) -> str | None:
        return f"/blobs/{self.id}" if self.has_blob else None

    @strawberry.field(description="The receipt of `eraseSource`: copies by kind; null in all other reads.")
    def erased_copies(self) -> list[ErasedCopies] | None:
        if self.receipt is None:
            return None
        return [ErasedCopies(kind=kind, count=count) for kind, count in sorted(self.receipt.items())]


@strawberry.type
class SourceConnection(Connection[Source]):
    """A page of sources."""


@strawberry.type
class EpisodeConclusion:
    """What was concluded in an episode, and the messages behind it (DR-20)."""

    text: str
    messages: list[Source]


@strawberry.type
class Episode(Node):
    """A stretch of messages on one topic; for navigation only (DR-23)."""

    topic: str
    summary: str
    questions: list[str]
    systems: list[str]
    side_topic: bool
    from_: Millis = strawberry.field(name="from")
    to: Millis
    domain: strawberry.Private[evidence.Episode]

    @classmethod
    def from_domain(cls, node: evidence.Episode) -> Episode:
        return cls(
            id=to_global(node.id, node.workspace),
            topic=node.topic,
            summary=node.summary,
            questions=list(node.questions),
            systems=list(node.systems),
            side_topic=node.side_topic,
            from_=node.from_at,
            to=node.to_at,
            domain=node,
        )

    @strawberry.field
    async def knowledge_base(self, info: Info[Any, Any]) -> KnowledgeBase | None:
        return await base_of(info, self.domain.pool)

    @strawberry.field(description="The original messages, in the order of talk: what is quoted and verified.")
    async def messages(self, info: Info[Any, Any]) -> list[Source]:
        loader: DataLoader[NodeId, tuple[evidence.Source, ...]] = context(info).loaders.get(
            "episode_messages", episode_messages, tuple
        )
        return [Source.from_domain(message) for message in await loader.load(self.domain.id)]

    @strawberry.field
    async def conclusions(self, info: Info[Any, Any]) -> list[EpisodeConclusion]:
        loader: DataLoader[NodeId, Mapping[int, tuple[evidence.Source, ...]]] = context(info).loaders.get(
            "conclusion_messages", conclusion_messages, dict
        )
        behind = await loader.load(self.domain.id)
        return [
            EpisodeConclusion(text=text, messages=[Source.from_domain(one) for one in behind.get(place, ())])
            for place, text in enumerate(self.domain.conclusions or ())
        ]


async def source_of(info: Info[Any, Any], id_: NodeId) -> Source | None:
    """Return a source that the caller may see."""
    node = await context(info).loaders.nodes.load(id_)
    return Source.from_domain(node) if isinstance(node, evidence.Source) else None


async def channel_of(info: Info[Any, Any], id_: NodeId | None) -> Channel | None:
    """Return a channel that the caller sees."""
    node = await context(info).loaders.nodes.load(id_) if id_ else None
    return Channel.from_domain(node) if isinstance(node, evidence.Channel) else None
