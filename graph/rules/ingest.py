"""What arriving messages become: new sources, new versions, links and keyword texts. Pure.

Source: KN-63 to KN-65, KN-67, RE-9.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType

from graph.model.edges import Edge, EdgeType
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Conversation, Source, SourceKind, SourceState, Thread
from graph.model.time import Millis

_NO_PROPS: Mapping[str, int] = MappingProxyType({})


class Arrival(StrEnum):
    """What became of one message that was sent in."""

    STORED = "stored"
    UNCHANGED = "unchanged"
    NEW_VERSION = "new_version"


@dataclass(frozen=True, kw_only=True, slots=True)
class IncomingMessage:
    """A message as its channel reports it.

    Attributes:
        external_id: the channel's own id, unique in the channel.
        speaker_id: the principal who spoke, if known.
        speaker: his name as the channel shows it.
        sent_at: when it was sent.
        sent_offset: minutes that the clock of who sent it was ahead of UTC; None if it is not told.
        thread: the channel's name of the thread, if any.
    """

    external_id: str
    sent_at: Millis
    text: str
    speaker_id: NodeId | None = None
    speaker: str = ""
    speaker_is_agent: bool = False
    thread: str | None = None
    sent_offset: int | None = None


def content_hash(text: str) -> str:
    """Return SHA-256 of a text in hexadecimal.

    >>> content_hash("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def fate(message: IncomingMessage, known: Source | None) -> Arrival:
    """Return what becomes of `message` when `known` is the newest stored version of it (KN-65).

    What was erased takes no new version: a late edit would bring its words back (KN-81).
    """
    if known is None:
        return Arrival.STORED
    if known.state == SourceState.ERASED:
        return Arrival.UNCHANGED
    return Arrival.UNCHANGED if known.content_hash == content_hash(message.text) else Arrival.NEW_VERSION


def message_source(
    message: IncomingMessage,
    conversation: Conversation,
    *,
    id: NodeId,
    seq: int,
    at: Millis,
    thread: Thread | None = None,
    replaces: Source | None = None,
) -> Source:
    """Return the source that stands for `message`; a new version keeps the series of what it replaces.

    It keeps its state too: an edit that arrives after its message was deleted stays withdrawn with it (KN-67).
    """
    return Source(
        id=id,
        workspace=conversation.workspace,
        pool=replaces.pool if replaces else conversation.pool,
        created_at=at,
        kind=SourceKind.MESSAGE,
        content_hash=content_hash(message.text),
        text=message.text,
        author_id=message.speaker_id,
        speaker=message.speaker,
        speaker_is_agent=message.speaker_is_agent,
        occurred_at=message.sent_at,
        said_offset=message.sent_offset,
        recorded_at=at,
        state=replaces.state if replaces else SourceState.LIVE,
        version=replaces.version + 1 if replaces else 1,
        series=replaces.series if replaces else id,
        external_id=message.external_id,
        channel_id=conversation.channel_id,
        conversation_id=replaces.conversation_id if replaces else conversation.id,
        thread_id=thread.id if thread else None,
        seq=replaces.seq if replaces else seq,
    )


def links_of(source: Source, *, replaces: Source | None = None) -> list[Edge]:
    """Return the edges of a new source: where it was said, to which base it belongs, what it replaces."""
    places = (
        (EdgeType.SCOPED_TO, source.pool, _NO_PROPS),
        (EdgeType.IN_CHANNEL, source.channel_id, {"seq": source.seq}),
        (EdgeType.IN_CONVERSATION, source.conversation_id, _NO_PROPS),
        (EdgeType.IN_THREAD, source.thread_id, _NO_PROPS),
        (EdgeType.SUPERSEDES, replaces.id if replaces else None, _NO_PROPS),
    )
    return [Edge(type=type, source=source.id, target=to, props=props) for type, to, props in places if to]


def in_talk_order(messages: Iterable[Source]) -> list[Source]:
    """Return messages by time, then by arrival, then by id."""
    return sorted(messages, key=lambda m: (m.occurred_at, m.seq, m.id))


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A message with its neighbours before and after: the second keyword text of each message."""

    center: Source
    before: Source | None
    after: Source | None

    @property
    def members(self) -> tuple[Source, ...]:
        """The messages of the window in time order."""
        return tuple(m for m in (self.before, self.center, self.after) if m is not None)


def windows(messages: Sequence[Source], wanted: Iterable[NodeId]) -> list[Window]:
    """Return the windows of the wanted messages among neighbours in talk order (one channel, thread and base)."""
    wanted_ids = set(wanted)
    padded = [None, *messages, None]
    return [
        Window(before=padded[i - 1], center=center, after=padded[i + 1])
        for i, center in enumerate(padded)
        if center is not None and center.id in wanted_ids
    ]


def superseded(source: Source, at: Millis) -> Source:
    """Return a source as it is once a newer version stands beside it."""
    return replace(source, latest=False, invalidated_at=at)
