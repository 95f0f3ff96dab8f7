"""Turns of chats that were begun before: resumed, or asked for again by a host that did not hear the answer (AD-17)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from dreaming.bots.memory_bot import limits
from dreaming.bots.turns import begin_turn, input_of
from dreaming.jobs import ModelMaker
from graph.model.errors import BadState, StoreError
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.bots import Chat
from graph.model.nodes.sessions import Turn
from graph.rules.bot_budget import WAIT_S
from graph.rules.bot_rewrite import TurnInput
from graph.services.access.caller import Caller
from graph.services.access.commands import Command, command
from graph.services.bots.chat_access import CHATS, find_turn, hold_chat, require_some_host, text_place, turn_id
from graph.services.bots.context import validate_references
from graph.services.bots.pool import find_bot
from graph.services.bots.readers import reads_in
from graph.services.bots.turns import opened_input, resume_chat_turn
from graph.services.deps import Deps
from graph.services.idempotency import once, other_request


async def begin_once(
    deps: Deps,
    models: ModelMaker,
    caller: Caller,
    *,
    key: str | None,
    chat_id: NodeId,
    turn: str,
    operator: NodeId | None,
    author: str,
    input: str | TurnInput,
    open_to_all: bool = False,
) -> str:
    """Begin a turn as `dreaming.bots.turns.begin_turn`; with a key that was used before, return what it began with.

    A turn that is over by then is not begun again: its input comes back, with the rewrite if that may still be used.

    Raises:
        Conflict: the key was used for another request.
        Forbidden, MissingObject, NotFound, BadState, BadInput, InvalidRequest: as `begin_turn`.
    """
    given = TurnInput.of(input)
    asked: dict[str, Json] = {
        "operation": "begin",
        "chat": chat_id,
        "turn": turn,
        "operator": operator,
        "author": author,
    }
    asked |= {"characters": [len(part.text) for part in given.parts], "open": open_to_all}
    try:
        repeated = await command(deps, caller, lambda cmd: _was_asked(cmd, key, asked))
        if repeated:
            await command(deps, caller, lambda cmd: _check_input(cmd, chat_id, turn, given))
    except StoreError:  # the host's work goes on (BM-181)
        return given.for_model()
    try:
        return await begin_turn(
            deps,
            models,
            caller,
            chat_id=chat_id,
            turn=turn,
            operator=operator,
            author=author,
            input=given,
            open_to_all=open_to_all,
        )
    except BadState:
        if not repeated:
            raise
    return await command(deps, caller, lambda cmd: present_input(cmd, chat_id, turn))


async def resume_turn(deps: Deps, models: ModelMaker, caller: Caller, *, chat_id: NodeId, turn: str) -> str:
    """Go on with a turn that was begun, and return the input for the bot's model within 15 seconds (BM-115).

    Raises:
        Forbidden, MissingObject, BadState: as `resume_chat_turn`.
        StoreError: the store is away; the host knows the input, which nobody else can tell it then.
    """
    until = limits(deps.clock, WAIT_S)
    begun = await command(deps, caller, lambda cmd: resume_chat_turn(cmd, chat_id, turn))
    return await input_of(deps, models, caller, begun, until)


async def present_input(cmd: Command, chat_id: NodeId, turn: str) -> str:
    """Return the input of a turn, as its bot's model got it if that may still be; "" once the history is deleted.

    Raises:
        Forbidden, MissingObject: ``ChatNotFound``, ``TurnNotFound``.
    """
    chat = await hold_chat(cmd, chat_id)
    found = await find_turn(cmd.writer, chat, turn)
    given = opened_input(cmd.deps, found)
    if given is None:
        return ""
    if found.rewrite is None or not await _may_use(cmd, chat, found.entries):
        return given.for_model()
    return given.for_model(cmd.deps.vault.open(text_place(found.workspace, found.id, "rewrite"), found.rewrite))


async def _may_use(cmd: Command, chat: Chat, entries: Collection[str]) -> bool:
    bot = await find_bot(cmd.writer, chat.workspace, chat.bot_id)
    return await validate_references(await reads_in(cmd.session, bot, chat), entries)


async def _check_input(cmd: Command, chat_id: NodeId, turn: str, given: TurnInput) -> None:
    """Refuse a key that began the turn with another input of the same length."""
    chat = await hold_chat(cmd, chat_id)
    found = (await cmd.writer.get(CHATS, [turn_id(chat, turn)])).get(turn_id(chat, turn))
    began = opened_input(cmd.deps, found) if isinstance(found, Turn) else None
    if began is not None and began != given:
        raise other_request()


async def _was_asked(cmd: Command, key: str | None, asked: Mapping[str, Json]) -> bool:
    """Note a request under its key; true if it was noted before."""
    require_some_host(cmd.facts)

    async def first() -> bool:
        return False

    async def again(_: object) -> bool:
        return True

    return await once(cmd, key, asked, first, keep=lambda _: None, again=again)
