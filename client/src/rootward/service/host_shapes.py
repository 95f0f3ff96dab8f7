"""What hosts report, and what they get: ids and states. Source: SM-123 to SM-126, BM-189."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rootward.service.calls import present


@dataclass(frozen=True, kw_only=True)
class SessionReceipt:
    """A session as it was after an operation."""

    id: str
    local_id: str
    head: str
    revision: int


@dataclass(frozen=True, kw_only=True)
class ChatReceipt:
    """A chat that was made."""

    id: str
    local_id: str


@dataclass(frozen=True, kw_only=True)
class ItemReceipt:
    """An item that was added; of a session with the version it made."""

    id: str
    local_id: str
    head: str | None


@dataclass(frozen=True, kw_only=True)
class TurnReceipt:
    """A turn and its state after an operation."""

    id: str
    local_id: str
    state: str


@dataclass(frozen=True, kw_only=True)
class TurnStart:
    """What a turn begins with: of a session instructions for its model, of a chat the input for the bot's."""

    id: str
    local_id: str
    instructions: str | None
    input: str | None


@dataclass(frozen=True, kw_only=True)
class Promotion:
    """An agent's memory after a promotion."""

    agent_id: str
    version: int


@dataclass(frozen=True, kw_only=True)
class DeletedSession:
    """What went with a session."""

    id: str
    items: int
    facts: int
    turns: int


@dataclass(frozen=True, kw_only=True)
class DeletedHistory:
    """How many items of a chat lost their text."""

    id: str
    items: int


@dataclass(frozen=True, kw_only=True)
class MembersChange:
    """Who came and who left."""

    added: tuple[str, ...]
    removed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Ingested:
    """The sources of what was reported, and whether each is ``STORED``, ``UNCHANGED`` or a ``NEW_VERSION``."""

    source_ids: tuple[str, ...]
    arrivals: tuple[str, ...]
    tx_id: str


@dataclass(frozen=True, kw_only=True)
class SignalReceipt:
    """What became of a signal; without a source if it is not kept."""

    stored: bool
    arrival: str | None
    source_id: str | None
    tx_id: str


@dataclass(frozen=True, kw_only=True)
class Confided:
    """What a bot is answered."""

    answer: str


@dataclass(frozen=True, kw_only=True)
class NewItem:
    """What happened in a session or chat.

    Attributes:
        type: ``person_message``, ``agent_message``, ``tool_result``, ``app_result`` or ``notification``.
        person_id: of a session: who said it.
        tool: of a chat: the tool or App that gave a result.
        turn: local id of the turn that it belongs to.
    """

    type: str
    text: str
    local_id: str | None = None
    person_id: str | None = None
    tool: str | None = None
    turn: str | None = None
    occurred_at: datetime | None = None

    def variables(self) -> Mapping[str, Any]:
        """Return it as a GraphQL input."""
        return present(
            type=self.type,
            text=self.text,
            localId=self.local_id,
            personId=self.person_id,
            tool=self.tool,
            turn=self.turn,
            occurredAt=moment(self.occurred_at),
        )


@dataclass(frozen=True, kw_only=True)
class TurnPart:
    """A part of the input of a turn: `kind` is ``person``, or ``notification``, which nobody said."""

    kind: str
    text: str

    def variables(self) -> Mapping[str, Any]:
        """Return it as a GraphQL input."""
        return {"kind": self.kind, "text": self.text}


@dataclass(frozen=True, kw_only=True)
class NewMessage:
    """A message of a conversation; `external_id` is the host's own name of it, unique in its channel."""

    external_id: str
    sent_at: datetime
    text: str
    speaker_id: str | None = None
    speaker: str = ""
    speaker_is_agent: bool = False
    thread: str | None = None

    def variables(self) -> Mapping[str, Any]:
        """Return it as a GraphQL input."""
        return present(
            externalId=self.external_id,
            sentAt=moment(self.sent_at),
            text=self.text,
            speakerId=self.speaker_id,
            speaker=self.speaker,
            speakerIsAgent=self.speaker_is_agent,
            thread=self.thread,
        )


@dataclass(frozen=True, kw_only=True)
class TaskStep:
    """A step of a task; `outcome` is ``OK`` or ``ERROR``."""

    action: str
    outcome: str
    text: str = ""

    def variables(self) -> Mapping[str, Any]:
        """Return it as a GraphQL input."""
        return {"action": self.action, "outcome": self.outcome, "text": self.text}


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """How a task ended; `state` is ``SUCCEEDED``, ``FAILED`` or ``CANCELLED``."""

    task_id: str
    state: str
    steps: Sequence[TaskStep]
    final_answer: str = ""
    conversation_id: str | None = None
    agent_id: str | None = None
    ended_at: datetime | None = None

    def variables(self) -> Mapping[str, Any]:
        """Return it as a GraphQL input."""
        return present(
            taskId=self.task_id,
            state=self.state,
            steps=[step.variables() for step in self.steps],
            finalAnswer=self.final_answer,
            conversationId=self.conversation_id,
            agentId=self.agent_id,
            endedAt=moment(self.ended_at),
        )


def moment(at: datetime | None) -> str | None:
    """Return a time as the service reads it.

    Raises:
        ValueError: it does not say which clock it is of.
    """
    if at is None:
        return None
    if at.tzinfo is None:
        raise ValueError("give times with a time zone")
    return at.isoformat(timespec="milliseconds")
