"""What a host reports for others, under the names of the contract. Source: AD-15, AD-17, AD-19.

Ids are the opaque ids of GraphQL; `turn` and `local_id` are the host's own. A call carries an idempotency key, made
here unless the host gives its own, and keeps it when it is sent again: a repeated key gets the first result. Messages,
task results and signals carry the host's own name of each instead; one that is there already is not stored again.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from rootward.service.calls import Ask, present
from rootward.service.graphql import PATH, field_of, shapes
from rootward.service.host_shapes import (
    ChatReceipt,
    Confided,
    DeletedHistory,
    DeletedSession,
    Ingested,
    ItemReceipt,
    MembersChange,
    NewItem,
    NewMessage,
    Promotion,
    SessionReceipt,
    SignalReceipt,
    TaskResult,
    TurnPart,
    TurnReceipt,
    TurnStart,
    moment,
)
from rootward.service.operations import AsyncSurface, SyncSurface, operation

T = TypeVar("T")

_SESSION = "id localId head revision"
_TURN = "id localId state"
_START = "id localId instructions input"
_INGESTED = "sourceIds arrivals txId"

host_operation = operation("POST", PATH)


@host_operation
def create_session(
    agent_id: str,
    *,
    organization_id: str | None = None,
    person_id: str | None = None,
    local_id: str | None = None,
    model: str | None = None,
    review: bool = False,
    idempotency_key: str | None = None,
) -> Ask[SessionReceipt]:
    """Make a session of an agent."""
    declared = {
        "agentId": "ID!",
        "organizationId": "ID",
        "personId": "ID",
        "localId": "String",
        "model": "String",
        "review": "Boolean",
    }
    values = present(
        agentId=agent_id,
        organizationId=organization_id,
        personId=person_id,
        localId=local_id,
        model=model,
        review=review,
    )
    return _asks(SessionReceipt, "createSession", declared, values, _SESSION, idempotency_key)


@host_operation
def create_chat(
    bot_id: str,
    *,
    organization_id: str,
    person_id: str | None = None,
    group_id: str | None = None,
    local_id: str | None = None,
    review: bool = False,
    idempotency_key: str | None = None,
) -> Ask[ChatReceipt]:
    """Make the chat of a bot with a person, or the group chat of a channel group."""
    declared = {
        "botId": "ID!",
        "organizationId": "ID!",
        "personId": "ID",
        "groupId": "ID",
        "localId": "String",
        "review": "Boolean",
    }
    values = present(
        botId=bot_id,
        organizationId=organization_id,
        personId=person_id,
        groupId=group_id,
        localId=local_id,
        review=review,
    )
    return _asks(ChatReceipt, "createChat", declared, values, "id localId", idempotency_key)


@host_operation
def append_item(
    item: NewItem, *, session_id: str | None = None, chat_id: str | None = None, idempotency_key: str | None = None
) -> Ask[ItemReceipt]:
    """Add what happened at the end of a session or of a chat."""
    declared = {"item": "ItemInput!", "sessionId": "ID", "chatId": "ID"}
    values = present(item=item.variables(), sessionId=session_id, chatId=chat_id)
    return _asks(ItemReceipt, "appendItem", declared, values, "id localId head", idempotency_key)


@host_operation
def fork_session(
    session_id: str, version: str, *, local_id: str | None = None, idempotency_key: str | None = None
) -> Ask[SessionReceipt]:
    """Make a session that goes on from a version of another, with a copy of its memory."""
    declared = {"sessionId": "ID!", "version": "String!", "localId": "String"}
    values = present(sessionId=session_id, version=version, localId=local_id)
    return _asks(SessionReceipt, "forkSession", declared, values, _SESSION, idempotency_key)


@host_operation
def restore_version(session_id: str, version: str, *, idempotency_key: str | None = None) -> Ask[SessionReceipt]:
    """Return a session to one of its versions, with the memory of that version."""
    declared = {"sessionId": "ID!", "version": "String!"}
    values = {"sessionId": session_id, "version": version}
    return _asks(SessionReceipt, "restoreVersion", declared, values, _SESSION, idempotency_key)


@host_operation
def promote(session_id: str, *, idempotency_key: str | None = None) -> Ask[Promotion]:
    """Make the lasting entries of a session's memory its agent's."""
    values = {"sessionId": session_id}
    return _asks(Promotion, "promote", {"sessionId": "ID!"}, values, "agentId version", idempotency_key)


@host_operation
def delete_session(session_id: str, *, idempotency_key: str | None = None) -> Ask[DeletedSession]:
    """Delete a session for good; what its agent learned from it stays."""
    values = {"sessionId": session_id}
    selects = "id items facts turns"
    return _asks(DeletedSession, "deleteSession", {"sessionId": "ID!"}, values, selects, idempotency_key)


@host_operation
def delete_chat_history(chat_id: str, *, idempotency_key: str | None = None) -> Ask[DeletedHistory]:
    """Take the texts of a chat away; entries learned from it stay."""
    values = {"chatId": chat_id}
    return _asks(DeletedHistory, "deleteChatHistory", {"chatId": "ID!"}, values, "id items", idempotency_key)


@host_operation
def queue_turn(
    session_id: str, turn: str, *, person_id: str | None = None, idempotency_key: str | None = None
) -> Ask[TurnReceipt]:
    """Report that a turn of a session waits to run."""
    declared = {"sessionId": "ID!", "turn": "String!", "personId": "ID"}
    values = present(sessionId=session_id, turn=turn, personId=person_id)
    return _asks(TurnReceipt, "queueTurn", declared, values, _TURN, idempotency_key)


@host_operation
def begin_turn(
    turn: str,
    *,
    session_id: str | None = None,
    chat_id: str | None = None,
    operator_id: str | None = None,
    author: str = "",
    input: str | None = None,
    parts: Sequence[TurnPart] | None = None,
    open_to_all: bool = False,
    idempotency_key: str | None = None,
) -> Ask[TurnStart]:
    """Start a turn of a session, or of a chat with its input as a text or in parts."""
    declared = {
        "turn": "String!",
        "sessionId": "ID",
        "chatId": "ID",
        "operatorId": "ID",
        "author": "String",
        "input": "String",
        "parts": "[TurnPartInput!]",
        "openToAll": "Boolean",
    }
    values = present(
        turn=turn,
        sessionId=session_id,
        chatId=chat_id,
        operatorId=operator_id,
        author=author,
        input=input,
        parts=None if parts is None else [part.variables() for part in parts],
        openToAll=open_to_all,
    )
    return _asks(TurnStart, "beginTurn", declared, values, _START, idempotency_key)


@host_operation
def suspend_turn(
    session_id: str, turn: str, *, person_id: str | None = None, idempotency_key: str | None = None
) -> Ask[TurnReceipt]:
    """Report that a running turn of a session waits for approval."""
    declared = {"sessionId": "ID!", "turn": "String!", "personId": "ID"}
    values = present(sessionId=session_id, turn=turn, personId=person_id)
    return _asks(TurnReceipt, "suspendTurn", declared, values, _TURN, idempotency_key)


@host_operation
def resume_turn(
    turn: str,
    *,
    session_id: str | None = None,
    chat_id: str | None = None,
    person_id: str | None = None,
    idempotency_key: str | None = None,
) -> Ask[TurnStart]:
    """Let a turn go on; its instructions, or its input, come back anew."""
    values = present(turn=turn, sessionId=session_id, chatId=chat_id, personId=person_id)
    return _asks(TurnStart, "resumeTurn", _OF_A_TURN, values, _START, idempotency_key)


@host_operation
def complete_turn(
    turn: str,
    *,
    session_id: str | None = None,
    chat_id: str | None = None,
    model: str | None = None,
    idempotency_key: str | None = None,
) -> Ask[TurnReceipt]:
    """Report that a turn ended; of a session, `model` None says that only Apps ran."""
    declared = {"turn": "String!", "sessionId": "ID", "chatId": "ID", "model": "String"}
    values = present(turn=turn, sessionId=session_id, chatId=chat_id, model=model)
    return _asks(TurnReceipt, "completeTurn", declared, values, _TURN, idempotency_key)


@host_operation
def cancel_turn(
    turn: str,
    *,
    session_id: str | None = None,
    chat_id: str | None = None,
    person_id: str | None = None,
    idempotency_key: str | None = None,
) -> Ask[TurnReceipt]:
    """Report that a turn failed or was cancelled."""
    values = present(turn=turn, sessionId=session_id, chatId=chat_id, personId=person_id)
    return _asks(TurnReceipt, "cancelTurn", _OF_A_TURN, values, _TURN, idempotency_key)


@host_operation
def confide(chat_id: str, turn: str, text: str, *, idempotency_key: str | None = None) -> Ask[str]:
    """Report what a bot says in a turn of a chat, and return what it is answered."""
    document = mutation("confide", {"chatId": "ID!", "turn": "String!", "text": "String!", **_KEY}, "answer")
    values = {"chatId": chat_id, "turn": turn, "text": text, "idempotencyKey": idempotency_key or new_key()}
    return field_of(document, values, lambda it: shapes(Confided)(it).answer)


@host_operation
def set_members(id: str, member_ids: Sequence[str], *, idempotency_key: str | None = None) -> Ask[MembersChange]:
    """Make exactly these people the members of a group or channel."""
    declared = {"id": "ID!", "memberIds": "[ID!]!"}
    values = {"id": id, "memberIds": list(member_ids)}
    return _asks(MembersChange, "setMembers", declared, values, "added removed", idempotency_key)


@host_operation
def ingest_messages(conversation_id: str, messages: Sequence[NewMessage]) -> Ask[Ingested]:
    """Report messages of a conversation, each with its speaker."""
    declared = {"conversationId": "ID!", "messages": "[MessageInput!]!"}
    values = {"conversationId": conversation_id, "messages": [message.variables() for message in messages]}
    return _named(Ingested, "ingestMessages", declared, values, _INGESTED)


@host_operation
def record_task_result(result: TaskResult) -> Ask[Ingested]:
    """Report how a task ended, step by step."""
    values = {"input": result.variables()}
    return _named(Ingested, "recordTaskResult", {"input": "TaskResultInput!"}, values, _INGESTED)


@host_operation
def ingest_signal(
    signal_source_id: str,
    *,
    external_id: str,
    type: str,
    payload: Any,
    occurred_at: datetime,
) -> Ask[SignalReceipt]:
    """Report a signal of a source; `payload` is any JSON value."""
    told = {
        "signalSourceId": signal_source_id,
        "externalId": external_id,
        "type": type,
        "payload": payload,
        "occurredAt": moment(occurred_at),
    }
    selects = "stored arrival sourceId txId"
    return _named(SignalReceipt, "ingestSignal", {"input": "SignalInput!"}, {"input": told}, selects)


def new_key() -> str:
    """Return an idempotency key that was never used."""
    return secrets.token_hex(16)


def mutation(name: str, declared: Mapping[str, str], selects: str) -> str:
    """Return a document of one mutation, whose field is called ``it``.

    >>> mutation("forget", {"id": "ID!"}, "version")
    'mutation($id: ID!) { it: forget(id: $id) { version } }'
    """
    heads = ", ".join(f"${variable}: {kind}" for variable, kind in declared.items())
    arguments = ", ".join(f"{variable}: ${variable}" for variable in declared)
    return f"mutation({heads}) {{ it: {name}({arguments}) {{ {selects} }} }}"


_OF_A_TURN = {"turn": "String!", "sessionId": "ID", "chatId": "ID", "personId": "ID"}


_KEY = {"idempotencyKey": "String"}


def _asks(
    kind: type[T], name: str, declared: Mapping[str, str], values: Mapping[str, Any], selects: str, key: str | None
) -> Ask[T]:
    """Ask for a mutation under an idempotency key."""
    return _named(kind, name, {**declared, **_KEY}, {**values, "idempotencyKey": key or new_key()}, selects)


def _named(kind: type[T], name: str, declared: Mapping[str, str], values: Mapping[str, Any], selects: str) -> Ask[T]:
    """Ask for a mutation that may be repeated as it is."""
    return field_of(mutation(name, declared, selects), values, shapes(kind))


class HostOperations:
    """What a host reports."""

    create_session = create_session
    create_chat = create_chat
    append_item = append_item
    fork_session = fork_session
    restore_version = restore_version
    promote = promote
    delete_session = delete_session
    delete_chat_history = delete_chat_history
    queue_turn = queue_turn
    begin_turn = begin_turn
    suspend_turn = suspend_turn
    resume_turn = resume_turn
    complete_turn = complete_turn
    cancel_turn = cancel_turn
    confide = confide
    set_members = set_members
    ingest_messages = ingest_messages
    record_task_result = record_task_result
    ingest_signal = ingest_signal


class Host(HostOperations, SyncSurface):
    """A host, waiting in the thread."""


class AsyncHost(HostOperations, AsyncSurface):
    """A host, waiting in the task."""
