"""What every reader of chats yields and counts."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Literal

from graph.model.time import Millis

ChannelKind = Literal["shared_channel", "private_chat"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedMessage:
    """One message of another program's chat, as `ingestMessages` takes it. Source: KN-65.

    Attributes:
        channel: where it was said.
        conversation_key: names the stretch of talk within the channel that it belongs to.
        external_id: unique within the channel; the same id later with other text is an edited message.
        speaker: a name that stands for one person or program throughout the import.
        sent_at: UTC milliseconds.
        sent_offset: minutes that the clock of the speaker was ahead of UTC; None if the export does not tell.
        thread: external id of the message that began its thread.
        speaker_is_agent: a program said it; it cannot be the only evidence of a statement (DR-47).
        channel_kind: chats that the export marks as not open to all are private.
    """

    channel: str
    conversation_key: str
    external_id: str
    speaker: str
    sent_at: Millis
    text: str
    thread: str | None = None
    speaker_is_agent: bool = False
    channel_kind: ChannelKind = "shared_channel"
    sent_offset: int | None = None


@dataclass(kw_only=True, slots=True)
class ImportTally:
    """Counts what a reader left out or assumed; filled while the messages are consumed.

    Attributes:
        messages: how many were yielded.
        skipped: how many were left out, by reason, such as `channel_join` or `system`.
        noted: what was done beyond copying, by kind, such as `edited` or `dated_by_conversation`.
        assumed_timezone: the zone that dates without one were read in; None if there was no such date.
        assumed_dates: how many dates that were.
    """

    messages: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)
    assumed_timezone: str | None = None
    assumed_dates: int = 0
