"""What host operations take and give: ids and states; what was reported is not read back (AD-15, SM-123 to SM-126)."""

from __future__ import annotations

from typing import Any

import strawberry

from graph.model.ids import local_part
from graph.model.nodes import bots, sessions
from graph.model.time import Millis


@strawberry.input
class ItemInput:
    """An item of a session or chat as a host reports it (SM-126)."""

    type: str = strawberry.field(description="person_message, agent_message, tool_result, app_result or notification.")
    text: str
    local_id: str | None = None
    person_id: strawberry.ID | None = strawberry.field(default=None, description="Of a session: who said it.")
    tool: str | None = strawberry.field(default=None, description="Of a chat: the tool or App that gave a result.")
    turn: str | None = strawberry.field(default=None, description="Local id of the turn that it belongs to.")
    occurred_at: Millis | None = None


@strawberry.input
class TurnPartInput:
    """One part of the input of a turn: what the person said, or a notification, which nobody said."""

    kind: str = strawberry.field(description="person or notification.")
    text: str


@strawberry.type
class SessionReceipt:
    """A session as it was after the operation."""

    id: strawberry.ID
    local_id: str
    head: str
    revision: int


@strawberry.type
class ChatReceipt:
    """A chat that was made."""

    id: strawberry.ID
    local_id: str


@strawberry.type
class ItemReceipt:
    """An item that was added; of a session with the version it made."""

    id: strawberry.ID
    local_id: str
    head: str | None


@strawberry.type
class TurnReceipt:
    """A turn and its state after the operation."""

    id: strawberry.ID
    local_id: str
    state: str


@strawberry.type
class TurnStart:
    """What a turn begins with: of a session the instructions for its model, of a chat the input for the bot's."""

    id: strawberry.ID
    local_id: str
    instructions: str | None
    input: str | None


@strawberry.type
class Promotion:
    """The agent memory after a promotion."""

    agent_id: strawberry.ID
    version: int


@strawberry.type
class ConfideAnswer:
    """What a bot is answered."""

    answer: str


@strawberry.type
class DeletedSession:
    """What went with a session."""

    id: strawberry.ID
    items: int
    facts: int
    turns: int


@strawberry.type
class DeletedHistory:
    """How many items of a chat lost their text."""

    id: strawberry.ID
    items: int


def kept_session(node: sessions.Session) -> dict[str, Any]:
    """Return what a receipt keeps of a session."""
    return {"id": node.id, "local_id": local_part(node.id), "head": node.head, "revision": node.revision}


def kept_node(node: bots.Chat | bots.ChatItem | sessions.SessionItem | sessions.Turn) -> dict[str, Any]:
    """Return what a receipt keeps of another node."""
    return {"id": node.id, "local_id": local_part(node.id)}
