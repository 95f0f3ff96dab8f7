"""Where and by whom something was said or handed in: channels, conversations, sources, episodes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from graph.model.fields import Json, Node, indexed
from graph.model.ids import NodeId
from graph.model.time import Millis


class SourceKind(StrEnum):
    """Kinds of raw sources (KN-10)."""

    MESSAGE = "message"
    TASK_RESULT = "task_result"
    FILE = "file"
    TEXT = "text"
    URL = "url"
    CONNECTOR_DOC = "connector_doc"
    SIGNAL = "signal"
    HUMAN_NOTE = "human_note"


class SourceState(StrEnum):
    """Life of a source: only a live one supports anything."""

    LIVE = "live"
    WITHDRAWN = "withdrawn"
    ERASED = "erased"


class ChannelKind(StrEnum):
    """Kinds of channels."""

    SHARED_CHANNEL = "shared_channel"
    PRIVATE_CHAT = "private_chat"


class LearningState(StrEnum):
    """Learning state of a material (MA-6)."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel(Node):
    """One agent's view of a group or of a private chat. Members and participants: MEMBER_OF edges.

    Attributes:
        ended_at: its agent was deleted: nothing is said in it any more.
    """

    PREFIX: ClassVar[str] = "chn"
    kind: str = indexed()
    owner_id: NodeId = indexed()
    group_id: NodeId | None = None
    display_name: str = ""
    access_version: int = 1
    ingest_seq: int = 0
    ended_at: Millis | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class RoutingRule(Node):
    """Which memory a shared channel uses, from its next conversation on (KN-46 to KN-50)."""

    PREFIX: ClassVar[str] = "rul"
    GUARDED: ClassVar[bool] = False
    UNIQUE: ClassVar[tuple[tuple[str, ...], ...]] = (("channel_id",),)
    channel_id: NodeId = indexed()
    memory_scope: str
    isolated: bool = False
    version: int = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Conversation(Node):
    """A stretch of talk in a channel; its knowledge base (`pool`) never changes (KN-49)."""

    PREFIX: ClassVar[str] = "cnv"
    channel_id: NodeId = indexed()
    opened_at: Millis
    closed_at: Millis | None = indexed(None)
    last_message_at: Millis
    memory_scope: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Thread(Node):
    """A thread inside a channel, as its platform names it."""

    PREFIX: ClassVar[str] = "thr"
    channel_id: NodeId = indexed()


@dataclass(frozen=True, kw_only=True, slots=True)
class Source(Node):
    """One version of something that happened or was handed in. Never edited; superseded, withdrawn or erased.

    Attributes:
        series: id of the first version; all versions of one source share it.
        latest: true for the newest version of the series.
        external_id: name given by the channel or sender, unique per channel or pool.
        speaker_id: the principal who spoke or wrote, if known; `speaker` is the name as it was given.
        occurred_at: when it was said or made (`sentAt` of a message).
        said_offset: minutes that the clock of who said it was ahead of UTC then; None if it was not told. The day that
            "yesterday" names is counted in his time.
        seq: order of arrival in its channel.
        meta: what the kind needs beside: steps with offsets of a task result, address of a page, media type.
        embedding_model: of a message: whose vectors it has (`MessageVector`, `WindowVector`); "": they are to be made.
    """

    PREFIX: ClassVar[str] = "src"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("channel_id", "seq"),
        ("channel_id", "external_id"),
        ("pool", "content_hash"),
        ("pool", "occurred_at"),
        ("embedding_model", "kind", "id"),
    )
    kind: str = indexed()
    content_hash: str
    text: str = ""
    blob_ref: str | None = indexed(None)
    author_id: NodeId | None = indexed(None)
    speaker: str = ""
    speaker_is_agent: bool = False
    title: str | None = None
    occurred_at: Millis
    said_offset: int | None = None
    recorded_at: Millis
    invalidated_at: Millis | None = None
    state: str = SourceState.LIVE
    version: int = 1
    source_version: str | None = None
    series: NodeId = indexed()
    latest: bool = True
    external_id: str | None = None
    channel_id: NodeId | None = None
    conversation_id: NodeId | None = indexed(None)
    thread_id: NodeId | None = indexed(None)
    seq: int = 0
    learning_state: str | None = indexed(None)
    learning_code: str | None = None
    learning_at: Millis | None = None
    media_type: str | None = None
    size_bytes: int | None = None
    meta: Json = None
    embedding_model: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class MessageVector(Node):
    """The vector of one message; only the latest version of a live message has one (RE-8, RE-9)."""

    PREFIX: ClassVar[str] = "mvc"
    embedding: bytes | None = None
    embedding_model: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class WindowVector(Node):
    """The vector of one message together with its neighbours before and after."""

    PREFIX: ClassVar[str] = "wvc"
    embedding: bytes | None = None
    embedding_model: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode(Node):
    """A stretch of messages on one topic; for navigation only, never evidence (DR-23)."""

    PREFIX: ClassVar[str] = "eps"
    INDEXES: ClassVar[tuple[tuple[str, ...], ...]] = (("embedding_model", "id"),)
    channel_id: NodeId = indexed()
    topic: str
    summary: str
    questions: tuple[str, ...] = ()
    conclusions: Json = None
    systems: tuple[str, ...] = ()
    side_topic: bool = False
    from_at: Millis
    to_at: Millis
    dream_run_id: NodeId | None = None
    embedding: bytes | None = None
    embedding_model: str = ""
