"""The life of turns of sessions and chats as hosts report it, and what bots confide in them (AD-15, SM-124, BM-189)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import strawberry
from strawberry.types import Info

from api.graphql.context import RequestContext, context
from api.graphql.hosting import Kept, is_session, run_once
from api.graphql.tagging import tagged
from api.graphql.types.hosting import ConfideAnswer, TurnPartInput, TurnReceipt, TurnStart, kept_node
from dreaming.bots.again import begin_once, resume_turn
from dreaming.bots.confide import confide
from graph.model.errors import InvalidRequest
from graph.model.fields import Json
from graph.model.ids import NodeId, hosted_id, local_part
from graph.model.nodes import sessions
from graph.rules.bot_rewrite import PartKind, TurnInput, TurnPart
from graph.services.access.commands import Command
from graph.services.bots import turns as chat_turns
from graph.services.idempotency import once
from graph.services.sessions import turns
from graph.services.sessions.repeating import present_instructions


@strawberry.type
class TurnMutations:
    """Turns; for hosts."""

    @strawberry.mutation(description="A turn of a session waits to run.")
    async def queue_turn(
        self,
        info: Info[Any, Any],
        session_id: strawberry.ID,
        turn: str,
        person_id: strawberry.ID | None = None,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        return await _moved(info, turns.queue_turn, session_id, turn, person_id, idempotency_key)

    @strawberry.mutation(
        description="Start a turn: of a session its instructions, of a chat the input for the bot's model come back."
    )
    async def begin_turn(
        self,
        info: Info[Any, Any],
        turn: str,
        session_id: strawberry.ID | None = None,
        chat_id: strawberry.ID | None = None,
        operator_id: strawberry.ID | None = None,
        author: str | None = "",
        input: str | None = None,
        parts: list[TurnPartInput] | None = None,
        open_to_all: bool | None = False,
        idempotency_key: str | None = None,
    ) -> TurnStart:
        ctx = context(info)
        session, chat, operator = ctx.id_or_none(session_id), ctx.id_or_none(chat_id), ctx.id_or_none(operator_id)
        with tagged():
            is_session(session_id, chat_id)
            if session is not None:
                work = partial(turns.begin_turn, session_id=session, turn=turn, person_id=operator)
                return await _session_start(info, session, turn, ("operator", operator), idempotency_key, work)
            assert chat is not None, "a turn is of a session or of a chat"
            given = _input(input, parts)
            text = await ctx.once(
                info,
                lambda: begin_once(
                    ctx.deps,
                    ctx.models,
                    ctx.caller,
                    key=idempotency_key,
                    chat_id=chat,
                    turn=turn,
                    operator=operator,
                    author=author or "",
                    input=given,
                    open_to_all=bool(open_to_all),
                ),
            )
        return _chat_start(ctx, chat, turn, text)

    @strawberry.mutation(description="A running turn of a session waits for approval.")
    async def suspend_turn(
        self,
        info: Info[Any, Any],
        session_id: strawberry.ID,
        turn: str,
        person_id: strawberry.ID | None = None,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        return await _moved(info, turns.suspend_turn, session_id, turn, person_id, idempotency_key)

    @strawberry.mutation(description="A turn goes on; its instructions, or its input, come back anew.")
    async def resume_turn(
        self,
        info: Info[Any, Any],
        turn: str,
        session_id: strawberry.ID | None = None,
        chat_id: strawberry.ID | None = None,
        person_id: strawberry.ID | None = None,
        idempotency_key: str | None = None,
    ) -> TurnStart:
        ctx = context(info)
        session, chat, person = ctx.id_or_none(session_id), ctx.id_or_none(chat_id), ctx.id_or_none(person_id)
        with tagged():
            is_session(session_id, chat_id)
            if session is not None:
                work = partial(turns.resume_turn, session_id=session, turn=turn, person_id=person)
                return await _session_start(info, session, turn, ("person", person), idempotency_key, work)
            assert chat is not None, "a turn is of a session or of a chat"
            text = await ctx.once(info, lambda: resume_turn(ctx.deps, ctx.models, ctx.caller, chat_id=chat, turn=turn))
        return _chat_start(ctx, chat, turn, text)

    @strawberry.mutation(
        description="A turn ended; what is due is learned later. Of a session: model null says that only Apps ran."
    )
    async def complete_turn(
        self,
        info: Info[Any, Any],
        turn: str,
        session_id: strawberry.ID | None = None,
        chat_id: strawberry.ID | None = None,
        model: str | None = None,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        ctx = context(info)
        session, chat = ctx.id_or_none(session_id), ctx.id_or_none(chat_id)

        async def work(cmd: Command) -> Kept:
            if is_session(session_id, chat_id) and session is not None:
                return _kept(await turns.complete_turn(cmd, session, turn, model))
            assert chat is not None, "a turn is of a session or of a chat"
            return _kept(await chat_turns.complete_turn(cmd, chat, turn))

        request = {"session": session, "chat": chat, "turn": turn, "model": model}
        return _receipt(ctx, await run_once(info, idempotency_key, request, work))

    @strawberry.mutation(description="A turn failed or was cancelled.")
    async def cancel_turn(
        self,
        info: Info[Any, Any],
        turn: str,
        session_id: strawberry.ID | None = None,
        chat_id: strawberry.ID | None = None,
        person_id: strawberry.ID | None = None,
        idempotency_key: str | None = None,
    ) -> TurnReceipt:
        ctx = context(info)
        session, chat, person = ctx.id_or_none(session_id), ctx.id_or_none(chat_id), ctx.id_or_none(person_id)

        async def work(cmd: Command) -> Kept:
            if is_session(session_id, chat_id) and session is not None:
                return _kept(await turns.cancel_turn(cmd, session, turn, person))
            assert chat is not None, "a turn is of a session or of a chat"
            return _kept(await chat_turns.complete_turn(cmd, chat, turn, failed=True))

        request = {"session": session, "chat": chat, "turn": turn, "person": person}
        return _receipt(ctx, await run_once(info, idempotency_key, request, work))

    @strawberry.mutation(description="What a bot says in a turn of a chat; it is answered at once.")
    async def confide(
        self,
        info: Info[Any, Any],
        chat_id: strawberry.ID,
        turn: str,
        text: str,
        idempotency_key: str | None = None,
    ) -> ConfideAnswer:
        ctx = context(info)
        chat = ctx.id(chat_id)
        with tagged():
            answer = await ctx.once(
                info,
                lambda: confide(
                    ctx.deps, ctx.models, ctx.caller, chat_id=chat, turn=turn, text=text, key=idempotency_key
                ),
            )
        return ConfideAnswer(answer=answer)


async def _moved(
    info: Info[Any, Any],
    move: Callable[[Command, NodeId, str, NodeId | None], Awaitable[sessions.Turn]],
    session_id: str,
    turn: str,
    person_id: str | None,
    key: str | None,
) -> TurnReceipt:
    """Move a turn of a session to another state, once for a key."""
    ctx = context(info)
    session, person = ctx.id(session_id), ctx.id_or_none(person_id)

    async def work(cmd: Command) -> Kept:
        return _kept(await move(cmd, session, turn, person))

    request = {"session": session, "turn": turn, "person": person}
    return _receipt(ctx, await run_once(info, key, request, work))


async def _session_start(
    info: Info[Any, Any],
    session: NodeId,
    turn: str,
    named: tuple[str, NodeId | None],
    key: str | None,
    work: Callable[[Command], Awaitable[str]],
) -> TurnStart:
    """Begin or resume a turn of a session; a repeated key gets the instructions made anew.

    The person is named after the word by which receipts know him: another word would be another request.
    """
    ctx, (word, person) = context(info), named
    asked = {"operation": info.field_name, "session": session, "turn": turn, word: person}

    async def keyed(cmd: Command) -> str:
        async def again(_: Json) -> str:
            return await present_instructions(cmd, session, turn, person)

        return await once(cmd, key, asked, lambda: work(cmd), keep=lambda _: None, again=again)

    text = await ctx.run(info, keyed)
    id_ = hosted_id(sessions.Turn.PREFIX, ctx.caller.workspace, turn, container=f"ses:{local_part(session)}")
    return TurnStart(id=ctx.out(id_), local_id=turn, instructions=text, input=None)


def _chat_start(ctx: RequestContext, chat: NodeId, turn: str, text: str) -> TurnStart:
    id_ = hosted_id(sessions.Turn.PREFIX, ctx.caller.workspace, turn, container=f"cht:{local_part(chat)}")
    return TurnStart(id=ctx.out(id_), local_id=turn, instructions=None, input=text)


def _input(text: str | None, parts: list[TurnPartInput] | None) -> str | TurnInput:
    """Return the input of a turn: a text of the person, or parts.

    Raises:
        InvalidRequest: not exactly one of the two, or a part that nobody and no notification says.
    """
    if (text is None) == (parts is None):
        raise InvalidRequest("give the input as a text or as parts", path="input")
    if text is not None:
        return text
    kinds = {str(kind): kind for kind in PartKind}
    if any(part.kind not in kinds for part in parts or ()):
        raise InvalidRequest("a part is of a person, or a notification", path="parts.kind")
    return TurnInput(parts=tuple(TurnPart(kind=kinds[part.kind], text=part.text) for part in parts or ()))


def _kept(turn: sessions.Turn) -> Kept:
    return {**kept_node(turn), "state": str(turn.state)}


def _receipt(ctx: RequestContext, kept: Kept) -> TurnReceipt:
    return TurnReceipt(id=ctx.out(kept["id"]), local_id=kept["local_id"], state=kept["state"])
